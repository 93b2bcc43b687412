"""One side pane: a plane that the canvas does not show, painted from arrays; no second drawing of napari's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from qtpy.QtCore import QPointF, QRectF, Qt, Signal
from qtpy.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPainterPath, QPen
from qtpy.QtWidgets import QSizePolicy, QWidget

from medotter_viewer.ui.letters import EdgeLetters
from medotter_viewer.ui.mark_painting import draw_crosshair, draw_mark
from medotter_viewer.ui.measure_tool import in_plane
from medotter_viewer.ui.measuring import Mark
from medotter_viewer.ui.pane_painting import ImagePlane, LabelPlane, painted
from medotter_viewer.ui.plane_map import PlaneMap
from medotter_viewer.ui.word_painting import RIM, draw_letters, draw_outlined

PLANES = ("axial", "coronal", "sagittal")
_MARGIN, _LETTER_PX, _TEXT_PX, _POINT_PX = 6.0, 14, 12, 4.0
_QUIET = QColor(200, 205, 212)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Closed outlines of one colour: each (n, 2) displayed mm, down and across."""

    paths: tuple[Any, ...]
    color: str
    width_px: float
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """Points of one colour: (n, 2) displayed mm, down and across, and what is written beside them."""

    places_mm: Any
    texts: tuple[str, ...]
    color: str
    is_cross: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PaneContent:
    """What a pane shows.

    Parameters
    ----------
    axis : int
        Displayed axis across the plane.
    planes : tuple of ImagePlane or LabelPlane
        Slices, from the lowest to the topmost.
    lines, dots : tuple of Line, tuple of Dots
        Over them.
    low_mm, high_mm : (float, float)
        The box that is to be seen, down and across: edges of the first and the last voxel.
    letters : EdgeLetters or None
        Sides of the patient.
    title : str
        Plane and slice.
    """

    axis: int
    planes: tuple[ImagePlane | LabelPlane, ...]
    lines: tuple[Line, ...]
    dots: tuple[Dots, ...]
    low_mm: tuple[float, float]
    high_mm: tuple[float, float]
    letters: EdgeLetters | None
    title: str


