"""The report of a split: its JSON form, its rows, and the rules it states."""

from __future__ import annotations

import json
from typing import Any

import pytest

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import HD95_NAMES, EvalSpec
from medotter_viewer.evaluation.report import TargetReport, definitions, make_report
from medotter_viewer.scoring.options import ScoreOptions

SPEC = EvalSpec.from_mapping(
    {
        "eval_regions": {"one": [1], "two": [2]},
        "metrics": ["dice", "hd95"],
        "empty_structure": {"hd95": {"gt_nonempty_pred_empty": 80}},
        "aggregation": {"unit": "patient"},
    }
)
SCORED = CaseScore(
    "D/1",
    "scored",
    dataset="D",
    notes=(Finding("info", "unscored-ids", "ids ignored", where="D/1"),),
    regions={
        "one": RegionScore(
            {"dice": MetricValue(0.0), "hd95": MetricValue(80.0, "cap", "gt_nonempty_pred_empty")}, 5, 0, 0
        ),
        "two": RegionScore(dict.fromkeys(("dice", "hd95"), MetricValue(None, "not_labelled"))),
    },
)
MISSING = CaseScore.unscored("D/2", "missing_prediction", "case D/2: no prediction found")


def report_of(*scores: CaseScore, **options: Any) -> TargetReport:
    return make_report(
        list(scores), SPEC, ScoreOptions(**options), target="t", split="test", version="1", hash_="ab", model="m"
    )


def test_json_has_the_keys_of_the_contract() -> None:
    content = report_of(SCORED, MISSING).to_dict()
    assert list(content) == [
        "target", "version", "hash", "model", "split", "definitions", "complete", "cases", "aggregate",
    ]  # fmt: skip
    assert [content[k] for k in ("target", "version", "hash", "model", "split")] == ["t", "1", "ab", "m", "test"]
    one = content["cases"]["D/1"]
    assert list(one) == ["status", "message", "dataset", "notes", "regions", "case"]
    assert one["regions"]["one"] == {
        "counts": {"gt": 5, "pred": 0, "intersection": 0},
        "dice": {"value": 0.0, "status": "ok", "rule": None},
        "hd95": {"value": 80.0, "status": "cap", "rule": "gt_nonempty_pred_empty"},
    }
    assert one["regions"]["two"]["dice"] == {"value": None, "status": "not_labelled", "rule": None}
    assert list(one["notes"][0]) == ["severity", "code", "file", "where", "message"]
    assert content["cases"]["D/2"] == {
        "status": "missing_prediction",
        "message": "case D/2: no prediction found",
        "dataset": None,
        "notes": [],
        "regions": {},
        "case": {},
    }


def test_json_can_be_written_without_nan() -> None:
    for report in (report_of(SCORED, MISSING), report_of(MISSING), report_of()):
        content = report.to_dict()
        assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_complete_only_when_every_case_is_scored() -> None:
    assert report_of(SCORED).complete
    assert not report_of(SCORED, MISSING).complete
    failed = CaseScore.unscored("D/3", "error", "damaged")
    assert not report_of(SCORED, failed).complete


def test_rows_are_one_for_each_case_region_and_metric() -> None:
    rows = report_of(SCORED, MISSING).rows()
    assert [(r["case"], r.get("region"), r.get("metric"), r.get("value")) for r in rows] == [
        ("D/1", "one", "dice", 0.0),
        ("D/1", "one", "hd95", 80.0),
        ("D/1", "two", "dice", None),
        ("D/1", "two", "hd95", None),
        ("D/2", None, None, None),
    ]
    assert rows[1]["rule"] == "gt_nonempty_pred_empty"
    assert rows[1]["gt_voxels"] == 5
    assert rows[4]["message"] == "case D/2: no prediction found"


def test_dataframe_holds_the_rows() -> None:
    pytest.importorskip("pandas")
    frame = report_of(SCORED, MISSING).to_dataframe()
    assert len(frame) == 5
    assert frame.loc[1, "value"] == 80.0


def test_definitions_state_the_rules_in_force() -> None:
    stated = definitions(SPEC, ScoreOptions(hd95="pooled", missing="empty"))
    assert stated["hd95"]["name"] == "pooled"
    assert stated["hd95"]["percentile"] == 95.0
    assert stated["hd95"]["spacing"] == "from_header"
    assert stated["empty_structure"] == {"hd95": {"gt_nonempty_pred_empty": 80.0}}
    assert (stated["unit"], stated["missing"], stated["partial_label"]) == ("patient", "empty", False)
    assert stated["regions"] == {"one": [1], "two": [2]}


def test_every_hd95_says_what_it_means() -> None:
    meanings = {name: definitions(SPEC, ScoreOptions(hd95=name))["hd95"]["meaning"] for name in HD95_NAMES}
    assert len(set(meanings.values())) == len(HD95_NAMES) == 4


def test_notebook_form_escapes_what_files_say() -> None:
    evil = CaseScore.unscored("D/<b>", "error", "<script>alert(1)</script>")
    html = report_of(SCORED, evil)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "1 scored, 1 error" in html
