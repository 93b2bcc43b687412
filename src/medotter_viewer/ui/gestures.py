"""What the mouse does on the canvas beside what napari does with it: taken before napari sees it, or left to it.

A filter of Qt events, so that no mode of a layer and no camera answers to a drag that is taken: nothing is painted, no
shape is moved and the picture stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qtpy.QtCore import QEvent, QObject, Qt

_BUTTONS = {
    Qt.MouseButton.LeftButton: "left",
    Qt.MouseButton.RightButton: "right",
    Qt.MouseButton.MiddleButton: "middle",
}
_MODIFIERS = {
    Qt.KeyboardModifier.ShiftModifier: "shift",
    Qt.KeyboardModifier.ControlModifier: "control",
    Qt.KeyboardModifier.AltModifier: "alt",
    Qt.KeyboardModifier.MetaModifier: "meta",
}
_KEYS = {Qt.Key.Key_Escape: "escape", Qt.Key.Key_Backspace: "backspace", Qt.Key.Key_Delete: "delete"}


@dataclass(frozen=True, slots=True)
class Mouse:
    """Where the mouse is on the canvas, in pixels, and what is pressed."""

    x: float
    y: float
    button: str = ""
    modifiers: frozenset[str] = frozenset()

    def is_far_from(self, other: Mouse, pixels: float = 4.0) -> bool:
        """Tell whether the mouse has been dragged rather than clicked."""
        return abs(self.x - other.x) + abs(self.y - other.y) > pixels


class Gesture:
    """Something that a person does with the mouse; this one does nothing."""

    def press(self, mouse: Mouse) -> bool:  # noqa: ARG002 - as all that follow it
        """Take a press and all that follows until the button is let go (True), or leave it to others."""
        return False

    def move(self, mouse: Mouse) -> None:
        """Follow the mouse of a press that was taken."""

    def release(self, mouse: Mouse) -> None:
        """End what a press began that was taken."""

    def double_click(self, mouse: Mouse) -> bool:  # noqa: ARG002
        """Take a double click; otherwise it is another press."""
        return False

    def hover(self, mouse: Mouse) -> None:
        """Follow the mouse that is not taken."""

    def let_go(self, mouse: Mouse) -> None:
        """Hear of a button that is let go whose press was not taken."""

    def key(self, name: str) -> bool:  # noqa: ARG002
        """Take a key: ``escape``, ``backspace`` or ``delete``."""
        return False


class Gestures(QObject):
    """Asks gestures, the first one first, whether they take what the mouse does on the canvas.

    Parameters
    ----------
    canvas : QWidget
        napari's own.
    gestures : sequence of Gesture
        Those that are asked.
    """

    def __init__(self, canvas: Any, gestures: Sequence[Gesture]) -> None:
        super().__init__()
        self._canvas, self._gestures = canvas, tuple(gestures)
        self._taken: tuple[Gesture, str] | None = None
        canvas.installEventFilter(self)

    def close(self) -> None:
        """Leave the mouse to napari."""
        self._taken = None
        try:
            self._canvas.removeEventFilter(self)
        except RuntimeError:  # the canvas is gone
            return

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: ARG002, N802 - Qt's name
        """Tell Qt whether an event is taken."""
        if event is None:
            return False
        kind = event.type()
        if kind == QEvent.Type.KeyPress:
            return self._on_key(event)
        if kind == QEvent.Type.MouseMove:
            return self._on_move(_mouse(event))
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            return self._on_press(_mouse(event), twice=kind == QEvent.Type.MouseButtonDblClick)
        if kind == QEvent.Type.MouseButtonRelease:
            return self._on_release(_mouse(event))
        return False

    def _on_press(self, mouse: Mouse, *, twice: bool) -> bool:
        if self._taken is not None:
            return True  # another button during a drag
        for gesture in self._gestures:
            if twice and gesture.double_click(mouse):
                self._taken = (Gesture(), mouse.button)  # its end is nobody's
                return True
        for gesture in self._gestures:
            if gesture.press(mouse):
                self._taken = (gesture, mouse.button)
                return True
        return False

    def _on_move(self, mouse: Mouse) -> bool:
        if self._taken is not None:
            self._taken[0].move(mouse)
            return True
        for gesture in self._gestures:
            gesture.hover(mouse)
        return False

    def _on_release(self, mouse: Mouse) -> bool:
        if self._taken is None:
            for gesture in self._gestures:
                gesture.let_go(mouse)
            return False
        gesture, button = self._taken
        if mouse.button == button:
            self._taken = None
            gesture.release(mouse)
        return True

    def _on_key(self, event: Any) -> bool:
        """Esc and its like belong to a tool that is on."""
        name = _KEYS.get(event.key())
        if name is None or event.modifiers() != Qt.KeyboardModifier.NoModifier:
            return False
        return any(gesture.key(name) for gesture in self._gestures)


def _mouse(event: Any) -> Mouse:
    place, held = event.position(), event.modifiers()
    modifiers = frozenset(name for flag, name in _MODIFIERS.items() if held & flag)
    return Mouse(place.x(), place.y(), _BUTTONS.get(event.button(), ""), modifiers)
