"""A line to write a comment in; what it does not use itself it leaves to the panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QEvent, Qt, Signal
from qtpy.QtGui import QKeySequence
from qtpy.QtWidgets import QLineEdit

_MOST_LETTERS = 2000


class CommentField(QLineEdit):
    """A comment that is being written.

    Attributes
    ----------
    given : Signal(str)
        Return was pressed on a comment.
    left : Signal()
        Escape was pressed, or Return on nothing.
    undo_requested : Signal()
        Ctrl+Z was pressed where there is nothing typed to take back.
    """

    given = Signal(str)
    left = Signal()
    undo_requested = Signal()

    def __init__(self, on_focus: Callable[[], None] = lambda: None, parent: Any = None) -> None:
        super().__init__(parent)
        self._on_focus = on_focus
        self.setMaxLength(_MOST_LETTERS)
        self.setPlaceholderText("comment on the middle of the picture (Q); Return records it")

    def begin_with(self, text: str) -> None:
        """Hold a text, without a history: Ctrl+Z never brings back what was written before."""
        self.setText(text)  # not clear(), which can be undone

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Give the comment, leave, or take back."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if text := self.text().strip():
                self.begin_with("")
                self.given.emit(text)
            else:
                self.left.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.matches(QKeySequence.StandardKey.Undo) and not self.text() and not self.isUndoAvailable():
            self.undo_requested.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Say that a comment is about to be written."""
        super().focusInEvent(event)
        self._on_focus()
