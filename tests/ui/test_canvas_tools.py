"""What a radiologist does in the window: window and level, three planes, ruler, region of interest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canvas_mouse import CanvasMouse
from review_windows import block_case, settle, wait_for

pytestmark = pytest.mark.window


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panes are closed when a test begins, and those of no test are."""
    from medotter_viewer.ui import three_planes

    before = three_planes.Remembered()
    for name in ("is_on", "area", "width", "height"):
        monkeypatch.setattr(three_planes.REMEMBERED, name, getattr(before, name))


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Two cases; the lowest slice of region one is missed in the first."""
    cases = {f"D/{n}": block_case(n) for n in range(2)}
    shifted = block_case(0)["gt"].copy()
    shifted[:, :, 4] = 0
    predictions = {"D/0": shifted, "D/1": block_case(1)["gt"]}
    return write_bundle(tmp_path / "tiny", cases, predictions=predictions)


class Hand(CanvasMouse):
    """A mouse that also holds Shift and the right button, at places in pixels of the canvas."""

    def at(self, kind: str, x: float, y: float, button: str = "Left", *held: str, native: Any = None) -> None:
        from qtpy.QtCore import QEvent, QPointF, Qt
        from qtpy.QtGui import QMouseEvent
        from qtpy.QtWidgets import QApplication

        widget = native if native is not None else self._canvas.native
        modifiers = Qt.KeyboardModifier.NoModifier
        for name in held:
            modifiers |= getattr(Qt.KeyboardModifier, f"{name}Modifier")
        pressed = getattr(Qt.MouseButton, f"{button}Button")
        none = Qt.MouseButton.NoButton
        place = QPointF(x, y)
        event = QMouseEvent(
            getattr(QEvent.Type, kind),
            place,
            QPointF(widget.mapToGlobal(place.toPoint())),
            none if kind == "MouseMove" else pressed,
            none if kind == "MouseButtonRelease" else pressed,
            modifiers,
        )
        QApplication.sendEvent(widget, event)
        settle(0.02)

    def pull(self, dx: float, dy: float, *held: str, button: str = "Right") -> None:
        """Press in the middle of the canvas, drag by some pixels, let go."""
        x, y = self._canvas.native.width() / 2, self._canvas.native.height() / 2
        self.at("MouseButtonPress", x, y, button, *held)
        for step in (0.5, 1.0):
            self.at("MouseMove", x + step * dx, y + step * dy, button, *held)
        self.at("MouseButtonRelease", x + dx, y + dy, button, *held)


def limits(window: Any) -> tuple[float, float]:
    low, high = window.display.layer("image:image").contrast_limits
    return float(low), float(high)


# ---------------------------------------------------------------- window and level


def test_shift_and_the_right_button_set_window_and_level_and_nothing_else(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    hand, camera = Hand(window), window.viewer.scene.camera
    before = (camera.zoom, tuple(camera.center), np.array(window.display.layer("pred").data))
    assert limits(window) == (-160.0, 240.0)
    hand.pull(150, 0, "Shift")
    assert limits(window) == (-360.0, 440.0)  # twice as wide about 40
    assert "W 800  L 40 HU" in window.overlay.corner_text
    hand.pull(0, -50, "Shift")
    assert limits(window) == (-160.0, 640.0)  # a quarter of the width higher
    window.viewer.layers.selection.active.mode = "paint"
    hand.pull(0, 50, "Shift")
    assert limits(window) == (-360.0, 440.0)
    assert (camera.zoom, tuple(camera.center)) == before[:2]
    np.testing.assert_array_equal(np.asarray(window.display.layer("pred").data), before[2])


def test_the_next_case_keeps_the_window_and_w_and_a_double_click_leave_it(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    hand = Hand(window)
    hand.pull(-150, 0, "Shift")
    assert limits(window) == (-60.0, 140.0)
    window.session.step(1)
    wait_for(lambda: window.session.opened.case.case_id == "D/1", "the next case")
    assert limits(window) == (-60.0, 140.0)
    hand.key("W")
    assert "soft tissue" in window.overlay.corner_text
    hand.key("W")
    assert "lung" in window.overlay.corner_text
    hand.pull(150, 0, "Shift")
    middle = (window.viewer.window._qt_viewer.canvas.native.width() / 2, 200)
    hand.at("MouseButtonDblClick", *middle, "Right", "Shift")
    hand.at("MouseButtonRelease", *middle, "Right", "Shift")
    assert limits(window) == (-160.0, 240.0)


def test_images_without_hu_keep_their_part_of_each_range(open_review: Any, tmp_path: Path, write_bundle: Any) -> None:
    cases = {}
    for n, scale in enumerate((1.0, 50.0)):
        case = block_case(n)
        case["image"] = (np.linspace(0, 100, case["gt"].size).reshape(case["gt"].shape) * scale).astype(np.float32)
        cases[f"D/{n}"] = case
    tiny = write_bundle(tmp_path / "mr", cases, predictions={k: v["gt"] for k, v in cases.items()})
    window = open_review(tiny.bundle, tiny.predictions)
    before = limits(window)
    Hand(window).pull(-150, 0, "Shift")
    after = limits(window)
    assert after[1] - after[0] == pytest.approx((before[1] - before[0]) / 2)
    window.session.step(1)
    wait_for(lambda: window.session.opened.case.case_id == "D/1", "the next case")
    assert limits(window) == pytest.approx((50 * after[0], 50 * after[1]), rel=1e-3)
    Hand(window).key("W")
    assert limits(window) == pytest.approx((50 * before[0], 50 * before[1]), rel=1e-3)


# ---------------------------------------------------------------- three planes


def mm(window: Any, *displayed: float) -> tuple[float, ...]:
    return tuple(window.display.to_mm(displayed))


def press_in(hand: Hand, pane: Any, position_mm: Any, kind: str = "MouseButtonPress") -> None:
    down, across = (a for a in range(3) if a != pane.content.axis)
    x, y = pane.view().to_pixels((position_mm[down], position_mm[across]))
    hand.at(kind, float(x), float(y), native=pane)
    hand.at("MouseButtonRelease", float(x), float(y), native=pane)
    settle(0.1)


def test_x_shows_two_other_planes_through_one_point(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    tools, canvas = window.tools, window.viewer.window._qt_viewer.canvas.native
    height = canvas.height()
    hand = Hand(window)
    hand.key("X")
    settle(0.2)
    panes = tools.planes.panes
    assert [pane.content.axis for pane in (panes.first, panes.second)] == [2, 1]
    assert [pane.content.letters.left for pane in (panes.first, panes.second)] == ["A", "R"]
    assert panes.first.isVisible()
    assert panes.first.width() > 150
    assert canvas.height() < height, "the panes stand under the canvas"
    # what is missed on the slice is i 15..20, j 8..15, i.e. L 3..8, P 14..21; of four voxels in its middle the first
    assert tools.crosshair.point_mm == pytest.approx(mm(window, 11, 17, 5))
    assert "voxel 18 12 4" in panes.line.text()
    assert "gt one (1)" in panes.line.text()
    hand.key("X")
    settle(0.2)
    assert not panes.first.isVisible()
    assert canvas.height() == height


def test_click_drag_and_wheel_in_a_pane_move_the_point(open_review: Any, tiny: Any) -> None:
    from qtpy.QtCore import QPoint, QPointF, Qt
    from qtpy.QtGui import QWheelEvent
    from qtpy.QtWidgets import QApplication

    window = open_review(tiny.bundle, tiny.predictions)
    hand, tools = Hand(window), window.tools
    tools.toggle_planes()
    settle(0.2)
    sagittal, coronal = tools.planes.panes.first, tools.planes.panes.second
    press_in(hand, sagittal, mm(window, 3, 20, 0))
    assert window.viewer.dims.current_step[0] == 3, "the canvas follows"
    assert tools.crosshair.point_mm[:2] == pytest.approx(mm(window, 3, 20, 0)[:2])
    assert coronal.content.title == "coronal  21/30"
    place = QPointF(sagittal.width() / 2, sagittal.height() / 2)
    before = tools.crosshair.point_mm[2]
    event = QWheelEvent(
        place,
        QPointF(sagittal.mapToGlobal(place.toPoint())),
        QPoint(0, 0),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(sagittal, event)
    assert tools.crosshair.point_mm[2] == pytest.approx(before + 2.0)  # one voxel of 2 mm to the left


def test_a_click_on_the_canvas_moves_the_point_and_a_drag_moves_the_picture(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    hand, tools = Hand(window), window.tools
    tools.toggle_planes()
    settle(0.2)
    target = mm(window, 11, 5, 20)
    hand.click(target)
    assert tools.crosshair.point_mm == pytest.approx(target)
    centre = tuple(window.viewer.scene.camera.center)
    hand.drag(target, mm(window, 11, 9, 14))
    assert tools.crosshair.point_mm == pytest.approx(target)
    assert tuple(window.viewer.scene.camera.center) != centre
    hand.pull(40, 0, "Shift", button="Left")
    assert tools.crosshair.point_mm != pytest.approx(target)


def test_the_point_stays_when_another_plane_is_put_on_the_canvas(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    hand, tools = Hand(window), window.tools
    tools.toggle_planes()
    settle(0.2)
    panes, point = tools.planes.panes, tools.crosshair.point_mm
    for axis, others in ((1, [0, 2]), (2, [0, 1]), (0, [2, 1])):
        pane = next(p for p in (panes.first, panes.second) if p.content.axis == axis)
        hand.at("MouseButtonDblClick", 50, 50, native=pane)
        settle(0.2)
        assert window.viewer.dims.order[0] == axis
        assert [p.content.axis for p in (panes.first, panes.second)] == others
        assert tools.crosshair.point_mm == pytest.approx(point)


def test_a_pane_is_painted_again_when_a_stroke_or_a_window_changes_it(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    tools = window.tools
    tools.toggle_planes()
    settle(0.2)
    pane = tools.planes.panes.second

    def picture() -> Any:
        settle(0.15)
        pane.picture()
        return pane._pixels.copy()

    first = picture()
    window.looking.next_window()
    second = picture()
    assert (first != second).any()
    point = np.round(np.subtract(tools.crosshair.point_mm, mm(window, 0, 0, 0)) / (3.0, 1.5, 2.0)).astype(int)
    layer = window.display.layer("pred")
    layer.data_setitem(tuple(np.array([p, p]) for p in point), 2)
    third = picture()
    assert (second != third).any()
    layer.undo()
    assert (third != picture()).any()
    window.viewer.dims.set_current_step(0, 5)
    settle(0.15)
    assert pane.content.title == f"coronal  {point[1] + 1}/30"


def test_a_single_slice_has_one_plane_only(open_review: Any, tmp_path: Path, write_bundle: Any) -> None:
    gt = block_case()["gt"][:, :, 5:6].copy()
    tiny = write_bundle(tmp_path / "flat", {"D/0": {"gt": gt, "image": gt.astype(np.int16)}}, predictions={"D/0": gt})
    window = open_review(tiny.bundle, tiny.predictions)
    window.tools.toggle_planes()
    assert window.tools.planes.panes is None
    assert "one plane only" in window.docks._line.text()


# ---------------------------------------------------------------- ruler and region


def test_a_ruler_is_drawn_in_mm_on_its_slice_and_nothing_else_moves(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    hand, tools, camera = Hand(window), window.tools, window.viewer.scene.camera
    hand.key("D")
    assert "ruler" in tools._drawn.hint
    centre = tuple(camera.center)
    start = mm(window, 11, 4, 4)
    hand.drag(start, (start[0], start[1] + 12, start[2] + 16))
    assert tuple(camera.center) == centre
    ((mark, text),) = tools._drawn.marks
    assert mark.shape == "ruler"
    assert float(text.split()[0]) == pytest.approx(20.0, abs=0.2)  # a pixel is a sixth of a mm or less
    assert text.endswith(" mm")
    window.step_slice(1)
    assert tools._drawn.marks == []
    window.step_slice(-1)
    assert len(tools._drawn.marks) == 1
    hand.key("Escape")
    assert tools._drawn.hint == ""
    assert len(tools._drawn.marks) == 1
    hand.drag(start, (start[0], start[1] + 12, start[2] + 16))
    assert tuple(camera.center) != centre, "the mouse moves the picture again"
    window.session.step(1)
    wait_for(lambda: window.session.opened.case.case_id == "D/1", "the next case")
    window.viewer.dims.set_current_step(0, 11)
    assert tools._drawn.marks == []
    window.session.step(-1)
    wait_for(lambda: window.session.opened.case.case_id == "D/0", "the first case again")
    window.viewer.dims.set_current_step(0, 11)
    assert [m.shape for m, _ in tools._drawn.marks] == ["ruler"]
    tools.clear_marks()
    assert tools._drawn.marks == []


def test_a_region_measures_the_files_own_values(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    hand, tools = Hand(window), window.tools
    hand.key("R")
    hand.key("R")
    # displayed P 15 to 18 and L 4 to 6 on slice 11: j 14 to 11, i 19 to 17, k 4
    start, end = mm(window, 11, 14.5, 3.5), mm(window, 11, 18.5, 6.5)
    hand.drag(start, end)
    ((mark, text),) = tools._drawn.marks
    values = block_case(0)["image"][17:20, 11:15, 4].astype(float)
    assert mark.shape == "rectangle"
    assert f"mean {values.mean():.1f}".removesuffix(".0") in text
    assert f"SD {values.std():.1f}" in text
    assert f"min {values.min():.0f}  max {values.max():.0f}" in text
    assert "12 voxels  36 mm²" in text  # of 2 x 1.5 mm
    assert "HU" in text


def test_closing_a_review_leaves_canvas_and_window_as_they_were(open_review: Any, tiny: Any) -> None:
    from qtpy.QtWidgets import QDockWidget

    from medotter_viewer.ui.tool_overlay import ToolOverlay

    window = open_review(tiny.bundle, tiny.predictions)
    viewer = window.viewer
    main, canvas = viewer.window._qt_window, viewer.window._qt_viewer.canvas.native
    window.tools.toggle_planes()
    window.tools.start_ruler()
    settle(0.2)
    window.close()
    settle(0.2)
    assert canvas.findChildren(ToolOverlay) == []
    assert not [dock for dock in main.findChildren(QDockWidget) if dock.objectName() == "medotter-viewer planes"]
    viewer.dims.set_point(0, 1.0)
    viewer.scene.camera.zoom *= 2
    settle(0.1)

    from medotter_viewer import open_source
    from medotter_viewer.ui.window import open_window

    again = open_window(open_source(tiny.bundle, predictions=tiny.predictions), viewer=viewer)
    wait_for(lambda: again.session.opened is not None, "the review again")
    settle(0.2)
    assert again.tools.planes.is_on, "the panes are there again"
    assert again.tools.measure.tool is None
    again.close()
