"""Lengths and areas of what is drawn on displayed planes, measured where it lies in the patient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order

_SLICES = 2  # array axis along which the steps of an uneven grid vary
_SAME_INDEX = 1e-6


def distance_mm(grid: Grid, start_mm: Sequence[float], end_mm: Sequence[float]) -> float | None:
    """Return how far two displayed positions are from each other.

    Parameters
    ----------
    grid : Grid
        On which they are drawn.
    start_mm, end_mm : (3,) sequence of float
        Displayed mm along I, P, L. An oblique or sheared grid is drawn along its own axes; the way runs through its
        voxel indices to the patient, so that the length is that of the patient.

    Returns
    -------
    float or None
        mm; pixels on a grid of pixels. None between slices whose steps vary: nobody knows how far they are apart.

    Examples
    --------
    >>> distance_mm(Grid((9, 9, 9), np.diag([3.0, 4.0, 5.0, 1.0])), (0, 0, 0), (0, 4, 3))
    5.0
    """
    order = display_order(grid)
    shown = (np.array([start_mm, end_mm], dtype=np.float64) - order.translate) / np.asarray(order.scale)
    index = order.voxel_index(shown, grid.shape)
    step = index[1] - index[0]
    if grid.is_uneven and abs(step[_SLICES]) > _SAME_INDEX:
        return None
    return float(np.linalg.norm(grid.affine[:3, :3] @ step))


def pixel_area_mm2(grid: Grid, axis: int) -> float | None:
    """Return the area of one voxel's face in a displayed plane.

    Parameters
    ----------
    grid : Grid
        Whose voxels.
    axis : int
        Displayed axis across the plane: 0 axial, 1 coronal, 2 sagittal.

    Returns
    -------
    float or None
        mm2, square pixels on a grid of pixels. None in planes that run across slices whose steps vary.
    """
    across = display_order(grid).axes[axis]
    if grid.is_uneven and across != _SLICES:
        return None
    one, other = (grid.affine[:3, a] for a in range(3) if a != across)
    return float(np.linalg.norm(np.cross(one, other)))
