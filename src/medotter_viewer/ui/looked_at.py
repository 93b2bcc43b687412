"""Which place of the open case a person looks at: what a verdict or comment is bound to."""

from __future__ import annotations

from typing import Any

import numpy as np

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.review.records import PLANES, Place


def place_at(grid: Grid, position: Any, axis: int | None, region: str | None = None) -> Place:
    """Return the place of a displayed position.

    An oblique grid is drawn along its own axes, so the way back runs through the displayed array, not the affine.

    Parameters
    ----------
    grid : Grid
        The grid that is shown.
    position : (3,) array_like of float
        Displayed mm: along I, P and L.
    axis : int or None
        Displayed axis that is looked along: 0 axial, 1 coronal, 2 sagittal; None in three dimensions.
    region : str, optional
        The region that is looked at alone.
    """
    order = display_order(grid)
    shown = (np.asarray(position, dtype=np.float64) - order.translate) / np.asarray(order.scale)
    if axis is not None:  # between two slices the nearer one is seen
        shown[axis] = np.clip(np.rint(shown[axis]), 0, grid.shape[order.axes[axis]] - 1)
    voxel = order.voxel_index(shown, grid.shape)
    world = grid.voxel_to_world(voxel) if grid.has_world and grid.unit == "mm" else None
    return Place(
        position_world=None if world is None else _point(world),
        position_voxel=_point(voxel),
        plane=None if axis is None else PLANES[axis],
        slice_number=None if axis is None else int(shown[axis]) + 1,
        region=region,
    )


def place_looked_at(viewer: Any, grid: Grid | None, region: str | None = None, *, crosshair: bool = False) -> Place:
    """Return the place in the middle of the canvas on the slice that is shown, or that of the crosshair.

    Parameters
    ----------
    viewer : ViewerModel
        Whose canvas.
    grid : Grid or None
        The grid that is shown; without one only the region is told.
    region : str, optional
        The region that is looked at alone.
    crosshair : bool
        Whether planes are linked by a crosshair: it is the point of all three dimensions.
    """
    dims = viewer.dims
    if grid is None or len(dims.order) != 3:
        return Place(region=region)
    centre = viewer.scene.camera.center
    if dims.ndisplay != 2:
        return place_at(grid, centre, None, region)
    axis, down, across = dims.order
    if crosshair:
        return place_at(grid, dims.point, axis, region)
    position = np.zeros(3)
    position[axis], position[down], position[across] = dims.point[axis], centre[-2], centre[-1]
    return place_at(grid, position, axis, region)


def _point(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
