"""The case list: what a row says, what a filter keeps, what comes first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.session.case_list import CaseRow, arrange, case_row, headline_value
from medotter_viewer.sources.folder_pairs import SHOWN_ONLY

REGIONS = {"eval_regions": {"a": [1], "b": [2], "c": [3]}}
ONE, MACRO = (EvalSpec.from_mapping({**REGIONS, "main_region": main}) for main in ("a", "macro_avg"))


def score_of(**dice: float | None) -> CaseScore:
    regions = {
        name: RegionScore({"dice": MetricValue(v) if v is not None else MetricValue(None, "not_labelled")})
        for name, v in dice.items()
    }
    return CaseScore("1", "scored", regions=regions)


def row(
    case_id: str, *, status: str = "scored", values: dict[str, float | None] | None = None, **entry: Any
) -> CaseRow:
    return CaseRow(CaseEntry(case_id, **entry), None, status, values or {})


def test_far_points_and_missed_vertebrae_are_worse() -> None:
    rows = [row("near", values={"d_mean": 2.0, "n_missing": 0}), row("far", values={"d_mean": 9.0, "n_missing": 3})]
    for metric in ("d_mean", "n_missing"):
        assert [one.case_id for one in arrange(rows, text="", worst_first=metric)] == ["far", "near"]


class TestRow:
    def test_value_of_the_headline_region(self) -> None:
        assert headline_value(score_of(a=0.5, b=1.0), ONE, "dice") == 0.5

    def test_or_the_mean_over_the_labelled_regions(self) -> None:
        assert headline_value(score_of(a=0.5, b=1.0, c=None), MACRO, "dice") == 0.75

    def test_not_labelled_is_not_zero(self) -> None:
        assert headline_value(score_of(a=None, b=0.2), ONE, "dice") is None
        assert headline_value(score_of(a=0.1), ONE, "hd95") is None

    def test_a_metric_of_the_case_is_taken_as_it_is(self) -> None:
        assert headline_value(CaseScore("1", "scored", case={"d_mean": MetricValue(2.5)}), MACRO, "d_mean") == 2.5

    @pytest.mark.parametrize(
        ("score", "findings", "pred", "expected"),
        [
            (CaseScore("1", "scored"), (), "p", "scored"),
            (CaseScore("1", "error", "x"), (), "p", "error"),
            (CaseScore("1", "missing_prediction", "x"), (), None, "no prediction"),
            (None, (), "p", "not scored yet"),
            (None, (), None, "no prediction"),
            (None, (Finding("error", "missing-file", "x"),), "p", "missing file"),
            (None, (Finding("error", "no-remap", "x"),), "p", "error"),
            (None, (Finding("warning", "missing-file", "the image"),), "p", "not scored yet"),
        ],
    )
    def test_status_in_words(self, score: Any, findings: Any, pred: str | None, expected: str) -> None:
        entry = CaseEntry("1", pred_path=Path(pred) if pred else None, findings=findings)
        found = case_row(entry, score, ONE, ("dice", "hd95"))
        assert found.status == expected
        assert found.values == {"dice": None, "hd95": None}

    def test_without_ground_truth_only_errors_are_said(self) -> None:
        shown = replace(ONE, task_type=SHOWN_ONLY)
        broken = Finding("error", "missing-file", "x")
        assert case_row(CaseEntry("1"), None, shown, ()).status == ""
        assert case_row(CaseEntry("1", findings=(broken,)), None, shown, ()).status == "missing file"


class TestFilter:
    ROWS = (
        row("BTCV/0001", dataset="BTCV", split="test", tier="easy"),
        row("BTCV/0002", dataset="BTCV", split="train", tier="hard", status="no prediction"),
        row("AMOS/btcv", dataset="AMOS", split="test", tier=None),
    )

    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("", [0, 1, 2]),
            ("btcv", [0, 1, 2]),
            ("dataset:BTCV", [0, 1]),
            ("DATASET:btcv", [0, 1]),
            ("dataset:BTCV tier:hard", [1]),
            ("case:btcv", [0, 1, 2]),
            ("case:0001", [0]),
            ("split:test", [0, 2]),
            ("status:prediction", [1]),
            ("test 0001", [0]),
            ("tier:easy tier:hard", []),
            ("nowhere", []),
            ("unknown:field", []),
        ],
    )
    def test_words_must_all_be_found(self, text: str, kept: list[int]) -> None:
        assert arrange(self.ROWS, text=text) == [self.ROWS[i] for i in kept]


class TestOrder:
    ROWS = (
        row("none", values={"dice": None, "hd95": None}),
        row("mid", values={"dice": 0.5, "hd95": 4.0}),
        row("zero", values={"dice": 0.0, "hd95": 0.0}),
        row("also mid", values={"dice": 0.5, "hd95": 4.0}),
        row("top", values={"dice": 1.0, "hd95": 80.0}),
        row("unknown"),
    )

    def order(self, metric: str | None) -> list[str]:
        return [r.case_id for r in arrange(self.ROWS, worst_first=metric)]

    def test_small_overlap_is_worst_and_no_value_is_not_zero(self) -> None:
        assert self.order("dice") == ["zero", "mid", "also mid", "top", "none", "unknown"]

    def test_large_distance_is_worst(self) -> None:
        assert self.order("hd95") == ["top", "mid", "also mid", "zero", "none", "unknown"]

    @pytest.mark.parametrize("metric", ["fp", "fn"])
    def test_most_wrong_objects_are_worst(self, metric: str) -> None:
        rows = [row("few", values={metric: 1}), row("many", values={metric: 12}), row("none", values={metric: 0})]
        assert [r.case_id for r in arrange(rows, worst_first=metric)] == ["many", "few", "none"]

    def test_without_a_metric_as_the_manifest_has_it(self) -> None:
        assert self.order(None) == [r.case_id for r in self.ROWS]
