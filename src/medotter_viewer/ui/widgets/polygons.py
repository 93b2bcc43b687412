"""The dock of a scan's polygons: score, slices, seeds, structures, odd rings, and another model's submission."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from qtpy.QtCore import Signal
from qtpy.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QPushButton, QTabWidget, QVBoxLayout, QWidget

from medotter_viewer.core.contours import ContourRules
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.largest_difference import largest_difference
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.ui.widgets import polygons_rows as rows
from medotter_viewer.ui.widgets.alarm import Alarm
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.latest import Background, Latest
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.lines_model import LinesModel
from medotter_viewer.ui.widgets.polygon_facts import PolygonFacts, polygon_facts
from medotter_viewer.ui.widgets.remap import at_once
from medotter_viewer.ui.widgets.submission_import import SubmissionImport

OpenSource = Callable[[CaseSource, str], None]
"""Takes a source and the case to open on."""


class PolygonsDock(Panel):
    """The polygons of the open scan.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    run_in_background : callable
        Takes work without arguments and a callable for its result, which must be called on the main thread; by
        default the work is done at once.
    open_source : callable
        Opens a review of another source in this window.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    place_requested : Signal(int, float, float)
        Slice number and x, y in mm LPS: of the largest error of a slice, a seed, a ring, the middle of a structure.
    facts : PolygonFacts or None
        What is shown.
    """

    place_requested = Signal(int, float, float)

    def __init__(
        self,
        session: ReviewSession,
        run_in_background: Background = at_once,
        open_source: OpenSource = lambda *_: None,
        on_done: Callable[[], None] = lambda: None,
        parent: Any = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self._latest = Latest(run_in_background, self._on_facts)
        self._import = SubmissionImport(session, run_in_background, open_source, self._say)
        self._stale, self._slice = True, None  # type: tuple[bool, int | None]
        self.facts: PolygonFacts | None = None
        self.header, self.footer, self.status = remark(), remark(), remark()
        self.alarm = Alarm(self)
        self.numbers = LinesModel(rows.NUMBERS, self)
        self.slices, self.seeds, self.structures, self.faults = (
            LinesModel(columns, self) for columns in (rows.SLICES, rows.SEEDS, rows.STRUCTURES, rows.FAULTS)
        )
        self.numbers_table = CellTable(self.numbers, self)
        self.numbers_table.setSelectionMode(CellTable.SelectionMode.NoSelection)
        self.worst_first = QCheckBox("worst slice first")
        self.worst_first.setChecked(True)
        self.import_button = QPushButton("Import submission…")
        self.import_button.setToolTip("look at another model's polygons on the same scans")
        self.tabs = QTabWidget()
        self.tables = {
            name: self._table(model)
            for name, model in (
                ("Slices", self.slices),
                ("Seeds", self.seeds),
                ("Structures", self.structures),
                ("Odd rings", self.faults),
            )
        }
        self._lay_out()
        self.worst_first.toggled.connect(self._on_sorting_toggled)
        self.import_button.clicked.connect(self._on_import_clicked)
        events = session.events
        self._connections.add(events.case_changed, self._on_case_changed)
        self._connections.add(events.prediction_changed, self._ask)
        self._connections.add(events.scores_changed, self._on_scores_changed)
        self._connections.add(events.edits_written, self._show)
        self._show()
        self._ask()

    def set_position(self, axis: int, index: int) -> None:
        """Tell which slice is looked at: displayed axis (0 axial, 1 coronal, 2 sagittal) and displayed index."""
        case = self._session.case
        stack = None if case is None else contour_stack(case)
        order = None if stack is None else display_order(stack.grid)
        if stack is None or order is None or order.axes[axis] != 2 or not 0 <= index < len(stack):
            self.set_slice(None)
        else:
            self.set_slice(stack.numbers[len(stack) - 1 - index if order.flips[axis] else index])

    def set_slice(self, number: int | None) -> None:
        """Tell which slice is looked at, by its number; None for a plane across the slices."""
        if number != self._slice:
            self._slice = number
            self.footer.setText(rows.origin_text(self.facts, number))
            self.tables["Slices"].select(self.slices.row_of_slice(number))

    def import_submission(self, path: Path) -> None:
        """Review the same scans with a submission as predictions; unsaved edits are named first."""
        self._import.start(path)

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Catch up with what was not computed while nobody looked."""
        super().showEvent(event)
        if self._stale:
            self._ask()

    # ---------------------------------------------------------------- what the user does

    def _on_row_chosen(self, model: LinesModel, row: int) -> None:
        place = model.place(row)
        if place is not None and self.facts is not None:
            number, x, y = place
            if x is None or y is None:
                x, y = self._largest_error(number) or self.facts.middle_of(number)
            self.place_requested.emit(number, x, y)
        self._on_done()

    def _on_sorting_toggled(self, _: bool) -> None:
        self._show_slices()
        self._on_done()

    def _on_import_clicked(self) -> None:
        if self._import.is_waiting:  # for a second press
            self._import.go_on()
            return
        name, _ = QFileDialog.getOpenFileName(self, "Submission", "", "Submissions (*.csv *.zip)")
        if name:
            self.import_submission(Path(name))

    def _largest_error(self, number: int) -> tuple[float, float] | None:
        """Where on a slice prediction and target differ most."""
        facts = self.facts
        if facts is None or facts.case.gt_contours is None or facts.pred is None:
            return None
        sides = (side.rings.get(number, ()) for side in (facts.case.gt_contours, facts.pred))
        try:
            return largest_difference(*sides)
        except MetricInputError:
            return None

    # ---------------------------------------------------------------- what the session says

    def _on_case_changed(self, _: object) -> None:
        self._import.forget()
        self._slice = None
        self._ask()

    def _on_scores_changed(self, _: object) -> None:
        if self._session.pred_data is not None:  # painted: nothing else says so
            self._ask()

    def _ask(self) -> None:
        """Gather what is shown, in the background and only while it is seen."""
        self._stale = not self.isVisible()
        if self._session.working is None or self._stale:
            return
        self._latest.ask(self._prepare)

    def _prepare(self) -> Callable[[], PolygonFacts | None]:
        working = self._session.working
        if working is None:
            return lambda: None
        case, before = working.frozen(), self.facts
        return partial(polygon_facts, case, self._session.spec, from_file=working.case.pred, before=before)

    def _on_facts(self, facts: PolygonFacts | None) -> None:
        case = self._session.case
        if facts is not None and case is not None and facts.case.case_id == case.case_id:
            self.facts = facts
            self._show()

    # ---------------------------------------------------------------- words

    def _show(self) -> None:
        facts, rules = self.facts, self._session.spec.contours or ContourRules()
        self.header.setText(rows.header_text(facts, rules, edited=self._session.edits.words))
        self.alarm.say(rows.alarm_text(facts))
        self.numbers.show(rows.number_lines(facts.numbers if facts else None, rules.error_length_mm))
        self.numbers_table.fit_height()
        self._show_slices()
        self.seeds.show(rows.seed_lines(facts.seeds if facts else ()))
        self.structures.show(rows.structure_lines(facts.structures if facts else ()))
        self.faults.show(rows.fault_lines(facts.gt_faults, facts.pred_faults) if facts else ())
        outside = len(facts.seeds_outside) if facts else 0
        for place, (name, table) in enumerate(self.tables.items()):
            count = table.model().n_rows()
            loud = f" · {outside} outside" if name == "Seeds" and outside else ""
            self.tabs.setTabText(place, f"{name} {count}{loud}")
        self.footer.setText(rows.origin_text(facts, self._slice))

    def _show_slices(self) -> None:
        self.slices.show(rows.slice_lines(self.facts, worst_first=self.worst_first.isChecked()))
        self.tables["Slices"].select(self.slices.row_of_slice(self._slice))

    def _say(self, text: str) -> None:
        """Say something about the import, below its button."""
        self.status.setText(text)
        self.status.setVisible(bool(text))
        self.import_button.setText("Import anyway" if self._import.is_waiting else "Import submission…")

    # ---------------------------------------------------------------- layout

    def _lay_out(self) -> None:
        first = QWidget()
        inside = dense(QVBoxLayout(first))
        inside.addWidget(self.worst_first)
        inside.addWidget(self.tables["Slices"])
        for name, table in self.tables.items():
            self.tabs.addTab(first if name == "Slices" else table, name)
        bottom = QHBoxLayout()
        bottom.addWidget(self.footer, 1)
        bottom.addWidget(self.import_button)
        layout = dense(QVBoxLayout(self))
        for part in (self.header, self.alarm, self.numbers_table):
            layout.addWidget(part)
        layout.addWidget(self.tabs, 1)
        layout.addLayout(bottom)
        layout.addWidget(self.status)
        self.status.hide()

    def _table(self, model: LinesModel) -> CellTable:
        table = CellTable(model, self)
        table.row_chosen.connect(partial(self._on_row_chosen, model))
        return table
