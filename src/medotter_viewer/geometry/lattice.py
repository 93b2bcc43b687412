"""Grids whose voxels coincide but that begin or end elsewhere: files of segments leave out what is empty."""

from __future__ import annotations

import numpy as np

from medotter_viewer.core.grid import PASS_FRACTION, Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import GridMismatchError

_MOST_TIMES, _MOST_VOXELS = 8, 1 << 28
"""A common grid may have this many times the voxels of its two, or as many as this."""


def voxel_offset(part: Grid, whole: Grid) -> tuple[int, int, int] | None:
    """Return how many voxels of `whole` lie before the first of `part`; None where their voxels do not coincide.

    A corner may lie a twentieth of a voxel off. Negative where `part` begins first.

    Examples
    --------
    >>> whole, part = Grid((9, 9, 9), np.eye(4)), np.eye(4)
    >>> part[:3, 3] = (0, 2, 5)
    >>> voxel_offset(Grid((9, 2, 2), part), whole)
    (0, 2, 5)
    """
    if not (part.has_world and whole.has_world) or part.is_uneven or whole.is_uneven:
        return None
    corners = part.corners_world()
    indices = Grid(part.shape, np.eye(4)).corners_world()
    offsets = whole.world_to_voxel(corners) - indices
    nearest = np.rint(offsets[0])
    if not np.abs(offsets - nearest).max() <= PASS_FRACTION or np.abs(nearest).max() > 1 << 31:
        return None
    i, j, k = nearest.astype(int).tolist()
    return i, j, k


def common_grid(first: Grid, second: Grid) -> Grid | None:
    """Return the smallest grid with the voxels of both, in the axes of the first; None where they do not coincide."""
    offset = voxel_offset(second, first)
    if offset is None:
        return None
    low = np.minimum(0, offset)
    high = np.maximum(first.shape, np.add(offset, second.shape))
    shape = tuple((high - low).tolist())
    sizes = [float(np.prod(s, dtype=float)) for s in (shape, first.shape, second.shape)]
    if sizes[0] > max(_MOST_VOXELS, _MOST_TIMES * (sizes[1] + sizes[2])):
        return None
    if shape == first.shape:
        return first
    affine = first.affine.copy()
    affine[:3, 3] = first.voxel_to_world(low)
    return Grid(shape, affine)


def embedded(labels: LabelMap, grid: Grid) -> LabelMap:
    """Return a label map on a larger grid of the same voxels, with background around it.

    Raises
    ------
    GridMismatchError
        If voxels do not coincide, or some lie outside `grid`.
    """
    if labels.grid.shape == grid.shape and voxel_offset(labels.grid, grid) == (0, 0, 0):
        return LabelMap(labels.data, grid)
    offset = voxel_offset(labels.grid, grid)
    ends = None if offset is None else np.add(offset, labels.grid.shape)
    if offset is None or ends is None or min(offset) < 0 or (ends > grid.shape).any():
        raise GridMismatchError(f"{labels.grid.describe()} is no part of {grid.describe()}")
    data = np.zeros(grid.shape, dtype=labels.data.dtype, order="F")
    data[tuple(slice(a, b) for a, b in zip(offset, ends.tolist(), strict=True))] = labels.data
    return LabelMap(data, grid)
