"""On which slices contours lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import Contour, Roi
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.contour_planes import PlacedContours, place_contours, slice_reach_mm


def stack_at(
    heights: Sequence[float], *, frame: str | None = "FoR", rotation: np.ndarray | None = None, spacing: float = 1.0
) -> SliceStack:
    """Axial slices of 20 x 20 pixels at these heights, turned by a rotation (LPS) if given."""
    turn = np.eye(3) if rotation is None else rotation
    step = float(np.mean(np.diff(heights))) if len(heights) > 1 else 3.0
    lps = np.eye(4)
    lps[:3, :3] = turn @ np.diag([spacing, spacing, step])
    lps[:3, 3] = turn @ np.array([0, 0, heights[0]])
    n = len(heights)
    origins = np.array([turn @ np.array([0, 0, z]) for z in heights])
    grid = Grid((20, 20, n), np.diag([-1, -1, 1, 1]) @ lps)
    uids = [f"1.2.{i}" for i in range(n)]
    return SliceStack(grid, origins, [None] * n, [None] * n, uids, [Path("x")] * n, frame)


def ring(z: float, *, uid: str | None = None, left: float = 5.0) -> Contour:
    right = left + 4
    points = [(left, 5, z), (right, 5, z), (right, 9, z), (left, 9, z)]
    return Contour(np.array(points, dtype=float), "CLOSED_PLANAR", uid)


def roi(*contours: Contour, frame: str | None = "FoR") -> Roi:
    return Roi(1, "GTV", None, contours, len(contours), frame)


def placed(stack: SliceStack, *contours: Contour) -> tuple[PlacedContours, list[Finding]]:
    found, findings = place_contours([roi(*contours)], stack)
    return found[1], findings


def codes(findings: list[Finding]) -> dict[str, str]:
    return {f.code: f.severity for f in findings}


STACK = stack_at([-102, -99, -96])


def test_a_contour_lies_on_the_nearest_slice_and_the_largest_offset_is_told() -> None:
    found, findings = placed(STACK, ring(-102.134), ring(-99.1341))
    assert {k: len(v) for k, v in found.points_lps.items()} == {0: 1, 1: 1}
    assert codes(findings) == {"contour-off-plane": "info"}
    assert "2 of 2 contours up to 0.134 mm off" in findings[0].message


def test_a_hundredth_of_a_millimetre_is_no_offset() -> None:
    assert placed(STACK, ring(-99.009))[1] == []
    assert codes(placed(STACK, ring(-99.011))[1]) == {"contour-off-plane": "info"}


def test_more_than_a_tenth_of_the_distance_is_worth_a_warning() -> None:
    assert codes(placed(STACK, ring(-98.6))[1]) == {"contour-off-plane": "warning"}


def test_half_way_the_lower_slice_is_taken_up_to_rounding() -> None:
    for z in (-100.5, -100.5 + 1e-9, -100.5 - 1e-9, -100.496):
        found, _ = placed(STACK, ring(z))
        assert list(found.points_lps) == [0]


def test_half_way_the_image_that_a_contour_names_decides() -> None:
    found, findings = placed(STACK, ring(-100.5, uid="1.2.1"))
    assert list(found.points_lps) == [1]
    assert codes(findings) == {"contour-off-plane": "warning"}


def test_position_counts_where_the_image_named_is_another() -> None:
    found, findings = placed(STACK, ring(-99, uid="1.2.0"))
    assert list(found.points_lps) == [1]
    assert codes(findings) == {"contour-slice-reference": "warning"}
    assert "3 mm from the image" in findings[0].message


def test_a_contour_that_names_its_image_is_placed_without_a_word() -> None:
    assert placed(STACK, ring(-99, uid="1.2.1"))[1] == []
    assert placed(STACK, ring(-99))[1] == []


def test_images_of_another_series_are_said_once() -> None:
    found, findings = placed(STACK, ring(-99, uid="9.9.1"), ring(-96, uid="9.9.2"))
    assert sorted(found.points_lps) == [1, 2]
    assert codes(findings) == {"contour-other-series": "warning"}
    assert "2 of 2 contours" in findings[0].message


def test_a_contour_across_slices_is_not_placed() -> None:
    points = [(5, 5, -99), (9, 5, -99), (9, 9, -96), (5, 9, -96)]
    found, findings = placed(STACK, Contour(np.array(points, dtype=float)))
    assert (dict(found.points_lps), found.n_placed, found.n_skipped) == ({}, 0, 1)
    assert codes(findings) == {"contour-not-coplanar": "warning"}
    assert "1 of 1 contours not placed" in findings[0].message


def test_a_contour_outside_the_series_is_not_placed() -> None:
    found, findings = placed(STACK, ring(-50), ring(-99))
    assert (list(found.points_lps), found.n_contours, found.n_placed, found.n_skipped) == ([1], 2, 1, 1)
    assert codes(findings) == {"contour-outside-stack": "warning"}
    assert "up to 46 mm" in findings[0].message


@pytest.mark.parametrize("z", [-103.5, -94.5])
def test_half_a_slice_beyond_the_ends_belongs_to_them(z: float) -> None:
    found, _ = placed(STACK, ring(z))
    assert found.n_placed == 1
    beyond, _ = placed(STACK, ring(z + (0.02 if z > -99 else -0.02)))
    assert beyond.n_placed == 0


def test_a_missing_slice_does_not_stretch_its_neighbours() -> None:
    stack = stack_at([0, 3, 6, 12, 15])
    assert slice_reach_mm(stack).tolist() == [1.5] * 5
    found, findings = placed(stack, ring(9), ring(7.6), ring(7.4))
    assert {k: len(v) for k, v in found.points_lps.items()} == {2: 1}
    assert codes(findings) == {"contour-between-slices": "warning", "contour-off-plane": "warning"}
    assert "2 of 3" in findings[0].message


def test_where_slices_are_closer_their_own_distance_counts() -> None:
    assert slice_reach_mm(stack_at([0, 5, 10, 15, 16, 17])).tolist() == [2.5, 2.5, 2.5, 2.5, 0.5, 0.5]


def test_a_single_slice_reaches_half_its_thickness() -> None:
    stack = stack_at([3])
    assert slice_reach_mm(stack).tolist() == [1.5]
    assert placed(stack, ring(4.4))[0].n_placed == 1
    assert placed(stack, ring(4.6))[0].n_placed == 0


def test_of_several_planes_at_one_slice_only_the_next_is_taken() -> None:
    found, findings = placed(STACK, ring(-100), ring(-99), ring(-98), ring(-99.05, left=12))
    assert [float(p[0, 0]) for p in found.points_lps[1]] == [5.0, 12.0]
    assert codes(findings) == {"contour-plane-crowded": "warning", "contour-off-plane": "warning"}
    assert found.n_skipped == 2


def test_equally_far_planes_give_the_first_whatever_the_rounding() -> None:
    for first, second in ((-100, -98), (-100, -98 - 1e-7)):
        found, _ = placed(STACK, ring(first), ring(second))
        assert found.points_lps[1][0][0, 2] == first


def test_points_lines_and_open_contours_are_counted_by_kind() -> None:
    flat = [
        Contour(np.array([(1.0, 1, -99)])),
        Contour(np.array([(1.0, 1, -99), (1, 1, -99)])),
        Contour(np.array([(1.0, 1, -99), (2, 2, -99), (1, 1, -99)])),
        Contour(np.array([(1.0, 20, -99), (5, 24, -99), (9, 20, -99)]), "OPEN_PLANAR"),
        Contour(np.zeros((0, 3))),
        Contour(np.array([(4.0, 4, -99)]), "POINT"),
    ]
    found, findings = placed(STACK, *flat, ring(-99))
    assert found.n_placed == 1
    assert codes(findings) == {"contour-without-area": "info"}
    assert "6 of 7 contours have no area: 3 are points, 1 has 2 points, 1 is open, 1 is empty" in findings[0].message


def test_another_frame_of_reference_is_refused_by_both_names() -> None:
    with pytest.raises(GridMismatchError, match=r"OTHER.*FoR"):
        place_contours([roi(ring(-99), frame="OTHER")], STACK)


def test_a_made_up_frame_of_reference_does_not_matter_where_contours_lie_on_the_images_they_name() -> None:
    found, findings = place_contours([roi(ring(-99, uid="1.2.1"), ring(-96.1, uid="1.2.2"), frame="OTHER")], STACK)
    assert found[1].n_placed == 2
    assert codes(findings) == {"contour-frame-of-reference": "warning", "contour-off-plane": "info"}
    assert "OTHER" in findings[0].message


@pytest.mark.parametrize("second", [ring(-96), ring(-96, uid="9.9"), ring(-96, uid="1.2.0"), ring(-50, uid="1.2.2")])
def test_a_single_contour_that_does_not_lie_on_its_image_is_enough_to_refuse(second: Contour) -> None:
    with pytest.raises(GridMismatchError, match=r"OTHER.*FoR"):
        place_contours([roi(ring(-99, uid="1.2.1"), second, frame="OTHER")], STACK)


def test_another_frame_of_reference_can_be_ignored_aloud() -> None:
    found, findings = place_contours([roi(ring(-99), frame="OTHER")], STACK, ignore_frame_of_reference=True)
    assert found[1].n_placed == 1
    assert codes(findings) == {"contour-frame-of-reference": "warning"}


def test_a_structure_without_contours_may_name_any_frame_of_reference() -> None:
    assert place_contours([roi(frame="OTHER")], STACK)[1] == []


@pytest.mark.parametrize(("theirs", "ours"), [(None, "FoR"), ("FoR", None), (None, None)])
def test_a_frame_of_reference_that_is_not_told_is_a_warning(theirs: str | None, ours: str | None) -> None:
    found, findings = place_contours([roi(ring(3), frame=theirs)], stack_at([0, 3], frame=ours))
    assert found[1].n_placed == 1
    assert codes(findings) == {"contour-no-frame-of-reference": "warning"}


def test_a_series_without_a_position_is_refused() -> None:
    grid = Grid((4, 4, 1), np.eye(4), has_world=False)
    stack = SliceStack(grid, np.zeros((1, 3)), [1], [None], [None], [Path("x")])
    with pytest.raises(GridMismatchError, match="does not say where it lies"):
        place_contours([roi(ring(0))], stack)


def test_oblique_slices_are_counted_along_their_normal() -> None:
    c, s = np.cos(0.5), np.sin(0.5)
    turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    stack = stack_at([0, 3, 6], rotation=turn, spacing=0.5)
    turned = Contour((ring(3).points_lps @ turn.T).round(3))
    found, findings = placed(stack, turned)
    assert findings == []
    assert list(found.points_lps) == [1]
    np.testing.assert_allclose(found.pixels(1)[0], ring(3).points_lps[:, :2] / 0.5, atol=4e-3)


def test_pixels_and_millimetres_of_a_slice() -> None:
    found, _ = placed(stack_at([0, 3], spacing=0.9765625), ring(3))
    assert found.xy_lps(1)[0].tolist() == [[5, 5], [9, 5], [9, 9], [5, 9]]
    np.testing.assert_allclose(found.pixels(1)[0], ring(3).points_lps[:, :2] / 0.9765625, atol=1e-5)
    assert (found.pixels(0), found.xy_lps(0)) == ([], [])


def test_what_lies_on_a_pixel_centre_in_millimetres_lies_there_in_pixels() -> None:
    grid = Grid(
        (9, 9, 1), np.diag([-1, -1, 1, 1]) @ np.array([[0.7, 0, 0, -3.3], [0, 0.7, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1]])
    )
    stack = SliceStack(grid, np.array([[-3.3, 0.1, 0]]), [1], [None], [None], [Path("x")])
    points = np.array([[-3.3 + 0.7 * i, 0.1 + 0.7 * j, 0.0] for i, j in ((1, 1), (7, 1), (7, 3), (1, 3))]).round(6)
    found, _ = placed(stack, Contour(points))
    assert found.pixels(0)[0].tolist() == [[1, 1], [7, 1], [7, 3], [1, 3]]
