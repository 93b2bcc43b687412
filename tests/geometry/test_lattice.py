"""Grids whose voxels coincide."""

from __future__ import annotations

import numpy as np
import pytest

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.lattice import common_grid, embedded, voxel_offset

AFFINE = np.array([[-2.0, 0, 0, 10], [0, -3, 0, 20], [0, 0, 4, -7], [0, 0, 0, 1]])


def part(shape: tuple[int, int, int], first: tuple[float, float, float]) -> Grid:
    affine = AFFINE.copy()
    affine[:3, 3] = AFFINE[:3, :3] @ first + AFFINE[:3, 3]
    return Grid(shape, affine)


WHOLE = part((6, 5, 9), (0, 0, 0))


@pytest.mark.parametrize("first", [(0, 0, 0), (1, 2, 3), (-1, 0, 5)])
def test_the_offset_is_counted_in_voxels(first: tuple[int, int, int]) -> None:
    assert voxel_offset(part((2, 2, 2), first), WHOLE) == first


@pytest.mark.parametrize("first", [(0, 0, 2.5), (0.1, 0, 0)])
def test_voxels_between_those_of_the_other_do_not_coincide(first: tuple[float, float, float]) -> None:
    assert voxel_offset(part((2, 2, 2), first), WHOLE) is None
    assert common_grid(WHOLE, part((2, 2, 2), first)) is None


def test_other_spacing_directions_and_unevenness_do_not_coincide() -> None:
    assert voxel_offset(Grid((2, 2, 2), AFFINE @ np.diag([1, 1, 2, 1])), WHOLE) is None
    assert voxel_offset(Grid((2, 2, 2), AFFINE @ np.diag([-1, 1, 1, 1])), WHOLE) is None
    assert voxel_offset(Grid((2, 2, 2), AFFINE, is_uneven=True), WHOLE) is None
    assert voxel_offset(Grid((2, 2, 2), AFFINE, has_world=False), WHOLE) is None


def test_the_common_grid_holds_both_where_they_are() -> None:
    other = part((3, 3, 4), (4, -1, 7))
    grid = common_grid(WHOLE, other)
    assert grid is not None
    assert grid.shape == (7, 6, 11)
    for one in (WHOLE, other):
        data = np.zeros(one.shape, dtype=np.uint8)
        data[0, 1, 2] = 5
        found = embedded(LabelMap(data, one), grid)
        ((at),) = np.argwhere(found.data)
        assert found.data[tuple(at)] == 5
        np.testing.assert_allclose(grid.voxel_to_world(at), one.voxel_to_world((0, 1, 2)))


def test_a_grid_within_the_other_gives_the_other() -> None:
    assert common_grid(WHOLE, part((2, 2, 2), (1, 1, 1))) is WHOLE


def test_grids_far_apart_have_no_common_one() -> None:
    assert common_grid(WHOLE, part((2, 2, 2), (0, 0, 200_000_000))) is None


def test_a_label_map_that_sticks_out_is_refused() -> None:
    with pytest.raises(GridMismatchError, match="no part of"):
        embedded(LabelMap(np.zeros((2, 2, 2), np.uint8), part((2, 2, 2), (5, 0, 0))), WHOLE)
