"""Where the panels of a review stand in the napari window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import Qt, QTimer
from qtpy.QtWidgets import QLabel, QTabWidget

from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.ui.colors import label_color
from medotter_viewer.ui.dock_widths import DockWidths
from medotter_viewer.ui.widgets.about import AboutDock
from medotter_viewer.ui.widgets.cases import CasesDock
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.errors import ErrorsDock
from medotter_viewer.ui.widgets.export import ExportDock
from medotter_viewer.ui.widgets.instances import InstancesDock
from medotter_viewer.ui.widgets.polygons import PolygonsDock
from medotter_viewer.ui.widgets.remap import RemapDock
from medotter_viewer.ui.widgets.review import ReviewDock
from medotter_viewer.ui.widgets.scores import ScoresDock
from medotter_viewer.ui.widgets.vertebrae import VertebraeDock
from medotter_viewer.ui.widgets.why_asking import WhyAsking

WIDTH, MOST_WIDTH = 350, 420
HOLD_MS = 6000
"""How long a line stays that must not be missed."""
_METRIC_WIDTH = 45  # of a column
SCORES_WIDTH = 460
CONTOURS, VERTEBRAE = "lung_contour", "vertebra"
"""Task types with a panel of their own."""


class Docks:
    """Cases at the left with napari's own controls behind it; at the right as tabs what applies to the task.

    Parameters
    ----------
    viewer : napari.Viewer
        Whose window.
    session : ReviewSession
        What the panels look at.
    focus : callable
        Called after a click, to give the keyboard back to the canvas.
    run_in_background : callable
        Takes work and a callable for its result.

    Attributes
    ----------
    cases, scores, review : CasesDock, ScoresDock, ReviewDock
        Of every task.
    errors : ErrorsDock or None
        Where label maps are compared region by region.
    remap : RemapDock or None
        Where cases have label ids.
    instances : InstancesDock or None
        Where every id is an object.
    polygons : PolygonsDock or None
        Where cases are scans with polygons.
    vertebrae : VertebraeDock or None
        Where cases are spines.
    about : AboutDock
        What is looked at, by which rules.
    export : ExportDock or None
        Where there is a region to be written as polygons.
    """

    def __init__(
        self, viewer: Any, session: ReviewSession, *, focus: Callable[[], None], run_in_background: Callable[..., None]
    ) -> None:
        self._viewer = viewer

        def color_of(region: str) -> Any:
            from qtpy.QtGui import QColor

            ids = session.spec.regions.get(region, ())
            if len(ids) != 1:
                return None
            red, green, blue = label_color(ids[0])[:3]
            return QColor.fromRgbF(float(red), float(green), float(blue))

        self.cases = CasesDock(session, focus)
        self.scores = ScoresDock(session, color_of, focus)
        self.why = WhyAsking(self.scores, session, run_in_background)
        self.remap: RemapDock | None = None
        self.polygons: PolygonsDock | None = None
        self.vertebrae: VertebraeDock | None = None
        self._tabs: dict[str, Panel] = {"Scores": self.scores}
        self.errors: ErrorsDock | None = None
        if session.can_score and session.spec.regions and not session.spec.is_instances and not session.spec.contours:
            self.errors = ErrorsDock(session, focus)
            self._tabs["Errors"] = self.errors
        self.instances: InstancesDock | None = None
        if session.spec.is_instances:
            self.instances = InstancesDock(session, focus)
            self._tabs["Instances"] = self.instances
        if session.spec.task_type == VERTEBRAE:
            self.vertebrae = VertebraeDock(session, run_in_background, focus)
            self._tabs["Vertebrae"] = self.vertebrae
        if session.spec.task_type == CONTOURS:
            self.polygons = PolygonsDock(session, run_in_background, self._open_source, focus)
            self._tabs["Polygons"] = self.polygons
        else:
            self.remap = RemapDock(session, run_in_background, focus)
            self._tabs["Remap"] = self.remap
        self.review = ReviewDock(session, focus)
        self._tabs["Review"] = self.review
        self.export: ExportDock | None = None
        if session.metrics and session.can_score and session.spec.regions and not session.spec.is_instances:
            self.export = ExportDock(session, run_in_background, focus)
            self._tabs["Export"] = self.export
        self.about = AboutDock(session, focus)
        self._tabs["About"] = self.about
        window = viewer.window
        main = window._qt_window
        main.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self._docks = [window.add_dock_widget(self.cases, name="Cases", area="left")]
        self._docks += [window.add_dock_widget(tab, name=name, area="right") for name, tab in self._tabs.items()]
        for dock in self._docks:  # napari's button would destroy a panel: the menu hides them and brings them back
            dock._close_btn = False
            dock._update_title_bar()
        for dock, panel in zip(self._docks, (self.cases, *self._tabs.values()), strict=True):
            # Qt only moves a tab that is behind another off the screen: hidden, its panel works for nobody.
            dock.visibilityChanged.connect(panel.setVisible)
        cases, scores, *others = self._docks
        for dock in others:
            main.tabifyDockWidget(scores, dock)
        controls, layers = window._qt_viewer.dockLayerControls, window._qt_viewer.dockLayerList
        for dock in (layers, controls):
            main.tabifyDockWidget(cases, dock)
        for dock in (cases, scores):
            dock.raise_()
            QTimer.singleShot(0, dock.raise_)  # napari raises its own docks once the window is shown
        width = min(WIDTH + _METRIC_WIDTH * max(0, len(session.metrics) - 2), MOST_WIDTH)
        behind = [dock.widget() for dock in (controls, layers)]
        self._widths = DockWidths(main, (cases, scores), (width, SCORES_WIDTH), behind)
        self._line = QLabel()
        self._line.setTextFormat(Qt.TextFormat.PlainText)
        self._line.setMinimumWidth(1)  # a long message must not widen the window
        self._line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        main.statusBar().addPermanentWidget(self._line)
        self._mentioned = self._kept = ""
        self._held = QTimer(self._line)  # while it runs, what is only mentioned waits
        self._held.setSingleShot(True)
        self._held.setInterval(HOLD_MS)
        self._held.timeout.connect(lambda: self._write(self._mentioned) if self._mentioned else None)

    def _open_source(self, source: CaseSource, case_id: str) -> None:
        """Open a review of another source in this window, once what asked for it is done: it goes with this review."""

        def open_() -> None:
            from medotter_viewer.ui.window import open_window  # it makes these docks

            try:
                open_window(source, case_id=case_id, viewer=self._viewer)
            except MedotterViewerError as error:
                self.say(str(error))

        QTimer.singleShot(0, open_)

    @property
    def panels(self) -> list[Any]:
        """The docks that are ours."""
        return list(self._docks)

    def set_position(self, axis: int, index: int) -> None:
        """Tell which slice is looked at: displayed axis (0 axial, 1 coronal, 2 sagittal) and displayed index."""
        self.scores.set_position(axis, index)
        if self.errors is not None:
            self.errors.set_position(axis)
        if self.polygons is not None:
            self.polygons.set_position(axis, index)

    def stop_work(self) -> None:
        """Ask panels to stop what they do in the background: the window closes and waits for it."""
        self._widths.close()  # here, as of a window that has gone no panel is taken out
        if self.export is not None:
            self.export.close_connections()

    def show(self, name: str) -> None:
        """Bring a panel to the front."""
        for dock in self._docks:
            if dock.name == name:
                dock.raise_()

    def hide_numbers(self, hidden: bool, *, but: str) -> None:
        """Take every panel at the right but one out of sight, or bring them back behind it."""
        others = [dock for dock in self._docks if dock.name in self._tabs and dock.name != but]
        if all(dock.isHidden() == hidden for dock in others):
            return
        for dock in others:
            dock.setVisible(not hidden)
        self.show(but)

    def say(self, text: str, *, hold: bool = False) -> None:
        """Show a line at the bottom of the window.

        Parameters
        ----------
        text : str
            What is said.
        hold : bool
            Whether it stays for some seconds, unless something else is said: what is only mentioned waits. What is
            to be held while something is held already stands before it.
        """
        self._mentioned = ""
        earlier = self._kept if hold and self._held.isActive() and self._kept != text else ""
        if hold:
            self._kept = text
            self._held.start()
        else:
            self._held.stop()
        self._write(f"{text} · {earlier}" if earlier else text)

    def mention(self, text: str) -> None:
        """Show a line that nobody asked for, such as what is under the pointer, once what is held was read."""
        if self._held.isActive():
            self._mentioned = text
        else:
            self._write(text)

    @property
    def told(self) -> str:
        """The line at the bottom, or what waits to be."""
        return " ".join(self._mentioned.split()) or self._line.text()

    def _write(self, text: str) -> None:
        self._line.setText(" ".join(text.split()))
        self._line.setToolTip(self._line.text())

    def close(self) -> None:
        """Take the panels out of the window."""
        self.why.close()
        for widget in (self.cases, *self._tabs.values()):
            widget.close_connections()
        for dock in self._docks:
            try:
                self._viewer.window.remove_dock_widget(dock)
            except (AttributeError, LookupError, RuntimeError):  # the window is being destroyed, its docks are gone
                continue
        try:
            self._line.deleteLater()
        except RuntimeError:
            return
