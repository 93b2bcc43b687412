"""The dock of instances: every object with what became of it, and the scores at any IoU threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import Qt, Signal
from qtpy.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout

from medotter_viewer.session.matches import HIGHEST, LOWEST
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets import instances_rows as rows
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.instances_model import InstancesModel, SummaryModel
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.scores import nothing_open
from medotter_viewer.ui.widgets.threshold import ThresholdCurve


class InstancesDock(Panel):
    """The objects of the open case.

    Parameters
    ----------
    session : ReviewSession
        What is read and told.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    object_activated : Signal()
        A row was clicked; the session looks at its object already.
    """

    object_activated = Signal()

    def __init__(self, session: ReviewSession, on_done: Callable[[], None] = lambda: None, parent: Any = None) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self.summary_model = SummaryModel(session, self)
        self.summary = CellTable(self.summary_model, self)
        self.summary.setSelectionMode(CellTable.SelectionMode.NoSelection)
        self.whole, self.message = remark(), remark()
        self.message.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.curve = ThresholdCurve(LOWEST, HIGHEST, self)
        self.back = QPushButton(f"Back to {session.spec.iou_threshold:g}")
        self.back.setToolTip("match as the scores do: above the IoU of the specification")
        self.colored = QCheckBox("Colour by match")
        self.colored.setToolTip("colour objects by what became of them instead of by their ids")
        self.model = InstancesModel(session, self)
        self.table = CellTable(self.model, self)
        self._lay_out()
        self._connect()
        self._on_rows_changed()

    # ---------------------------------------------------------------- what the user does

    def _on_row_chosen(self, row: int) -> None:
        self._session.matches.select(row)
        self.object_activated.emit()
        self._on_done()

    def _on_header_clicked(self, section: int) -> None:
        self._session.matches.sort_by(self.model.column(section))
        self.table.scrollToTop()
        self._on_done()

    def _on_back_clicked(self) -> None:
        self._session.matches.reset_threshold()
        self._on_done()

    def _on_colored_clicked(self, colored: bool) -> None:
        self._session.matches.set_colored(colored)
        self._on_done()

    # ---------------------------------------------------------------- what the session says

    def _on_rows_changed(self) -> None:
        matches = self._session.matches
        place = self.table.verticalScrollBar().value()
        self.model.refresh()
        self.summary_model.refresh()
        self.table.verticalScrollBar().setValue(place)
        self.summary.fit_height()
        self.table.select(matches.selected_place)
        found = matches.found
        self.curve.show_state(() if found is None else found.curve, matches.threshold, self._session.spec.iou_threshold)
        self.back.setEnabled(matches.threshold != self._session.spec.iou_threshold)
        there = found is not None and matches.rows is not None
        for part in (self.table, self.curve, self.back, self.colored, self.whole):
            part.setVisible(there)
        self.message.setVisible(not there)
        if found is not None and matches.rows is not None:
            self.whole.setText(rows.whole_text(found))
        else:
            self.message.setText(why_nothing(self._session))

    def _on_selected(self, _: object) -> None:
        place = self._session.matches.selected_place
        self.table.select(place)
        if place is not None:
            self.table.scrollTo(self.model.index(place, 0))

    def _on_coloring_changed(self, colored: bool) -> None:
        self.colored.setChecked(colored)

    def _on_score_changed(self, _: object) -> None:
        """Say why there is nothing, once that is known."""
        if self._session.matches.found is None:
            self.message.setText(why_nothing(self._session))

    # ---------------------------------------------------------------- layout

    def _lay_out(self) -> None:
        layout = dense(QVBoxLayout(self))
        layout.addWidget(self.message, 1)
        layout.addWidget(self.summary)
        layout.addWidget(self.whole)
        layout.addWidget(self.curve)
        line = QHBoxLayout()
        line.addWidget(self.colored)
        line.addStretch(1)
        line.addWidget(self.back)
        layout.addLayout(line)
        layout.addWidget(self.table, 1)

    def _connect(self) -> None:
        self.table.row_chosen.connect(self._on_row_chosen)
        self.table.verticalScrollBar().valueChanged.connect(lambda _: self.table.fit_columns())  # to what is seen
        self.table.horizontalHeader().setSectionsClickable(True)
        self.table.horizontalHeader().sectionClicked.connect(self._on_header_clicked)
        self.curve.moved.connect(self._session.matches.set_threshold)
        self.back.clicked.connect(self._on_back_clicked)
        self.colored.clicked.connect(self._on_colored_clicked)
        events = self._session.matches.events
        self._connections.add(events.rows_changed, self._on_rows_changed)
        self._connections.add(events.selected, self._on_selected)
        self._connections.add(events.coloring_changed, self._on_coloring_changed)
        self._connections.add(self._session.events.scores_changed, self._on_score_changed)
        self._connections.add(self._session.events.loading_started, self._on_score_changed)
        self._connections.add(self._session.events.case_changed, self._on_score_changed)


def why_nothing(session: ReviewSession) -> str:
    """Return why no objects are listed, in words."""
    case = session.case
    if case is None:
        return nothing_open(session)
    if session.matches.problem:
        return f"Not matched: {session.matches.problem}"
    if case.gt is None:
        return "No ground truth, no matches."
    if case.pred is None:
        return "No prediction, no matches."
    return "Matching objects…"
