"""What is printed and written: never a NaN."""

from __future__ import annotations

from pathlib import Path

import pytest

from medotter_viewer.cli.output import fail, print_table, write_csv, write_json


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_json_with_a_number_that_json_does_not_have_is_a_defect_and_nothing_is_written(
    tmp_path: Path, bad: float, capsys: pytest.CaptureFixture[str]
) -> None:
    for destination in (str(tmp_path / "a.json"), "-"):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write_json(destination, {"a": bad})
    assert not (tmp_path / "a.json").exists()
    assert capsys.readouterr().out == ""


def test_columns_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("case", "dice"), [("A/1", "1.0000"), ("long/name", "-")])
    assert capsys.readouterr().out.splitlines() == [
        "case         dice",
        "---------  ------",
        "A/1        1.0000",
        "long/name       -",
    ]


def test_csv_has_the_columns_of_all_rows(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [{"a": 1}, {"b": 'x,"y"', "a": None}])
    assert (tmp_path / "a.csv").read_bytes() == b'a,b\r\n1,\r\n,"x,""y"""\r\n'


def test_a_failure_is_one_line_whatever_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    fail("first\n  second\n")
    assert capsys.readouterr().err == "first second\n"
