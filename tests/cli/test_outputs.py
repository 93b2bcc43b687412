"""Results never take the place of what a command reads, nor of each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_an_input_is_not_replaced_by_a_result(tmp_path: Path, cli: Any) -> None:
    points = tmp_path / "a.json"
    text = '[{"direction": ["R", "A", "S"]}]'
    points.write_text(text)
    found = cli("landmarks", points, points, "--json", tmp_path / "." / "a.json")
    assert (found.code, points.read_text()) == (2, text)
    assert found.lines[-1].endswith("a.json: is read by this command; choose another name")


def test_a_file_of_another_kind_is_not_replaced(tiny: Any, cli: Any) -> None:
    mask = sorted(tiny.predictions.rglob("*.nii.gz"))[0]
    before = mask.read_bytes()
    for option in ("--json", "--csv"):
        found = cli("score", tiny.bundle, "--predictions", tiny.predictions, option, mask)
        assert (found.code, mask.read_bytes() == before) == (2, True)
        assert "is there already and is no" in found.lines[-1]


def test_two_results_need_two_names(tiny: Any, cli: Any, tmp_path: Path) -> None:
    found = cli("score", tiny.bundle, "--json", tmp_path / "o.csv", "--csv", tmp_path / "o.csv")
    assert found.code == 2
    assert found.lines[-1].endswith("o.csv: is written by --json; choose another name")


@pytest.mark.parametrize("name", ["o.csv", "o.scores.csv"])
def test_an_export_and_its_report_need_two_names(tiny: Any, cli: Any, tmp_path: Path, name: str) -> None:
    found = cli("polygons", "export", tiny.bundle, "--out", tmp_path / "o.csv", "--json", tmp_path / name)
    assert found.code == 2
    assert "is written by --out" in found.lines[-1]


def test_an_earlier_result_is_replaced(tiny: Any, cli: Any, tmp_path: Path) -> None:
    for _ in range(2):
        assert cli("cases", tiny.bundle, "--json", tmp_path / "c.json").code == 0
