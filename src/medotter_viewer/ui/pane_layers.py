"""What the layers of a viewer show in a plane that the canvas does not show: slices for `pane_painting`.

Taken from the layers themselves, so that a pane is windowed, coloured and hidden as the canvas is, by whatever hand.
Works on `ViewerModel`, which has no window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from napari.layers import Image, Labels, Layer
from napari.utils.colormaps import DirectLabelColormap

from medotter_viewer.ui.derived import CompactView, ErrorView, RegionView
from medotter_viewer.ui.pane_painting import ImagePlane, LabelPlane, LazyPlane, Pixels, color_table

WIDTHS = {1: 1, 2: 3}
"""Width of outlines in pixels of the screen, by the width of the layer's; the wider is seen under the thinner."""


class PaneLayers:
    """Slices of a viewer's layers; colours are looked up once.

    Parameters
    ----------
    is_seen : callable
        Takes a layer and tells whether it is seen on slices.
    """

    def __init__(self, is_seen: Callable[[Any], bool] = lambda layer: bool(layer.visible)) -> None:
        self._is_seen = is_seen
        self._tables: WeakKeyDictionary[Layer, tuple[Any, Pixels]] = WeakKeyDictionary()

    def planes(self, layers: Iterable[Layer], axis: int, position_mm: float) -> list[ImagePlane | LabelPlane]:
        """Return what is seen in a plane, from the lowest layer to the topmost.

        Parameters
        ----------
        layers : iterable of Layer
            Of a viewer; those that are not seen, no arrays of three axes or turned are left out.
        axis : int
            Displayed axis across the plane: 0 axial, 1 coronal, 2 sagittal.
        position_mm : float
            Where along it.
        """
        found: list[ImagePlane | LabelPlane] = []
        for layer in layers:
            if not isinstance(layer, Image | Labels) or layer.ndim != 3 or layer.multiscale:
                continue
            if not self._is_seen(layer):
                continue
            scale, translate = (tuple(float(v) for v in part) for part in (layer.scale, layer.translate))
            shape = layer.data.shape[:3]
            index = int(np.floor((position_mm - translate[axis]) / scale[axis] + 0.5))
            if not 0 <= index < shape[axis]:
                continue
            key = tuple(index if a == axis else slice(None) for a in range(3))
            down, across = (a for a in range(3) if a != axis)
            where = ((scale[down], scale[across]), (translate[down], translate[across]))
            # A view of an array; of what is worked out only the pixels that are shown.
            plane = LazyPlane(layer.data, axis, index) if _is_lazy(layer.data) else np.asarray(layer.data[key])
            if isinstance(layer, Labels):
                found.append(
                    LabelPlane(
                        plane, *where, self._table(layer), WIDTHS.get(layer.contour, layer.contour), layer.opacity
                    )
                )
            else:
                found.append(_image(layer, plane, *where))
        return found

    def _table(self, layer: Labels) -> Pixels:
        colormap = layer.colormap
        known = self._tables.get(layer)
        if known is None or known[0] is not colormap:
            if isinstance(colormap, DirectLabelColormap):
                table = color_table({k: tuple(v) for k, v in colormap.color_dict.items()})
            else:  # a layer of the user's: ids of one byte each have their colour
                ids = np.arange(257)
                table = (np.asarray(colormap.map(ids)) * 255 + 0.5).astype(np.uint8)
                table[0] = 0
            known = self._tables[layer] = (colormap, table)
        return known[1]


def _is_lazy(data: Any) -> bool:
    """Whether an array is worked out from others wherever it is indexed."""
    if isinstance(data, ErrorView):
        return _is_plain(data.gt) and _is_plain(data.pred)
    return isinstance(data, RegionView | CompactView) and _is_plain(data.data)


def _is_plain(data: Any) -> bool:
    return isinstance(data, np.ndarray) or _is_lazy(data)


def _image(layer: Image, plane: Any, scale: tuple[float, float], translate: tuple[float, float]) -> ImagePlane:
    if layer.rgb:
        return ImagePlane(plane, scale, translate, opacity=layer.opacity)
    low, high = (float(v) for v in layer.contrast_limits)
    shades = None
    if layer.colormap.name != "gray":
        shades = (np.asarray(layer.colormap.map(np.linspace(0, 1, 256)))[:, :3] * 255 + 0.5).astype(np.uint8)
    return ImagePlane(plane, scale, translate, (low, high), shades, float(layer.gamma), float(layer.opacity))
