"""Points of vertebrae are moved with the mouse in a real window: lines, names and rates follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from canvas_mouse import CanvasMouse
from review_windows import scored, settle, wait_for

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.ui.colors import GT_ACCENT, WRONG_ACCENT, rgba
from medotter_viewer.ui.point_editing import NO_ADDING

pytestmark = pytest.mark.window

SPINE = EvalSpec("vertebra", {"L1": (20,)}, ("dice", "id_rate"), Headline("L1", "dice"))
GRID = Grid((20, 30, 40), np.array([[2.0, 0, 0, -10], [0, 2, 0, -20], [0, 0, 3, 5], [0, 0, 0, 1]]))


def spine() -> Case:
    """L1 is 6 mm off, L2 lies nearer to L1 than to itself, L3 is missed; in world mm, front is +y, head is +z."""
    return Case(
        CaseEntry("S/1"),
        {"image": Volume(np.zeros(GRID.shape, dtype=np.int16), GRID)},
        gt_landmarks=Landmarks({20: (10, 0, 95), 21: (10, 0, 60), 22: (10, 4, 25)}),
        pred_landmarks=Landmarks({20: (10, 6, 95), 21: (12.5, 0, 88)}),
    )


@pytest.fixture
def window(open_cases: Any) -> Any:
    return open_cases([spine()], SPINE)


def at(y: float, z: float) -> tuple[float, float, float]:
    """Displayed mm of a place in the sagittal plane."""
    return (-z, -y, -10.0)


def rate(window: Any) -> float:
    return float(window.session.score.case["id_rate"].value)


def layer(window: Any, role: str = "pred_points") -> Any:
    return window.looking.vectors.layer(role)


def idle(window: Any) -> None:
    wait_for(lambda: window.session.is_idle and scored(window), "scored")
    settle()


def test_a_point_dragged_to_its_vertebra_is_identified_and_undo_takes_it_back(window: Any) -> None:
    mouse = CanvasMouse(window)
    rates: list[float] = []
    assert rate(window) == pytest.approx(1 / 3)
    assert window.viewer.dims.order[0] == 2  # sagittal
    mouse.key("E", "Shift")
    assert "editing points\n" in window.overlay.banner_text
    assert (layer(window).mode, window.viewer.layers.selection.active) == ("select", layer(window))
    window.session.events.scores_changed.connect(lambda s: rates.append(s.case["id_rate"].value))
    line = layer(window, "distances")
    np.testing.assert_allclose(line.edge_color[1], rgba(WRONG_ACCENT), atol=1e-6)
    mouse.press(at(0, 88))
    for z in (84, 80):
        mouse.move(at(0, z))
        wait_for(lambda z=z: abs(window.session.working.landmarks.points_world[21][2] - z) < 0.5, "told while dragged")
    settle(0.2)
    np.testing.assert_allclose(np.linalg.norm(line.data[1, 1] * line.scale), np.hypot(20, 2.5), atol=0.5)
    mouse.move(at(0, 66))
    mouse.release(at(0, 66))
    idle(window)
    assert rate(window) == pytest.approx(2 / 3)
    assert rates[-1] == pytest.approx(2 / 3)
    x, y, z = window.session.working.landmarks.points_world[21]
    assert x == 12.5  # across the plane it stays, to the last bit
    assert (y, z) == pytest.approx((0, 66), abs=1.2 / window.viewer.scene.camera.zoom)
    assert window.session.working.landmarks.points_world[20] == (10, 6, 95)
    assert window.session.working.landmarks.edited == {21}
    np.testing.assert_allclose(line.edge_color[1], rgba(GT_ACCENT), atol=1e-6)
    assert "L2: 6." in window.docks._line.text()
    assert window.docks._line.text().endswith("off, identified")
    assert list(layer(window, "gt_points").features["name"].str.strip()) == ["", "", "L3 missed"]  # one name for both
    mouse.key("Z", "Control")
    idle(window)
    assert rate(window) == pytest.approx(1 / 3)  # one drag is one step
    assert not window.session.edited
    np.testing.assert_allclose((layer(window).data * layer(window).scale + layer(window).translate)[1], (-88, 0, -12.5))
    np.testing.assert_allclose(line.edge_color[1], rgba(WRONG_ACCENT), atol=1e-6)


def test_the_selected_point_is_deleted_and_none_is_added(window: Any) -> None:
    mouse = CanvasMouse(window)
    mouse.key("E", "Shift")
    mouse.key("2")  # napari's tool that adds points
    settle(0.1)
    assert NO_ADDING in window.docks._line.text()
    assert layer(window).mode == "select"
    mouse.click(at(6, 95))
    mouse.key("1")
    idle(window)
    assert set(window.session.working.landmarks.points_world) == {21}
    assert window.session.score.case["n_missing"].value == 2
    assert list(layer(window, "gt_points").features["name"].str.strip()) == ["L1 missed", "L2", "L3 missed"]
    mouse.key("Z", "Control")
    idle(window)
    assert len(layer(window).data) == 2
    mouse.key("E", "Shift")
    assert not layer(window).editable


def test_a_what_if_ends_the_editing_and_is_said(window: Any) -> None:
    mouse = CanvasMouse(window)
    mouse.key("E", "Shift")
    window.session.edits.set_level_shift(1)
    settle()
    assert not window.editing.is_on
    assert "what if: labels moved by 1 level towards the feet" in window.overlay.banner_text
    assert list(layer(window).features["name"].str.strip()) == ["L2", "L3"]
    mouse.key("E", "Shift")
    assert not window.editing.is_on
    window.session.edits.set_level_shift(0)
    settle()
    assert "what if" not in window.overlay.banner_text


def test_points_taken_from_a_mask_are_shown_follow_strokes_and_can_be_moved(open_cases: Any) -> None:
    mask = np.zeros(GRID.shape, dtype=np.uint8)
    mask[9:12, 9:12, 29:32] = 20  # centre i 10, j 10, k 30: x 10, y 0, z 95
    image = Volume(np.zeros(GRID.shape, dtype=np.int16), GRID)
    one = Case(CaseEntry("S/1"), {"image": image}, gt=LabelMap(mask, GRID), pred=LabelMap(mask.copy(), GRID))
    window = open_cases([one, replace(one, entry=CaseEntry("S/2"))], SPINE)
    assert list(window.looking.placed.pred_points) == [20]
    painted = window.display.layer("pred")
    assert window.viewer.layers.selection.active is painted
    # displayed: I 39 - k, P 29 - j, L 19 - i; three voxels more at k 32 move the centre by 3 * 2 / 30 voxels
    painted.data_setitem((np.array([7, 7, 7]), np.array([19, 19, 19]), np.array([8, 9, 10])), 20)
    wait_for(lambda: window.session.edited, "the stroke")
    settle()
    pred = layer(window)
    assert (pred.data * pred.scale + pred.translate)[0, 0] == pytest.approx(-(95 + 3 * 0.2), abs=1e-6)
    mouse = CanvasMouse(window)
    window.looking.go.to_label(20)
    window.viewer.dims.order = (2, 0, 1)
    settle()
    mouse.key("E", "Shift")
    mouse.drag(at(0, 95.6), at(0, 80))
    wait_for(lambda: window.session.working.landmarks is not None, "moved")
    assert window.session.working.landmarks.points_world[20][2] == pytest.approx(80, abs=0.3)
    mouse.key("E", "Shift")
    assert window.viewer.layers.selection.active is painted
    mouse.key("Z", "Control")  # napari's own, of the stroke
    wait_for(lambda: int(window.session.pred_data[10, 10, 32]) == 0, "the stroke taken back")
