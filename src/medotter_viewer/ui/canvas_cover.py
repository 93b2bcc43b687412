"""A transparent widget over the canvas: as large as it, and not in the way of the mouse."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import QEvent, QObject, Qt
from qtpy.QtWidgets import QWidget


class CanvasCover(QWidget):
    """What is drawn over the slice by Qt rather than by napari lies on one of these.

    Parameters
    ----------
    canvas : QWidget
        napari's own.
    """

    def __init__(self, canvas: Any) -> None:
        super().__init__(canvas)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        canvas.installEventFilter(self)
        self.setGeometry(canvas.rect())

    def close_quietly(self) -> None:
        """Leave the canvas; nothing happens where the window has taken this widget with it already."""
        try:
            self.hide()
            self.setParent(None)
            self.deleteLater()
        except RuntimeError:
            return

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Stay as large as the canvas."""
        if event is not None and event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False
