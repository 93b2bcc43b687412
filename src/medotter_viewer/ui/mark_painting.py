"""How crosshairs, rulers and regions of interest are drawn over a slice: light lines with a dark rim."""

from __future__ import annotations

from qtpy.QtCore import QPointF, QRectF, Qt
from qtpy.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from medotter_viewer.ui.measuring import Mark
from medotter_viewer.ui.plane_map import PlaneMap
from medotter_viewer.ui.word_painting import LIGHT, RIM, draw_outlined

_CROSS, _CROSS_RIM = QColor(255, 255, 255, 170), QColor(0, 0, 0, 110)
_GAP_PX = 9.0  # of a crosshair about its middle: what it points at is to be seen
_TICK_PX = 5.0
_TEXT_GAP = 8.0


def draw_crosshair(painter: QPainter, view: PlaneMap, point_mm: tuple[float, float]) -> None:
    """Draw lines through a point, (down, across) mm, from edge to edge but for a gap about it."""
    x, y = (float(v) for v in view.to_pixels(point_mm))
    path = QPainterPath()
    for start, end in (
        ((0.0, y), (x - _GAP_PX, y)),
        ((x + _GAP_PX, y), (view.width, y)),
        ((x, 0.0), (x, y - _GAP_PX)),
        ((x, y + _GAP_PX), (x, view.height)),
    ):
        path.moveTo(*start)
        path.lineTo(*end)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((_CROSS_RIM, 3.0), (_CROSS, 1.0)):
        painter.setPen(QPen(color, width))
        painter.drawPath(path)


def draw_mark(painter: QPainter, view: PlaneMap, mark: Mark, text: str, font: QFont) -> None:
    """Draw a ruler or a region of interest with its words beside it, inside the widget."""
    start, end = (QPointF(*(float(v) for v in view.to_pixels(point))) for point in mark.ends)
    path, box = QPainterPath(), QRectF(start, end).normalized()
    if mark.shape == "ruler":
        path.moveTo(start)
        path.lineTo(end)
        for tick in _ticks(start, end):
            path.moveTo(tick[0])
            path.lineTo(tick[1])
    elif mark.shape == "ellipse":
        path.addEllipse(box)
    else:
        path.addRect(box)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in ((RIM, 3.5), (LIGHT, 1.4)):
        painter.setPen(QPen(color, width))
        painter.drawPath(path)
    draw_words(painter, view, text, font, box)


def _ticks(start: QPointF, end: QPointF) -> list[tuple[QPointF, QPointF]]:
    """Short lines across both ends of a ruler; none where it has no length."""
    along = end - start
    length = (along.x() ** 2 + along.y() ** 2) ** 0.5
    if length == 0:
        return []
    across = QPointF(-along.y(), along.x()) * (_TICK_PX / length)
    return [(point - across, point + across) for point in (start, end)]


def draw_words(painter: QPainter, view: PlaneMap, text: str, font: QFont, box: QRectF) -> None:
    """Write lines at the right of a box, or at its left where there is no room, and never beyond the widget."""
    lines = text.splitlines()
    if not lines:
        return
    measure = QFontMetricsF(font)
    width, height = max(measure.horizontalAdvance(line) for line in lines), measure.lineSpacing() * len(lines)
    x = box.right() + _TEXT_GAP
    if x + width > view.width:
        x = box.left() - _TEXT_GAP - width
    x = min(max(x, 2.0), max(view.width - width - 2.0, 2.0))
    y = min(max(box.center().y() - height / 2, 2.0), max(view.height - height - 2.0, 2.0)) + measure.ascent()
    for place, line in enumerate(lines):
        draw_outlined(painter, QPointF(x, y + place * measure.lineSpacing()), line, font)
