"""Painting on the prediction with napari's own tools, why a number is what it is, and saving what was painted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from qtpy.QtCore import Qt
from review_windows import block_case, scored, settle, wait_for

pytestmark = pytest.mark.window


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """One case, of which region one is missed on its lowest slice."""
    shifted = block_case(0)["gt"].copy()
    shifted[:, :, 4] = 0
    return write_bundle(tmp_path / "tiny", {"D/0": block_case(0)}, predictions={"D/0": shifted})


def canvas_of(window: Any) -> Any:
    return window.viewer.window._qt_viewer.canvas.native


def place_on_canvas(window: Any, world: tuple[float, ...]) -> Any:
    """Where a displayed position is drawn, in pixels of the canvas."""
    from qtpy.QtCore import QPoint

    camera, canvas = window.viewer.scene.camera, canvas_of(window)
    down, across = window.viewer.dims.order[-2:]
    x = canvas.width() / 2 + (world[across] - camera.center[2]) * camera.zoom
    y = canvas.height() / 2 + (world[down] - camera.center[1]) * camera.zoom
    return QPoint(round(x), round(y))


def drag(qtbot: Any, window: Any, start: tuple[float, ...], end: tuple[float, ...]) -> None:
    """Press, move in steps, let go: as a hand does."""
    canvas = canvas_of(window)
    a, b = place_on_canvas(window, start), place_on_canvas(window, end)
    qtbot.mouseMove(canvas, a)
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=a)
    for step in range(1, 11):
        qtbot.mouseMove(canvas, a + (b - a) * step / 10)
        settle(0.01)
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=b)
    settle(0.05)


def dice(window: Any, region: str = "one") -> float:
    value: float = window.session.score.regions[region].metrics["dice"].value
    return value


def test_a_stroke_changes_dice_at_once_hd95_after_it_and_is_saved_beside(
    open_review: Any, tiny: Any, qtbot: Any, tmp_path: Path
) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    wait_for(lambda: scored(window), "scores")
    before, session = dice(window), window.session
    files = {path: path.read_bytes() for path in tiny.predictions.rglob("*.nii.gz")}
    layer = window.display.layer("pred")
    layer.selected_label, layer.brush_size, layer.mode = 1, 3, "paint"
    _, down, across = (np.asarray(axis) for axis in np.nonzero(np.asarray(window.display.layer("gt").data) == 1))
    index = window.viewer.dims.current_step[0]
    middle = float(np.median(down)), float(np.median(across))
    start = window.display.to_mm((index, middle[0], middle[1] - 1))
    end = window.display.to_mm((index, middle[0], middle[1] + 1))
    drag(qtbot, window, start, end)
    wait_for(lambda: dice(window) > before, "dice after the stroke", 5)
    wait_for(lambda: scored(window) and session.edited, "hd95 after the stroke", 5)
    painted = session.pred_data[:, :, 4]
    assert 0 < np.count_nonzero(painted == 1) < 48
    # dice by hand: 240 voxels of 288 were there
    n = int(np.count_nonzero(session.pred_data == 1))
    both = int(np.count_nonzero((session.pred_data == 1) & (session.case.gt.data == 1)))
    assert dice(window) == 2 * both / (288 + n)

    # Fill what is missing of the slice, and take the fill back.
    layer.mode = "erase"
    drag(qtbot, window, start, start)
    after_erase = dice(window)
    assert after_erase < 2 * both / (288 + n)
    layer.undo()
    wait_for(lambda: dice(window) == 2 * both / (288 + n), "undo", 5)

    out = tmp_path / "mine.nii.gz"
    window.saving.save_as(out)
    wait_for(out.exists, "the saved file")
    wait_for(lambda: session.edits.unwritten_ids == [], "the window knows")
    assert "saved as mine.nii.gz" in session.edits.words
    assert {path: path.read_bytes() for path in files} == files
    np.testing.assert_array_equal(np.asarray(nibabel.load(out).dataobj), session.pred_data)
    assert json.loads((tmp_path / "mine.provenance.json").read_text("utf-8"))["changed_voxels"] == int(
        np.count_nonzero(painted)
    )

    # The same number by the command line, on the saved file.
    model = tmp_path / "model" / "D"
    model.mkdir(parents=True)
    out.rename(model / "0.nii.gz")
    command = [sys.executable, "-m", "medotter_viewer", "score", str(tiny.bundle)]
    command += ["--predictions", str(model.parent), "--case", "D/0", "--json", "-", "--no-cache"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    regions = found["cases"]["D/0"]["regions"]
    assert regions["one"]["dice"]["value"] == dice(window)
    wait_for(lambda: scored(window), "all numbers")
    assert regions["one"]["hd95"]["value"] == window.session.score.regions["one"].metrics["hd95"].value


def test_why_tells_formula_figures_and_distances_and_goes_away(open_review: Any, tiny: Any, qtbot: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    wait_for(lambda: scored(window), "scores")
    table, why = window.docks.scores.table, window.docks.why
    named = [column.header.split("\n")[0] for column in table.model().columns]
    row = window.docks.scores.model.row_of("one")
    for metric, told in (("dice", "2·240 / (288 + 240)"), ("hd95", "95 % of 192 surface voxels")):
        place = table.visualRect(table.model().index(row, named.index(metric))).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        wait_for(lambda told=told: why.popover.isVisible() and told in why.popover.text.text(), f"why {metric}", 5)
        assert why.popover.title.text() == f"one · {metric}"
        main = window.viewer.window._qt_window
        assert main.rect().contains(why.popover.geometry())
        qtbot.keyClick(canvas_of(window), Qt.Key.Key_Escape)
        assert not why.popover.isVisible()
    qtbot.keyClick(canvas_of(window), Qt.Key.Key_Y)
    wait_for(why.popover.isVisible, "why of the headline, by its key", 5)
    qtbot.mouseClick(canvas_of(window), Qt.MouseButton.LeftButton)
    assert not why.popover.isVisible()


def test_what_cannot_be_saved_is_said(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    said: list[str] = []
    window.saving._say = lambda text, **_: said.append(text)
    source = next(tiny.predictions.rglob("*.nii.gz"))
    before = source.read_bytes()
    window.saving.save_as(source)
    wait_for(lambda: bool(said), "what went wrong", 10)
    assert said[0].startswith(f"not saved: {source.name}: is the prediction")
    assert source.read_bytes() == before


def test_a_region_of_several_ids_alone_cannot_be_painted_on_and_is_told_how_to(
    open_review: Any, tmp_path: Path, write_bundle: Any, qtbot: Any
) -> None:
    from medotter_viewer.ui.editing import ALL_REGIONS, LABEL_TOOLS

    spec = {"eval_regions": {"one": [1], "both": [1, 2]}, "metrics": ["dice", "hd95"]}
    case = block_case(0)
    tiny = write_bundle(tmp_path / "both", {"D/0": case}, eval_spec=spec, predictions={"D/0": case["gt"]})
    window = open_review(tiny.bundle, tiny.predictions)
    brush = f"painting 1 one: {LABEL_TOOLS}"
    rows = {"both": ALL_REGIONS, "one": brush, None: brush}
    for region, told in rows.items():
        window.docks.scores.table.row_chosen.emit(window.docks.scores.model.row_of(region))
        assert window.session.region == region
        qtbot.keyClick(canvas_of(window), Qt.Key.Key_E, Qt.KeyboardModifier.ShiftModifier)
        assert window.docks._line.text() == told
        layer = window.display.layer("pred")
        assert layer.editable is (told == brush)
        if told == brush:
            assert (layer.mode, layer.selected_label) == ("paint", 1)
            qtbot.keyClick(canvas_of(window), Qt.Key.Key_E, Qt.KeyboardModifier.ShiftModifier)
            assert (layer.mode, window.docks._line.text()) == ("pan_zoom", "painting ended")
    assert window.docks.scores.model.cells(0)[0].text == "all"
