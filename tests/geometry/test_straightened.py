"""A volume along a curve: on a spine bent to an arc, whose lengths are known, dots come out where they should."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import GridMismatchError, LabelError
from medotter_viewer.geometry.straightened import spine_curve, straightened_image, straightened_labels

RADIUS, N = 80.0, 7
ANGLES = np.linspace(0, pi / 2, N)  # a quarter of a circle, from straight down to straight backwards
STEP = RADIUS * pi / 2 / (N - 1)


def arc(side: float = 0.0) -> NDArray[Any]:
    """Points on an arc in a sagittal plane at x = side: down along -z first, then to the back along -y."""
    return np.stack([np.full(N, side), RADIUS * (np.cos(ANGLES) - 1), -RADIUS * np.sin(ANGLES)], axis=1)


def grid_around(points: NDArray[Any], spacing: tuple[float, float, float] = (1, 1, 1), margin: float = 50) -> Grid:
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    affine = np.diag([*spacing, 1.0])
    affine[:3, 3] = low
    return Grid(tuple(int(n) + 1 for n in np.ceil((high - low) / spacing)), affine)


def painted(grid: Grid, points: NDArray[Any], value: int = 1) -> NDArray[np.uint8]:
    """A cube of 3 voxels at each point."""
    data = np.zeros(grid.shape, dtype=np.uint8)
    for n, (i, j, k) in enumerate(np.rint(grid.world_to_voxel(points)).astype(int)):
        data[i - 1 : i + 2, j - 1 : j + 2, k - 1 : k + 2] = value + n
    return data


class TestCurve:
    def test_the_points_lie_on_it_at_the_lengths_of_the_arc(self) -> None:
        curve = spine_curve(arc())
        assert curve.at_mm == pytest.approx(STEP * np.arange(N), abs=0.15)
        assert curve.local(arc())[:, 0] == pytest.approx(curve.at_mm, abs=0.05)
        assert np.abs(curve.local(arc())[:, 1:]).max() < 0.05

    def test_it_is_sampled_each_mm_and_goes_on_at_both_ends(self) -> None:
        curve = spine_curve(arc(), extension_mm=(20, 10))
        assert np.linalg.norm(np.diff(curve.points_world, axis=0), axis=1) == pytest.approx(1.0, abs=0.01)
        assert (curve.arc_mm[0], curve.arc_mm[-1]) == (-20, np.floor(curve.at_mm[-1] + 10))
        # A natural spline is straight at its ends, so it leaves the circle there by a little.
        assert curve.points_world[0] == pytest.approx([0, 0, 20], abs=2.0)

    def test_the_front_is_the_front_all_along(self) -> None:
        curve = spine_curve(arc())
        assert (curve.right @ [1, 0, 0] > 0.99).all()
        assert curve.anterior[0] == pytest.approx([0, 1, 0], abs=0.1)
        assert curve.anterior[-1] == pytest.approx([0, 0, -1], abs=0.1)  # where the spine goes backwards
        for one, other in ((curve.tangent, curve.anterior), (curve.anterior, curve.right)):
            assert np.abs((one * other).sum(axis=1)).max() < 1e-12

    @given(st.floats(-40, 40), st.floats(-40, 40), st.integers(5, 85))
    def test_a_point_beside_a_straight_spine_is_told_by_its_distances(
        self, right: float, behind: float, z: int
    ) -> None:
        curve = spine_curve([(2, 3, 90), (2, 3, 60), (2, 3, 0)])
        assert curve.local((2 + right, 3 - behind, z)) == pytest.approx([90 - z, behind, right], abs=1e-6)

    def test_one_point_is_no_curve(self) -> None:
        for points in ([], [(0, 0, 0)], [(0, 0, 0), (0, 0, 0)]):
            with pytest.raises(LabelError, match="two points or more"):
                spine_curve(points)

    def test_a_repeated_point_is_one(self) -> None:
        curve = spine_curve([(0, 0, 20), (0, 0, 10), (0, 0, 10), (0, 0, 0)])
        assert curve.at_mm == pytest.approx([0, 10, 10, 20])

    def test_what_is_no_spine_is_refused(self) -> None:
        with pytest.raises(LabelError, match="left to right"):
            spine_curve([(0, 0, 0), (90, 0, 0)])
        with pytest.raises(LabelError, match="span 1000000000 mm"):
            spine_curve([(0, 0, 0), (0, 0, 1e9)])


class TestPictures:
    @pytest.mark.parametrize("side", [0.0, 13.0])
    def test_a_dot_at_each_point_comes_out_in_the_middle_at_its_length(self, side: float) -> None:
        points = arc(side)
        grid = grid_around(points)
        curve, behind = spine_curve(points), np.arange(-20.0, 21.0)
        found = straightened_labels(LabelMap(painted(grid, points), grid), curve.grid_world(behind))
        assert found.shape == (len(curve.arc_mm), 41)
        for n in range(N):
            rows, columns = np.nonzero(found == n + 1)
            assert curve.arc_mm[rows].mean() == pytest.approx(n * STEP, abs=0.8)
            assert behind[columns].mean() == pytest.approx(0.0, abs=0.8)

    def test_the_left_right_way_of_a_scoliosis_is_taken_out(self) -> None:
        z = np.linspace(200, 0, 9)
        points = np.stack([15 * np.sin(z / 30), np.zeros(9), z], axis=1)
        grid = grid_around(points)
        curve, behind = spine_curve(points), np.arange(-10.0, 11.0)
        found = straightened_labels(LabelMap(painted(grid, points), grid), curve.grid_world(behind))
        for n, at in enumerate(curve.at_mm):
            rows, columns = np.nonzero(found == n + 1)
            assert (curve.arc_mm[rows].mean(), behind[columns].mean()) == pytest.approx((at, 0), abs=0.8)

    def test_images_are_linear_and_end_half_a_voxel_beyond_the_last_centre(self) -> None:
        data = np.arange(4, dtype=np.int16)[:, None, None] * np.ones((1, 2, 2), dtype=np.int16)
        image = Volume(data, Grid(data.shape, np.diag([2.0, 1, 1, 1])))
        places = np.array([(x, 0.0, 0.0) for x in (-1.01, -0.9, 0.0, 1.0, 5.0, 6.9, 7.01)])
        found = straightened_image(image, places)
        assert found[1:-1].tolist() == [0.0, 0.0, 0.5, 2.5, 3.0]
        assert np.isnan(found[[0, -1]]).all()

    def test_labels_are_those_of_the_nearest_voxel(self) -> None:
        labels = LabelMap(np.arange(1, 5, dtype=np.uint8).reshape(4, 1, 1), Grid((4, 1, 1), np.eye(4)))
        places = np.array([(x, 0.0, 0.0) for x in (-0.6, -0.4, 0.4, 0.6, 3.4, 3.6)])
        assert straightened_labels(labels, places).tolist() == [0, 1, 1, 2, 4, 0]

    @pytest.mark.parametrize("signs", [(-1, 1, 1), (1, -1, -1), (-1, -1, -1)])
    def test_which_way_the_axes_of_the_file_run_does_not_matter(self, signs: Any) -> None:
        points = arc()
        grid = grid_around(points)
        data = painted(grid, points)
        flipped = np.flip(data, [a for a in range(3) if signs[a] < 0])
        affine = np.diag([*signs, 1.0])
        affine[:3, 3] = [grid.affine[a, 3] + (grid.shape[a] - 1 if signs[a] < 0 else 0) for a in range(3)]
        places = spine_curve(points).grid_world(np.arange(-20.0, 21.0))
        one = straightened_labels(LabelMap(data, grid), places)
        other = straightened_labels(LabelMap(np.ascontiguousarray(flipped), Grid(grid.shape, affine)), places)
        assert (one != other).mean() < 0.002  # exactly between two voxels the other one may be taken
        assert one.any()

    def test_a_file_that_does_not_say_where_it_lies_is_refused(self) -> None:
        grid = Grid((2, 2, 2), np.eye(4), has_world=False)
        with pytest.raises(GridMismatchError, match="form codes"):
            straightened_labels(LabelMap(np.zeros((2, 2, 2), dtype=np.uint8), grid), np.zeros((1, 3)))
