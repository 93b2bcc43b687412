"""Findings, volumes, cases and scores as values: what they say of themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from medotter_viewer import Case, CaseEntry, CaseScore, Grid, LabelMap, MetricValue, RegionScore, Remap
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.reprs import metric_header, metric_text, number_text
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import CaseNotFoundError, MedotterViewerError, ReadError

GRID = Grid((2, 3, 4), np.diag([1.0, 2.0, 3.0, 1.0]))
HOSTILE = "<script>alert(1)</script>"


def test_errors_are_the_errors_in_order() -> None:
    findings = [
        Finding("error", "a", "1"),
        Finding("warning", "b", "2"),
        Finding("info", "c", "3"),
        Finding("error", "d", "4"),
    ]
    assert [f.code for f in errors_of(findings)] == ["a", "d"]
    assert errors_of([]) == []


def test_a_finding_is_five_fields() -> None:
    assert Finding("info", "code", "words", "file", "line 3").to_dict() == {
        "severity": "info",
        "code": "code",
        "file": "file",
        "where": "line 3",
        "message": "words",
    }


def test_a_volume_has_the_shape_of_its_grid() -> None:
    with pytest.raises(ReadError, match=r"\(2, 3, 5\) on a grid of shape \(2, 3, 4\)"):
        Volume(np.zeros((2, 3, 5)), GRID)


def test_missing_parts_are_those_whose_files_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "t1").write_bytes(b"")
    entry = CaseEntry("A/1", channels={"t1": tmp_path / "t1", "t2": tmp_path / "t2"}, gt_path=tmp_path / "gt")
    assert entry.missing == ("t2", "gt", "prediction")


def test_a_case_in_a_notebook_says_grids_remap_and_findings_escaped() -> None:
    entry = CaseEntry(HOSTILE, dataset="A", remap=Remap({1: 2, 4: 3}, "dict", "task.yaml: label_remap.A"))
    labels = LabelMap(np.zeros((2, 3, 4), dtype=np.uint8), GRID)
    findings = (Finding("error", "x", HOSTILE),)
    html = Case(entry, {HOSTILE: Volume(np.zeros((2, 3, 4)), GRID)}, labels, findings=findings)._repr_html_()
    assert "<script>" not in html
    assert "2 native ids listed (task.yaml: label_remap.A)" in html
    assert "2 x 3 x 4 voxels of 1 x 2 x 3 mm, RAS" in html
    assert "not there" in html
    assert "error: &lt;script&gt;" in html


def test_the_grid_of_a_case_is_that_of_its_labels_and_else_of_its_first_image() -> None:
    other = Grid((3, 3, 3), np.eye(4))
    images = {"t1": Volume(np.zeros((3, 3, 3)), other), "t2": Volume(np.zeros((2, 3, 4)), GRID)}
    labels, entry = LabelMap(np.zeros((2, 3, 4), dtype=np.uint8), GRID), CaseEntry("A/1")
    for part in ("gt", "gt_native", "pred"):
        assert Case(entry, images, **{part: labels}).grid is GRID
    assert Case(entry, images).grid is other
    assert Case(entry, images).first_image is images["t1"]
    assert Case(entry).grid is Case(entry).first_image is None


@pytest.mark.parametrize(
    ("remap", "text"),
    [(None, "unknown: native ids are shown, not scored"), (Remap(None, "none"), "every id stays (none)")],
)
def test_a_case_says_what_its_remap_is(remap: Remap | None, text: str) -> None:
    assert text in Case(CaseEntry("A/1", remap=remap))._repr_html_()


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("hd95", MetricValue(12.345), "12.35"),
        ("hd95", MetricValue(2.0), "2.00"),
        ("dice", MetricValue(0.66666), "0.667"),
        ("hd95", MetricValue(373.13, "cap", "gt_nonempty_pred_empty"), "cap 373.13 (spec)"),
        ("hd95", MetricValue(500.0, "cap", "image_diagonal"), "cap 500 (image diagonal)"),
        ("hd95", MetricValue(0.0, "absent", "both_empty"), "absent in both"),
        ("dice", MetricValue(1.0, "absent", "both_empty"), "absent in both"),
        ("dice", MetricValue(None, "not_labelled"), "not labelled"),
        ("dice", MetricValue(None, "error"), "error"),
        ("dice", None, "–"),
    ],
)
def test_a_value_is_a_bare_number_only_where_it_was_computed(metric: str, value: MetricValue | None, text: str) -> None:
    assert metric_text(metric, value) == text
    assert value is None or value.counts == (value.value is not None)


def test_numbers_have_the_digits_of_their_metric_and_no_number_is_a_dash_never_zero() -> None:
    assert [number_text(metric, 0.12345) for metric in ("dice", "iou", "hd95", "d_mean")] == [
        "0.123",
        "0.123",
        "0.12",
        "0.12",
    ]
    assert (number_text("dice", None), number_text("dice", 0.0)) == ("–", "0.000")
    assert (metric_header("hd95"), metric_header("dice")) == ("hd95 (mm)", "dice")


def test_a_score_as_rows_has_one_row_for_each_region_and_metric() -> None:
    region = RegionScore({"dice": MetricValue(0.5), "hd95": MetricValue(None, "not_labelled")}, 10, 20, 5)
    score = CaseScore("A/1", "scored", dataset="A", regions={"liver": region}, case={"id_rate": MetricValue(1.0)})
    rows = score.rows()
    assert [(r["region"], r["metric"], r["value"], r["status"]) for r in rows] == [
        ("liver", "dice", 0.5, "ok"),
        ("liver", "hd95", None, "not_labelled"),
        (None, "id_rate", 1.0, "ok"),
    ]
    assert (rows[0]["gt_voxels"], rows[0]["pred_voxels"], rows[0]["intersection"]) == (10, 20, 5)
    assert score.to_dict()["regions"]["liver"]["counts"] == {"gt": 10, "pred": 20, "intersection": 5}


def test_a_case_without_numbers_says_why() -> None:
    score = CaseScore.unscored("A/1", "missing_prediction", f"no file {HOSTILE}")
    assert score.rows() == [
        {"case": "A/1", "dataset": None, "case_status": "missing_prediction", "message": f"no file {HOSTILE}"}
    ]
    assert "missing prediction" in score._repr_html_()
    assert "<script>" not in score._repr_html_()


def test_messages_are_shown_as_written_whatever_built_in_they_derive_from() -> None:
    assert str(CaseNotFoundError("no case 'A/1'")) == "no case 'A/1'"
    assert str(MedotterViewerError()) == ""
    assert isinstance(CaseNotFoundError("x"), KeyError)
    assert isinstance(ReadError("x"), OSError)


def test_a_message_about_an_endless_value_stays_readable_and_keeps_its_end() -> None:
    message = str(ReadError(f"a.json: got {'9' * 5000}, expected less; shorten it"))
    assert len(message) < 1300
    assert message.startswith("a.json: got 999")
    assert message.endswith("expected less; shorten it")
    assert "3,8" in message.split("[...")[1].split("letters")[0]
    assert str(ReadError("short")) == "short"
