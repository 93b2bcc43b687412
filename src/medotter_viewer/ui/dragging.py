"""What a person drags in a layer, told step by step: at its begin, while it goes on, at its end.

napari says of a change only when the mouse is let go; a score that follows the mouse needs to know before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from qtpy.QtCore import QTimer

_STEP_MS = 40  # between two looks at what is dragged: about what scoring a scan takes


class Dragging:
    """Listening to the mouse in one layer.

    Parameters
    ----------
    layer : napari.layers.Layer
        Whose mouse.
    on_begin, on_step, on_end : callable
        What is told: a button is pressed; the mouse has moved with it, a few times a second; it is let go.

    Attributes
    ----------
    is_on : bool
        Whether a button is pressed.
    """

    def __init__(
        self,
        layer: Any,
        *,
        on_begin: Callable[[], None],
        on_step: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        self._layer, self._on_begin, self._on_step, self._on_end = layer, on_begin, on_step, on_end
        self.is_on = False
        self._due = QTimer()
        self._due.setSingleShot(True)
        self._due.setInterval(_STEP_MS)
        self._due.timeout.connect(self._on_due)
        layer.mouse_drag_callbacks.append(self._on_drag)

    def close(self) -> None:
        """Listen no more."""
        self.stop()
        if self._on_drag in self._layer.mouse_drag_callbacks:
            self._layer.mouse_drag_callbacks.remove(self._on_drag)

    def stop(self) -> None:
        """Take the drag that goes on as ended, whatever the mouse does."""
        self._due.stop()
        self.is_on = False

    def _on_drag(self, _: Any, event: Any) -> Iterator[None]:
        self.is_on = True
        self._on_begin()
        yield
        while event.type == "mouse_move":
            if self.is_on and not self._due.isActive():
                self._due.start()
            yield
        if self.is_on:
            self.stop()
            self._on_end()

    def _on_due(self) -> None:
        if self.is_on:
            self._on_step()
