"""``remap-audit --what-if``: what it prints, its JSON and its exit status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.cache.store import CACHE_VARIABLE


@pytest.fixture
def words(tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The command on the tiny bundle, with a cache of the test's own that is empty."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "scores.sqlite"))
    return ["remap-audit", tiny.bundle, "--predictions", tiny.predictions]


@pytest.fixture
def scored(cli: Any, tiny: Any, words: list[Any]) -> list[Any]:
    """The same after the cases were scored."""
    cli("score", tiny.bundle, "--predictions", tiny.predictions, "--json", "-")
    return words


def test_the_headline_before_and_after(cli: Any, scored: list[Any]) -> None:
    found = cli(*scored, "--what-if", "A:5=drop", "--json", "-")
    data = found.data
    # One of A is no longer labelled (nothing of A becomes 1), and B stays.
    assert data["headline"]["before"] == {"value": pytest.approx((2 / 3 + 1) / 2), "n": 2}
    assert data["headline"]["after"] == {"value": 1.0, "n": 1}
    assert data["cases"]["A/1"] == {"before": pytest.approx(2 / 3), "after": None}
    assert data["changes"] == {"remaps": {"A": {"5": 0}}, "own": {}, "regions": {}}
    assert data["moved"] == [
        {"dataset": "A", "native": 5, "before": 1, "after": 0, "cases": 1, "voxels": 64, "volume_mm3": 64.0}
    ]
    assert data["left_out"] == {"B/2": "no prediction"}
    assert data["not_remembered"] == []
    assert data["datasets"]["A"]["map"] == {"5": 0, "9": 2, "11": 0}
    assert found.code == 1  # B/2 is left out
    assert found.lines == ["B/2: left out: no prediction"]


def test_people_see_what_moved_the_means_and_the_headline(cli: Any, scored: list[Any]) -> None:
    found = cli(*scored, "--what-if", "A:9=1,7=2")
    assert "what if, nothing is saved" in found.out
    assert "    7: 2  # was not listed\n    9: 1  # was 2\n" in found.out
    assert "headline dice of one: 0.833 -> 0.827 (-0.007)" in found.out  # 64 / 98 of A/1, 1 of B/1
    assert "INCOMPLETE: from 2 of 3 cases" in found.out
    assert "A/1    0.667  0.653  -0.014" in found.out


def test_without_tables_it_says_how_to_get_them_and_guesses_nothing(cli: Any, words: list[Any]) -> None:
    found = cli(*words, "--what-if", "A:5=2", "--json", "-")
    assert found.code == 1
    assert found.data["headline"]["after"] == {"value": None, "n": 0}
    assert found.data["not_remembered"] == ["A/1", "B/1"]
    (line,) = [line for line in found.lines if "no remembered table" in line]
    assert "A/1, B/1" in line
    assert "medotter-viewer score" in line
    assert "--compute" in line


def test_compute_scores_and_measures_what_is_not_remembered(
    cli: Any, words: list[Any], tiny: Any, tmp_path: Path
) -> None:
    change = tmp_path / "change.yaml"
    change.write_text("label_remap: {A: {7: 1}}\neval_regions: {two: [2, 3]}\n")
    without = cli(*words, "--compute", "--what-if", change, "--json", "-").data
    assert without["not_remembered"] == []
    assert without["not_computed"] == {}
    (tmp_path / "whole.yaml").write_text("A: {5: 1, 7: 1, 9: 2, 11: 0}\n")
    remap = ("--remap", tmp_path / "whole.yaml")
    scored = cli("score", tiny.bundle, "--predictions", tiny.predictions, "--no-cache", *remap, "--json", "-").data
    for metric in ("dice", "hd95"):
        assert without["by_region"]["one"][metric]["after"] == scored["aggregate"]["by_region"]["one"][metric]


def test_a_distance_that_was_never_measured_is_not_computed(cli: Any, scored: list[Any]) -> None:
    found = cli(*scored, "--what-if", "A:7=1")
    assert "one hd95: not computed in 1 cases (no remembered distance), left out on both sides" in found.out
    data = cli(*scored, "--what-if", "A:7=1", "--json", "-").data
    assert data["not_computed"] == {"one": {"hd95": 1}}
    assert data["by_region"]["one"]["hd95"]["before"] == data["by_region"]["one"]["hd95"]["after"]


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("A:5", "expected DATASET:NATIVE=CANONICAL"),
        ("Z:5=1", "names dataset 'Z'; the cases are of A, B"),
        ("missing.yaml", "missing.yaml"),
    ],
)
def test_what_cannot_be_meant_is_refused(cli: Any, scored: list[Any], option: str, named: str) -> None:
    found = cli(*scored, "--what-if", option)
    assert found.code in (1, 2)
    assert named in found.err


def test_it_needs_predictions_and_compute_needs_it(cli: Any, tiny: Any) -> None:
    assert "--predictions" in cli("remap-audit", tiny.bundle, "--what-if", "A:5=2").err
    assert "--what-if" in cli("remap-audit", tiny.bundle, "--compute").err
