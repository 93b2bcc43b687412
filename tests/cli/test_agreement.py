"""The command ``agreement``: its JSON, its table, its exit status."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.review.records import Place, Record, Subject

SUBJECT = Subject("torso", "1.0", "0123", "mixed")
ANNA = {"A/1": "fine", "A/2": "fine", "A/3": "geometry", "A/4": "fine"}
BERT = {"A/1": "fine", "A/2": "geometry", "A/3": "geometry", "A/5": "fine"}


def write(path: Path, reader: str, said: dict[str, str], subject: Subject = SUBJECT) -> Path:
    records = [Record("verdict", reader, subject, case_id, verdict=word) for case_id, word in said.items()]
    path.write_bytes(b"".join(record.to_line() for record in records))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    a = write(tmp_path / "a.reviews.jsonl", "anna", ANNA)
    comment = Record("comment", "anna", SUBJECT, "A/2", text="leaks\ninto the spleen", place=Place((1.0, -2.5, 3.0)))
    with a.open("ab") as file:
        file.write(comment.to_line())
    return a, write(tmp_path / "b.reviews.jsonl", "bert", BERT)


def test_the_json_holds_kappa_table_and_cases(cli: Any, files: tuple[Path, Path]) -> None:
    done = cli("agreement", *files, "--json", "-")
    assert (done.code, done.err) == (0, "")
    data = done.data
    assert (data["target"], data["hash"], data["model"], data["readers"]) == (
        "torso",
        "0123",
        "mixed",
        ["anna", "bert"],
    )
    assert (data["n_common"], data["observed_agreement"]) == (3, pytest.approx(2 / 3))
    assert data["kappa"] == {"value": pytest.approx(0.4), "status": "ok", "rule": None}
    assert data["table"] == {"fine": {"fine": 1, "geometry": 1}, "geometry": {"fine": 0, "geometry": 1}}
    assert (data["differing"], data["only_first"], data["only_second"]) == (["A/2"], ["A/4"], ["A/5"])
    (comment,) = data["cases"]["A/2"]["comments"]["first"]
    assert (comment["text"], comment["position_world"], comment["frame"]) == (
        "leaks\ninto the spleen",
        [1.0, -2.5, 3.0],
        "RAS+ mm",
    )


def test_people_read_the_table_the_number_and_where_the_two_differ(cli: Any, files: tuple[Path, Path]) -> None:
    done = cli("agreement", *files)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:2] == ["torso, hash 0123, model mixed", "1: anna   2: bert"]
    assert [line.split() for line in lines[3:7]] == [
        ["2:", "fine", "2:", "geometry"],
        ["-----------", "-------", "-----------"],
        ["1:", "fine", "1", "1"],
        ["1:", "geometry", "0", "1"],
    ]
    assert "judged by both: 3; same verdict: 2, 0.667" in lines
    assert "Cohen's kappa (unweighted): 0.400" in lines
    assert "judged by anna alone: 1" in lines
    place = lines.index("differing:")
    assert lines[place + 1 :] == [
        "  A/2  1: fine  2: geometry",
        "    1: leaks into the spleen [RAS+ 1.0 -2.5 3.0 mm]",
    ]


def test_the_csv_has_a_line_for_each_case(cli: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    assert cli("agreement", *files, "--csv", tmp_path / "out.csv").code == 0
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["case_id"], row["first"], row["second"], row["agree"]) for row in rows] == [
        ("A/1", "fine", "fine", "yes"),
        ("A/2", "fine", "geometry", "no"),
        ("A/3", "geometry", "geometry", "yes"),
        ("A/4", "fine", "", ""),
        ("A/5", "", "fine", ""),
    ]
    assert rows[1]["first_comments"] == "leaks into the spleen [RAS+ 1.0 -2.5 3.0 mm]"


def test_one_verdict_on_both_sides_is_null_with_a_rule_and_no_failure(cli: Any, tmp_path: Path) -> None:
    same = {"A/1": "fine", "A/2": "fine"}
    a, b = write(tmp_path / "a", "anna", same), write(tmp_path / "b", "bert", same)
    done = cli("agreement", a, b, "--json", "-")
    assert done.code == 0
    assert done.data["kappa"] == {"value": None, "status": "undefined", "rule": "one_category"}
    assert done.data["observed_agreement"] == 1.0
    assert "not defined: both readers gave one and the same verdict" in cli("agreement", a, b).out


def test_without_a_common_case_everything_is_written_and_the_command_fails(cli: Any, tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", "anna", {"A/1": "fine"}), write(tmp_path / "b", "bert", {"A/2": "fine"})
    done = cli("agreement", a, b, "--json", "-")
    assert (done.code, done.lines) == (1, ["no case was judged by both readers"])
    assert done.data["kappa"]["rule"] == "no_common_case"


@pytest.mark.parametrize("other", [Subject("torso", "1.0", "9999", "mixed"), Subject("torso", "1.0", "0123", "good")])
def test_another_bundle_or_model_is_refused_unless_forced(cli: Any, tmp_path: Path, other: Subject) -> None:
    a = write(tmp_path / "a", "anna", ANNA)
    b = write(tmp_path / "b", "bert", BERT, other)
    done = cli("agreement", a, b)
    assert (done.code, done.out) == (1, "")
    (line,) = done.lines
    assert "not about the same thing" in line
    assert "--force" in line
    forced = cli("agreement", a, b, "--force", "--json", "-")
    assert forced.code == 0
    assert [note["code"] for note in forced.data["notes"]] == ["other-subject"]
    assert forced.lines[0].startswith("warning: other-subject")


def test_a_torn_line_is_a_warning_and_a_bad_one_fails_after_all_is_written(cli: Any, files: tuple[Path, Path]) -> None:
    with files[1].open("ab") as file:
        file.write(b'{"id": "dead')
    done = cli("agreement", *files, "--json", "-")
    assert (done.code, len(done.lines)) == (0, 1)
    assert "torn-record" in done.lines[0]
    with files[1].open("ab") as file:
        file.write(b'\n{"schema": 1}\n')
    done = cli("agreement", *files, "--json", "-")
    assert done.code == 1
    assert done.data["n_common"] == 3
    assert any("kind: got None" in line for line in done.lines)


@pytest.mark.parametrize("content", [None, b"", b"no json\n"])
def test_a_file_without_verdicts_is_refused_in_one_line(cli: Any, tmp_path: Path, content: bytes | None) -> None:
    a, b = write(tmp_path / "a", "anna", ANNA), tmp_path / "b"
    if content is not None:
        b.write_bytes(content)
    done = cli("agreement", a, b)
    assert (done.code, done.out, len(done.lines)) == (1, "", 1)
    assert str(b) in done.lines[0]


def test_the_files_are_not_overwritten(cli: Any, files: tuple[Path, Path]) -> None:
    for option in ("--json", "--csv"):
        done = cli("agreement", *files, option, files[0])
        assert (done.code, "is read by this command" in done.err) == (2, True)


def test_a_result_that_cannot_be_written_fails_after_the_rest(cli: Any, files: tuple[Path, Path]) -> None:
    done = cli("agreement", *files, "--csv", os.path.join(files[0], "x.csv"))  # noqa: PTH118
    assert done.code == 1
    assert "Cohen's kappa" in done.out


def test_one_file_alone_is_wrong_usage(cli: Any, files: tuple[Path, Path]) -> None:
    assert cli("agreement", files[0]).code == 2
