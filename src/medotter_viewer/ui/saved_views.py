"""Where somebody looks, in mm and so that it can be shown again; reads and moves a viewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.session.state_file import PLANES, SavedView
from medotter_viewer.ui.going import ORDERS
from medotter_viewer.ui.looked_at import place_at


def view_of(viewer: Any, grid: Grid | None, *, crosshair: bool = False) -> SavedView | None:
    """Return what is in the middle of the canvas, on the slice that is shown, or at the crosshair; None without a case.

    Parameters
    ----------
    viewer : ViewerModel
        Whose canvas.
    grid : Grid or None
        The grid that is shown.
    crosshair : bool
        Whether the point is meant that planes are linked by, wherever on the canvas it is.
    """
    dims, camera = viewer.dims, viewer.scene.camera
    if grid is None or len(dims.order) != 3:
        return None
    axis, down, across = dims.order
    position = np.asarray(dims.point, dtype=np.float64).copy()
    if dims.ndisplay == 2 and not crosshair:
        position[down], position[across] = camera.center[-2:]
    place = place_at(grid, position, axis)
    zoom = float(camera.zoom) if dims.ndisplay == 2 else None
    return SavedView(_rounded(place.position_world), PLANES[axis], zoom, _rounded(place.position_voxel))


def show_view(viewer: Any, grid: Grid | None, view: SavedView) -> str:
    """Show a place in the middle of the canvas; return what is to be said, empty where all is well.

    A place outside the image is shown at its edge, and said.
    """
    if grid is None:
        return "there is nothing to be looked at"
    order = display_order(grid)
    if view.position_world is not None and grid.has_world:
        voxel = grid.world_to_voxel(view.position_world)
    elif view.position_voxel is not None:
        voxel = np.asarray(view.position_voxel)
    else:
        return "this image lies nowhere in a patient: the position means nothing here"
    size = np.asarray(grid.shape)
    is_inside = bool(((voxel >= -0.5) & (voxel <= size - 0.5)).all())
    shown = order.displayed_index(voxel, grid.shape)
    axis = PLANES.index(view.plane)
    dims, camera = viewer.dims, viewer.scene.camera
    if dims.ndisplay == 2 and dims.order[0] != axis:
        dims.order = ORDERS[axis]
    limits = np.asarray([grid.shape[a] for a in order.axes]) - 1
    kept = np.clip(shown, 0, limits)
    dims.set_point((0, 1, 2), tuple(order.translate + kept * order.scale))
    if dims.ndisplay == 2:
        middle = np.asarray(order.translate) + shown * order.scale if is_inside else np.asarray(dims.point)
        camera.center = (0.0, *(float(middle[a]) for a in dims.order[-2:]))
        if view.zoom is not None:
            camera.zoom = view.zoom
    return "" if is_inside else "the position lies outside this image: its nearest slice is shown"


def _rounded(values: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
    if values is None:
        return None
    x, y, z = (round(v, 6) for v in values)
    return x, y, z
