"""What is edited in the window, exported and scored again on the command line has the window's numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from executors import AtOnce

from medotter_viewer import landmark_scores, open_source, score_case
from medotter_viewer.cli import main
from medotter_viewer.core.vertebra_names import moved_along_spine
from medotter_viewer.export.landmark_files import export_landmarks
from medotter_viewer.export.polygon_files import export_cases
from medotter_viewer.session.review import ReviewSession

SAMPLES = Path(__file__).resolve().parent.parent / "sample_bundles"
LUNG, SPINE = SAMPLES / "lung_scans", SAMPLES / "spine_ct"
TARGET = "radiomics_gtv"


@pytest.fixture
def review() -> Iterator[Callable[[Path, Path], ReviewSession]]:
    """Function that opens a review of a folder with a model's predictions."""
    made = []

    def open_(folder: Path, predictions: Path) -> ReviewSession:
        source = open_source(folder, predictions=predictions)
        made.append(ReviewSession(source, executor=AtOnce(), deliver=lambda call: call(), split="test"))
        return made[-1]

    yield open_
    for session in made:
        session.close()


def exported_scores(session: ReviewSession, folder: Path) -> dict[str, float]:
    """Export every scan as it is edited, and return what ``polygons score`` says of the file."""
    file, report = folder / "submission.csv", folder / "scores.json"
    cases = (session.edits.cases().load(scan, TARGET) for scan in session.source.case_ids())
    assert export_cases(cases, file, spec=session.spec, region=TARGET).cases == 3
    assert main(["polygons", "score", str(file), "--scans", str(LUNG / "data"), "--json", str(report)]) == 0
    return {scan: values["score"] for scan, values in json.loads(report.read_text("utf-8"))["scans"].items()}


def test_polygons_edited_in_the_window_score_the_same_from_the_exported_file(review: Any, tmp_path: Path) -> None:
    session = review(LUNG / "data", LUNG / "predictions" / "mixed")
    session.go_to("PHANTOM_LUNG_1")
    untouched = session.score.case["scan_score"].value
    session.go_to("PHANTOM_LUNG_2")
    before = session.score.case["scan_score"].value
    session.edits.set_rings(12, [ring for ring in session.case.gt_contours.rings[12] if len(ring) > 2])
    better = session.score.case["scan_score"].value
    session.edits.set_rings(4, [])
    edited = session.score.case["scan_score"].value
    assert better > edited > before
    found = exported_scores(session, tmp_path)
    assert found["PHANTOM_LUNG_2"] == edited
    assert found["PHANTOM_LUNG_1"] == untouched
    session.edits.undo()
    session.edits.undo()
    assert session.score.case["scan_score"].value == before
    assert exported_scores(session, tmp_path)["PHANTOM_LUNG_2"] == before


def test_a_label_map_painted_in_the_window_scores_the_same_from_the_exported_file(review: Any, tmp_path: Path) -> None:
    session = review(LUNG / "data", LUNG / "predictions" / "masks")
    session.go_to("PHANTOM_LUNG_3")
    before = session.score.case["scan_score"].value
    ball = session.pred_data[30:40, 36:46]  # on the right: what is no tumour
    assert ball.any()
    ball[:] = 0
    session.edits.note_painted()
    edited = session.score.case["scan_score"].value
    assert edited > before
    assert exported_scores(session, tmp_path)["PHANTOM_LUNG_3"] == edited


def test_points_moved_in_the_window_score_the_same_from_the_exported_file(review: Any, tmp_path: Path) -> None:
    case_id = "PHANTOM_SPINE/001"
    session = review(SPINE, SPINE / "predictions" / "mixed")
    session.go_to(case_id)
    gt = session.case.gt_landmarks.points_world
    session.edits.move_points({21: (gt[21][0] + 3.0, gt[21][1], gt[21][2] - 4.0)})  # the vertebra that was missed
    shown = {name: value.value for name, value in session.score.case.items()}
    assert (shown["id_rate"], shown["n_missing"]) == (7 / 8, 0)
    written = export_landmarks(session.working.current(), tmp_path / "points.json", source=session.case)
    files = [str(SPINE / "data" / "points" / "PHANTOM_SPINE_001_ctd.json"), str(written.path)]
    image = str(SPINE / "data" / "images" / "PHANTOM_SPINE_001.nii.gz")
    assert main(["landmarks", *files, "--image", image, "--json", str(tmp_path / "out.json")]) == 0
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    names = ("id_rate", "id_rate_official", "id_rate_all_gt", "d_mean")
    values = {name: found[name]["value"] if isinstance(found[name], dict) else found[name] for name in names}
    assert values == pytest.approx({name: shown[name] for name in names}, abs=1e-5)  # a millionth of a voxel is written


def test_labels_moved_by_a_level_score_alike_in_the_window_and_by_hand(review: Any) -> None:
    session = review(SPINE, SPINE / "predictions" / "shifted")
    for case_id in session.source.case_ids():
        session.go_to(case_id)
        gt, pred = session.case.gt_landmarks, session.case.pred_landmarks.points_world
        session.edits.set_level_shift(1)
        shown = {name: value.value for name, value in session.score.case.items()}
        names = moved_along_spine({*gt.points_world, *pred}, 1)
        by_hand = landmark_scores(gt, {names[label]: point for label, point in pred.items()})
        assert shown == {name: value.value for name, value in by_hand.items()}
        good = score_case(SPINE, case_id, SPINE / "predictions" / "good")
        assert shown == pytest.approx({name: value.value for name, value in good.case.items()}, abs=1e-9)
        dice = {name: region.metrics["dice"].value for name, region in session.score.regions.items()}
        assert dice == {name: region.metrics["dice"].value for name, region in good.regions.items()}
