"""Give the keyboard back to the canvas after a click in a panel, unless something is written there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from qtpy.QtCore import QObject, Qt, QTimer
from qtpy.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

_AGAIN_MS = 40  # while a button is down or a list is open


class FocusBack(QObject):
    """Watches where the keyboard goes.

    Parameters
    ----------
    panels : sequence of QWidget
        In which a click must not keep the keyboard.
    focus : callable
        Gives it to the canvas.
    """

    def __init__(self, panels: Sequence[QWidget], focus: Callable[[], None]) -> None:
        super().__init__()
        self._panels, self._focus = list(panels), focus
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.timeout.connect(self._give_back)
        app: Any = QApplication.instance()
        app.focusChanged.connect(self._on_focus_changed)

    def close(self) -> None:
        """Watch no more."""
        self._due.stop()
        self._panels.clear()
        app: Any = QApplication.instance()
        try:
            app.focusChanged.disconnect(self._on_focus_changed)
        except (RuntimeError, TypeError):  # the program ends
            return

    def _on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is None or not self._is_ours(now) or is_for_writing(now):
            return
        # Only within the panels does the keyboard move by its own keys: on the canvas Tab does something else.
        came_from_elsewhere = before is None or not self._is_ours(before)
        if came_from_elsewhere or QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._due.start(_AGAIN_MS)

    def _give_back(self) -> None:
        """Wait for the end of the click, and of what it opened."""
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton or QApplication.activePopupWidget() is not None:
            self._due.start(_AGAIN_MS)
            return
        now = QApplication.focusWidget()
        if now is not None and self._is_ours(now) and not is_for_writing(now):
            self._focus()

    def _is_ours(self, widget: QWidget) -> bool:
        try:
            return any(panel is widget or panel.isAncestorOf(widget) for panel in self._panels)
        except RuntimeError:  # a panel has gone
            return False


def is_for_writing(widget: QWidget) -> bool:
    """Whether somebody writes, or selects text, in a widget: then it keeps the keyboard."""
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QLineEdit | QAbstractSpinBox | QTextEdit | QPlainTextEdit)
