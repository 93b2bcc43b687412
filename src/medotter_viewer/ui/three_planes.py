"""The three-plane view: the two planes that the canvas does not show in panes of their own, linked by a crosshair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qtpy.QtCore import Qt, QTimer
from qtpy.QtWidgets import QBoxLayout, QDockWidget, QLabel, QWidget

from medotter_viewer.core.grid import Grid
from medotter_viewer.ui.crosshair import Crosshair
from medotter_viewer.ui.going import ORDERS
from medotter_viewer.ui.layer_watch import LayerWatch
from medotter_viewer.ui.measuring import Mark
from medotter_viewer.ui.pane import Pane
from medotter_viewer.ui.pane_content import PaneContents
from medotter_viewer.ui.vector_display import VectorDisplay

OTHERS = {0: (2, 1), 1: (0, 2), 2: (0, 1)}
"""The planes in the panes, left and right, by the plane on the canvas: 0 axial, 1 coronal, 2 sagittal."""
_DELAY_MS = 12  # between what happens and its painting: a fast wheel paints the last slice only
_HEIGHT = 270
_FIT = 0.03


@dataclass(slots=True)
class Remembered:
    """Whether and where the panes stood, for the reviews of this process to come."""

    is_on: bool = False
    area: Any = Qt.DockWidgetArea.BottomDockWidgetArea
    width: int = 0
    height: int = _HEIGHT


_AROUND_LINE = 16  # margins, and the padding of napari's style

REMEMBERED = Remembered()


class Panes(QWidget):
    """Two panes side by side, or one over the other where there is more height than width, and a line under them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Pane(), Pane()
        self.line = QLabel()
        self.line.setTextFormat(Qt.TextFormat.PlainText)
        self.line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.line.setMinimumWidth(100)  # a long line does not widen the window
        self.line.setWordWrap(True)
        self.line.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.line.setContentsMargins(6, 0, 6, 2)
        outer = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(2)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._box.setSpacing(2)
        for pane in (self.first, self.second):
            self._box.addWidget(pane, 1)
        outer.addLayout(self._box, 1)
        outer.addWidget(self.line)

    def resizeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Stand as there is room, over two lines of words."""
        lines = 2 * self.line.fontMetrics().lineSpacing()  # of napari's font, known by now
        self.line.setFixedHeight(lines + _AROUND_LINE)
        wide = self.width() >= self.height()
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._box.direction() != direction:
            self._box.setDirection(direction)
        super().resizeEvent(event)


class ThreePlanes:
    """The panes of a review.

    Parameters
    ----------
    viewer : napari.Viewer
        Whose canvas shows the third plane.
    vectors : VectorDisplay
        Contours and points.
    crosshair : Crosshair
        The point that is looked at.
    grid : callable
        Returns the grid that is shown; None while there is none.
    is_seen : callable
        Takes a layer and tells whether it is seen on slices.
    readout : callable
        Takes displayed mm and returns what lies there, in one line.
    say : callable
        Says something in the status line.
    marks_on : callable
        Takes displayed axis and mm of a plane and returns rulers and regions on it.

    Attributes
    ----------
    panes : Panes or None
        The panes, once they have been shown.
    """

    def __init__(
        self,
        viewer: Any,
        vectors: VectorDisplay,
        crosshair: Crosshair,
        *,
        grid: Callable[[], Grid | None],
        is_seen: Callable[[Any], bool],
        readout: Callable[[Any], str],
        say: Callable[[str], None],
        marks_on: Callable[[int, float], list[Mark]],
    ) -> None:
        self._viewer, self._vectors, self._crosshair, self._grid = viewer, vectors, crosshair, grid
        self._readout, self._say, self._marks_on = readout, say, marks_on
        self._contents = PaneContents(viewer, vectors, is_seen)
        self._dock: QDockWidget | None = None
        self.panes: Panes | None = None
        self._watch = LayerWatch(viewer, self.content_changed)
        self._painted: list[Any] = [None, None]  # what each pane shows
        self._due = QTimer()
        self._due.setSingleShot(True)
        self._due.setInterval(_DELAY_MS)
        self._due.timeout.connect(self.paint)

    @property
    def is_on(self) -> bool:
        """Whether the panes are shown."""
        return self._crosshair.is_on

    def why_not(self) -> str:
        """Return why there are no other planes to show; empty where there are."""
        grid = self._grid()
        if grid is None:
            return "no case is open"
        return "one plane only: this case is a single slice" if min(grid.shape) == 1 else ""

    def show(self) -> None:
        """Show the panes."""
        main = self._viewer.window._qt_window
        dock = self._dock = self._dock or self._new_dock(main)
        self._crosshair.is_on = REMEMBERED.is_on = True
        dock.show()
        main.resizeDocks([dock], [REMEMBERED.height], Qt.Orientation.Vertical)
        if REMEMBERED.width and REMEMBERED.area in (Qt.DockWidgetArea.LeftDockWidgetArea, _RIGHT):
            main.resizeDocks([dock], [REMEMBERED.width], Qt.Orientation.Horizontal)
        self._watch.start()
        self.content_changed()

    def hide(self) -> None:
        """Hide the panes; where they stood is remembered."""
        self._stop()
        REMEMBERED.is_on = False
        if self._dock is not None:
            self._dock.hide()

    def stop_painting(self) -> None:
        """Paint nothing that is due; nothing happens where the program ends and the timer is gone."""
        try:
            self._due.stop()
        except RuntimeError:
            return

    def close(self) -> None:
        """Take the panes out of the window and listen no more."""
        self._stop()
        self._due.timeout.disconnect(self.paint)
        if self._dock is not None:
            try:
                self._viewer.window._qt_window.removeDockWidget(self._dock)
                self._dock.deleteLater()
            except (AttributeError, RuntimeError):  # the window has taken it with it
                pass
            self._dock = self.panes = None

    # ---------------------------------------------------------------- what is shown

    def content_changed(self) -> None:
        """Paint all again, soon: something else is shown."""
        self._painted = [None, None]
        self.point_changed()

    def point_changed(self) -> None:
        """Follow the point, soon."""
        if self.is_on and not self._due.isActive():
            self._due.start()

    def paint(self) -> None:
        """Show the planes through the point as they are now."""
        grid, panes, order = self._grid(), self.panes, self._viewer.dims.order
        if panes is None or not self.is_on or len(order) != 3:
            return
        point, contours = self._crosshair.point_mm, self._vectors.specs()
        for place, (pane, axis) in enumerate(zip((panes.first, panes.second), OTHERS[order[0]], strict=True)):
            if grid is None:
                pane.show_content(None)
                continue
            wanted = (grid, contours, axis, point[axis])
            if self._painted[place] != wanted:
                pane.show_content(self._contents.content(grid, axis, point[axis]))
                self._painted[place] = wanted
            pane.show_point(point, self._marks_on(axis, point[axis]))
        panes.line.setText(self._readout(point))

    # ---------------------------------------------------------------- the dock

    def _new_dock(self, main: Any) -> QDockWidget:
        panes = self.panes = Panes()
        for pane in (panes.first, panes.second):
            pane.picked.connect(self._crosshair.move_to)
            pane.scrolled.connect(self._crosshair.step)
            pane.hovered.connect(self._on_hovered)
            pane.opened.connect(self._on_opened)
        dock = QDockWidget("Planes", main)
        dock.setObjectName("medotter-viewer planes")
        dock.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetMovable)  # X closes it
        dock.setWidget(panes)
        # Under the canvas alone, between the docks at the left and at the right.
        main.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        main.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        main.addDockWidget(REMEMBERED.area, dock)
        return dock

    def _stop(self) -> None:
        self._due.stop()
        self._watch.stop()
        self._painted = [None, None]  # no array is kept alive
        if self.is_on and self._dock is not None:
            try:
                REMEMBERED.area = self._viewer.window._qt_window.dockWidgetArea(self._dock)
                REMEMBERED.width, REMEMBERED.height = self._dock.width(), self._dock.height()
            except (AttributeError, RuntimeError):
                pass
        if self.panes is not None:
            for pane in (self.panes.first, self.panes.second):
                pane.show_content(None)
        self._crosshair.is_on = False

    def _on_hovered(self, position_mm: Any) -> None:
        self._say(self._readout(self._crosshair.point_mm if position_mm is None else position_mm))

    def _on_opened(self, axis: int) -> None:
        """Put a pane's plane on the canvas, and the canvas' into a pane."""
        self._viewer.dims.order = ORDERS[axis]
        self._viewer.reset_view(margin=_FIT)


_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
