"""Layers that show nothing now stand on the grid of the case: napari takes its steps from the finest layer there is.

Hidden and empty ones count in. One that kept the steps of another case, or of nothing, would cut the slices of this
one in parts, and the wheel, the keys and the slider would walk those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from napari.layers import Image, Labels, Layer


def rest(layers: Iterable[Layer], scale: Sequence[float], translate: Sequence[float]) -> None:
    """Put layers of ours that show nothing onto a grid; those of arrays have their own, the user's are left alone.

    Parameters
    ----------
    layers : iterable of Layer
        Of a viewer; ours are locked.
    scale, translate : (3,) sequence of float
        mm, in displayed order.
    """
    wanted = (tuple(scale), tuple(translate))
    for layer in layers:
        if not layer.locked or isinstance(layer, Image | Labels) or layer.ndim != 3:
            continue
        if (not layer.visible or not len(layer.data)) and (tuple(layer.scale), tuple(layer.translate)) != wanted:
            layer.scale, layer.translate = wanted
