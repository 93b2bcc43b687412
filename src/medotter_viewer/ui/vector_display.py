"""Layers of outlines, points and lines that stay while cases come and go: writes only what differs, in place.

Only the outlines of the slice that is looked at are in a layer: thousands of shapes take seconds, and a person edits
one slice at a time. They are paths, not polygons: napari triangulates the inside of a polygon even where it is not
drawn, and fails on rings that cross or retrace themselves. Removing the last layer of shapes and adding one again
crashes, so a role's layer is made once and emptied where a case lacks the role.
Works on `ViewerModel`, which has no window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from napari.components import ViewerModel
from napari.layers import Layer, Points, Shapes, Vectors

from medotter_viewer.geometry.orientation import DISPLAY_AXES
from medotter_viewer.ui.vectors import LinesSpec, PointsSpec, RingsSpec, VectorSpec

MOST_RINGS = 400
"""Outlines that one layer draws on a slice: the largest; more would make every step to the next slice take a second."""
_UNITS = ("mm",) * 3
_POINT_PX, _SEED_PX, _LINE_PX, _TEXT_PT = 9, 15, 2.0, 11
_STEP = 1.25  # of the zoom: lines are made thinner or thicker only when it has changed by so much
_GAP = "   "  # between a point and its name


class VectorDisplay:
    """The layers of outlines, points and lines that show a case.

    Parameters
    ----------
    viewer : ViewerModel
        A napari viewer, or the model alone.
    """

    def __init__(self, viewer: ViewerModel) -> None:
        self._viewer = viewer
        self._layers: dict[str, Layer] = {}
        self._written: dict[str, VectorSpec] = {}
        self._shown: dict[str, tuple[Any, int | None]] = {}  # rings and slice index that a layer of outlines holds
        self._named: dict[str, tuple[str, ...]] = {}  # what a layer of points has written at its points
        self._zoom = 0.0

    def apply(self, specs: Iterable[VectorSpec]) -> None:
        """Make the layers what `specs` say; a visibility that was set by hand stays until the description changes."""
        wanted = {spec.role: spec for spec in specs}
        for role in [role for role, layer in self._layers.items() if layer not in self._viewer.layers]:
            del self._layers[role]
            for kept in (self._written, self._shown, self._named):
                kept.pop(role, None)
        for role in self._layers.keys() - wanted.keys():
            self._empty(role)
        for spec in wanted.values():
            if spec.role not in self._layers:
                self._add(spec)
            self._write(spec)
        self._set_margins(wanted.values())
        self.follow()

    def layer(self, role: str) -> Layer | None:
        """Return the layer of a role; None before its first use."""
        return self._layers.get(role)

    def follow(self) -> None:
        """Show the outlines and names of the slice that is looked at.

        Outlines are shown neither in 3D nor in planes across the slices. A name goes to the other point of its
        vertebra where the one that carries it is not drawn.
        """
        for role, spec in self._written.items():
            if isinstance(spec, PointsSpec):
                self._show_names(spec)
            if isinstance(spec, RingsSpec) and self._layers[role].visible:
                self._show_rings(spec)

    def n_left_out(self) -> int:
        """Return how many outlines of the slice that is looked at are not drawn, as there are too many."""
        n = 0
        for role, (placed, index) in self._shown.items():
            if index is not None and self._layers[role].visible:
                n += max(0, len(placed.rings.get(index, ())) - MOST_RINGS)
        return n

    def follow_zoom(self) -> None:
        """Keep lines as thin on the screen as they are, however far it is zoomed in."""
        zoom = float(self._viewer.scene.camera.zoom)
        if self._zoom and 1 / _STEP < zoom / self._zoom < _STEP:
            return
        self._zoom = zoom
        for role, spec in self._written.items():
            self._set_width(self._layers[role], spec)

    def close(self) -> None:
        """Take the layers out of the viewer."""
        for layer in self._layers.values():
            layer.events.visible.disconnect(self._on_visible)
            if layer in self._viewer.layers:
                layer.locked = False
                self._viewer.layers.remove(layer)
        self._layers.clear()
        self._written.clear()
        self._shown.clear()
        self._named.clear()

    # ---------------------------------------------------------------- writing

    def _add(self, spec: VectorSpec) -> None:
        where: dict[str, Any] = {
            "name": spec.name,
            "scale": spec.scale,
            "translate": spec.translate,
            "units": _UNITS,
            "axis_labels": DISPLAY_AXES,
            "visible": spec.visible,
        }
        layer: Layer
        if isinstance(spec, RingsSpec):
            layer = Shapes(ndim=3, opacity=spec.opacity, **where)
            layer.current_edge_color, layer.current_face_color = spec.color, "transparent"
        elif isinstance(spec, PointsSpec):
            layer = Points(
                ndim=3,
                symbol=spec.symbol,
                face_color=spec.color,
                border_color="black",
                border_width=0.1,
                canvas_size_limits=(0, 1000),  # with a least size napari draws a point where there is none
                projection_mode="none" if spec.near_mm is None else "all",
                **where,
            )
        else:
            layer = Vectors(
                np.zeros((0, 2, 3)), ndim=3, vector_style="line", opacity=1.0, projection_mode="all", **where
            )
        layer.editable = False
        layer.locked = True  # against deletion by hand
        selected = set(self._viewer.layers.selection)
        self._viewer.layers.insert(self._place_for(spec.role), layer)
        if selected:
            self._viewer.layers.selection = selected
        layer.events.visible.connect(self._on_visible)
        self._layers[spec.role] = layer

    def _place_for(self, role: str) -> int:
        """Place in the layer list: above what is ours, in the order in which roles come; the user's stay on top."""
        layers = self._viewer.layers
        mine = [layers.index(layer) for other, layer in self._layers.items() if _RANKS[other] <= _RANKS[role]]
        above = [layers.index(layer) for other, layer in self._layers.items() if _RANKS[other] > _RANKS[role]]
        if mine:
            return max(mine) + 1
        if above:
            return min(above)
        locked = [i for i, layer in enumerate(layers) if layer.locked]
        return max(locked) + 1 if locked else len(layers)

    def _write(self, spec: VectorSpec) -> None:
        layer, old = self._layers[spec.role], self._written.get(spec.role)
        if (tuple(layer.scale), tuple(layer.translate)) != (spec.scale, spec.translate):
            layer.scale, layer.translate = spec.scale, spec.translate
        self._written[spec.role] = spec
        if isinstance(spec, PointsSpec):
            if not isinstance(old, PointsSpec) or not _same(old, spec):
                layer.text = None
                layer.data = spec.data
                self._named.pop(spec.role, None)
        elif isinstance(spec, LinesSpec) and (
            not isinstance(old, LinesSpec) or not _same(old, spec) or old.colors != spec.colors
        ):
            layer.data = spec.data
            layer.edge_color = list(spec.colors)
        if old is None or old.visible != spec.visible:
            layer.visible = spec.visible
        if not isinstance(spec, RingsSpec) and (old is None or old is not spec):
            self._set_width(layer, spec)

    def _empty(self, role: str) -> None:
        """Leave nothing of a role that the case lacks."""
        if (spec := self._written.pop(role, None)) is None:
            return
        layer = self._layers[role]
        self._shown.pop(role, None)
        if isinstance(spec, RingsSpec):
            layer.data = []
        elif isinstance(spec, PointsSpec):
            layer.text = None
            layer.data = np.zeros((0, 3))
            self._named.pop(role, None)
        else:
            layer.data = np.zeros((0, 2, 3))
        layer.visible = False

    def _show_rings(self, spec: RingsSpec) -> None:
        dims, placed = self._viewer.dims, spec.placed
        index = None
        if dims.ndisplay == 2 and dims.order[0] == placed.axis:
            index = placed.index_at(dims.point[placed.axis])
        before = self._shown.get(spec.role)
        if before is not None and before[0] is placed and before[1] == index:
            return
        self._shown[spec.role] = (placed, index)
        layer = self._layers[spec.role]
        paths = [] if index is None else placed.paths(index, MOST_RINGS)
        if paths or len(layer.data):
            layer.data = [(path, "path") for path in paths]
            self._set_width(layer, spec)

    def _show_names(self, spec: PointsSpec) -> None:
        dims = self._viewer.dims
        axis = dims.order[0] if dims.ndisplay == 2 and len(dims.order) == 3 else None
        texts = spec.texts_at(axis, 0.0 if axis is None else dims.point[axis])
        if self._named.get(spec.role) != texts:
            self._named[spec.role] = texts
            _set_names(self._layers[spec.role], spec, texts)

    def _set_width(self, layer: Any, spec: VectorSpec) -> None:
        """Lines and points are measured in steps of the grid; on the screen they are to be the same at every zoom."""
        zoom = self._zoom or float(self._viewer.scene.camera.zoom)
        if isinstance(spec, PointsSpec):
            size = (_SEED_PX if spec.symbol == "cross" else _POINT_PX) / (zoom * spec.scale[-1])
            layer.current_size = size
            layer.size = size
            return
        pixels = spec.width_px if isinstance(spec, RingsSpec) else _LINE_PX
        width = pixels / (zoom * float(np.mean(spec.scale[-2:])))
        if isinstance(spec, LinesSpec):
            layer.edge_width = width
        else:
            layer.current_edge_width = width
            if len(layer.data):
                layer.edge_width = width

    def _set_margins(self, specs: Iterable[VectorSpec]) -> None:
        """Say how far beside the slice points are drawn; arrays are not concerned."""
        near = [spec.near_mm for spec in specs if isinstance(spec, PointsSpec) and spec.near_mm is not None]
        margin: Sequence[float] = near[0] if near else (0.0, 0.0, 0.0)
        dims = self._viewer.dims
        if tuple(dims.margin_left) != tuple(margin):
            dims.margin_left = dims.margin_right = tuple(margin)

    def _on_visible(self, _: object = None) -> None:
        self.follow()


_RANKS = {
    "other_rings": 0,
    "gt_rings": 1,
    "pred_rings": 2,
    "seeds": 3,
    "distances": 4,
    "gt_points": 5,
    "pred_points": 6,
}


def _same(old: PointsSpec | LinesSpec, new: PointsSpec | LinesSpec) -> bool:
    return np.array_equal(old.data, new.data)


def _set_names(layer: Any, spec: PointsSpec, texts: Sequence[str]) -> None:
    """Write the names of points beside them."""
    layer.text = None
    if not texts:
        return
    names = [f"{text}{_GAP}" if spec.before else f"{_GAP}{text}" for text in texts]
    layer.features = {"name": names}
    layer.text = {
        "string": "{name}",
        "size": _TEXT_PT,
        "color": spec.color,
        "anchor": "upper_right" if spec.before else "upper_left",
    }
