"""Where what a panel names is shown, and what the corner says of it. No window needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scan_phantoms import POSES, SCAN_SPEC, STEP_MM, block_scan

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.ui.corner import across_line, slice_line
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.places import changed_slice, contour_place
from medotter_viewer.ui.placing import place, place_prediction


@pytest.mark.parametrize("pose", ["head first supine", "feet first prone"])
def test_a_place_on_a_slice_is_found_however_the_patient_lies(pose: str) -> None:
    placed = place(block_scan(pose), SCAN_SPEC)
    assert placed.stack is not None
    assert placed.gt is not None
    found = contour_place(placed, 13, -10.0, 45.0)
    assert found is not None
    axis, index = found
    shown_mm = index * np.array(placed.gt.order.scale) + placed.gt.order.translate
    z = placed.stack.origins_lps[2][2]  # number 13 is the third
    assert axis == 0
    np.testing.assert_allclose(shown_mm, (-z, 45.0, -10.0), rtol=0, atol=1e-9)


def test_a_slice_that_the_scan_lacks_is_no_place() -> None:
    placed = place(block_scan(), SCAN_SPEC)
    assert contour_place(placed, 99, 0.0, 0.0) is None
    assert contour_place(placed, 13, float("nan"), 0.0) is None


@pytest.mark.parametrize("pose", list(POSES))
def test_the_slices_that_were_changed_are_told_by_their_displayed_place(pose: str) -> None:
    case = block_scan(pose)
    assert case.pred_contours is not None
    before = place(case, SCAN_SPEC)
    ring = case.pred_contours.rings[12][0]
    after = case.pred_contours.with_slice(12, [ring + 1]).with_slice(16, [ring])
    placed = place_prediction(before, replace(case, pred_contours=after), SCAN_SPEC)
    found = changed_slice(before, placed)
    assert found is not None
    assert placed.gt is not None
    assert found == (0, sorted(placed.gt.flipped(index) for index in (1, 5)))
    assert changed_slice(before, before) is None


def test_an_edited_prediction_is_placed_as_if_it_were_new_and_the_rest_is_kept() -> None:
    case = block_scan()
    assert case.pred_contours is not None
    before = place(case, SCAN_SPEC)
    ring = case.pred_contours.rings[12][0]
    edited = replace(case, pred_contours=case.pred_contours.with_slice(12, [ring + 1, ring[:2]]).with_slice(99, [ring]))
    again, fresh = place_prediction(before, edited, SCAN_SPEC), place(edited, SCAN_SPEC)
    assert again.gt is before.gt
    assert again.grid is before.grid
    assert again.notes == fresh.notes != before.notes
    assert again.pred is not None
    assert fresh.pred is not None
    np.testing.assert_array_equal(again.pred.paths(1), fresh.pred.paths(1))
    np.testing.assert_array_equal(np.asarray(again.masks["pred"]), np.asarray(fresh.masks["pred"]))
    gone = place_prediction(again, replace(case, pred_contours=None), SCAN_SPEC)
    assert gone.pred is None
    assert set(gone.masks) == {"gt"}
    back = place_prediction(gone, case, SCAN_SPEC)
    assert back.pred is not None
    assert back.pred.rings.keys() == before.pred.rings.keys()  # type: ignore[union-attr]


def test_contours_without_positions_keep_their_grid_while_they_are_edited() -> None:
    case = replace(block_scan(image=False), stack=None)
    before = place(case, SCAN_SPEC)
    far = replace(case, pred_contours=ScanContours({12: [np.array([(0, 0), (900, 0), (900, 900.0)])]}))
    assert place_prediction(before, far, SCAN_SPEC).grid is before.grid


def test_the_corner_names_place_and_number_of_a_slice() -> None:
    placed = place(block_scan(), SCAN_SPEC)
    # slice 13 is the third of six from the feet, so the fourth from the head, at z = 100 + 2 steps
    assert slice_line(placed, 0, -(100 + 2 * STEP_MM), 3, 6) == "slice 4/6  ·  number 13"
    assert slice_line(placed, 1, 40.0, 3, 30) == "slice 4/30"
    assert slice_line(None, 0, 0.0, 0, 1) == ""
    assert "own slices" in across_line(placed, 1, ShowOptions())
    assert across_line(placed, 0, ShowOptions()) == across_line(placed, 1, ShowOptions(mode="fill")) == ""
