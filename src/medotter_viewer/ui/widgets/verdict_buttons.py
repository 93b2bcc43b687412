"""Buttons of the verdicts with their keys, and the list of them as it is edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qtpy.QtCore import Qt, Signal
from qtpy.QtWidgets import QGridLayout, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from medotter_viewer.ui.widgets.layout import remark

N_KEYS = 7
_COLUMNS = 2
_EDITOR_PX = 150


class VerdictButtons(QWidget):
    """One button for each verdict, the first seven with their keys; that of the open case is pressed.

    Attributes
    ----------
    chosen : Signal(str)
        A verdict was clicked.
    """

    chosen = Signal(str)

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(4)
        self.buttons: dict[str, QPushButton] = {}

    def show_words(self, words: Sequence[str]) -> None:
        """Make the buttons, down the columns."""
        for button in self.buttons.values():
            self._grid.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {}
        n_rows = -(-len(words) // _COLUMNS)
        for place, word in enumerate(words):
            key = f"F{place + 1}" if place < N_KEYS else ""
            button = QPushButton(f"{key}   {word}" if key else word, self)
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where it is
            button.setStyleSheet("QPushButton { text-align: left; padding: 4px 8px; }")
            button.setToolTip(f"record the verdict {word!r}" + (f" ({key}, from anywhere)" if key else ""))
            button.clicked.connect(lambda _, word=word: self.chosen.emit(word))
            self._grid.addWidget(button, place % n_rows, place // n_rows)
            self.buttons[word] = button

    def show_verdict(self, verdict: str) -> None:
        """Press the button of the verdict that holds; a word that is not in the list presses none."""
        for word, button in self.buttons.items():
            button.setChecked(word == verdict)


class VerdictListEditor(QWidget):
    """The list as text, one verdict a line.

    Attributes
    ----------
    used : Signal(list)
        The lines that are to be used.
    closed : Signal()
        It is to be hidden.
    """

    used = Signal(list)
    closed = Signal()

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(_EDITOR_PX)
        hint = remark()
        hint.setText("One verdict a line; the first seven have the keys F1 to F7. What was recorded stays as it is.")
        self.use, self.cancel = QPushButton("Use this list"), QPushButton("Cancel")
        row = QHBoxLayout()
        row.addWidget(self.use)
        row.addWidget(self.cancel)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(hint)
        layout.addWidget(self.text)
        layout.addLayout(row)
        self.use.clicked.connect(self._on_use)
        self.cancel.clicked.connect(self.closed)

    def show_words(self, words: Sequence[str]) -> None:
        """Show a list to be edited."""
        self.text.setPlainText("\n".join(words))

    def _on_use(self) -> None:
        self.used.emit(self.text.toPlainText().splitlines())
        self.closed.emit()
