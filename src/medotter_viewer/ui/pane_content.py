"""What a side pane shows of the open case: slices of the layers, and contours and points where they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.ui.colors import rgba
from medotter_viewer.ui.going import ORDERS
from medotter_viewer.ui.letters import edge_letters
from medotter_viewer.ui.pane import PLANES, Dots, Line, PaneContent
from medotter_viewer.ui.pane_layers import PaneLayers
from medotter_viewer.ui.pane_painting import ImagePlane, LabelPlane, color_table
from medotter_viewer.ui.ring_cuts import RingCuts
from medotter_viewer.ui.vector_display import MOST_RINGS, VectorDisplay
from medotter_viewer.ui.vectors import PointsSpec, RingsSpec

RING_ROLES = ("other_rings", "gt_rings", "second_rings", "pred_rings")
POINT_ROLES = ("seeds", "gt_points", "second_points", "pred_points")


class PaneContents:
    """Finds what panes show; what it had to work out of a case is kept while it stays the same.

    Parameters
    ----------
    viewer : ViewerModel
        Whose layers.
    vectors : VectorDisplay
        Contours and points.
    is_seen : callable, optional
        Takes a layer and tells whether it is seen on slices; those that are visible, by default.
    """

    def __init__(
        self, viewer: Any, vectors: VectorDisplay, is_seen: Callable[[Any], bool] = lambda layer: bool(layer.visible)
    ) -> None:
        self._viewer, self._vectors, self._is_seen = viewer, vectors, is_seen
        self._layers = PaneLayers(is_seen)
        self._cuts: dict[str, RingCuts] = {}

    def content(self, grid: Grid, axis: int, position_mm: float) -> PaneContent:
        """Return what is seen in a plane.

        Parameters
        ----------
        grid : Grid
            That the case is drawn on.
        axis : int
            Displayed axis across the plane: 0 axial, 1 coronal, 2 sagittal.
        position_mm : float
            Where along it.
        """
        order = display_order(grid)
        planes = self._layers.planes(self._viewer.layers, axis, position_mm)
        lines: list[Line] = []
        for spec, layer in self._shown(RING_ROLES):
            if spec.placed.axis == axis:
                lines += _outlines(spec, axis, position_mm)
            elif (cut := self._cut(spec, axis, position_mm, layer.opacity)) is not None:
                planes.append(cut)
        down, across = (a for a in range(3) if a != axis)
        n = [grid.shape[a] for a in order.axes]
        index = int(np.clip(round((position_mm - order.translate[axis]) / order.scale[axis]), 0, n[axis] - 1))
        boxes = [
            (order.translate[a] - order.scale[a] / 2, order.translate[a] + order.scale[a] * (n[a] - 0.5))
            for a in (down, across)
        ]
        low, high = _around(boxes, planes)
        return PaneContent(
            axis,
            tuple(planes),
            tuple(lines),
            tuple(self._dots(axis, position_mm)),
            low,
            high,
            edge_letters(ORDERS[axis]) if grid.has_world else None,
            f"{PLANES[axis] if grid.has_world else f'plane {axis + 1}'}  {index + 1}/{n[axis]}",
        )

    def _shown(self, roles: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
        """Descriptions and layers of the roles that are seen."""
        for role in roles:
            spec, layer = self._vectors.spec(role), self._vectors.layer(role)
            if spec is not None and layer is not None and self._is_seen(layer):
                yield spec, layer

    def _cut(self, spec: RingsSpec, axis: int, position_mm: float, opacity: float) -> LabelPlane | None:
        """Contours in a plane across their slices."""
        known = self._cuts.get(spec.role)
        if known is None or known.placed is not spec.placed:
            known = self._cuts[spec.role] = RingCuts(spec.placed)
        scale, translate = spec.scale, spec.translate
        index = int(np.floor((position_mm - translate[axis]) / scale[axis] + 0.5))
        if not 0 <= index < spec.placed.shape[axis]:
            return None
        down, across = (a for a in range(3) if a != axis)
        return LabelPlane(
            known.plane(axis, index),
            (scale[down], scale[across]),
            (translate[down], translate[across]),
            color_table({0: (0.0,) * 4, 1: rgba(spec.color)}),
            max(1, round(spec.width_px)),
            opacity,
        )

    def _dots(self, axis: int, position_mm: float) -> Iterator[Dots]:
        for spec, _ in self._shown(POINT_ROLES):
            if not isinstance(spec, PointsSpec) or not len(spec.data):
                continue
            mm = np.asarray(spec.translate) + np.asarray(spec.scale) * spec.data
            near = spec.scale[axis] / 2 if spec.near_mm is None else spec.near_mm[axis]
            seen = np.abs(mm[:, axis] - position_mm) <= near
            texts = spec.texts_at(axis, position_mm)
            yield Dots(
                np.delete(mm, axis, axis=1)[seen],
                tuple(text for text, one in zip(texts, seen, strict=True) if one) if texts else (),
                spec.color,
                spec.symbol == "cross",
            )


def _outlines(spec: RingsSpec, axis: int, position_mm: float) -> Iterator[Line]:
    """Contours in the plane of their slice."""
    index = spec.placed.index_at(position_mm)
    if index is not None:
        mm = [np.asarray(spec.translate) + np.asarray(spec.scale) * p for p in spec.placed.paths(index, MOST_RINGS)]
        if mm:
            paths = tuple(np.delete(path, axis, axis=1) for path in mm)
            yield Line(paths, spec.color, spec.width_px, spec.opacity)


def _around(
    boxes: list[tuple[float, float]], planes: list[ImagePlane | LabelPlane]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The box that holds all, down and across: an image may be larger than its labels."""
    low, high = [box[0] for box in boxes], [box[1] for box in boxes]
    for plane in planes:
        for a in range(2):
            low[a] = min(low[a], plane.translate[a] - plane.scale[a] / 2)
            high[a] = max(high[a], plane.translate[a] + plane.scale[a] * (plane.plane.shape[a] - 0.5))
    return (low[0], low[1]), (high[0], high[1])
