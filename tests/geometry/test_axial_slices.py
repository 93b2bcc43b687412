"""Slices are counted along the patient's length in file order, or as a scan numbers them; x and y are LPS mm."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.axial_slices import axial_slices


def turned(degrees: float, about: int = 2) -> Grid:
    angle = np.radians(degrees)
    first, second = (axis for axis in range(3) if axis != about)
    affine = np.eye(4)
    affine[first, first] = affine[second, second] = np.cos(angle)
    affine[second, first] = np.sin(angle)
    affine[first, second] = -np.sin(angle)
    return Grid((4, 5, 6), affine)


def stack_of(grid: Grid, numbers: list[int | None], z_mm: list[float] | None = None) -> SliceStack:
    n = grid.shape[2]
    origins = np.array([grid.voxel_to_world((0, 0, k)) for k in range(n)]) * (-1, -1, 1)
    if z_mm is not None:
        origins[:, 2] = z_mm
    return SliceStack(grid, origins, numbers, [None] * n, [None] * n, [Path("x")] * n)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("ways", list(product((1, -1), repeat=3)))
def test_every_pixel_of_a_slice_lies_where_the_grid_says(order, ways) -> None:
    affine = np.zeros((4, 4))
    affine[order, range(3)] = np.array([0.5, 2.0, 3.0]) * ways
    affine[:, 3] = (10, -20, 30, 1)
    grid = Grid((3, 4, 5), affine)
    slices = axial_slices(grid)
    axis = order.index(2)
    assert (slices.axis, slices.numbers) == (axis, tuple(range(1, grid.shape[axis] + 1)))
    volume = np.arange(60).reshape(3, 4, 5)
    for index in range(grid.shape[axis]):
        plane = slices.mask(volume, index)
        rows, columns = np.indices(plane.shape)
        found = slices.to_lps(np.stack([columns.ravel(), rows.ravel()], axis=1).astype(float), index)
        voxels = np.stack(np.unravel_index(plane.ravel(), volume.shape), axis=1)
        np.testing.assert_allclose(found, grid.voxel_to_world(voxels)[:, :2] * (-1, -1))
    in_plane = [step for a, step in enumerate((0.5, 2.0, 3.0)) if a != axis]
    assert slices.pixel_area_mm2 == pytest.approx(np.prod(in_plane))
    assert set(slices.thickness_mm.values()) == {(0.5, 2.0, 3.0)[axis]}


def test_a_scan_numbers_its_slices_and_places_each() -> None:
    affine = np.diag([-0.5, -2.0, 3.0, 1.0])
    affine[:2, 3] = (7, 9)
    grid = Grid((4, 5, 3), affine)
    slices = axial_slices(grid, stack=stack_of(grid, [9, 3, 4], [0.0, 3.0, 7.5]), thickness_mm={9: 2.5})
    assert slices.numbers == (9, 3, 4)
    assert dict(slices.thickness_mm) == {9: 2.5, 3: 3.0, 4: 3.0}
    # A slice of the array has columns of the image along its rows: (column, row) of the plane is (row, column) of it.
    assert slices.to_lps(np.array([[2.0, 1.0]]), 2).tolist() == [[-7 + 1 * 0.5, -9 + 2 * 2.0]]


@pytest.mark.parametrize(
    ("grid", "stack", "said"),
    [
        (Grid((4, 4, 1), np.eye(4), unit="px"), None, "does not say where it lies"),
        (Grid((4, 4, 4), np.eye(4), has_world=False), None, "does not say where it lies"),
        (turned(0.2), None, "0.2 degrees oblique, at most 0.1"),
        (turned(0.2, about=0), None, "oblique"),
        (turned(0.0), [1, 2, 3, None, 5, 6], "no numbers of their own"),
        (turned(0.0), [1, 2, 3, 3, 5, 6], "no numbers of their own"),
        (turned(0.0), [0, 1, 2, 3, 4, 5], "no numbers of their own"),
        (Grid((4, 5, 6), np.eye(4)[[2, 0, 1, 3]]), [1, 2, 3, 4, 5, 6], "sagittal, expected axial"),
    ],
)
def test_what_has_no_axial_slices_is_refused_with_the_reason(grid, stack, said: str) -> None:
    with pytest.raises(GridMismatchError, match=said):
        axial_slices(grid, stack=None if stack is None else stack_of(grid, stack))


def test_a_tenth_of_a_degree_is_allowed() -> None:
    assert axial_slices(turned(0.09)).numbers == (1, 2, 3, 4, 5, 6)
