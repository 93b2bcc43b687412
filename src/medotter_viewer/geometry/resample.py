"""Bring a label map of the same world onto another grid, by nearest neighbour, only when asked to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import GridMismatchError

_ROUNDING = 1e-4  # of a voxel: affines are often stored as float32


def resample_labels(labels: LabelMap, grid: Grid) -> LabelMap:
    """Return the ids of `labels` at the voxel centres of `grid`.

    Parameters
    ----------
    labels : LabelMap
        What to resample.
    grid : Grid
        Target.

    Returns
    -------
    LabelMap
        On `grid`, same type of ids. Exactly between two voxels the one of higher index is taken.

    Raises
    ------
    GridMismatchError
        If a voxel of `grid` lies more than half a voxel outside the grid of `labels`, or either grid has no
        world position, or has uneven slices.
    """
    if not (labels.grid.has_world and grid.has_world):
        raise GridMismatchError("cannot resample: a file without form codes, or a picture, does not say where it lies")
    if labels.grid.is_uneven or grid.is_uneven:
        raise GridMismatchError("cannot resample: the slices lie unevenly, so that no one step says where they are")
    to_source = np.linalg.inv(labels.grid.affine) @ grid.affine
    corners = (grid.corners_world() - labels.grid.affine[:3, 3]) @ np.linalg.inv(labels.grid.affine[:3, :3]).T
    limit = np.asarray(labels.grid.shape) - 0.5 + _ROUNDING
    outside = np.maximum(-0.5 - _ROUNDING - corners, corners - limit)
    if (outside > 0).any():
        worst = float(outside.max()) + 0.5
        raise GridMismatchError(
            f"cannot resample: the prediction's grid ({labels.grid.describe()}) ends before the ground truth's "
            f"({grid.describe()}); a ground-truth voxel lies {worst:.3g} voxels beyond its last centre, "
            "0.5 is allowed; export the prediction for the whole volume"
        )
    out = np.empty(grid.shape, dtype=labels.data.dtype, order="F")
    i, j = np.meshgrid(*(np.arange(n, dtype=np.float64) for n in grid.shape[:2]), indexing="ij")
    for k in range(grid.shape[2]):  # a slab at a time: coordinates of a whole volume would take ten times its memory
        index = [_source_index(to_source[row], i, j, k, labels.data.shape[row]) for row in range(3)]
        out[:, :, k] = labels.data[tuple(index)]
    return LabelMap(out, grid)


def _source_index(
    row: NDArray[np.float64], i: NDArray[np.float64], j: NDArray[np.float64], k: int, size: int
) -> NDArray[np.intp]:
    """Index along one source axis of the voxels (i, j) of slab k."""
    place = row[0] * i + row[1] * j + (row[2] * k + row[3])
    index: NDArray[np.intp] = np.clip(np.floor(place + 0.5 + _ROUNDING * 1e-2), 0, size - 1).astype(np.intp)
    return index
