"""A mouse on the canvas of a real window: Qt events at places that are given in displayed mm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from review_windows import settle


class CanvasMouse:
    """Presses, moves and releases the left button on a window's canvas, and presses keys there.

    Parameters
    ----------
    window : ReviewWindow
        A real one.
    """

    def __init__(self, window: Any) -> None:
        self._viewer = window.viewer
        self._canvas = window.viewer.window._qt_viewer.canvas
        self._canvas.native.setFocus()

    def pixel_of(self, position_mm: Sequence[float]) -> tuple[float, float]:
        """Return where on the canvas a displayed position of the slice is seen, in pixels."""
        camera, dims = self._viewer.scene.camera, self._viewer.dims
        down, across = dims.order[-2:]
        middle = np.array([self._canvas.native.height() / 2, self._canvas.native.width() / 2])
        offset = (np.array([position_mm[down], position_mm[across]]) - camera.center[-2:]) * camera.zoom
        return tuple(float(v) for v in (middle + offset)[::-1])  # type: ignore[return-value]

    def press(self, position_mm: Sequence[float]) -> None:
        """Move there and press."""
        self._send("MouseMove", position_mm, pressed=False)
        self._send("MouseButtonPress", position_mm)

    def move(self, position_mm: Sequence[float]) -> None:
        """Move there with the button pressed."""
        self._send("MouseMove", position_mm)

    def release(self, position_mm: Sequence[float]) -> None:
        """Let go."""
        self._send("MouseButtonRelease", position_mm)

    def click(self, position_mm: Sequence[float]) -> None:
        """Press and let go at one place."""
        self.press(position_mm)
        self.release(position_mm)

    def drag(self, start_mm: Sequence[float], end_mm: Sequence[float], steps: int = 4) -> None:
        """Press, move in some steps, let go."""
        self.press(start_mm)
        for step in range(1, steps + 1):
            self.move(np.asarray(start_mm) + (np.asarray(end_mm) - start_mm) * step / steps)
            settle(0.06)
        self.release(end_mm)
        settle(0.1)

    def key(self, key: str, *modifiers: str) -> None:
        """Press a key on the canvas, by Qt's names: ``key("E", "Shift")``."""
        from qtpy.QtCore import Qt
        from qtpy.QtTest import QTest

        held = Qt.KeyboardModifier.NoModifier
        for modifier in modifiers:
            held |= getattr(Qt.KeyboardModifier, f"{modifier}Modifier")
        QTest.keyClick(self._canvas.native, getattr(Qt.Key, f"Key_{key}"), held)
        settle(0.1)

    def _send(self, kind: str, position_mm: Sequence[float], *, pressed: bool = True) -> None:
        from qtpy.QtCore import QEvent, QPointF, Qt
        from qtpy.QtGui import QMouseEvent
        from qtpy.QtWidgets import QApplication

        native = self._canvas.native
        place = QPointF(*self.pixel_of(position_mm))
        button = Qt.MouseButton.NoButton if kind == "MouseMove" else Qt.MouseButton.LeftButton
        buttons = Qt.MouseButton.LeftButton if pressed and kind != "MouseButtonRelease" else Qt.MouseButton.NoButton
        event = QMouseEvent(
            getattr(QEvent.Type, kind),
            place,
            QPointF(native.mapToGlobal(place.toPoint())),
            button,
            buttons,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(native, event)
        settle(0.02)