class Pane(QWidget):
    """A side pane; it says where it is clicked and scrolled, and shows what it is told."""

    picked = Signal(object)
    """(3,) displayed mm that was clicked, or dragged to."""
    scrolled = Signal(int, int)
    """Displayed axis, and slices to go."""
    hovered = Signal(object)
    """(3,) displayed mm under the mouse; None when it leaves."""
    opened = Signal(int)
    """Displayed axis across the plane that is wanted on the canvas: a double click."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.content: PaneContent | None = None
        self.point_mm: tuple[float, ...] = (0.0, 0.0, 0.0)
        self.marks: list[Mark] = []
        self._image: QImage | None = None
        self._pixels: Any = None  # what the image lies in
        self._letters: tuple[Any, QImage] | None = None  # for what they are drawn, and how
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keys stay with the canvas
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setMinimumSize(110, 90)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    # ---------------------------------------------------------------- what is shown

    def show_content(self, content: PaneContent | None) -> None:
        """Show other slices, or the same ones as they are now."""
        self.content, self._image = content, None
        self.update()

    def show_point(self, point_mm: Sequence[float], marks: list[Mark]) -> None:
        """Draw crosshair and marks elsewhere; the slice stays as it is painted."""
        told = (tuple(point_mm), marks)
        if told != (self.point_mm, self.marks):
            self.point_mm, self.marks = told
            self.update()

    def view(self) -> PlaneMap | None:
        """Return where displayed mm are seen in the pane: all of the plane, as large as it can be."""
        if self.content is None:
            return None
        return PlaneMap.fitting(self.content.low_mm, self.content.high_mm, self.width(), self.height(), _MARGIN)

    def position_at(self, x: float, y: float) -> tuple[float, float, float] | None:
        """Return the displayed mm at a pixel."""
        view = self.view()
        if view is None or self.content is None:
            return None
        axis = self.content.axis
        return in_plane(axis, self.point_mm[axis], view.to_mm(x, y))

    # ---------------------------------------------------------------- drawing

    def picture(self) -> QImage | None:
        """Return the slices, painted at the pixels of the screen; kept until they are others, or the size is."""
        view = self.view()
        if view is None or self.content is None:
            return None
        ratio = float(self.devicePixelRatioF())
        rows, columns = view.lines(ratio)
        if self._image is None or (self._image.height(), self._image.width()) != (len(rows), len(columns)):
            self._pixels = np.ascontiguousarray(painted(self.content.planes, rows, columns))
            height, width = self._pixels.shape[:2]
            self._image = QImage(self._pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888)
            self._image.setDevicePixelRatio(ratio)
        return self._image

    def paintEvent(self, event: Any) -> None:  # noqa: ARG002, N802 - Qt's name
        """Draw slices, outlines, points, crosshair, letters."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(0, 0, 0))
        view, content, picture = self.view(), self.content, self.picture()
        if view is not None and content is not None and picture is not None:
            painter.drawImage(QPointF(0, 0), picture)
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
            small = QFont(self.font())
            small.setPixelSize(_TEXT_PX)
            for line in content.lines:
                _draw_line(painter, view, line)
            for dots in content.dots:
                _draw_dots(painter, view, dots, small)
            down, across = (a for a in range(3) if a != content.axis)
            draw_crosshair(painter, view, (self.point_mm[down], self.point_mm[across]))
            for mark in self.marks:
                draw_mark(painter, view, mark, "", small)  # words stand on the canvas: here they would hide the slice
            if content.letters is not None:
                painter.drawImage(QPointF(0, 0), self._lettering(content.letters))
            rise = QFontMetricsF(small).ascent()
            draw_outlined(painter, QPointF(_MARGIN, _MARGIN + rise), content.title, small, _QUIET)
        painter.end()

    def _lettering(self, letters: EdgeLetters) -> QImage:
        """The letters alone, kept: they stay while slices are scrolled, and their rims are slow to draw."""
        ratio = float(self.devicePixelRatioF())
        drawn_for = (letters, self.width(), self.height(), ratio)
        if self._letters is None or self._letters[0] != drawn_for:
            size = (max(1, round(n * ratio)) for n in (self.width(), self.height()))
            image = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
            image.setDevicePixelRatio(ratio)
            image.fill(0)
            painter = QPainter(image)
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
            draw_letters(painter, QRectF(self.rect()), letters, pixels=_LETTER_PX, margin=_MARGIN)
            painter.end()
            self._letters = drawn_for, image
        return self._letters[1]

    # ---------------------------------------------------------------- the mouse

    def mousePressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Pick where is clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pick(event)

    def mouseMoveEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Pick where is dragged to; otherwise say what is under the mouse."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._pick(event)
        else:
            self.hovered.emit(self.position_at(event.position().x(), event.position().y()))

    def mouseDoubleClickEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Want this plane on the canvas."""
        if event.button() == Qt.MouseButton.LeftButton and self.content is not None:
            self.opened.emit(self.content.axis)

    def wheelEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Scroll the pane's slices, a notch for a slice."""
        turned = event.angleDelta().y()
        if turned and self.content is not None:
            self.scrolled.emit(self.content.axis, -1 if turned > 0 else 1)
        event.accept()

    def leaveEvent(self, event: Any) -> None:  # noqa: ARG002, N802 - Qt's name
        """Nothing is under the mouse any more."""
        self.hovered.emit(None)

    def _pick(self, event: Any) -> None:
        if (position := self.position_at(event.position().x(), event.position().y())) is not None:
            self.picked.emit(position)


def _draw_line(painter: QPainter, view: PlaneMap, line: Line) -> None:
    path = QPainterPath()
    for points in line.paths:
        pixels = view.to_pixels(points)
        path.moveTo(*(float(v) for v in pixels[0]))
        for pixel in pixels[1:]:
            path.lineTo(float(pixel[0]), float(pixel[1]))
    color = QColor(line.color)
    color.setAlphaF(line.opacity)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(color, line.width_px))
    painter.drawPath(path)


def _draw_dots(painter: QPainter, view: PlaneMap, dots: Dots, font: QFont) -> None:
    for place, text in zip(dots.places_mm, dots.texts or ("",) * len(dots.places_mm), strict=True):
        x, y = (float(v) for v in view.to_pixels(place))
        middle = QPointF(x, y)
        if dots.is_cross:
            painter.setPen(QPen(QColor(dots.color), 1.6))
            painter.drawLine(middle - QPointF(_POINT_PX, 0), middle + QPointF(_POINT_PX, 0))
            painter.drawLine(middle - QPointF(0, _POINT_PX), middle + QPointF(0, _POINT_PX))
        else:
            painter.setPen(QPen(RIM, 1.0))
            painter.setBrush(QColor(dots.color))
            painter.drawEllipse(middle, _POINT_PX, _POINT_PX)
        if text:
            draw_outlined(painter, middle + QPointF(2 * _POINT_PX, _POINT_PX), text, font, QColor(dots.color))
