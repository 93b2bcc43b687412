"""The wheel scrolls slices and Ctrl+wheel zooms, as in a radiology viewer; napari has it the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

_ZOOM_STEP = 1.1


def bind_wheel(viewer: Any) -> None:
    """Make the wheel scroll slices in a viewer; in three dimensions, where there are none, it zooms."""
    callbacks = viewer.mouse_wheel_callbacks
    if scroll_or_zoom in callbacks:  # by a review that was here before
        return
    for callback in [c for c in callbacks if getattr(c, "__name__", "") == "dims_scroll"]:
        callbacks.remove(callback)
    callbacks.append(scroll_or_zoom)
    camera, dims = viewer.scene.camera, viewer.dims

    def leave_the_wheel(_: object = None) -> None:
        camera.mouse_zoom = dims.ndisplay == 3

    camera.events.mouse_zoom.connect(leave_the_wheel)  # napari lets the camera zoom with each layer that gets active
    dims.events.ndisplay.connect(leave_the_wheel)
    leave_the_wheel()


def scroll_or_zoom(viewer: Any, event: Any) -> None:
    """Step one slice for a notch of the wheel; with Ctrl zoom about the pointer."""
    notch = float(np.clip(event.delta[1], -1, 1))
    if notch == 0 or viewer.dims.ndim < 3:
        return
    modifiers = {str(getattr(m, "name", m)) for m in event.modifiers}
    if "Control" in modifiers:
        zoom_at(viewer, event.position, _ZOOM_STEP**notch)
    elif not modifiers and viewer.dims.ndisplay == 2:
        step_slice(viewer, -1 if notch > 0 else 1)


def step_slice(viewer: Any, by: int) -> None:
    """Go `by` slices along the axis that is looked along; at either end it stays."""
    dims = viewer.dims
    axis = dims.order[0]
    last = int(dims.nsteps[axis]) - 1
    dims.set_current_step(axis, int(np.clip(dims.current_step[axis] + by, 0, last)))


def zoom_at(viewer: Any, position: Any, factor: float) -> None:
    """Zoom, keeping what lies under `position` (displayed mm) where it is."""
    camera, dims = viewer.scene.camera, viewer.dims
    centre = np.asarray(camera.center, dtype=float)
    point = centre.copy()
    shown = list(dims.displayed)
    point[-len(shown) :] = np.asarray(position, dtype=float)[shown]
    camera.zoom *= factor
    camera.center = tuple(point + (centre - point) / factor)
