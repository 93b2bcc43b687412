"""The dock with the numbers of the open case: a table of regions and a plot of slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import Qt, QTimer, Signal
from qtpy.QtWidgets import QScrollArea, QSizePolicy, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from medotter_viewer.core.case import Case
from medotter_viewer.scoring.slices import SliceProfile
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.folder_pairs import SHOWN_ONLY
from medotter_viewer.ui.banner import unscored_text
from medotter_viewer.ui.widgets.case_metrics import CaseMetricsModel
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.profile_plot import ProfilePlot
from medotter_viewer.ui.widgets.reasons import hd95_definition, hd95_name
from medotter_viewer.ui.widgets.scores_model import ScoresModel

_NOTES_PX = 120
_EDIT_DELAY_MS = 300  # drawing the plot anew takes longer than scoring a scan: it waits until an edit pauses


class ScoresDock(Panel):
    """Scores of the open case.

    Parameters
    ----------
    session : ReviewSession
        What is read and told.
    color_of : callable
        Takes a region's name and returns the QColor it is drawn in, or None.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    region_activated : Signal(str)
        A row was clicked; the session has selected its region already. Empty for the first row.
    slice_requested : Signal(int)
        Displayed index along the axis of `set_position`.
    """

    region_activated = Signal(str)
    slice_requested = Signal(int)

    def __init__(
        self,
        session: ReviewSession,
        color_of: Callable[[str], Any] = lambda _: None,
        on_done: Callable[[], None] = lambda: None,
        parent: Any = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self._axis, self._stale, self._changed, self._of_edits = 0, True, False, False
        self._edit_due = QTimer(self)
        self._edit_due.setSingleShot(True)
        self._edit_due.setInterval(_EDIT_DELAY_MS)
        self._edit_due.timeout.connect(self._ask_for_profile)
        self.header, self.message, self.notes = remark(), remark(), remark()
        self.model = ScoresModel(session, color_of, self)
        self.table = CellTable(self.model, self)
        self.case_model = CaseMetricsModel(session, self)
        self.case_table = CellTable(self.case_model, self)
        self.case_table.setSelectionMode(CellTable.SelectionMode.NoSelection)
        self.plot = ProfilePlot(self)
        self.message.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.message.setMargin(8)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(self.message)
        self._rest = QWidget()  # takes the room of a table that this case does not need
        self.stack.addWidget(self._rest)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.stack)
        split.addWidget(self.plot)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        layout = dense(QVBoxLayout(self))
        layout.addWidget(self.header)
        layout.addWidget(self.case_table)
        layout.addWidget(split, 1)
        layout.addWidget(self._scrolled_notes())
        self.table.row_chosen.connect(self._on_row_chosen)
        self.plot.slice_requested.connect(self._on_slice_requested)
        events = session.events
        self._connections.add(events.loading_started, self._show_opening)
        self._connections.add(events.case_changed, self._on_case_changed)
        self._connections.add(events.prediction_changed, self._on_prediction_changed)
        self._connections.add(events.what_if_changed, self._on_prediction_changed)
        self._connections.add(events.scores_changed, self._on_scores_changed)
        self._connections.add(events.edits_written, self._show_state)
        self._connections.add(events.scoring_changed, self._on_scoring_changed)
        self._connections.add(events.region_changed, self._on_region_changed)
        self._connections.add(events.profile_changed, self._on_profile_changed)
        self._connections.add(session.second.events.chosen, self._show_state)
        self._show_state()

    def set_position(self, axis: int, index: int) -> None:
        """Tell which slice is looked at: displayed axis (0 axial, 1 coronal, 2 sagittal) and displayed index."""
        if axis != self._axis:
            self._axis = axis
            self._ask_for_profile()
        self.plot.set_cursor(index)

    def close_connections(self) -> None:
        """Stop listening to the session."""
        super().close_connections()
        self._edit_due.stop()
        self.model.close_connections()
        self.case_model.close_connections()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Catch up with what was not computed while nobody looked."""
        super().showEvent(event)
        if self._stale:
            self._ask_for_profile()

    # ---------------------------------------------------------------- what the user does

    def _on_row_chosen(self, row: int) -> None:
        region = self.model.region(row)
        self._session.select_region(region)
        self.region_activated.emit(region or "")
        self._on_done()

    def _on_slice_requested(self, index: int) -> None:
        self.slice_requested.emit(index)
        self._on_done()

    # ---------------------------------------------------------------- what the session says

    def _show_opening(self, _: str) -> None:
        """Say which case is being opened where there are no numbers of another."""
        if self._session.case is None:
            self._show_state()

    def _on_case_changed(self, _: object) -> None:
        self.plot.set_profile(None, self._axis, self._compared())
        self._ask_for_profile()
        self._show_state()

    def _on_prediction_changed(self) -> None:
        self._changed = True  # perhaps back to what the files say
        self._edit_due.stop()

    def _on_scores_changed(self, _: object) -> None:
        self._show_state()

    def _on_scoring_changed(self, scoring: bool) -> None:
        if not scoring and self._changed:
            self._edit_due.start()
        elif not scoring and (self._session.edited or self._of_edits):  # or back to what the files say
            self._ask_for_profile()
        self._show_state()

    def _on_region_changed(self, _: object) -> None:
        self._ask_for_profile()
        self.table.select(self.model.row_of(self._session.region))

    def _on_profile_changed(self, profile: SliceProfile | None) -> None:
        self.plot.set_profile(profile, self._axis, self._compared())

    def _compared(self) -> str | None:
        """What the plot is about: the selected region, of contours the target; None for all regions."""
        rules = self._session.spec.contours
        return self._session.region or (None if rules is None else rules.target)

    def _ask_for_profile(self) -> None:
        """Ask only while it is seen, and only where there are two sides to compare."""
        self._edit_due.stop()
        self._changed, self._of_edits = False, self._session.edited
        self._stale = not self.isVisible()
        case = self._session.working_case
        if not self._stale and case is not None and can_be_compared(case):
            self._session.request_profile(self._axis)

    # ---------------------------------------------------------------- words

    def _show_state(self) -> None:
        session, score = self._session, self._session.score
        self.header.setText(header_text(session, self.model.scoring))
        self.header.setVisible(bool(self.header.text()))
        self.plot.setVisible(session.case is None or is_worth_a_plot(session.case, session.spec.task_type))
        has_hd95 = "hd95" in shown_metrics(session)
        self.header.setToolTip(f"hd95: {hd95_definition(session.spec, session.options.hd95)}" * has_hd95)
        numbers = score is not None and score.status == "scored"
        self.message.setText("" if numbers else why_no_scores(session, self.model.scoring))
        regions = bool(score is not None and score.regions) or not self.case_model.n_rows()
        self.stack.setCurrentWidget((self.table if regions else self._rest) if numbers else self.message)
        self.case_table.fit_height()
        notes = "\n".join(f"{n.severity}: {n.message}" for n in (score.notes if score is not None else ()))
        self.notes.setText(notes)
        self.notes_area.setVisible(bool(notes))
        self.table.select(self.model.row_of(session.region))

    def _scrolled_notes(self) -> QScrollArea:
        """The remarks, as high as a few lines: many of them must not push the numbers out."""
        self.notes_area = QScrollArea()
        self.notes_area.setWidgetResizable(True)
        self.notes_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.notes_area.setWidget(self.notes)
        self.notes_area.setMaximumHeight(_NOTES_PX)
        self.notes_area.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        return self.notes_area


