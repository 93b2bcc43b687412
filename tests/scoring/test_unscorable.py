"""A region that is drawn but has no voxel is no empty region: it has no value, and the other regions keep theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dicom_files import ramp, write_series
from rtstruct_files import Drawn, Structure, square, write_rtstruct

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.core.reprs import metric_text
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.report import report_on
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case

NOT_PLACED = MetricValue(None, "error", "not_placed")
NO_PIXEL = MetricValue(None, "error", "no_pixel_centre")
EMPTY = MetricValue(1.0, "absent", "both_empty")
THERE = [Drawn(square(-0.5, -0.5, 3, 1))]
OFF = {
    "above": [Drawn(square(0, 0, 3, 40))],
    "beside": [Drawn(square(50, 0, 3, 1))],
    "tilted": [Drawn([(0, 0, 0), (3, 0, 0), (3, 3, 2), (0, 3, 2)])],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A series of 3 slices of 8 x 8 pixels of 1 mm."""
    write_series(tmp_path / "image", ramp(3, (8, 8)), thickness=1.0)
    return tmp_path


def source_of(folder: Path, gt: dict[str, Any], pred: dict[str, Any]) -> Any:
    for part, named in (("gt", gt), ("pred", pred)):
        structures = [Structure(number, name, contours) for number, (name, contours) in enumerate(named.items(), 1)]
        write_rtstruct(folder / f"{part}.dcm", structures)
    return open_source(gt=folder / "gt.dcm", pred=folder / "pred.dcm", image=folder / "image")


def score(source: Any) -> CaseScore:
    (found,) = score_entries(list(source.entries()), source.spec, ScoreOptions(("dice", "iou", "hd95")))
    return found


@pytest.mark.parametrize("where", OFF)
@pytest.mark.parametrize("side", ["gt", "pred", "both"])
def test_what_could_not_be_placed_is_neither_absent_nor_missed(folder: Path, where: str, side: str) -> None:
    gt, pred = (OFF[where] if side in (part, "both") else THERE for part in ("gt", "pred"))
    found = score(source_of(folder, {"body": THERE, "gtv": gt}, {"body": THERE, "gtv": pred}))
    assert found.status == "scored"
    assert set(found.regions["gtv"].metrics.values()) == {NOT_PLACED}
    assert found.regions["body"].metrics["dice"] == MetricValue(1.0)
    told = [(n.severity, n.code) for n in found.notes if n.message.startswith("gtv: drawn in the ")]
    assert told == [("warning", "structure-not-scored")] * (2 if side == "both" else 1)
    assert metric_text("dice", NOT_PLACED) == "not scored (contours not placed)"


def test_what_one_file_does_not_name_is_not_absent_where_the_other_could_not_be_placed(folder: Path) -> None:
    found = score(source_of(folder, {"body": THERE, "gtv": OFF["above"]}, {"body": THERE}))
    assert found.regions["gtv"].metrics["dice"] == NOT_PLACED


def test_contours_between_pixel_centres_are_not_empty_either(folder: Path) -> None:
    tiny = [Drawn(square(1.2, 1.2, 0.5, 1))]
    found = score(source_of(folder, {"spot": tiny}, {"spot": tiny}))
    assert set(found.regions["spot"].metrics.values()) == {NO_PIXEL}
    assert "hold no pixel centre" in " ".join(n.message for n in found.notes)


def test_a_marker_is_no_structure_that_agrees(folder: Path) -> None:
    point = [Drawn([(1, 1, 1)], kind="POINT")]
    found = score(source_of(folder, {"body": THERE, "isocentre": point}, {"body": THERE, "isocentre": point}))
    assert set(found.regions["isocentre"].metrics.values()) == {MetricValue(None, "error", "no_outline")}
    assert found.regions["body"].metrics["dice"] == MetricValue(1.0)
    missed = score(source_of(folder, {"body": THERE, "gtv": THERE}, {"body": THERE, "gtv": point}))
    assert missed.regions["gtv"].metrics["dice"] == MetricValue(0.0)


@pytest.mark.parametrize("nothing", [(), None], ids=["no contour", "no item"])
def test_a_structure_without_any_contour_is_empty(folder: Path, nothing: Any) -> None:
    found = score(source_of(folder, {"body": THERE, "gtv": nothing}, {"body": THERE, "gtv": nothing}))
    assert found.regions["gtv"].metrics["dice"] == EMPTY
    missed = score(source_of(folder, {"body": THERE, "gtv": THERE}, {"body": THERE, "gtv": nothing}))
    assert missed.regions["gtv"].metrics["dice"] == MetricValue(0.0)


def test_a_structure_of_which_a_part_is_placed_is_scored(folder: Path) -> None:
    found = score(source_of(folder, {"gtv": [*THERE, *OFF["above"]]}, {"gtv": THERE}))
    assert found.regions["gtv"].metrics["dice"] == MetricValue(1.0)
    assert "contour-outside-stack" in {n.code for n in found.notes}


def test_means_leave_it_out(folder: Path) -> None:
    """body 1, gtv without value, node 0.5: the mean over regions is 0.75."""
    half = [Drawn([(-0.5, -0.5, 1), (0.5, -0.5, 1), (0.5, 2.5, 1), (-0.5, 2.5, 1)])]  # 3 of 9 pixels: 2 * 3 / 12
    parts = ({"body": THERE, "gtv": OFF["above"], "node": THERE}, {"body": THERE, "gtv": THERE, "node": half})
    source = source_of(folder, *parts)
    options = ScoreOptions(("dice",))
    report = report_on(source, score_entries(list(source.entries()), source.spec, options), options, "test")
    assert {n: (m["dice"].value, m["dice"].n) for n, m in report.aggregate.by_region.items() if "dice" in m} == {
        "body": (1.0, 1),
        "gtv": (None, 0),
        "node": (0.5, 1),
    }
    assert report.aggregate.headline.value == 0.75


def test_ids_of_a_specification_are_not_taken_for_names_of_structures(folder: Path) -> None:
    source = source_of(folder, {"body": THERE, "gtv": THERE}, {"body": THERE, "gtv": THERE})
    case = source.load("gt")
    assert score_case(case, source.spec).status == "scored"
    for regions in ({"liver": [1]}, {"gtv": [1], "body": [2]}):
        found = score_case(case, EvalSpec.from_mapping({"eval_regions": regions, "metrics": ["dice"]}))
        assert found.status == "error"
        assert "the files name their structures (body, gtv)" in (found.message or "")
