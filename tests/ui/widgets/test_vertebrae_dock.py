"""The dock of vertebrae: its words and lines, the what-if, what a click does, and saving corrected points."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtCore import Qt

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.widgets.vertebra_rows import levels
from medotter_viewer.ui.widgets.vertebrae import VertebraeDock

SPEC = {
    "task_type": "vertebra",
    "eval_regions": {"T12": [19], "L1": [20], "L2": [21], "lumbar": [20, 21]},
    "metrics": ["dice", "id_rate"],
}
AFFINE = np.diag([1.0, 1.0, 1.0, 1.0])


def mask(labels: tuple[int, ...]) -> Any:
    """Blocks of 4 mm, 30 mm apart, the first at the head."""
    data = np.zeros((12, 12, 80), dtype=np.uint8)
    for place, label in enumerate(labels):
        data[4:8, 4:8, 70 - 30 * place : 74 - 30 * place] = label
    return data


def write_points(path: Path, points: dict[int, tuple[float, float, float]]) -> None:
    entries = [dict(zip(("label", "X", "Y", "Z"), (i, *p), strict=True)) for i, p in points.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([{"direction": list("RAS")}, *entries]))


GT = {19: (6, 6, 72), 20: (6, 6, 42), 21: (6, 6, 12)}


@pytest.fixture
def spines(tmp_path: Path, write_bundle: Any) -> Any:
    """Three cases: points of both sides, masks alone with labels one level too high, and no prediction."""
    case = {"gt": mask((19, 20, 21)), "affine": AFFINE}
    tiny = write_bundle(
        tmp_path,
        {"V/points": {**case, "landmarks": "gt_ctd.json"}, "V/masks": case, "V/none": case},
        eval_spec=SPEC,
        task={"task": {"id": "spines"}},
        predictions={"V/masks": mask((18, 19, 20))},
    )
    write_points(tiny.data / "gt_ctd.json", GT)
    write_points(tiny.predictions / "V/points_ctd.json", {19: (6, 9, 72), 20: (6, 6, 14), 28: (6, 6, 58)})
    return tiny


@pytest.fixture
def session(spines: Any, at_once: Any) -> Iterator[ReviewSession]:
    source = open_source(spines.bundle, predictions=spines.predictions, data_root=spines.data)
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    yield session
    session.close()


@pytest.fixture
def dock(session: ReviewSession, qtbot: Any) -> Iterator[VertebraeDock]:
    dock = VertebraeDock(session)
    qtbot.addWidget(dock)
    dock.show()
    yield dock
    dock.close_connections()


def lines(dock: VertebraeDock) -> list[list[str]]:
    return [[cell.text for cell in dock.model.cells(row)] for row in range(dock.model.rowCount())]


def test_a_line_for_each_vertebra_from_the_head_to_the_feet(session, dock):
    session.go_to("V/points")
    assert lines(dock) == [
        ["T12", "3.00", "T12", "hit", "–", "–"],
        ["T13", "–", "T12", "extra", "–", "–"],
        ["L1", "28.00", "L2", "nearer to L2", "–", "–"],
        ["L2", "–", "–", "missed", "–", "–"],
    ]
    assert dock.header.text().splitlines() == [
        "id rate 0.333: 1 of 3 (nearest of all, < 20 mm)",
        "by rule: official 0.333 · task text 0.333",
        "mean distance 15.50 mm · missed 1 · extra 1",
    ]
    assert dock.derived.isHidden()
    assert dock.shift.isHidden()


def test_dice_and_hd_stand_beside_each_vertebra(session, dock):
    session.go_to("V/masks")
    assert [line[4:] for line in lines(dock)] == [
        ["–", "–"],  # T11, which no region is
        ["0.000", "30.00"],
        ["0.000", "30.00"],
        ["0.000", "cap 82 diag."],  # not predicted: the diagonal of 12, 12 and 80 mm
    ]
    assert lines(dock)[3][3] == "missed"


def test_points_from_a_mask_are_marked(session, dock):
    session.go_to("V/masks")
    assert dock.derived.isVisible()
    assert dock.derived.text().startswith("points from mask (ground truth and prediction): about 12 mm")
    assert "cut off by the image" in dock.derived.text()


def test_what_if_all_labels_were_moved_and_as_in_the_file_again(session, dock, qtbot):
    session.go_to("V/masks")
    assert dock.shift.text() == "Labels look shifted: moved 1 level towards the feet, they fit."
    assert dock.what_if.text() == "What if: move labels 1 level towards the feet"
    assert dock.as_in_file.isHidden()
    qtbot.mouseClick(dock.what_if, Qt.MouseButton.LeftButton)
    assert session.working.level_shift == 1
    assert dock.shift.text() == "What if: all predicted labels moved 1 level towards the feet. id rate 0.000 → 1.000."
    assert [line[3:] for line in lines(dock)] == [["hit", "1.000", "0.00"]] * 3
    assert dock.what_if.isHidden()
    qtbot.mouseClick(dock.as_in_file, Qt.MouseButton.LeftButton)
    assert session.working.level_shift == 0
    assert lines(dock)[3][3] == "missed"


def test_a_label_that_leaves_the_spine_is_named(session, dock, qtbot):
    session.go_to("V/masks")
    for _ in range(5):  # L1, the lowest, becomes L5 by four
        qtbot.mouseClick(dock.to_feet, Qt.MouseButton.LeftButton)
    assert "Beyond the end, left out: L1." in dock.shift.text()
    assert "moved 5 levels towards the feet" in dock.shift.text()
    qtbot.mouseClick(dock.to_head, Qt.MouseButton.LeftButton)
    assert "left out" not in dock.shift.text()


def test_a_click_on_a_vertebra_goes_there(session, dock, qtbot):
    session.go_to("V/points")
    heard = []
    dock.vertebra_activated.connect(heard.append)
    dock.table.row_chosen.emit(1)
    assert heard == [28]


def test_a_moved_point_changes_the_line_and_says_so(session, dock):
    session.go_to("V/points")
    session.edits.move_points({20: (6.0, 6.0, 40.0)})
    assert lines(dock)[2][:4] == ["L1", "2.00", "L1", "hit · moved by hand"]
    assert "edited, not saved" in dock.header.text()
    session.edits.undo()
    assert lines(dock)[2][3] == "nearer to L2"


def test_a_painted_mask_moves_the_points_that_follow_it(session, dock):
    session.go_to("V/masks")
    assert lines(dock)[2][:4] == ["L1", "30.00", "L2", "nearer to L2"]
    session.pred_data[4:8, 4:8, 40:44] = 20  # as large as the block that is there: the centre lies between both
    session.edits.note_painted()
    assert lines(dock)[2][:4] == ["L1", "15.00", "L1", "hit"]


def test_without_a_prediction_the_ground_truth_stands_alone(session, dock):
    session.go_to("V/none")
    assert [line[0] for line in lines(dock)] == ["T12", "L1", "L2"]
    assert {line[3] for line in lines(dock)} == {"ground truth only"}
    assert dock.header.text() == "ground truth alone: nothing to compare"
    assert not dock.save.isEnabled()
    assert dock.overview.isEnabled()


def test_corrected_points_are_saved_with_what_was_changed(session, dock, tmp_path):
    session.go_to("V/points")
    session.edits.move_points({20: (6.0, 6.0, 40.0)})
    dock.save_points(tmp_path / "own_ctd.json")
    assert dock.status.text().startswith("3 points saved: ")
    provenance = json.loads((tmp_path / "own_ctd.provenance.json").read_text("utf-8"))
    assert (provenance["moved"], provenance["case"]) == ([20], "V/points")
    dock.save_points(tmp_path / "own_ctd.json")
    assert dock.status.text().startswith("Not saved: ")
    assert "exists" in dock.status.text()


@pytest.mark.parametrize(
    ("key", "modifier"),
    [(Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)],
)
def test_the_overview_is_closed_by_escape_and_ctrl_q(session, dock, qtbot, key, modifier):
    session.go_to("V/points")
    qtbot.mouseClick(dock.overview, Qt.MouseButton.LeftButton)
    picture = dock.picture
    picture.activateWindow()
    qtbot.waitUntil(picture.isActiveWindow)
    qtbot.keyClick(picture, key, modifier)
    assert not picture.isVisible()
    assert dock.isVisible()


def test_the_overview_is_drawn_in_a_window_of_its_own_and_follows(session, dock, qtbot):
    session.go_to("V/points")
    qtbot.mouseClick(dock.overview, Qt.MouseButton.LeftButton)
    picture = dock.picture
    assert picture.isVisible()
    assert picture.windowTitle() == "Spine overview · V/points"
    first = picture.label.pixmap().cacheKey()
    session.edits.move_points({20: (6.0, 6.0, 40.0)})
    assert picture.label.pixmap().cacheKey() != first
    session.go_to("V/masks")
    assert picture.windowTitle() == "Spine overview · V/masks"
    dock.close_connections()
    assert not picture.isVisible()


def test_a_spine_that_cannot_be_drawn_says_why(session, dock, qtbot, spines):
    write_points(spines.data / "gt_ctd.json", {20: GT[20]})
    write_points(spines.predictions / "V/points_ctd.json", {20: GT[20]})
    session.go_to("V/points")
    qtbot.mouseClick(dock.overview, Qt.MouseButton.LeftButton)
    assert "two vertebrae or more" in dock.picture.label.text()


def test_nothing_is_computed_while_nobody_looks(session, qtbot):
    dock = VertebraeDock(session)
    qtbot.addWidget(dock)
    session.go_to("V/points")
    assert dock.facts is None
    dock.show()
    assert dock.model.rowCount() == 4
    dock.close_connections()


@pytest.mark.parametrize(("by", "text"), [(1, "1 level towards the feet"), (-3, "3 levels towards the head")])
def test_shifts_in_words(by, text):
    assert levels(by) == text
