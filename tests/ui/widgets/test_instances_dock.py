"""The dock of instances: its lines, the threshold, sorting, and what a click does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtCore import QPoint, QPointF, Qt
from qtpy.QtGui import QWheelEvent
from qtpy.QtWidgets import QApplication

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.widgets.instances import InstancesDock
from medotter_viewer.ui.widgets.instances_rows import summary_titles
from medotter_viewer.ui.widgets.threshold import ThresholdCurve

SPEC = {
    "task_type": "instance_seg_3d",
    "eval_regions": {"nucleus": [1]},
    "metrics": ["f1", "aji", "pq"],
    "iou_threshold": 0.5,
    "main_region": "nucleus",
}


def block(*boxes: tuple[int, int, int, int, int], n: int = 24) -> Any:
    array = np.zeros((n, n, 2), dtype=np.int32)
    for label, top, bottom, left, right in boxes:
        array[top:bottom, left:right] = label
    return array


# 1 matched with 7 (24 of 32 voxels: 0.75); 2 and 3 merged into 8; 4 cut into 40 and 41; 5 missed; 9 invented
GT = block((1, 0, 4, 0, 4), (2, 6, 10, 0, 4), (3, 6, 10, 4, 8), (4, 12, 16, 0, 8), (5, 18, 20, 0, 2))
PRED = block((7, 0, 3, 0, 4), (8, 6, 10, 0, 8), (40, 12, 16, 0, 4), (41, 12, 16, 4, 8), (9, 20, 24, 20, 24))


@pytest.fixture
def session(tmp_path: Path, write_bundle: Any, at_once: Any) -> Iterator[ReviewSession]:
    case = {"gt": GT, "spacing": (0.5, 0.5, 2.0)}
    tiny = write_bundle(
        tmp_path,
        {"D/a": case, "D/same": case, "D/none": case},
        task={"task": {"id": "nuclei"}},
        eval_spec=SPEC,
        predictions={"D/a": PRED, "D/same": GT},
    )
    source = open_source(tiny.bundle, predictions=tiny.predictions, data_root=tiny.data)
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    yield session
    session.close()


@pytest.fixture
def dock(session: ReviewSession, qtbot: Any) -> Iterator[InstancesDock]:
    dock = InstancesDock(session)
    qtbot.addWidget(dock)
    dock.show()
    yield dock
    dock.close_connections()


def lines(table: Any) -> list[list[str]]:
    model = table.model()
    return [[cell.text for cell in model.cells(row)] for row in range(model.rowCount())]


def test_every_object_has_a_line_what_has_no_match_first(session, dock):
    session.go_to("D/a")
    # voxels of 0.5 mm³; union: 32 + 64 + 64 + 64 + 8 + 32 (41) + 32 (9)
    assert lines(dock.table) == [
        ["invented", "–", "9", "0.000", "–", "16", "10.81"],
        ["fragment", "4", "41", "0.500", "32", "16", "10.81"],
        ["merged", "2", "8", "0.500", "16", "32", "10.81"],
        ["merged", "3", "8", "0.500", "16", "32", "10.81"],
        ["split", "4", "40, 41", "0.500", "32", "16", "10.81"],
        ["missed", "5", "–", "0.000", "4", "–", "2.70"],
        ["fragment", "4", "40", "0.500", "32", "16", "0.00"],
        ["merge", "2, 3", "8", "0.500", "16", "32", "0.00"],
        ["match", "1", "7", "0.750", "16", "12", "2.70"],
    ]
    assert [c.header for c in dock.model.columns] == [
        "",
        "gt",
        "pred",
        "IoU",
        "gt\n[mm³]",
        "pred\n[mm³]",
        "AJI loss\n[1/100]",
    ]


def test_reasons_stand_behind_class_and_loss(session, dock):
    session.go_to("D/a")
    told = {line[0].text + line[2].text: (line[0].why, line[6].why) for line in map(dock.model.cells, range(9))}
    assert told["merge8"][0] == "FP: prediction 8 holds more than half of each of the ground-truth objects 2, 3"
    assert told["split40, 41"][0] == "FN: ground truth 4 holds more than half of each of the predictions 40, 41"
    assert told["missed–"][0] == "FN: ground truth 5 has no match; no prediction overlaps it"
    assert told["invented9"][0] == "FP: prediction 9 has no match; no ground truth overlaps it"
    assert told["fragment41"][0] == (
        "FP: prediction 41 has no match; its best, ground truth 4, has IoU 0.500; "
        "most of it lies in that object, as of another prediction"
    )
    assert told["merged8"][0].endswith("most of it lies in that prediction, as of another object")
    assert told["match7"][0] == "TP: ground truth 1 and prediction 7 match"
    assert told["match7"][1].startswith("8 of 296 (0.02703): voxels in ground truth 1 or in the prediction it takes")
    assert "is counted with the ground-truth objects" in told["merge8"][1]


def test_scores_counts_and_what_no_threshold_changes(session, dock):
    session.go_to("D/a")
    # one match of 5 and 5: F1 0.2; SQ 0.75; PQ 0.15
    assert lines(dock.summary) == [["IoU > 0.5 (spec)", "0.200", "0.150", "0.750", "1", "4", "4"]]
    assert dock.whole.text().startswith("AJI 0.405")
    assert dock.whole.text().endswith("5 gt, 5 predicted · 1 merge, 1 split")


def test_moving_the_threshold_shows_both_lines_and_back_goes_back(session, dock, qtbot):
    session.go_to("D/a")
    assert not dock.back.isEnabled()
    dock.curve.moved.emit(0.8)
    assert lines(dock.summary) == [
        ["IoU > 0.8", "0.000", "0.000", "0.000", "0", "5", "5"],
        ["IoU > 0.5 (spec)", "0.200", "0.150", "0.750", "1", "4", "4"],
    ]
    assert len(lines(dock.table)) == 10
    assert dock.back.isEnabled()
    qtbot.mouseClick(dock.back, Qt.MouseButton.LeftButton)
    assert session.matches.threshold == 0.5
    assert len(lines(dock.table)) == 9
    assert summary_titles(0.05, 0.5) == ["IoU > 0.05", "IoU > 0.5 (spec)"]


def test_headers_sort_and_are_marked(session, dock):
    session.go_to("D/a")
    dock.table.horizontalHeader().sectionClicked.emit(4)
    assert [line[4] for line in lines(dock.table)] == ["32"] * 3 + ["16"] * 4 + ["4", "–"]
    assert dock.model.columns[4].header == "gt ▼\n[mm³]"
    dock.table.horizontalHeader().sectionClicked.emit(4)
    assert [line[4] for line in lines(dock.table)][:2] == ["4", "16"]
    assert dock.model.columns[4].header == "gt ▲\n[mm³]"
    dock.table.horizontalHeader().sectionClicked.emit(4)
    assert dock.model.columns[4].header == "gt\n[mm³]"


def test_a_click_on_a_row_looks_at_its_object_and_gives_the_keyboard_back(session, dock, qtbot):
    session.go_to("D/a")
    done, activated = [], []
    dock._on_done = lambda: done.append(True)
    dock.object_activated.connect(lambda: activated.append(True))
    place = next(row for row, line in enumerate(lines(dock.table)) if line[0] == "split")
    at = dock.table.visualRect(dock.model.index(place, 1)).center()
    qtbot.mouseClick(dock.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert session.matches.selected.kind == "split"
    assert done == activated == [True]
    assert dock.table.selected_row() == place


def test_the_row_that_is_looked_at_stays_selected(session, dock):
    session.go_to("D/a")
    session.matches.select(8)
    assert dock.table.selected_row() == 8
    session.matches.set_threshold(0.8)
    assert lines(dock.table)[dock.table.selected_row()][:2] == ["missed", "1"]
    session.matches.sort_by("gt")
    assert lines(dock.table)[dock.table.selected_row()][1] == "1"
    session.go_to("D/same")
    assert dock.table.selected_row() is None


def test_colouring_is_told_to_the_session_and_follows_it(session, dock, qtbot):
    session.go_to("D/a")
    dock.colored.click()
    assert session.matches.colored
    session.matches.set_colored(False)
    assert not dock.colored.isChecked()


def test_why_nothing_is_listed_stands_in_words(session, dock):
    assert dock.message.text() == "No case is open. Click one in the case list."
    told = []
    session.events.loading_started.connect(lambda _: told.append(dock.message.text()))
    session.go_to("D/none")
    assert told == ["Opening D/none…"]
    assert dock.message.text() == "No prediction, no matches."
    assert dock.message.isVisible()
    assert not dock.table.isVisible()
    session.go_to("D/a")
    assert not dock.message.isVisible()
    assert dock.table.isVisible()


def test_a_closed_dock_listens_no_more(session, dock):
    session.go_to("D/a")
    dock.close_connections()
    session.go_to("D/same")
    assert dock.whole.text().startswith("AJI 0.405")


# ---------------------------------------------------------------- the curve


@pytest.fixture
def curve(qtbot: Any) -> ThresholdCurve:
    curve = ThresholdCurve(0.05, 0.95)
    qtbot.addWidget(curve)
    curve.resize(300, 96)
    curve.show()
    return curve


def test_a_press_and_a_drag_move_the_threshold_to_where_the_mouse_is(curve, qtbot):
    moved: list[float] = []
    curve.moved.connect(lambda t: (moved.append(t), curve.show_state((), t, 0.5)))
    qtbot.mousePress(curve, Qt.MouseButton.LeftButton, pos=QPoint(round(curve.x_of(0.3)), 40))
    qtbot.mouseMove(curve, QPoint(round(curve.x_of(0.7)), 40))
    assert moved[0] == pytest.approx(0.3, abs=0.011)
    curve.mousePressEvent(_press(curve, 5000))
    assert moved[-1] == 0.95
    curve.mousePressEvent(_press(curve, -50))
    assert moved[-1] == 0.05


def _press(widget: Any, x: float) -> Any:
    from qtpy.QtCore import QEvent
    from qtpy.QtGui import QMouseEvent

    button = Qt.MouseButton.LeftButton
    place = QPointF(x, 40)
    return QMouseEvent(QEvent.Type.MouseButtonPress, place, place, button, button, Qt.KeyboardModifier.NoModifier)


def test_arrows_and_wheel_move_it_by_a_hundredth(curve, qtbot):
    moved: list[float] = []
    curve.moved.connect(lambda t: (moved.append(t), curve.show_state((), t, 0.5)))
    qtbot.keyClick(curve, Qt.Key.Key_Right)
    qtbot.keyClick(curve, Qt.Key.Key_Left)
    qtbot.keyClick(curve, Qt.Key.Key_PageUp)
    wheel = QWheelEvent(
        QPointF(50, 40),
        QPointF(curve.mapToGlobal(QPoint(50, 40))),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(curve, wheel)
    assert moved == [0.51, 0.5, 0.6, 0.61]


# ---------------------------------------------------------------- many


def test_a_hundred_thousand_objects_stay_responsive(tmp_path, write_bundle, at_once, qtbot):
    side = 320  # 102,400 objects of 2 x 2
    gt = np.kron(np.arange(1, side * side + 1).reshape(side, side), np.ones((2, 2), dtype=int)).astype(np.int32)[
        ..., None
    ]
    pred = np.where(gt % 7 == 0, 0, gt)
    pred[1::2] = np.where(gt[1::2] % 3 == 0, 0, pred[1::2])
    tiny = write_bundle(
        tmp_path, {"D/a": {"gt": gt}}, task={"task": {"id": "n"}}, eval_spec=SPEC, predictions={"D/a": pred}
    )
    source = open_source(tiny.bundle, predictions=tiny.predictions, data_root=tiny.data)
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    dock = InstancesDock(session)
    qtbot.addWidget(dock)
    dock.resize(460, 700)
    dock.show()
    session.go_to("D/a")
    assert dock.model.rowCount() > 100_000

    def seconds(do: Any) -> float:
        start = time.perf_counter()
        do()
        QApplication.processEvents()
        return time.perf_counter() - start

    assert seconds(lambda: session.matches.set_threshold(0.6)) < 1
    assert seconds(lambda: session.matches.sort_by("iou")) < 1
    assert seconds(lambda: session.matches.select(90_000)) < 1
    assert seconds(lambda: session.matches.step(1)) < 1
    dock.close_connections()
    session.close()
