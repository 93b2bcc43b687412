"""Hearing that layers show something else than before, but not that another slice of the same is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from napari.layers import Image, Labels

_OF_ALL = ("visible", "opacity")
_OF_ARRAYS = ("data", "scale", "translate", "colormap", "contrast_limits", "gamma", "contour", "paint", "labels_update")
_OF_LIST = ("inserted", "removed", "reordered")


class LayerWatch:
    """Listening to the layers of a viewer.

    Parameters
    ----------
    viewer : ViewerModel
        Whose layers.
    changed : callable
        Called when one of them is shown differently, or holds something else.
    """

    def __init__(self, viewer: Any, changed: Callable[[], None]) -> None:
        self._viewer, self._changed = viewer, changed
        self._heard: list[Any] = []
        self._drawn_at: dict[int, tuple[float, ...]] = {}
        self._is_on = False

    def start(self) -> None:
        """Listen to what is there and to what will be."""
        if not self._is_on:
            self._is_on = True
            for name in _OF_LIST:
                getattr(self._viewer.layers.events, name).connect(self._on_list_changed)
        self._hear_new()

    def stop(self) -> None:
        """Listen no more."""
        if not self._is_on:
            return
        self._is_on = False
        for name in _OF_LIST:
            getattr(self._viewer.layers.events, name).disconnect(self._on_list_changed)
        for layer in self._heard:
            for name in _names(layer):
                getattr(layer.events, name).disconnect(self._on_changed)
            if isinstance(layer, Image | Labels):
                layer.events.set_data.disconnect(self._on_drawn)
        self._heard.clear()
        self._drawn_at.clear()

    def _hear_new(self) -> None:
        for layer in self._viewer.layers:
            if any(layer is heard for heard in self._heard):
                continue
            self._heard.append(layer)
            for name in _names(layer):
                getattr(layer.events, name).connect(self._on_changed)
            if isinstance(layer, Image | Labels):
                self._drawn_at[id(layer)] = tuple(self._viewer.dims.point)
                layer.events.set_data.connect(self._on_drawn)

    def _on_list_changed(self, _: object = None) -> None:
        self._hear_new()
        self._changed()

    def _on_changed(self, _: object = None) -> None:
        self._changed()

    def _on_drawn(self, event: Any) -> None:
        """A layer is drawn again at the same place: what it holds was changed, or a stroke was taken back."""
        point, layer = tuple(self._viewer.dims.point), id(event.source)
        if self._drawn_at.get(layer) == point:
            self._changed()
        self._drawn_at[layer] = point


def _names(layer: Any) -> list[str]:
    names = (*_OF_ALL, *_OF_ARRAYS) if isinstance(layer, Image | Labels) else _OF_ALL
    return [name for name in names if hasattr(layer.events, name)]
