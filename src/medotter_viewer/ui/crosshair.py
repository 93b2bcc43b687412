"""The point that the three planes are linked by: napari's own point of all dimensions, moved by hand.

Whatever goes to a place (an error, a vertebra, the next slice) moves it too, as it is the same point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order, plane_of
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.scoring.slices import scored_ids
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.gestures import Gesture, Mouse
from medotter_viewer.ui.measure_tool import Place
from medotter_viewer.ui.placing import Placed


def on_voxel(grid: Grid, point_mm: Sequence[float]) -> tuple[float, ...]:
    """Return the displayed mm of the centre of the voxel nearest to a displayed position.

    Examples
    --------
    >>> on_voxel(Grid((4, 4, 4), np.diag([2.0, 2.0, 5.0, 1.0])), (-7.0, -9.0, -1.2))
    (-5.0, -6.0, -2.0)
    """
    order = display_order(grid)
    last = np.array([grid.shape[a] - 1 for a in order.axes])
    index = np.clip(np.floor((np.asarray(point_mm) - order.translate) / np.asarray(order.scale) + 0.5), 0, last)
    return tuple(float(v) for v in np.asarray(order.translate) + np.asarray(order.scale) * index)


def place_of_interest(placed: Placed, session: ReviewSession, axis: int, index: int) -> tuple[float, ...] | None:
    """Return displayed mm of what is worth looking at on a displayed slice; None where there is nothing.

    The middle of the largest error there, else of the largest piece of a label; else the middle of the contours
    there; else the nearest of the labelled points.
    """
    grid = placed.grid
    if grid is None:
        return None
    order = display_order(grid)
    found: Any = _labelled(placed.case, session, axis, index)
    side = placed.gt or placed.pred
    if found is None and side is not None and side.axis == axis and (paths := side.paths(side.flipped(index), 1)):
        found = paths[0][:-1].mean(axis=0)
    points = [*(placed.pred_points or placed.gt_points).values()]
    if found is None and points:
        found = points[min(range(len(points)), key=lambda n: abs(points[n][axis] - index))]
    if found is None:
        return None
    return tuple(float(t + s * i) for t, s, i in zip(order.translate, order.scale, found, strict=True))


def _labelled(case: Case, session: ReviewSession, axis: int, index: int) -> list[float] | None:
    """Displayed index of a voxel in the middle of the largest error on a slice, else of the largest piece."""
    spec, region = session.spec, session.region
    ids = scored_ids(case, spec, region if region in spec.regions else None)
    planes = []
    for labels in (case.gt, case.pred):
        if labels is not None:
            plane = plane_of(display_order(labels.grid).apply(labels.data), axis, index)
            planes.append(plane if spec.is_instances else np.where(id_mask(plane, ids), plane, 0))
    wrong = [planes[0] != planes[1]] if len(planes) == 2 else []
    for mask in (*wrong, *(plane != 0 for plane in planes)):
        if mask.any():
            found: list[float] = [float(v) for v in _middle_of_largest(mask)]
            found.insert(axis, float(index))
            return found
    return None


def _middle_of_largest(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The pixel of the largest piece of a mask that is nearest to its middle."""
    from scipy.ndimage import label

    pieces, _ = label(mask)
    pixels: NDArray[np.int64] = np.argwhere(pieces == np.bincount(pieces.ravel())[1:].argmax() + 1)
    return np.asarray(pixels[((pixels - pixels.mean(axis=0)) ** 2).sum(axis=1).argmin()])


class Crosshair(Gesture):
    """Moving the linked point from the canvas: by a click, or with Shift and the left button held.

    Parameters
    ----------
    viewer : ViewerModel
        Whose point it is.
    grid : callable
        Returns the grid that is shown.
    place_at : callable
        Takes the mouse and returns where on the slice it is.

    Attributes
    ----------
    is_on : bool
        Whether planes are linked; otherwise the mouse is left alone.
    """

    def __init__(self, viewer: Any, grid: Callable[[], Grid | None], place_at: Callable[[Mouse], Place | None]) -> None:
        self._viewer, self._grid, self._place_at = viewer, grid, place_at
        self._pressed: Mouse | None = None
        self.is_on = False

    @property
    def point_mm(self) -> tuple[float, ...]:
        """Displayed mm of the point."""
        return tuple(float(v) for v in self._viewer.dims.point)

    def move_to(self, point_mm: Sequence[float]) -> None:
        """Go to the voxel at a displayed position, on the canvas too."""
        grid = self._grid()
        if grid is not None and self._viewer.dims.ndim == 3:
            target = on_voxel(grid, point_mm)
            if not np.allclose(target, self._viewer.dims.point, rtol=0, atol=1e-9):
                self._viewer.dims.set_point((0, 1, 2), target)

    def step(self, axis: int, by: int) -> None:
        """Go some slices along a displayed axis; at either end it stays."""
        grid = self._grid()
        if grid is not None:
            point = list(on_voxel(grid, self.point_mm))
            point[axis] += by * display_order(grid).scale[axis]
            self.move_to(point)

    # ---------------------------------------------------------------- the mouse on the canvas

    def press(self, mouse: Mouse) -> bool:
        """Take the left button with Shift, unless points or outlines are picked with it; note a mere click."""
        mode = str(getattr(self._viewer.layers.selection.active, "mode", "pan_zoom"))
        self._pressed = mouse if self.is_on and mouse.button == "left" and not mouse.modifiers else None
        if mode != "pan_zoom":
            self._pressed = None
        takes = mode in ("pan_zoom", "paint", "erase", "fill", "pick")
        if not (self.is_on and takes and mouse.button == "left" and mouse.modifiers == {"shift"}):
            return False
        self.move(mouse)
        return True

    def move(self, mouse: Mouse) -> None:
        """Follow the mouse."""
        if (place := self._place_at(mouse)) is not None:
            self.move_to(place[1])

    def let_go(self, mouse: Mouse) -> None:
        """Go to where was clicked; what was dragged has moved the picture."""
        pressed, self._pressed = self._pressed, None
        if pressed is not None and mouse.button == "left" and not mouse.is_far_from(pressed):
            self.move(mouse)
