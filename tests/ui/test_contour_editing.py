"""Contours are changed with the mouse in a real window: the score follows, and is what the command says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canvas_mouse import CanvasMouse
from review_windows import scored, settle, wait_for
from scan_files import TARGET, box, write_png_scan

from medotter_viewer.cli import main
from medotter_viewer.export.polygon_files import export_cases
from medotter_viewer.ui.colors import PRED_ACCENT, rgba
from medotter_viewer.ui.ring_editing import REFUSED

pytestmark = pytest.mark.window

SLICES = {2: (10, 10, 20, 10), 3: (10, 10, 10, 10)}


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """Two scans: of slice 2 the left half is found, of slice 3 nothing; the model says nothing of the second."""
    for name in ("TC1", "TC2"):
        write_png_scan(tmp_path / "scans", name, {TARGET: {n: [box(*b)] for n, b in SLICES.items()}}, n_slices=3)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/submission.csv").write_text("TC1,2,10,10,20,10,20,20,10,20\nTC1,2,40,40,45,40,50,40\n")
    return tmp_path


@pytest.fixture
def window(open_review: Any, scans: Path) -> Any:
    found = open_review(scans / "scans", scans / "model", case_id="TC1")
    found.looking.go.to_contour(2, 20.0, 20.0)
    settle()
    return found


def score(window: Any) -> float:
    return float(window.session.score.case["scan_score"].value)


def rings(window: Any, number: int) -> list[list[list[float]]]:
    """Predicted rings of a slice as they are now, to a hundredth of a mm."""
    return [np.round(ring, 2).tolist() for ring in window.session.working.contours.rings.get(number, ())]


def at(window: Any, number: int, x: float, y: float) -> tuple[float, ...]:
    """Displayed mm of x, y on a slice: 2.5 mm apart, the first the lowest."""
    return (-(number - 1) * 2.5, y, x)


def layer(window: Any) -> Any:
    return window.looking.vectors.layer("pred_rings")


def idle(window: Any) -> None:
    wait_for(lambda: window.session.is_idle and scored(window), "scored")
    settle()


def test_a_dragged_point_changes_the_score_to_what_the_command_says_and_undo_takes_it_back(
    window: Any, scans: Path, tmp_path: Path
) -> None:
    mouse, before = CanvasMouse(window), score(window)
    told: list[float] = []
    mouse.key("E", "Shift")
    assert window.editing.is_on
    assert (layer(window).mode, window.viewer.layers.selection.active) == ("direct", layer(window))
    assert "editing contours\n" in window.overlay.banner_text
    window.session.events.scores_changed.connect(lambda s: told.append(s.case["scan_score"].value))
    start, end = at(window, 2, 20, 20), at(window, 2, 28, 20)
    mouse.press(start)
    for x in (22, 24, 26):
        mouse.move(at(window, 2, x, 20))
        n = len(told)
        wait_for(lambda n=n: len(told) > n, "a score while the button is pressed")
    mouse.move(end)
    mouse.release(end)
    idle(window)
    assert len(set(told)) >= 3  # the score followed the mouse
    assert told == sorted(told)
    (ring,) = [r for r in window.session.working.contours.rings[2] if len(r) == 4]
    np.testing.assert_array_equal(ring[[0, 1, 3]], [(10, 10), (20, 10), (10, 20)])  # to the last bit
    # half a pixel of the screen is what the mouse can be off by
    np.testing.assert_allclose(ring[2], (28, 20), rtol=0, atol=0.6 / window.viewer.scene.camera.zoom)
    assert rings(window, 2)[1] == [[40, 40], [45, 40], [50, 40]]  # without area: not drawn, not lost
    assert "edited, not saved" in window.docks.scores.header.text()

    spec = window.session.spec
    written = export_cases(
        [window.session.working_case], tmp_path / "out.csv", spec=spec, region=next(iter(spec.regions))
    )
    assert not [f for f in written.findings if f.severity == "error"]
    command = ["polygons", "score", str(tmp_path / "out.csv"), "--scans", str(scans / "scans")]
    assert main([*command, "--json", str(tmp_path / "said.json")]) == 0
    assert json.loads((tmp_path / "said.json").read_text())["scans"]["TC1"]["score"] == score(window)

    mouse.key("Z", "Control")
    idle(window)
    assert score(window) == before  # one drag is one step
    assert not window.session.edited
    mouse.key("Z", "Control", "Shift")
    idle(window)
    assert score(window) == told[-1] > before


def test_points_are_put_in_and_taken_away_and_outlines_are_moved_and_deleted(window: Any) -> None:
    mouse = CanvasMouse(window)
    mouse.key("E", "Shift")
    mouse.key("2")  # put in a point
    mouse.click(at(window, 2, 15, 20))
    assert len(rings(window, 2)[0]) == 5
    mouse.key("1")  # take away the first point: that which closes the path
    mouse.click(at(window, 2, 10, 10))
    taken = rings(window, 2)[0]
    assert len(taken) == 4
    assert [10, 10] not in taken
    mouse.key("5")  # move the outline
    settle(0.1)
    mouse.drag(at(window, 2, 20, 12.5), at(window, 2, 23, 15.5))
    moved = np.array(rings(window, 2)[0])
    # ring and hand are where the mouse was let go, to a pixel of the screen
    np.testing.assert_allclose(np.ptp(moved, axis=0), np.ptp(np.array(taken), axis=0), atol=0.02)
    np.testing.assert_allclose(moved.mean(axis=0) - np.mean(taken, axis=0), (3, 3), atol=0.3)
    mouse.key("3")  # delete it
    idle(window)
    assert rings(window, 2) == [[[40, 40], [45, 40], [50, 40]]]
    assert score(window) == 0.0
    for _ in range(4):
        mouse.key("Z", "Control")
    assert not window.session.edited
    assert len(layer(window).data) == 1


def test_the_first_outline_of_a_scan_without_prediction_is_drawn_point_by_point(window: Any) -> None:
    mouse = CanvasMouse(window)
    window.session.go_to("TC2")
    wait_for(lambda: window.session.case.case_id == "TC2" and window.session.is_idle, "the second scan")
    window.looking.go.to_contour(3, 15.0, 15.0)
    settle()
    assert window.session.working.contours is None or not window.session.working.contours.n_rings
    mouse.key("E", "Shift")
    mouse.key("P")
    corners = [(10, 10), (20, 10), (20, 20), (10, 20)]
    for x, y in corners[:2]:
        mouse.click(at(window, 3, x, y))
    mouse.key("Return")  # two points enclose nothing
    assert REFUSED in window.docks._line.text()
    assert not window.session.edited
    for x, y in corners:
        mouse.click(at(window, 3, x, y))
    mouse.key("Return")
    wait_for(lambda: window.session.score is not None and window.session.score.status == "scored", "scored")
    idle(window)
    (ring,) = window.session.working.contours.rings[3]
    np.testing.assert_allclose(ring, corners, rtol=0, atol=0.6 / window.viewer.scene.camera.zoom)
    assert window.session.score.case["tp_mm3"].value == pytest.approx(100, abs=4)
    assert window.session.working.contours.origins[3] == ("edited",)
    assert list(layer(window).shape_type) == ["path"]  # drawn anew as all others are
    np.testing.assert_allclose(layer(window).edge_color, [rgba(PRED_ACCENT)], atol=1e-6)
    assert "no prediction" not in window.overlay.banner_text
    mouse.key("4")
    settle(0.1)
    mouse.drag(at(window, 3, 20, 20), at(window, 3, 22, 22))
    assert max(rings(window, 3)[0])[0] == pytest.approx(22, abs=0.2)


def test_an_outline_that_would_lose_its_area_stays_and_that_is_said(window: Any) -> None:
    mouse = CanvasMouse(window)
    window.session.edits.set_rings(2, [np.array([(10.0, 10), (20, 10), (20, 20)])])
    settle()
    mouse.key("E", "Shift")
    mouse.drag(at(window, 2, 20, 20), at(window, 2, 20, 10))
    # on the point beside it, or within a pixel of it
    left = rings(window, 2)[0]
    mouse.key("1")
    mouse.click(at(window, 2, 10, 10))
    assert rings(window, 2)[0] == left
    assert REFUSED in window.docks._line.text()
    assert len(layer(window).data[0]) == 4  # drawn as it was


def test_stepping_hiding_and_ending_keep_the_slice_and_the_layer_right(window: Any) -> None:
    mouse = CanvasMouse(window)
    window.session.edits.set_rings(3, [np.array(box(10, 10, 5), dtype=float)])
    mouse.key("E", "Shift")
    for by in (-1, 1, 1, -1, -1, 1, 1, -1) * 3:
        window.step_slice(by)
    window.looking.go.to_contour(3, 12.0, 12.0)
    settle()
    assert layer(window).editable
    mouse.drag(at(window, 3, 15, 15), at(window, 3, 20, 20))
    assert max(rings(window, 3)[0])[0] == pytest.approx(20, abs=0.2)
    assert rings(window, 2)[0] == [[10, 10], [20, 10], [20, 20], [10, 20]]
    for _ in range(2):
        mouse.key("G")
    assert window.looking.show.mode == "error"
    assert layer(window).visible  # the errors follow the outline
    errors = np.asarray(window.display.layer("error").data[0])
    assert np.count_nonzero(errors == 1) == pytest.approx(50, abs=8)  # by pixels, 5 x 5 mm before
    mouse.key("G")
    assert not layer(window).editable  # nothing is seen, nothing is changed
    mouse.key("G")
    assert layer(window).editable
    window.looking.hide(True)
    settle(0.1)
    assert not layer(window).editable
    window.looking.hide(False)
    settle(0.1)
    assert layer(window).editable
    mouse.press(at(window, 3, 10, 10))
    mouse.move(at(window, 3, 5, 5))
    window.step_slice(1)  # leaves the slice with the button pressed
    mouse.move(at(window, 2, 30, 30))
    mouse.release(at(window, 2, 30, 30))
    settle()
    assert min(rings(window, 3)[0])[0] == pytest.approx(5, abs=0.2)
    assert rings(window, 2)[0] == [[10, 10], [20, 10], [20, 20], [10, 20]]
    mouse.key("E", "Shift")
    assert not window.editing.is_on
    assert not layer(window).editable
    assert "editing" not in window.overlay.banner_text


def test_the_next_case_may_come_while_an_outline_is_dragged(window: Any) -> None:
    mouse = CanvasMouse(window)
    mouse.key("E", "Shift")
    mouse.press(at(window, 2, 20, 20))
    mouse.move(at(window, 2, 24, 24))
    settle(0.1)
    window.session.go_to("TC2")
    wait_for(lambda: window.session.case.case_id == "TC2" and window.session.is_idle, "the second scan")
    mouse.move(at(window, 2, 28, 28))
    mouse.release(at(window, 2, 28, 28))
    settle()
    assert not window.editing.is_on
    assert window.session.edits.case_ids == ["TC1"]
    assert window.session.working.contours is None or not window.session.working.contours.n_rings
    window.session.go_to("TC1")
    wait_for(lambda: window.session.case.case_id == "TC1", "back")
    idle(window)
    assert max(rings(window, 2)[0])[0] == pytest.approx(24, abs=0.2)


def test_closing_while_editing_leaves_an_empty_viewer(window: Any) -> None:
    mouse = CanvasMouse(window)
    mouse.key("E", "Shift")
    mouse.press(at(window, 2, 20, 20))
    mouse.move(at(window, 2, 24, 24))
    window.close()
    mouse.release(at(window, 2, 24, 24))
    settle()
    assert len(window.viewer.layers) == 0


def test_a_copied_outline_is_pasted_on_another_slice_and_what_others_change_is_shown(window: Any) -> None:
    mouse = CanvasMouse(window)
    mouse.key("E", "Shift")
    mouse.key("C", "Control")
    window.docks.polygons.place_requested.emit(3, 15.0, 15.0)  # what a click in the table asks for
    settle()
    assert window.viewer.dims.current_step[0] == 0  # slice 3 is the one nearest to the head
    assert not layer(window).data
    mouse.key("V", "Control")
    idle(window)
    pasted = window.session.working.contours.rings[3]
    np.testing.assert_allclose(pasted, [[(10, 10), (20, 10), (20, 20), (10, 20)]], atol=1e-4)
    assert window.session.score.case["fn_mm3"].value == pytest.approx(100, abs=1e-2)
    window.session.edits.set_rings(3, [])  # as a panel does
    settle()
    assert not layer(window).data
    mouse.key("Z", "Control")
    settle()
    assert len(layer(window).data) == 1
    window.looking.go.to_contour(2, 15.0, 15.0)
    settle()
    mouse.press(at(window, 2, 20, 20))
    mouse.move(at(window, 2, 24, 24))
    settle(0.1)
    mouse.key("Z", "Control")  # with the button pressed: ends the drag and takes it back
    mouse.move(at(window, 2, 40, 40))
    mouse.release(at(window, 2, 40, 40))
    idle(window)
    assert rings(window, 2)[0] == [[10, 10], [20, 10], [20, 20], [10, 20]]
    mouse.key("Z", "Control")  # the paste: its slice is shown
    settle()
    assert not window.session.edited
    assert window.viewer.dims.current_step[0] == 0
