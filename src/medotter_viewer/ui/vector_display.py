"""Layers of outlines, points and lines that stay while cases come and go: writes only what differs, in place.

Only the outlines of the slice that is looked at are in a layer: thousands of shapes take seconds, and a person edits
one slice at a time. They are paths, not polygons: napari triangulates the inside of a polygon even where it is not
drawn, and fails on rings that cross or retrace themselves. Removing the last layer of shapes and adding one again
crashes, so a role's layer is made once and emptied where a case lacks the role.
While a layer is held, as a person drags something in it, its data are left alone.
Works on `ViewerModel`, which has no window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from napari.components import ViewerModel
from napari.layers import Layer

from medotter_viewer.ui.drawn_rings import DrawnSlice
from medotter_viewer.ui.vector_layers import new_layer, place_in, set_names, set_width
from medotter_viewer.ui.vectors import LinesSpec, PointsSpec, RingsSpec, VectorSpec

MOST_RINGS = 400
"""Outlines that one layer draws on a slice: the largest; more would make every step to the next slice take a second."""
_STEP = 1.25  # of the zoom: lines are made thinner or thicker only when it has changed by so much
_SAME = 1e-6  # of a displayed index


class VectorDisplay:
    """The layers of outlines, points and lines that show a case.

    Parameters
    ----------
    viewer : ViewerModel
        A napari viewer, or the model alone.

    Attributes
    ----------
    is_writing : bool
        Whether a layer's data are being replaced: what napari says of them then is no edit.
    """

    def __init__(self, viewer: ViewerModel) -> None:
        self._viewer = viewer
        self._layers: dict[str, Layer] = {}
        self._written: dict[str, VectorSpec] = {}
        self._shown: dict[str, tuple[Any, int | None]] = {}  # rings and slice index that a layer of outlines stands for
        self._drawn: dict[str, DrawnSlice] = {}  # what of them is in the layer
        self._named: dict[str, tuple[str, ...]] = {}  # what a layer of points has written at its points
        self._held: set[str] = set()
        self._editable: set[str] = set()
        self._zoom = 0.0
        self.is_writing = False

    def apply(self, specs: Iterable[VectorSpec]) -> None:
        """Make the layers what `specs` say; a visibility that was set by hand stays until the description changes."""
        wanted = {spec.role: spec for spec in specs}
        for role in [role for role, layer in self._layers.items() if layer not in self._viewer.layers]:
            del self._layers[role]
            for kept in (self._written, self._shown, self._drawn, self._named):
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

    def spec(self, role: str) -> VectorSpec | None:
        """Return what a role's layer was last told to be; None where the case lacks the role."""
        return self._written.get(role)

    def specs(self) -> tuple[VectorSpec, ...]:
        """Return what all layers were last told to be."""
        return tuple(self._written.values())

    def drawn(self, role: str) -> DrawnSlice | None:
        """Return what of a role's outlines is in its layer; None where no slice of them is looked at."""
        return self._drawn.get(role)

    def hold(self, role: str, held: bool) -> None:
        """Leave a role's data alone while a person drags them, or bring them up to date again."""
        if held:
            self._held.add(role)
        elif role in self._held:
            self._held.remove(role)
            if (spec := self._written.get(role)) is not None:
                self._shown.pop(role, None)
                self._write(spec)
                self.follow()

    def set_editable(self, role: str, editable: bool) -> None:
        """Let a role's layer be edited by hand, or no more."""
        (self._editable.add if editable else self._editable.discard)(role)
        if (layer := self._layers.get(role)) is not None and layer.editable != editable:
            layer.editable = editable

    def follow(self) -> None:
        """Show the outlines and names of the slice that is looked at.

        Outlines are shown neither in 3D nor in planes across the slices. A name goes to the other point of its
        vertebra where the one that carries it is not drawn.
        """
        for role, spec in self._written.items():
            if isinstance(spec, PointsSpec):
                self._show_names(spec)
            if isinstance(spec, RingsSpec) and self._layers[role].visible and role not in self._held:
                self._show_rings(spec)

    def index_of(self, spec: RingsSpec) -> int | None:
        """Return the slice index whose outlines are to be seen; None in 3D and in planes across the slices."""
        dims, placed = self._viewer.dims, spec.placed
        if dims.ndisplay == 2 and dims.order[0] == placed.axis:
            return placed.index_at(dims.point[placed.axis])
        return None

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
        for kept in (self._layers, self._written, self._shown, self._drawn, self._named, self._held):
            kept.clear()

    # ---------------------------------------------------------------- writing

    def _add(self, spec: VectorSpec) -> None:
        layer = new_layer(spec)
        selected = set(self._viewer.layers.selection)
        self._viewer.layers.insert(place_in(self._viewer.layers, self._layers, spec.role), layer)
        if selected:
            self._viewer.layers.selection = selected
        layer.events.visible.connect(self._on_visible)
        self._layers[spec.role] = layer

    @contextmanager
    def _writing(self, role: str) -> Iterator[None]:
        """Replace data: napari makes the layer editable whenever it gets some."""
        self.is_writing = True
        try:
            yield
        finally:
            self.is_writing = False
        editable = role in self._editable
        if self._layers[role].editable != editable:
            self._layers[role].editable = editable

    def _write(self, spec: VectorSpec) -> None:
        layer, old = self._layers[spec.role], self._written.get(spec.role)
        if (tuple(layer.scale), tuple(layer.translate)) != (spec.scale, spec.translate):
            layer.scale, layer.translate = spec.scale, spec.translate
        self._written[spec.role] = spec
        if isinstance(spec, PointsSpec):
            if spec.role not in self._held and not _same(layer.data, spec.data):
                with self._writing(spec.role):
                    layer.text = None
                    layer.selected_data = set()
                    layer.data = spec.data.copy()  # dragging changes it in place
                self._named.pop(spec.role, None)
                old = None
        elif isinstance(spec, LinesSpec) and (
            not isinstance(old, LinesSpec) or not _same(old.data, spec.data) or old.colors != spec.colors
        ):
            with self._writing(spec.role):
                layer.data = spec.data
                layer.edge_color = list(spec.colors)
        if old is None or old.visible != spec.visible:
            layer.visible = spec.visible
        same_width = isinstance(spec, RingsSpec) and isinstance(old, RingsSpec) and old.width_px == spec.width_px
        if not same_width and spec.role not in self._held:
            self._set_width(layer, spec)

    def _empty(self, role: str) -> None:
        """Leave nothing of a role that the case lacks."""
        if (spec := self._written.pop(role, None)) is None:
            return
        layer = self._layers[role]
        self._shown.pop(role, None)
        self._drawn.pop(role, None)
        self._held.discard(role)
        with self._writing(role):
            if isinstance(spec, RingsSpec):
                layer.data = []
            elif isinstance(spec, PointsSpec):
                layer.text = None
                layer.selected_data = set()
                layer.data = np.zeros((0, 3))
                self._named.pop(role, None)
            else:
                layer.data = np.zeros((0, 2, 3))
        layer.visible = False

    def _show_rings(self, spec: RingsSpec) -> None:
        index = self.index_of(spec)
        before = self._shown.get(spec.role)
        if before is not None and before[0] is spec.placed and before[1] == index:
            return
        self._shown[spec.role] = (spec.placed, index)
        layer: Any = self._layers[spec.role]
        if index is None:
            self._drawn.pop(spec.role, None)
            paths = []
        else:
            drawn = self._drawn[spec.role] = DrawnSlice.of(spec.placed, index, MOST_RINGS)
            if drawn.is_in(layer.data, layer.shape_type):
                return
            paths = drawn.paths
        if paths or len(layer.data):
            with self._writing(spec.role):
                if len(layer.edge_color) != len(layer.data):  # napari keeps the colours of a drawing that it drops
                    layer.data = []
                layer.data = [(path, "path") for path in paths]
            self._set_width(layer, spec)

    def _show_names(self, spec: PointsSpec) -> None:
        dims = self._viewer.dims
        axis = dims.order[0] if dims.ndisplay == 2 and len(dims.order) == 3 else None
        texts = spec.texts_at(axis, 0.0 if axis is None else dims.point[axis])
        if self._named.get(spec.role) != texts and len(texts) in (0, len(self._layers[spec.role].data)):
            self._named[spec.role] = texts
            set_names(self._layers[spec.role], spec, texts)

    def _set_width(self, layer: Any, spec: VectorSpec) -> None:
        set_width(layer, spec, self._zoom or float(self._viewer.scene.camera.zoom))

    def _set_margins(self, specs: Iterable[VectorSpec]) -> None:
        """Say how far beside the slice points are drawn; arrays are not concerned."""
        near = [spec.near_mm for spec in specs if isinstance(spec, PointsSpec) and spec.near_mm is not None]
        margin: Sequence[float] = near[0] if near else (0.0, 0.0, 0.0)
        dims = self._viewer.dims
        if tuple(dims.margin_left) != tuple(margin):
            dims.margin_left = dims.margin_right = tuple(margin)

    def _on_visible(self, _: object = None) -> None:
        self.follow()


def _same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=_SAME))
