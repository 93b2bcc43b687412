"""The loop of a reviewer, by keys and clicks in a real window: worst first, to the error, why, judged, and on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import settle, wait_for

pytestmark = [pytest.mark.window, pytest.mark.real_data]


@pytest.fixture(autouse=True)
def anna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDOTTER_VIEWER_READER", "anna")


@pytest.fixture
def bundle(shared_data: Path, tmp_path: Path) -> Callable[[str, str], tuple[Path, Path]]:
    """Give a real bundle, with the predictions where verdicts can be written beside them."""

    def copied(name: str, model: str) -> tuple[Path, Path]:
        source = shared_data / "bundles" / name
        predictions = tmp_path / "predictions" / model
        shutil.copytree(source / "predictions" / model, predictions)
        for path in predictions.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return source, predictions

    return copied


class Hand:
    """Keys and clicks of a person."""

    def __init__(self, window: Any, qtbot: Any) -> None:
        self.window, self.qtbot = window, qtbot
        self.canvas = window.viewer.window._qt_viewer.canvas.native

    def press(self, key: Any, modifier: Any = None) -> None:
        """A key, wherever the keyboard is."""
        from qtpy.QtCore import Qt
        from qtpy.QtWidgets import QApplication

        self.canvas.window().activateWindow()
        self.qtbot.waitUntil(self.canvas.window().isActiveWindow)
        target = QApplication.focusWidget() or self.canvas
        self.qtbot.keyClick(target, key, modifier or Qt.KeyboardModifier.NoModifier)
        settle(0.05)

    def write(self, text: str) -> None:
        from qtpy.QtWidgets import QApplication

        self.qtbot.keyClicks(QApplication.focusWidget(), text)

    def click_row(self, table: Any, row: int, column: int = 1) -> None:
        from qtpy.QtCore import Qt

        place = table.visualRect(table.model().index(row, column)).center()
        self.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        settle(0.05)

    def click_header(self, table: Any, name: str) -> None:
        """Click the header of the first column that begins with a word."""
        from qtpy.QtCore import QPoint, Qt

        header = table.horizontalHeader()
        column = next(n for n, one in enumerate(table.model().columns) if one.header.split("\n")[0] == name)
        place = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, header.height() // 2)
        self.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
        settle(0.05)

    def save_as(self, path: Path) -> None:
        """Shift+S, and a file's name in the dialog that asks for it."""
        from unittest.mock import patch

        from qtpy.QtCore import Qt
        from qtpy.QtWidgets import QFileDialog

        with patch.object(QFileDialog, "getSaveFileName", return_value=(str(path), "")) as asked:
            self.press(Qt.Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
        asked.assert_called_once()

    def click(self, button: Any) -> None:
        from qtpy.QtCore import Qt

        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        settle(0.05)

    def paint(self, start: tuple[float, ...], end: tuple[float, ...]) -> None:
        """Draw from one displayed position to another."""
        from qtpy.QtCore import QPoint, Qt

        def pixels(world: tuple[float, ...]) -> Any:
            camera = self.window.viewer.scene.camera
            down, across = self.window.viewer.dims.order[-2:]
            x = self.canvas.width() / 2 + (world[across] - camera.center[2]) * camera.zoom
            y = self.canvas.height() / 2 + (world[down] - camera.center[1]) * camera.zoom
            return QPoint(round(x), round(y))

        a, b = pixels(start), pixels(end)
        self.qtbot.mouseMove(self.canvas, a)
        self.qtbot.mousePress(self.canvas, Qt.MouseButton.LeftButton, pos=a)
        for step in range(1, 9):
            self.qtbot.mouseMove(self.canvas, a + (b - a) * step / 8)
            settle(0.01)
        self.qtbot.mouseRelease(self.canvas, Qt.MouseButton.LeftButton, pos=b)
        settle(0.05)


def is_done(window: Any) -> bool:
    """Whether nothing is being computed and the open case is scored."""
    session = window.session
    return bool(
        window.reviewing.seen.is_seen
        and session.is_idle
        and session.score is not None
        and session.score.case_id == session.current_id
    )


def scored_by_command(target: Path, predictions: Path, case_id: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "medotter_viewer", "score", str(target), "--predictions", str(predictions)]
    command += ["--case", case_id, "--no-cache", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    regions: dict[str, Any] = json.loads(done.stdout)["cases"][case_id]["regions"]
    return regions


def records_of(predictions: Path) -> list[dict[str, Any]]:
    (file,) = predictions.glob("*.reviews.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def judge_and_leave(hand: Hand, first: str) -> np.ndarray[Any, Any]:
    """A verdict, a comment, the next case, quit; return where the comment was made, RAS+ mm."""
    from qtpy.QtCore import Qt

    window = hand.window
    hand.press(Qt.Key.Key_F1)
    assert window.session.verdicts.verdict(first) == "model error"
    hand.press(Qt.Key.Key_Q)
    hand.write("leaks here")
    grid = window.looking.placed.grid
    centre = window.viewer.scene.camera.center
    point = list(window.viewer.dims.point)
    down, across = window.viewer.dims.order[-2:]
    point[down], point[across] = centre[1], centre[2]
    hand.press(Qt.Key.Key_Return)
    hand.press(Qt.Key.Key_U)
    wait_for(lambda: window.session.current_id != first and is_done(window), "the next unreviewed")
    # Displayed mm run towards feet, back and left: of RAS -S, -A, -R. Without a place of its own a picture starts at 0.
    return np.array([-point[2], -point[1], -point[0]]) if grid.has_world else np.array(point)


@pytest.mark.timeout(300)
def test_a_brain_tumour_from_open_to_reopened(open_review: Any, bundle: Any, qtbot: Any, tmp_path: Path) -> None:
    from qtpy.QtCore import Qt

    target, predictions = bundle("glioma_wt_tc_et", "isen")
    window = open_review(target, predictions, split="test")
    hand, session = Hand(window, qtbot), window.session

    # Score, worst first.
    hand.click(window.docks.cases.score_all)
    wait_for(lambda: all(row.status not in ("not scored yet",) for row in session.rows), "all cases scored", 60)
    hand.click_header(window.docks.cases.table, session.metrics[0])
    wait_for(lambda: session.worst_first is not None, "worst first")
    hand.click_row(window.docks.cases.table, 0)
    wait_for(lambda: session.current_id == session.rows[0].case_id and is_done(window), "the worst case")
    first = session.current_id

    # To an error, and what if it were gone.
    hand.click_row(window.docks.scores.table, window.docks.scores.model.row_of("WT"), 0)
    wait_for(lambda: session.region == "WT", "the region alone")
    hand.press(Qt.Key.Key_J)
    wait_for(lambda: session.errors.current is not None, "an error", 20)
    before = session.score.regions["WT"].metrics["dice"].value
    hand.press(Qt.Key.Key_N)
    wait_for(lambda: session.errors.without is not None, "what if it were gone", 20)
    hand.press(Qt.Key.Key_N)
    assert session.score.regions["WT"].metrics["dice"].value == before
    assert not session.edited

    # Paint on the prediction: dice follows. A region of several labels is one outline: all are shown to paint on one.
    hand.click_row(window.docks.scores.table, 0, 0)
    wait_for(lambda: session.region is None and window.display.layer("pred").editable, "labels to paint on")
    hand.press(Qt.Key.Key_J)
    layer = window.display.layer("pred")
    hand.press(Qt.Key.Key_E, Qt.KeyboardModifier.ShiftModifier)
    assert layer.mode == "paint"
    layer.selected_label, layer.brush_size = 1, 12
    centre = window.viewer.scene.camera.center
    point = list(window.viewer.dims.point)
    down, across = window.viewer.dims.order[-2:]
    point[down], point[across] = centre[1], centre[2]
    start, end = list(point), list(point)
    start[across] -= 10
    end[across] += 10
    hand.paint(tuple(start), tuple(end))
    wait_for(lambda: session.edited, "the stroke", 20)
    settle(0.5)  # the stroke has settled
    wait_for(lambda: is_done(window), "all scores after the stroke", 20)
    painted = session.score.regions["WT"].metrics["dice"].value
    assert painted != before
    hand.press(Qt.Key.Key_E, Qt.KeyboardModifier.ShiftModifier)
    assert layer.mode == "pan_zoom"
    saved = tmp_path / "saved" / f"{first}.nii.gz"
    saved.parent.mkdir(parents=True)
    hand.save_as(saved)
    wait_for(lambda: saved.exists() and not session.edits.unwritten_ids, "saved", 20)
    window.focus_canvas()
    world = judge_and_leave(hand, first)
    window.close()
    window.viewer.close()
    settle(0.2)

    # Reopened: one verdict, one comment at its place; the saved file scores by the command line as the window said.
    again = open_review(target, predictions, split="test")
    assert again.session.verdicts.verdict(first) == "model error"
    records = records_of(predictions)
    assert [record["kind"] for record in records] == ["verdict", "comment"]
    comment = records[1]
    assert (comment["comment"], comment["case_id"], comment["frame"]) == ("leaks here", first, "RAS+ mm")
    assert np.abs(np.array(comment["position_world"]) - world).max() < 1.0
    found = scored_by_command(target, tmp_path / "saved", first)
    assert found["WT"]["dice"]["value"] == painted


@pytest.mark.timeout(300)
def test_nuclei_from_open_to_reopened(open_review: Any, bundle: Any, qtbot: Any, tmp_path: Path) -> None:
    from qtpy.QtCore import Qt

    target, predictions = bundle("nucleus_instance_2d", "merge_split")
    window = open_review(target, predictions, split="test", wait=False)
    wait_for(lambda: is_done(window), "the first case", 60)
    hand, session = Hand(window, qtbot), window.session
    hand.click(window.docks.cases.score_all)
    wait_for(lambda: all(row.status not in ("not scored yet",) for row in session.rows), "all cases scored", 60)
    hand.click_header(window.docks.cases.table, session.metrics[0])
    hand.click_row(window.docks.cases.table, 0)
    wait_for(lambda: session.current_id == session.rows[0].case_id and is_done(window), "the worst case")
    first = session.current_id

    # The first object that is not matched, framed.
    wait_for(lambda: session.matches.rows is not None, "objects matched", 20)
    zoom = window.viewer.scene.camera.zoom
    hand.press(Qt.Key.Key_J)
    wait_for(lambda: session.matches.selected is not None, "an object", 10)
    assert window.viewer.scene.camera.zoom != zoom

    # Erase it or what is there: F1 follows, and undo brings it back.
    before = {m: v.value for r in session.score.regions.values() for m, v in r.metrics.items()}
    layer = window.display.layer("pred")
    layer.brush_size, layer.mode = 40, "erase"
    centre = window.viewer.scene.camera.center
    point = list(window.viewer.dims.point)
    down, across = window.viewer.dims.order[-2:]
    point[down], point[across] = centre[1], centre[2]
    end = list(point)
    end[across] += 8
    hand.paint(tuple(point), tuple(end))

    def values() -> dict[str, Any]:
        return {m: v.value for r in session.score.regions.values() for m, v in r.metrics.items()}

    wait_for(lambda: session.edited and is_done(window) and values() != before, "scores after the stroke", 20)
    settle(0.5)  # the stroke has settled
    wait_for(lambda: is_done(window), "all scores after the stroke", 20)
    painted = values()
    layer.mode = "pan_zoom"
    said: list[str] = []
    window.saving._say = said.append
    saved = tmp_path / "saved" / f"{first}.nii.gz"
    saved.parent.mkdir(parents=True)
    hand.save_as(saved)
    wait_for(lambda: bool(said), "the answer to saving", 20)
    assert saved.exists(), said
    world = judge_and_leave(hand, first)
    window.close()
    window.viewer.close()
    settle(0.2)

    again = open_review(target, predictions, split="test", wait=False)
    wait_for(lambda: is_done(again), "the first case again", 60)
    assert again.session.verdicts.verdict(first) == "model error"
    records = records_of(predictions)
    assert [record["kind"] for record in records] == ["verdict", "comment"]
    assert records[1]["case_id"] == first
    place = records[1]["position_world"] or records[1]["position_voxel"]
    assert len(place) == len(world)
    found = scored_by_command(target, tmp_path / "saved", first)
    (numbers,) = found.values()
    assert {m: numbers[m]["value"] for m in painted} == painted
