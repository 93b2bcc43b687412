"""The popover that tells where a number comes from: formula, this case's figures, rule and definition."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import QEvent, QPoint, QRect, Qt
from qtpy.QtWidgets import QApplication, QFrame, QLabel, QVBoxLayout, QWidget

WIDTH = 380
"""Pixels that a popover is wide, where the window has that much room."""
_GAP = 4


class WhyPopover(QFrame):
    """A frame over the window beside what was asked about; a click elsewhere, Escape or another case closes it.

    Not a popup window: those take the keyboard, and the next key would be lost.

    Parameters
    ----------
    parent : QWidget
        Any widget of the window.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent.window())
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.title, self.text = QLabel(), QLabel()
        for label in (self.title, self.text):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        layout.setSpacing(4)
        layout.addWidget(self.title)
        layout.addWidget(self.text)
        self.hide()

    def tell(self, title: str, text: str, beside: QWidget, cell: QRect) -> None:
        """Show a text beside a cell of a table, within the window; nothing to tell hides it.

        Parameters
        ----------
        title, text : str
            What it is about, and what is told.
        beside : QWidget
            The viewport that the cell lies in.
        cell : QRect
            In the viewport's coordinates.
        """
        if not text:
            self.close_quietly()
            return
        window = beside.window()
        if self.parent() is not window:  # docks can be torn off and put back
            self.setParent(window)
        self.title.setText(title)
        self.text.setText(text)
        self.setFixedWidth(min(WIDTH, window.width() - 2 * _GAP))
        self.adjustSize()
        corner = beside.mapTo(window, QPoint(cell.left(), cell.bottom() + _GAP))
        if corner.y() + self.height() > window.height():
            corner.setY(max(_GAP, beside.mapTo(window, cell.topLeft()).y() - self.height() - _GAP))
        corner.setX(max(_GAP, min(corner.x(), window.width() - self.width() - _GAP)))
        self.move(corner)
        self.show()
        self.raise_()
        QApplication.instance().installEventFilter(self)

    def close_quietly(self) -> None:
        """Hide, and listen no more."""
        if (app := QApplication.instance()) is not None:
            app.removeEventFilter(self)
        self.hide()

    def eventFilter(self, watched: Any, event: Any) -> bool:  # noqa: N802 - Qt's name
        """Close at a click elsewhere and at Escape; what was clicked gets the click all the same."""
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            if watched is not self and not self.isAncestorOf(watched):
                self.close_quietly()
        elif kind == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.close_quietly()
            return True
        return False
