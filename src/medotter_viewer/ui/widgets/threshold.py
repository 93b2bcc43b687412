"""A threshold that is moved along the curves of what it does: F1 and PQ at every IoU, and the slider below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qtpy.QtCore import QPointF, QRectF, Qt, Signal
from qtpy.QtGui import QColor, QPainter, QPen, QPolygonF
from qtpy.QtWidgets import QSizePolicy, QWidget

from medotter_viewer.scoring.instance_matches import CurvePoint
from medotter_viewer.ui.widgets.theme import mixed

_HEIGHT, _ABOVE, _BELOW = 96, 8.0, 18.0
_SIDE = 26.0  # room for the numbers of the axis
_STEP = 0.01
_QUIET, _FAINT = 0.4, 0.75  # how far a text fades into the window
_HANDLE = 6.0


class ThresholdCurve(QWidget):
    """Curves of F1 and PQ over the threshold, which is moved by dragging, by the wheel and by the arrow keys.

    Parameters
    ----------
    low, high : float
        Between what it moves, in steps of 0.01.

    Attributes
    ----------
    moved : Signal(float)
        A person moved the threshold.
    """

    moved = Signal(float)

    def __init__(self, low: float, high: float, parent: Any = None) -> None:
        super().__init__(parent)
        self._low, self._high = low, high
        self.threshold = self.marked = 0.5
        self.points: Sequence[CurvePoint] = ()
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setToolTip("IoU that a match exceeds: drag, or turn the wheel; the dotted line is the specification's")

    def show_state(self, points: Sequence[CurvePoint], threshold: float, marked: float) -> None:
        """Show curves, the threshold, and with a dotted line the one of the specification."""
        self.points, self.threshold, self.marked = points, threshold, marked
        self.update()

    # ---------------------------------------------------------------- what the user does

    def mousePressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Take hold of the threshold."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._move_to(event.position().x())

    def mouseMoveEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Drag the threshold."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move_to(event.position().x())

    def wheelEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Move the threshold by a step."""
        if event.angleDelta().y():
            self._step(1 if event.angleDelta().y() > 0 else -1)
        event.accept()

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Move the threshold by a step, leave every other key to the window."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageDown: -10, Qt.Key.Key_PageUp: 10}
        if event.key() in steps:
            self._step(steps[event.key()])
        else:
            event.ignore()

    def _step(self, by: int) -> None:
        self._emit(self.threshold + by * _STEP)

    def _move_to(self, x: float) -> None:
        area = self._area()
        self._emit(self._low + (self._high - self._low) * (x - area.left()) / area.width())

    def _emit(self, threshold: float) -> None:
        threshold = round(min(max(round(threshold / _STEP) * _STEP, self._low), self._high), 2)
        if threshold != self.threshold:
            self.moved.emit(threshold)

    # ---------------------------------------------------------------- drawing

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_SIDE, _ABOVE, -_HANDLE - 2, -_BELOW)

    def x_of(self, threshold: float) -> float:
        """Return where a threshold lies, in pixels of the widget."""
        area = self._area()
        return float(area.left() + area.width() * (threshold - self._low) / (self._high - self._low))

    def paintEvent(self, event: Any) -> None:  # noqa: ARG002, N802 - Qt's name
        """Draw axes, curves and the threshold."""
        painter, area = QPainter(self), self._area()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text = self.palette().color(self.palette().ColorRole.WindowText)
        faint = mixed(text, self.palette().color(self.palette().ColorRole.Window), _FAINT)
        quiet = mixed(text, self.palette().color(self.palette().ColorRole.Window), _QUIET)
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        self._draw_axes(painter, area, faint, quiet)
        for name, values, style in (
            ("F1", [p.f1 for p in self.points], Qt.PenStyle.SolidLine),
            ("PQ", [p.pq for p in self.points], Qt.PenStyle.DashLine),
        ):
            self._draw_curve(painter, area, name, values, QPen(text, 1.6, style), quiet)
        self._draw_threshold(painter, area, text, quiet)
        painter.end()

    def _draw_axes(self, painter: QPainter, area: QRectF, faint: QColor, quiet: QColor) -> None:
        for value in (0.0, 0.5, 1.0):
            y = area.bottom() - area.height() * value
            painter.setPen(QPen(faint, 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(quiet)
            painter.drawText(
                QRectF(0, y - 8, _SIDE - 5, 16),
                int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
                f"{value:g}",
            )
        for tenth in range(1, 10, 2):
            x = self.x_of(tenth / 10)
            if self._low <= tenth / 10 <= self._high and abs(x - self.x_of(self.threshold)) > 30:
                painter.drawText(
                    QRectF(x - 20, area.bottom() + 4, 40, 14), int(Qt.AlignmentFlag.AlignCenter), f"{tenth / 10:g}"
                )

    def _draw_curve(
        self, painter: QPainter, area: QRectF, name: str, values: Sequence[float | None], pen: QPen, quiet: QColor
    ) -> None:
        shown = [
            QPointF(self.x_of(point.threshold), area.bottom() - area.height() * value)
            for point, value in zip(self.points, values, strict=True)
            if value is not None
        ]
        if not shown:
            return
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(shown))
        # Its name in the corner where curves seldom are: at low thresholds they are high.
        x, y = area.left() + (8 if name == "F1" else 70), area.bottom() - 9
        painter.drawLine(QPointF(x, y), QPointF(x + 24, y))
        painter.setPen(quiet)
        painter.drawText(QRectF(x + 29, y - 8, 30, 16), int(Qt.AlignmentFlag.AlignVCenter), name)

    def _draw_threshold(self, painter: QPainter, area: QRectF, text: QColor, quiet: QColor) -> None:
        marked = self.x_of(self.marked)
        painter.setPen(QPen(quiet, 1.2, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(marked, area.top() - 4), QPointF(marked, area.bottom()))
        x = min(max(self.x_of(self.threshold), area.left()), area.right())
        painter.setPen(QPen(text, 1.6))
        painter.drawLine(QPointF(x, area.top() - 4), QPointF(x, area.bottom()))
        painter.setBrush(text)
        handle = [
            QPointF(x, area.bottom() - 1),
            QPointF(x - _HANDLE, area.bottom() + 8),
            QPointF(x + _HANDLE, area.bottom() + 8),
        ]
        painter.drawPolygon(QPolygonF(handle))
        at_left = x > area.center().x()
        beside = QRectF(x - 46 if at_left else x + 10, area.bottom() + 1, 36, 14)
        side = Qt.AlignmentFlag.AlignRight if at_left else Qt.AlignmentFlag.AlignLeft
        painter.drawText(beside, int(side | Qt.AlignmentFlag.AlignVCenter), f"{self.threshold:g}")
