"""Marks on the picture that say what is meant: arrows between two voxels, the corners of a box. One layer, kept.

An arrow is seen on every slice from one of its ends to the other, as it falls on the slice; a box on every slice that
cuts it. Removing the only layer of shapes and adding one again crashes napari: the layer is emptied and stays.
Works on `ViewerModel`, which has no window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from napari.components import ViewerModel
from napari.layers import Shapes
from numpy.typing import NDArray

from medotter_viewer.geometry.orientation import DISPLAY_AXES
from medotter_viewer.ui import mark_shapes

_UNITS = ("mm",) * 3
_RIM_PX, _BOX_PX, _ARM_PX, _GAP_PX = 1.2, 3.0, 16.0, 5.0
_RIM = "#000000"
_LEAST_AREA = 1e-9  # in steps of the grid
_STEP = 1.25  # of the zoom: marks are drawn anew only when it has changed by so much

Point = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ArrowMark:
    """An arrow.

    Parameters
    ----------
    start, end : (3,) ndarray
        Displayed index.
    color : str
        Its colour.
    width_px : float
        Of its shaft, pixels of the screen.
    """

    start: Point
    end: Point
    color: str
    width_px: float


@dataclass(frozen=True, slots=True, eq=False)
class BoxMark:
    """The corners of a box: `low` and `high` are the displayed indices of its first and last voxels."""

    low: Point
    high: Point
    color: str


class MarkDisplay:
    """The layer of marks.

    Parameters
    ----------
    viewer : ViewerModel
        A napari viewer, or the model alone.
    """

    def __init__(self, viewer: ViewerModel) -> None:
        self._viewer = viewer
        self._layer: Any = None
        self._marks: tuple[ArrowMark | BoxMark, ...] = ()
        self._place: tuple[Point, Point, Point] = (np.ones(3), np.zeros(3), np.ones(3))
        self._is_visible, self._zoom = True, 0.0
        self._drawn: list[tuple[Point, str]] = []

    @property
    def layer(self) -> Any:
        """The layer; None before anything was marked."""
        return self._layer

    def set_marks(
        self,
        marks: Sequence[ArrowMark | BoxMark],
        scale: Sequence[float],
        translate: Sequence[float],
        shape: Sequence[int],
    ) -> None:
        """Mark something else, or nothing.

        Parameters
        ----------
        marks : sequence
            Later ones are drawn over earlier ones.
        scale, translate, shape
            Of the grid whose displayed indices are meant, in displayed order.
        """
        self._marks = tuple(marks)
        self._place = (np.asarray(scale, float), np.asarray(translate, float), np.asarray(shape, float))
        self.follow()

    def set_visible(self, visible: bool) -> None:
        """Hide all marks, or show them again."""
        if visible != self._is_visible:
            self._is_visible = visible
            if self._layer is not None:
                self._layer.visible = visible

    def is_seen(self, mark: ArrowMark | BoxMark) -> bool:
        """Tell whether a mark is on the slice that is looked at."""
        axis = self._across()
        if axis is None:
            return True
        low, high = (mark.start, mark.end) if isinstance(mark, ArrowMark) else (mark.low, mark.high)
        first, last = sorted((float(low[axis]), float(high[axis])))
        return first - 0.5 <= self._index(axis) <= last + 0.5

    def follow(self) -> None:
        """Draw what is to be seen on the slice that is looked at."""
        polygons = self._polygons() if self._marks else []
        same = len(polygons) == len(self._drawn) and all(
            color == other and one.shape == two.shape and np.allclose(one, two)
            for (one, color), (two, other) in zip(polygons, self._drawn, strict=True)
        )
        if self._layer is None and not polygons:
            return
        layer = self._made()
        scale, translate, _ = self._place
        is_placed = np.allclose(layer.scale, scale) and np.allclose(layer.translate, translate)
        if same and is_placed:
            return
        layer.data = []
        if not is_placed:
            layer.scale, layer.translate = scale, translate
        self._drawn = polygons
        if polygons:
            flat = self._across() is not None
            shapes, colors = [one for one, _ in polygons], [color for _, color in polygons]
            layer.add(
                shapes,
                shape_type="polygon" if flat else "path",
                edge_width=0 if flat else 2.0 / (self._zoom_now() * float(scale.mean())),
                edge_color=colors,
                face_color=colors if flat else "transparent",
            )
            layer.selected_data = set()
        layer.editable = False

    def follow_zoom(self) -> None:
        """Keep marks as large on the screen as they are, however far it is zoomed in."""
        if self._marks and not 1 / _STEP < self._zoom_now() / (self._zoom or 1e-9) < _STEP:
            self.follow()

    def close(self) -> None:
        """Take the layer out of the viewer."""
        if self._layer is not None and self._layer in self._viewer.layers:
            self._layer.locked = False
            self._viewer.layers.remove(self._layer)
        self._layer, self._marks, self._drawn = None, (), []

    # ---------------------------------------------------------------- drawing

    def _made(self) -> Any:
        """The layer, over all that is ours."""
        if self._layer is None or self._layer not in self._viewer.layers:
            scale, translate, _ = self._place
            layer = Shapes(
                ndim=3,
                name="marks",
                scale=scale,
                translate=translate,
                units=_UNITS,
                axis_labels=DISPLAY_AXES,
                visible=self._is_visible,
                opacity=1.0,
            )
            layer.editable, layer.locked = False, True
            layers = self._viewer.layers
            selected = set(layers.selection)
            ours = [i for i, one in enumerate(layers) if one.locked]
            layers.insert(max(ours) + 1 if ours else len(layers), layer)
            layers.selection = selected or {layer}
            self._layer, self._drawn = layer, []
        return self._layer

    def _across(self) -> int | None:
        """The displayed axis that is looked along; None in 3D."""
        dims = self._viewer.dims
        return int(dims.order[0]) if dims.ndisplay == 2 and len(dims.order) == 3 else None

    def _index(self, axis: int) -> float:
        scale, translate, _ = self._place
        return float(np.rint((self._viewer.dims.point[axis] - translate[axis]) / scale[axis]))

    def _zoom_now(self) -> float:
        return max(float(self._viewer.scene.camera.zoom), 1e-9)

    def _polygons(self) -> list[tuple[Point, str]]:
        """Corners in displayed index, and colour, of what is to be seen now."""
        self._zoom = self._zoom_now()
        axis = self._across()
        if axis is None:
            return [(np.stack([m.start, m.end]), m.color) for m in self._marks if isinstance(m, ArrowMark)]
        scale, _, shape = self._place
        plane = [a for a in self._viewer.dims.order if a != axis]
        px = 1 / self._zoom
        found: list[tuple[Point, str]] = []
        for mark in (m for m in self._marks if self.is_seen(m)):
            for polygon, color in _drawn(mark, plane, scale, shape, px):
                index = np.empty((len(polygon), 3))
                index[:, axis] = self._index(axis)
                # Beyond the middles of the last voxels there would be more slices.
                index[:, plane] = np.clip(polygon / scale[plane], 0, shape[plane] - 1)
                if (kept := _without_repeats(index, plane)) is not None:
                    found.append((kept, color))
        return found


def _without_repeats(index: Point, plane: list[int]) -> Point | None:
    """Corners each once, as napari needs them; None where no area is left."""
    first = np.sort(np.unique(index, axis=0, return_index=True)[1])
    y, x = index[first][:, plane].T
    area = abs(float(np.dot(y, np.roll(x, 1)) - np.dot(x, np.roll(y, 1))))
    return index[first] if area > _LEAST_AREA else None


def _drawn(
    mark: ArrowMark | BoxMark, plane: list[int], scale: Point, shape: Point, px: float
) -> list[tuple[mark_shapes.Polygon, str]]:
    """Polygons of a mark in mm from the first voxel's centre, what lies below first."""
    if isinstance(mark, ArrowMark):
        start, end = mark.start[plane] * scale[plane], mark.end[plane] * scale[plane]
        width = mark.width_px * px
        rim = mark_shapes.arrow(start, end, width, _RIM_PX * px)
        return [(rim, _RIM), (mark_shapes.arrow(start, end, width), mark.color)]
    gap, rim_mm = _GAP_PX * px, _RIM_PX * px
    room = _BOX_PX * px + rim_mm  # inside the volume, where the box reaches its edge
    low = np.maximum((mark.low[plane] - 0.5) * scale[plane] - gap, room)
    high = np.minimum((mark.high[plane] + 0.5) * scale[plane] + gap, (shape[plane] - 1) * scale[plane] - room)
    arm = min(_ARM_PX * px, float((high - low).min()) / 2.5)
    sizes = (low.tolist(), high.tolist(), arm, _BOX_PX * px)
    rims = mark_shapes.corners(*sizes, rim_mm)
    return [*((one, _RIM) for one in rims), *((one, mark.color) for one in mark_shapes.corners(*sizes))]
