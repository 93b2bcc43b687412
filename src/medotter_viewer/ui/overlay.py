"""What is written over the canvas: the sides of the patient, warnings, slice and window, what is being opened.

It holds words only; who says them is the window. The scale bar is napari's own.
"""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import QPointF, QRectF, Qt, QTimer
from qtpy.QtGui import QColor, QFont, QFontMetricsF, QPainter

from medotter_viewer.ui.canvas_cover import CanvasCover
from medotter_viewer.ui.colors import label_color
from medotter_viewer.ui.legend import Entry
from medotter_viewer.ui.letters import EdgeLetters
from medotter_viewer.ui.room import fitted, raised
from medotter_viewer.ui.word_painting import draw_letters, draw_outlined

_MARGIN = 10.0
_LETTER_PX, _TEXT_PX, _RIM_PX = 20, 14, 3.5
_BANNER_PX, _BANNER_PART = (_TEXT_PX, 12, 11), 0.4  # sizes of its words, and how much of the canvas it may cover
_BAR_PX = (165.0, 48.0)  # how wide and high napari's scale bar is with its words, at most
_LOADING_DELAY_MS = 150  # a case that is there sooner needs no word
_WHITE = QColor(255, 255, 255)
_WARNING, _WARNING_BACK = QColor(255, 214, 122), QColor(58, 40, 0, 225)
_PANEL_BACK = QColor(18, 20, 24, 232)
_MANY = [QColor.fromRgbF(*(float(part) for part in label_color(i))).name() for i in (1, 2, 4)]


class Overlay(CanvasCover):
    """The words on the canvas.

    Parameters
    ----------
    viewer : napari.Viewer
        A viewer with a window.
    """

    def __init__(self, viewer: Any) -> None:
        super().__init__(viewer.window._qt_viewer.canvas.native)
        self.letters: EdgeLetters | None = None
        self.banner_text = self.corner_text = self.loading_text = ""
        self.legend: list[Entry] = []
        self._loading_due = QTimer(self)
        self._loading_due.setSingleShot(True)
        self._loading_due.setInterval(_LOADING_DELAY_MS)
        self._loading_due.timeout.connect(self.update)
        self._scale_bar = viewer.canvas.overlays["scale_bar"]
        self._scale_bar.visible, self._scale_bar.font_size = True, 11
        self._canvas = viewer.canvas
        self._ground = viewer.canvas.background_color_override
        viewer.canvas.background_color_override = "black"  # in a light theme too: pictures are read against black
        self.show()

    def close_quietly(self) -> None:
        """Leave the canvas as it was."""
        super().close_quietly()
        self._canvas.background_color_override = self._ground

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

    # ---------------------------------------------------------------- drawing

    def paintEvent(self, event: Any) -> None:  # noqa: ARG002, N802
        """Draw all of it."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        area = QRectF(self.rect())
        top = self._draw_banner(painter, area)
        if self.letters is not None:
            draw_letters(painter, area, self.letters, pixels=_LETTER_PX, margin=_MARGIN, top=top, rim_px=_RIM_PX)
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
        flags = int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap)
        room = QRectF(0, 0, max(area.width() - 4 * _MARGIN, 80), area.height() * _BANNER_PART)

        def bounds(pixels: int, words: str) -> QRectF:
            return QFontMetricsF(self._font(pixels)).boundingRect(room, flags, words)

        pixels, words = fitted(self.banner_text, room.height(), _BANNER_PX, lambda px, text: bounds(px, text).height())
        font, text = self._font(pixels), bounds(pixels, words)
        box = QRectF(0, 0, text.width() + 2 * _MARGIN, text.height() + _MARGIN)
        box.moveTo(area.center().x() - box.width() / 2, _MARGIN / 2)
        self._draw_box(painter, box, _WARNING_BACK)
        painter.setFont(font)
        painter.setPen(_WARNING)
        painter.drawText(box.adjusted(_MARGIN, _MARGIN / 2, -_MARGIN, -_MARGIN / 2), flags, words)
        return box.bottom()

    def _draw_corner(self, painter: QPainter, area: QRectF) -> None:
        font = self._font(_TEXT_PX)
        metrics = QFontMetricsF(font)
        height = metrics.lineSpacing()
        lines = [*self.legend, *((line, "") for line in self.corner_text.splitlines())][::-1]
        indents = [0.0 if color == "" else 1.4 * _TEXT_PX for _, color in lines]
        ends = [
            _MARGIN + indent + metrics.horizontalAdvance(line) for (line, _), indent in zip(lines, indents, strict=True)
        ]
        lowest = area.bottom() - _MARGIN - raised(ends, height, self._taken(area))
        for place, ((line, color), indent) in enumerate(zip(lines, indents, strict=True)):
            y = lowest - height * place
            if indent:
                self._draw_swatch(painter, QRectF(_MARGIN, y - 0.75 * _TEXT_PX, 0.8 * _TEXT_PX, 0.8 * _TEXT_PX), color)
            draw_outlined(painter, QPointF(_MARGIN + indent, y), line, font, rim_px=_RIM_PX)

    def _taken(self, area: QRectF) -> list[tuple[float, float]]:
        """What stands at the lower edge beside the corner: napari's scale bar, and the letter in the middle."""
        taken = [(area.center().x() - _LETTER_PX / 2, _MARGIN + _LETTER_PX)] if self.letters is not None else []
        if self._scale_bar.visible:
            taken.append((area.right() - _BAR_PX[0], _BAR_PX[1]))
        return taken

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
