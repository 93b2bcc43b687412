"""A line that must not be overlooked."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import Qt
from qtpy.QtWidgets import QLabel

from medotter_viewer.ui.widgets.theme import tone_color


class Alarm(QLabel):
    """Plain words in the colour of an error, in either theme; hidden while there are none."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._color = ""
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)  # they quote files
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def say(self, text: str) -> None:
        """Show some words, or nothing."""
        self.setText(text)
        self.setVisible(bool(text))

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Take the colour of the theme."""
        super().showEvent(event)
        self._follow_theme()

    def changeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == event.Type.ParentChange or event.type() == event.Type.PaletteChange:
            self._follow_theme()

    def _follow_theme(self) -> None:
        around = self.parentWidget()
        color = "" if around is None else tone_color(around.palette(), "error").name()  # its own is the style's
        if color != getattr(self, "_color", color):
            self._color = color
            self.setStyleSheet(f"color: {color}; font-weight: bold")
