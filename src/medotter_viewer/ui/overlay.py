"""What is written over the canvas: the sides of the patient, warnings, slice and window, what is being opened.

A transparent widget that lies on the canvas and lets the mouse through. It holds words only; who says them is the
window. The scale bar is napari's own.
"""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import QEvent, QObject, QPointF, QRectF, Qt, QTimer
from qtpy.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPainterPath, QPen
from qtpy.QtWidgets import QWidget

from medotter_viewer.ui.colors import label_color
from medotter_viewer.ui.legend import Entry
from medotter_viewer.ui.letters import EdgeLetters

_MARGIN = 10.0
_LETTER_PX, _TEXT_PX = 20, 14
_LOADING_DELAY_MS = 150  # a case that is there sooner needs no word
_WHITE, _DARK = QColor(255, 255, 255), QColor(0, 0, 0, 210)
_WARNING, _WARNING_BACK = QColor(255, 214, 122), QColor(58, 40, 0, 225)
_PANEL_BACK = QColor(18, 20, 24, 232)
_MANY = [QColor.fromRgbF(*(float(part) for part in label_color(i))).name() for i in (1, 2, 4)]


class Overlay(QWidget):
    """The words on the canvas.

    Parameters
    ----------
    viewer : napari.Viewer
        A viewer with a window.
    """

    def __init__(self, viewer: Any) -> None:
        canvas = viewer.window._qt_viewer.canvas.native
        super().__init__(canvas)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.letters: EdgeLetters | None = None
        self.banner_text = self.corner_text = self.loading_text = ""
        self.legend: list[Entry] = []
        self._loading_due = QTimer(self)
        self._loading_due.setSingleShot(True)
        self._loading_due.setInterval(_LOADING_DELAY_MS)
        self._loading_due.timeout.connect(self.update)
        self._scale_bar = viewer.canvas.overlays["scale_bar"]
        self._scale_bar.visible, self._scale_bar.font_size = True, 11
        canvas.installEventFilter(self)
        self.setGeometry(canvas.rect())
        self.show()

    # ---------------------------------------------------------------- what is said

    def set_letters(self, letters: EdgeLetters | None) -> None:
        """Write the sides of the patient at the edges; None where they are unknown."""
        if letters != self.letters:
            self.letters = letters
            self.update()

    def set_banner(self, text: str) -> None:
        """Write warnings at the top, one a line; empty for none."""
        if text != self.banner_text:
            self.banner_text = text
            self.update()

    def set_corner(self, text: str) -> None:
        """Write slice and window in the lower left corner."""
        if text != self.corner_text:
            self.corner_text = text
            self.update()

    def set_legend(self, entries: list[Entry]) -> None:
        """Write above the corner which colour stands for what; no colour means those of the labels."""
        if entries != self.legend:
            self.legend = entries
            self.update()

    def set_scale_bar(self, shown: bool) -> None:
        """Show the bar of mm, where what is shown has lengths."""
        if self._scale_bar.visible != shown:
            self._scale_bar.visible = shown

    def set_loading(self, text: str) -> None:
        """Write what is being opened, unless it takes no time; empty when it is there."""
        self.loading_text = text
        if text:
            self._loading_due.start()
        else:
            self._loading_due.stop()
            self.update()

    def close_quietly(self) -> None:
        """Leave the canvas; nothing happens where the window has taken this widget with it already."""
        try:
            self.hide()
            self.setParent(None)
            self.deleteLater()
        except RuntimeError:
            return

    # ---------------------------------------------------------------- drawing

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802
        """Stay as large as the canvas."""
        if event is not None and event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False

    def paintEvent(self, event: Any) -> None:  # noqa: ARG002, N802
        """Draw all of it."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        area = QRectF(self.rect())
        top = self._draw_banner(painter, area)
        self._draw_letters(painter, area, top)
        self._draw_corner(painter, area)
        if self.loading_text and not self._loading_due.isActive():
            self._draw_panel(painter, area, self.loading_text, self._font(_TEXT_PX))
        painter.end()

    def _font(self, pixels: int) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(pixels)
        return font

    def _draw_banner(self, painter: QPainter, area: QRectF) -> float:
        """Draw the banner and return where the free part of the canvas begins."""
        if not self.banner_text:
            return area.top()
        font = self._font(_TEXT_PX)
        flags = int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap)
        room = QRectF(0, 0, max(area.width() - 8 * _MARGIN, 80), area.height() / 3)
        text = QFontMetricsF(font).boundingRect(room, flags, self.banner_text)
        box = QRectF(0, 0, text.width() + 2 * _MARGIN, min(text.height(), room.height()) + _MARGIN)
        box.moveTo(area.center().x() - box.width() / 2, _MARGIN / 2)
        self._draw_box(painter, box, _WARNING_BACK)
        painter.setFont(font)
        painter.setPen(_WARNING)
        painter.drawText(box.adjusted(_MARGIN, _MARGIN / 2, -_MARGIN, -_MARGIN / 2), flags, self.banner_text)
        return box.bottom()

    def _draw_letters(self, painter: QPainter, area: QRectF, top: float) -> None:
        if self.letters is None:
            return
        font = _fixed_font(_LETTER_PX)  # in others an I is a mere stroke
        font.setBold(True)
        measure = QFontMetricsF(font)
        rise, middle = measure.capHeight(), area.center()
        for letter, x, y in (
            (self.letters.left, _MARGIN, middle.y() + rise / 2),
            (
                self.letters.right,
                area.right() - _MARGIN - measure.horizontalAdvance(self.letters.right),
                middle.y() + rise / 2,
            ),
            (self.letters.top, middle.x() - measure.horizontalAdvance(self.letters.top) / 2, top + _MARGIN + rise),
            (
                self.letters.bottom,
                middle.x() - measure.horizontalAdvance(self.letters.bottom) / 2,
                area.bottom() - _MARGIN,
            ),
        ):
            self._draw_outlined(painter, QPointF(x, y), letter, font)

    def _draw_corner(self, painter: QPainter, area: QRectF) -> None:
        font = self._font(_TEXT_PX)
        height = QFontMetricsF(font).lineSpacing()
        lines: list[Entry] = [(line, "") for line in self.corner_text.splitlines()]
        for place, (line, color) in enumerate(reversed([*self.legend, *lines])):
            y = area.bottom() - _MARGIN - height * place
            indent = 0.0 if color == "" else 1.4 * _TEXT_PX
            if indent:
                self._draw_swatch(painter, QRectF(_MARGIN, y - 0.75 * _TEXT_PX, 0.8 * _TEXT_PX, 0.8 * _TEXT_PX), color)
            self._draw_outlined(painter, QPointF(_MARGIN + indent, y), line, font)

    def _draw_swatch(self, painter: QPainter, box: QRectF, color: str | None) -> None:
        """A square of one colour, or in three for "as the label is"."""
        shades = [color] if color else _MANY
        width = box.width() / len(shades)
        painter.setPen(Qt.PenStyle.NoPen)
        for place, shade in enumerate(shades):
            painter.setBrush(QColor(shade))
            painter.drawRect(QRectF(box.left() + place * width, box.top(), width, box.height()))

    def _draw_panel(self, painter: QPainter, area: QRectF, words: str, font: QFont) -> None:
        text = QFontMetricsF(font).boundingRect(area, int(Qt.AlignmentFlag.AlignLeft), words)
        box = QRectF(0, 0, text.width() + 4 * _MARGIN, text.height() + 3 * _MARGIN)
        box.moveCenter(area.center())
        self._draw_box(painter, box, _PANEL_BACK)
        painter.setFont(font)
        painter.setPen(_WHITE)
        inner = box.adjusted(2 * _MARGIN, 1.5 * _MARGIN, -2 * _MARGIN, -1.5 * _MARGIN)
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip), words)

    def _draw_box(self, painter: QPainter, box: QRectF, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(box, 5, 5)

    def _draw_outlined(self, painter: QPainter, place: QPointF, text: str, font: QFont) -> None:
        """White letters with a dark rim: legible on bone and on air."""
        path = QPainterPath()
        path.addText(place, font, text)
        rim = QPen(_DARK, 3.5)
        rim.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(path, rim)
        painter.fillPath(path, _WHITE)


def _fixed_font(pixels: int) -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(pixels)
    return font
