"""Layers of outlines, points and lines as napari has them: how one is made, where it stands, how it is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from napari.components import LayerList
from napari.layers import Layer, Points, Shapes, Vectors

from medotter_viewer.geometry.orientation import DISPLAY_AXES
from medotter_viewer.ui.vectors import LinesSpec, PointsSpec, RingsSpec, VectorSpec

_UNITS = ("mm",) * 3
_POINT_PX, _SEED_PX, _LINE_PX, _TEXT_PT = 9, 15, 2.0, 11
_HANDLE_PX = (4.0, 8.0)  # of the points of an outline while it is edited
_GAP = " " * 7  # between a point and its name: beside the outline of a vertebra rather than on it
_RANKS = {
    "other_rings": 0,
    "gt_rings": 1,
    "second_rings": 2,
    "pred_rings": 3,
    "seeds": 4,
    "distances": 5,
    "gt_points": 6,
    "second_points": 7,
    "pred_points": 8,
}


def new_layer(spec: VectorSpec) -> Layer:
    """Return an empty layer for a description, which nobody can edit or delete by hand."""
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
        layer = Vectors(np.zeros((0, 2, 3)), ndim=3, vector_style="line", opacity=1.0, projection_mode="all", **where)
    layer.editable = False
    layer.locked = True  # against deletion by hand
    return layer


def place_in(layers: LayerList, mine: Mapping[str, Layer], role: str) -> int:
    """Return where a role's layer goes: above what is ours, in the order in which roles come; the user's stay on top.

    Parameters
    ----------
    layers : LayerList
        Of the viewer.
    mine : mapping of str to Layer
        Role to layer, of those that are there.
    role : str
        Of the new one.
    """
    below = [layers.index(layer) for other, layer in mine.items() if _RANKS[other] <= _RANKS[role]]
    above = [layers.index(layer) for other, layer in mine.items() if _RANKS[other] > _RANKS[role]]
    if below:
        return max(below) + 1
    if above:
        return min(above)
    locked = [i for i, layer in enumerate(layers) if layer.locked]
    return max(locked) + 1 if locked else len(layers)


def set_names(layer: Any, spec: PointsSpec, texts: Sequence[str]) -> None:
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


def set_width(layer: Any, spec: VectorSpec, zoom: float) -> None:
    """Lines and points are measured in steps of the grid; on the screen they are to be the same at every zoom."""
    if isinstance(spec, PointsSpec):
        size = (_SEED_PX if spec.symbol == "cross" else _POINT_PX) / (zoom * spec.scale[-1])
        if not np.allclose(layer.size, size, rtol=1e-6, atol=0):  # each time it is written all points are drawn again
            layer.current_size = size
            layer.size = size
        return
    pixels = spec.width_px if isinstance(spec, RingsSpec) else _LINE_PX
    width = pixels / (zoom * float(np.mean(spec.scale[-2:])))
    if isinstance(spec, LinesSpec):
        if not np.isclose(layer.edge_width, width, rtol=1e-6, atol=0):
            layer.edge_width = width
    else:
        layer.current_edge_width = width
        if len(layer.data):
            layer.edge_width = width
            layer._vertex_size = handle_px(layer.data, spec.scale, zoom)


def handle_px(shapes: Sequence[Any], scale: Sequence[float], zoom: float) -> float:
    """Return how large the handles of outlines are: smaller where points are close, or they would be one thick band.

    Examples
    --------
    >>> square = np.array([(0, 0, 0), (0, 0, 6), (0, 6, 6)])
    >>> handle_px([square], (1, 1, 1), 1.0), handle_px([square], (1, 1, 1), 0.1)
    (6.0, 4.0)
    """
    steps = np.concatenate([np.diff(np.asarray(shape), axis=0) for shape in shapes]) * np.asarray(scale) * zoom
    return float(np.clip(np.median(np.linalg.norm(steps, axis=1)), *_HANDLE_PX))
