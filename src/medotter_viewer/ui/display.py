"""Layers of a viewer that stay while cases come and go: writes only what differs, in place.

Adding and removing layers is slow and in some places crashes, so a role's layer is made once; where a case lacks the
role the layer is hidden and its data are one voxel. No array of an earlier case is kept alive.
Works on `ViewerModel`, which has no window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import numpy as np
from napari.components import ViewerModel
from napari.layers import Image, Labels, Layer
from napari.utils.colormaps import DirectLabelColormap

from medotter_viewer.geometry.orientation import DISPLAY_AXES
from medotter_viewer.ui.derived import same_data
from medotter_viewer.ui.layers import IMAGE_PREFIX, LayerSpec

_UNITS = ("mm", "mm", "mm")
_RANKS = {"ground": 0, "error": 1, "gt": 2, "second": 3, "pred": 4, "selected": 5}  # images are 0, too


class Display:
    """The layers that show a case.

    Parameters
    ----------
    viewer : ViewerModel
        A napari viewer, or the model alone.

    Attributes
    ----------
    ground : (scale, translate)
        mm of the grid that a case without arrays is drawn on.
    """

    def __init__(self, viewer: ViewerModel) -> None:
        self._viewer = viewer
        self._layers: dict[str, Layer] = {}
        self._written: dict[str, LayerSpec] = {}
        self.ground: tuple[tuple[float, ...], tuple[float, ...]] = ((1.0,) * 3, (0.0,) * 3)
        self._place: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]] | None = None

    def apply(self, specs: Iterable[LayerSpec], turn: Callable[[], None] = lambda: None) -> None:
        """Make the layers what `specs` say.

        What a user changed by hand (visibility, contrast) stays until the description itself changes or other data
        come.

        Parameters
        ----------
        specs : iterable of LayerSpec
            One for each role.
        turn : callable
            Turns to what is to be seen of new data, before any slice of them is cut out.
        """
        wanted = {spec.role: spec for spec in specs}
        self._forget_removed()
        self._drop_other_kind(wanted)
        fresh = [r for r, s in wanted.items() if r in self._layers and not same_data(self._layers[r].data, s.data)]
        self._set_place(wanted)
        stay = {r for r in fresh if self._layers[r].visible and wanted[r].visible}
        for role in (*fresh, *(self._layers.keys() - wanted.keys())):  # hidden layers cut out no half-way slices
            if self._layers[role].visible:
                self._show(role, visible=False, quietly=role in stay)
        with self._extents_once():
            for role in self._layers.keys() - wanted.keys():
                self._empty(role)
            for role, spec in wanted.items():
                if role not in self._layers:
                    self._add(spec)
                else:
                    self._write(spec, is_fresh=role in fresh)
        turn()
        for role in fresh:
            if wanted[role].visible:
                self._show(role, visible=True, quietly=role in stay)
            else:
                _drop_slice(self._layers[role])

    def layer(self, role: str) -> Layer | None:
        """Return the layer of a role: ``image:<channel>``, ``error``, ``gt``, ``pred``; None before its first use."""
        return self._layers.get(role)

    def owns(self, layer: Layer) -> bool:
        """Tell whether a layer of the viewer is one of these."""
        return any(layer is one for one in self._layers.values())

    def shows(self, role: str) -> bool:
        """Tell whether the open case has a role."""
        return role in self._written

    def refresh(self, *roles: str) -> None:
        """Draw roles again whose arrays were changed in place; without arguments all that are there."""
        for role in roles or tuple(self._written):
            if role in self._written and self._layers[role].visible:
                self._layers[role].refresh(extent=False)

    def close(self) -> None:
        """Take the layers out of the viewer."""
        for layer in list(self._layers.values()):
            if layer in self._viewer.layers:
                layer.locked = False
                self._viewer.layers.remove(layer)
        self._layers.clear()
        self._written.clear()

    # ---------------------------------------------------------------- where to look

    def to_mm(self, displayed_index: Sequence[float]) -> tuple[float, ...]:
        """Return the displayed mm of a displayed index of the case's labels (without labels: of its first image)."""
        if self._place is None:
            return tuple(float(i) for i in displayed_index)
        scale, translate, _ = self._place
        return tuple(t + s * i for s, t, i in zip(scale, translate, displayed_index, strict=True))

    def set_slice(self, index: float, axis: int = 0) -> None:
        """Show a slice; `index` counts along a displayed axis (0 axial, 1 coronal, 2 sagittal)."""
        point = [0.0, 0.0, 0.0]
        point[axis] = index
        self._viewer.dims.set_point(axis, self.to_mm(point)[axis])

    def frame(self, displayed_index: Sequence[float], extent_mm: Sequence[float] | None = None) -> None:
        """Show the slices through a position and put it into the middle.

        Parameters
        ----------
        displayed_index : sequence of float
            Displayed index of the labels.
        extent_mm : sequence of float, optional
            mm along I, P and L that should fit on the canvas; without it the zoom stays.
        """
        dims, camera = self._viewer.dims, self._viewer.scene.camera
        position = self.to_mm(displayed_index)
        dims.set_point((0, 1, 2), position)
        if dims.ndisplay != 2:
            camera.center = tuple(position[a] for a in dims.displayed)
            return
        down, across = dims.order[-2:]
        camera.center = (0.0, position[down], position[across])
        if extent_mm is not None:
            height, width = self._viewer.canvas.size
            camera.zoom = float(min(height / max(extent_mm[down], 1.0), width / max(extent_mm[across], 1.0)))

    def fit(self, margin: float = 0.03) -> None:
        """Fit the whole volume into the canvas."""
        if len(self._viewer.layers):
            self._viewer.reset_view(margin=margin)

    # ---------------------------------------------------------------- writing

    def _set_place(self, wanted: dict[str, LayerSpec]) -> None:
        """Note whose grid displayed indices count on."""
        first = [wanted[r] for r in ("gt", "pred") if r in wanted] or list(wanted.values())
        self._place = (first[0].scale, first[0].translate, tuple(first[0].data.shape)) if first else None

    def _forget_removed(self) -> None:
        for role in [role for role, layer in self._layers.items() if layer not in self._viewer.layers]:
            del self._layers[role]
            self._written.pop(role, None)

    def _drop_other_kind(self, wanted: dict[str, LayerSpec]) -> None:
        """Take out image layers that cannot show what comes: grey ones before colours and the other way round."""
        for role, spec in wanted.items():
            layer = self._layers.get(role)
            if isinstance(layer, Image) and layer.rgb != spec.rgb:
                layer.locked = False
                self._viewer.layers.remove(layer)
                del self._layers[role]
                self._written.pop(role, None)

    def _add(self, spec: LayerSpec) -> None:
        where: dict[str, Any] = {
            "name": spec.name,
            "scale": spec.scale,
            "translate": spec.translate,
            "units": _UNITS,
            "axis_labels": DISPLAY_AXES,
            "visible": spec.visible,
            "opacity": spec.opacity,
            "projection_mode": "none",
        }
        layer: Layer
        if spec.is_image:
            where.update(contrast_limits=spec.contrast_limits, rgb=spec.rgb, interpolation2d="linear")
            layer = Image(spec.data, **where)
            layer.contrast_limits_range = spec.limits_range
        else:
            layer = Labels(spec.data, **where)
            layer.colormap = DirectLabelColormap(color_dict=spec.color_dict)
            layer.contour = spec.contour
            layer.features = _features(spec)
            layer.editable = spec.editable
        layer.locked = True  # against deletion by hand
        selected = set(self._viewer.layers.selection)
        self._viewer.layers.insert(self._index_for(spec.role), layer)
        if selected:
            self._viewer.layers.selection = selected
        self._layers[spec.role], self._written[spec.role] = layer, spec

    def _index_for(self, role: str) -> int:
        """Place in the layer list: above the roles below it, under those above it."""
        layers = self._viewer.layers
        above = [layers.index(layer) for other, layer in self._layers.items() if _rank(other) > _rank(role)]
        below = [layers.index(layer) + 1 for other, layer in self._layers.items() if _rank(other) <= _rank(role)]
        return max(below) if below else min(above, default=len(layers))

    def _write(self, spec: LayerSpec, *, is_fresh: bool) -> None:
        layer, old = self._layers[spec.role], self._written.get(spec.role)
        if is_fresh:
            _place_data(layer, spec.data, spec.scale, spec.translate)
        elif old is None or (old.scale, old.translate) != (spec.scale, spec.translate):
            layer.scale, layer.translate = spec.scale, spec.translate
        if layer.name != spec.name:
            layer.name = spec.name
        if old is None or old.opacity != spec.opacity:
            layer.opacity = spec.opacity
        if spec.is_image:
            if is_fresh or old is None or old.contrast_limits != spec.contrast_limits:
                layer.contrast_limits = spec.contrast_limits
                layer.contrast_limits_range = spec.limits_range
        else:
            if old is None or old.color_dict != spec.color_dict:
                layer.colormap = DirectLabelColormap(color_dict=spec.color_dict)
            if layer.contour != spec.contour:
                layer.contour = spec.contour
            if old is None or old.names != spec.names:
                layer.features = _features(spec)
            layer.editable = spec.editable
        if not is_fresh and (old is None or old.visible != spec.visible) and layer.visible != spec.visible:
            layer.visible = spec.visible
        self._written[spec.role] = spec

    @contextmanager
    def _extents_once(self) -> Iterator[None]:
        """Let the viewer find the extents of its layers once all have their place, not after each change of each."""
        follow = getattr(self._viewer, "_on_layers_change", None)
        if follow is None:  # napari's own business: without it all is as slow as it was, and right
            yield
            return
        with ExitStack() as held:
            for layer in self._layers.values():
                for event in (layer.events.data, layer.events.scale, layer.events.translate):
                    held.enter_context(event.blocker(follow))
            yield
        follow()

    def _show(self, role: str, *, visible: bool, quietly: bool) -> None:
        """Show or hide a layer; quietly where it is seen before and after: napari orders all layers at each change."""
        layer = self._layers[role]
        with layer.events.visible.blocker() if quietly else nullcontext():
            layer.visible = visible

    def _empty(self, role: str) -> None:
        """Leave one voxel of a role that the case lacks, at a corner of the case: napari counts hidden layers in."""
        layer = self._layers[role]
        scale, translate = self.ground if self._place is None else self._place[:2]
        if self._written.pop(role, None) is not None:
            colours = (3,) * bool(getattr(layer, "rgb", False))
            _place_data(layer, np.zeros((1, 1, 1, *colours), dtype=np.uint8), scale, translate)
            _drop_slice(layer)
            layer.thumbnail = np.zeros_like(layer.thumbnail)
        elif (tuple(layer.scale), tuple(layer.translate)) != (scale, translate):
            layer.scale, layer.translate = scale, translate


def _rank(role: str) -> int:
    return 0 if role.startswith(IMAGE_PREFIX) else _RANKS[role]


def _features(spec: LayerSpec) -> dict[str, list[Any]]:
    """Names under the pointer; napari pairs rows and ids by the column ``index``."""
    return {"index": list(spec.names), "name": list(spec.names.values())} if spec.names else {}


def _place_data(layer: Layer, data: Any, scale: Sequence[float], translate: Sequence[float]) -> None:
    if isinstance(layer, Labels):
        layer.editable = False  # empties the undo history: strokes of another case must not come back here
    layer.data = data
    if tuple(layer.scale) != tuple(scale):
        layer.scale = scale
    if tuple(layer.translate) != tuple(translate):
        layer.translate = translate


def _drop_slice(layer: Layer) -> None:
    """Replace what a hidden layer still holds of its former data: napari draws hidden layers no more."""
    layer.set_view_slice()
    layer.events.set_data()