def can_be_compared(case: Case) -> bool:
    """Tell whether both sides of a case are there, as label maps or as contours."""
    contours = case.gt_contours is not None and (case.pred_contours is not None or case.pred is not None)
    return contours or (case.gt is not None and case.pred is not None)


def is_worth_a_plot(case: Case, task_type: str) -> bool:
    """Tell whether slices can be set against each other: not without ground truth, and not of a single one."""
    grid = case.grid or (None if case.stack is None else case.stack.grid)
    return task_type != SHOWN_ONLY and (grid is None or 1 not in grid.shape)


def shown_metrics(session: ReviewSession) -> tuple[str, ...]:
    """Return the metrics that the open case's scores are made of, or will be."""
    score = session.score
    if score is not None and score.status == "scored" and not score.regions:
        return tuple(score.case)
    return session.options.metrics or ()


def header_text(session: ReviewSession, scoring: bool) -> str:
    """Return who is compared with what, by which definition, and how far it is; empty without ground truth."""
    if session.spec.task_type == SHOWN_ONLY:
        return ""
    made_here = None if session.working is None else session.working.predicted
    model = made_here.by if made_here is not None else session.source.model or "no predictions"
    second = session.second
    parts = [f"A: {model} vs B: {second.name}" if second.is_on else f"{model} vs gt"]
    if "hd95" in shown_metrics(session):
        parts.append(f"hd95: {hd95_name(session.spec, session.options.hd95)}")
    parts += [session.edits.words] * session.edited
    tried = "what if: another label remap" + ", tried on A alone" * second.is_on
    parts += [tried] * session.what_if.is_on_for(session.case) + ["scoring…"] * scoring
    return " · ".join(parts)


def nothing_open(session: ReviewSession) -> str:
    """Return which case is being opened, or that none is."""
    opening = session.current_id
    return f"Opening {opening}…" if opening else "No case is open. Click one in the case list."


def why_no_scores(session: ReviewSession, scoring: bool) -> str:
    """Return why the open case has no numbers, in words."""
    score = session.score
    if session.case is None:
        return nothing_open(session)
    if not session.can_score:
        return unscored_text(session.case, session.spec.task_type)
    if score is None:
        return "Scoring…" if scoring else "Not scored yet."
    if score.status == "missing_prediction":
        return f"No prediction, no scores.\n\n{score.message or ''}"
    return f"Not scored: error.\n\n{score.message or ''}"
