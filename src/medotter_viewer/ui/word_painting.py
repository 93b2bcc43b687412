"""How words are written over a slice: light letters with a dark rim, legible on bone and on air."""

from __future__ import annotations

from qtpy.QtCore import QPointF, QRectF, Qt
from qtpy.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPainterPath, QPen

from medotter_viewer.ui.letters import EdgeLetters

LIGHT, RIM = QColor(255, 255, 255), QColor(0, 0, 0, 190)
_RIM_PX = 3.0


def draw_outlined(
    painter: QPainter, place: QPointF, text: str, font: QFont, color: QColor = LIGHT, *, rim_px: float = _RIM_PX
) -> None:
    """Write a line; `place` is the start of the line that its letters stand on."""
    path = QPainterPath()
    path.addText(place, font, text)
    rim = QPen(RIM, rim_px)
    rim.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(path, rim)
    painter.fillPath(path, color)


def draw_letters(
    painter: QPainter,
    area: QRectF,
    letters: EdgeLetters,
    *,
    pixels: int,
    margin: float,
    top: float = 0.0,
    rim_px: float = _RIM_PX,
) -> None:
    """Write the sides of the patient in the middle of the edges of an area, the upper one below `top`."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)  # in others an I is a mere stroke
    font.setPixelSize(pixels)
    font.setBold(True)
    measure = QFontMetricsF(font)
    rise, middle = measure.capHeight(), area.center()
    for letter, x, y in (
        (letters.left, margin, middle.y() + rise / 2),
        (letters.right, area.right() - margin - measure.horizontalAdvance(letters.right), middle.y() + rise / 2),
        (letters.top, middle.x() - measure.horizontalAdvance(letters.top) / 2, top + margin + rise),
        (letters.bottom, middle.x() - measure.horizontalAdvance(letters.bottom) / 2, area.bottom() - margin),
    ):
        draw_outlined(painter, QPointF(x, y), letter, font, rim_px=rim_px)
