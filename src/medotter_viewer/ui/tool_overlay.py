"""The crosshair, rulers and regions of interest over the canvas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QRectF, Qt
from qtpy.QtGui import QColor, QFont, QFontMetricsF, QPainter

from medotter_viewer.ui.canvas_cover import CanvasCover
from medotter_viewer.ui.mark_painting import draw_crosshair, draw_mark
from medotter_viewer.ui.measuring import Mark
from medotter_viewer.ui.plane_map import PlaneMap

_TEXT_PX = 13
_HINT_BACK, _HINT = QColor(18, 20, 24, 215), QColor(235, 238, 242)
_HINT_GAP = 34.0  # from the lower edge of the canvas: under it stands a letter, beside it corner and scale bar


class ToolOverlay(CanvasCover):
    """What tools draw over the slice on the canvas.

    Parameters
    ----------
    canvas : QWidget
        napari's own.
    view : callable
        Returns how the plane is seen on the canvas; None in 3D.

    Attributes
    ----------
    crosshair_mm : (float, float) or None
        (down, across) mm of the point that planes are linked by.
    marks : list of (Mark, str)
        Those of the slice that is shown, with their words.
    hint : str
        What a tool that is on does.
    """

    def __init__(self, canvas: Any, view: Callable[[], PlaneMap | None]) -> None:
        super().__init__(canvas)
        self._view = view
        self.crosshair_mm: tuple[float, float] | None = None
        self.marks: list[tuple[Mark, str]] = []
        self.hint = ""
        self.hide()

    def show_marks(self, crosshair_mm: tuple[float, float] | None, marks: list[tuple[Mark, str]], hint: str) -> None:
        """Draw this instead of what was drawn."""
        told = (crosshair_mm, marks, hint)
        if told != (self.crosshair_mm, self.marks, self.hint):
            self.crosshair_mm, self.marks, self.hint = told
            self.setVisible(bool(crosshair_mm or marks or hint))
            self.update()

    def follow_camera(self, _: object = None) -> None:
        """Draw at the places where the picture lies now."""
        if self.isVisible():
            self.update()

    def paintEvent(self, event: Any) -> None:  # noqa: ARG002, N802 - Qt's name
        """Draw all of it."""
        view = self._view()
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        font = QFont(self.font())
        font.setPixelSize(_TEXT_PX)
        if view is not None:
            if self.crosshair_mm is not None:
                draw_crosshair(painter, view, self.crosshair_mm)
            for mark, text in self.marks:
                draw_mark(painter, view, mark, text, font)
        if self.hint:
            self._draw_hint(painter, font)
        painter.end()

    def _draw_hint(self, painter: QPainter, font: QFont) -> None:
        measure, lines = QFontMetricsF(font), self.hint.splitlines()
        width = max(measure.horizontalAdvance(line) for line in lines)
        box = QRectF(0, 0, width + 20, measure.lineSpacing() * len(lines) + 8)
        box.moveCenter(QRectF(self.rect()).center())
        box.moveBottom(self.height() - _HINT_GAP)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_HINT_BACK)
        painter.drawRoundedRect(box, 5, 5)
        painter.setFont(font)
        painter.setPen(_HINT)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.hint)
