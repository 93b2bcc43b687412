"""The dock that lists the cases: filter, sort, score all, open one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QComboBox, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout

from medotter_viewer.session.case_list import filter_note
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.folder_pairs import SHOWN_ONLY
from medotter_viewer.ui.banner import unscored_text
from medotter_viewer.ui.widgets.cases_compared import sorting_text, sortings
from medotter_viewer.ui.widgets.cases_judged import reviewed_words
from medotter_viewer.ui.widgets.cases_model import MANY_MS, SOON_MS, CasesModel
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.filter_field import FilterField
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.second_button import SecondButton

_ERRORS = ("error", "missing file")


class CasesDock(Panel):
    """The case list.

    Parameters
    ----------
    session : ReviewSession
        What is read and told.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.
    """

    def __init__(self, session: ReviewSession, on_done: Callable[[], None] = lambda: None, parent: Any = None) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self.model = CasesModel(session, self)
        self.table = CellTable(self.model, self)
        self.filter, self.filter_note = FilterField(), remark()
        self.sorting = QComboBox()
        self._fill_sortings()
        self.score_all = QPushButton("Score all")
        self.progress = QProgressBar()
        self.progress.setFormat("%v of %m")
        self.progress.hide()
        self.footer = QLabel()
        self.second = SecondButton(session, on_done, self)
        self.second.setVisible(bool(session.metrics))
        if not session.can_score:
            self.score_all.setEnabled(False)
            self.score_all.setToolTip(unscored_text(session.case, session.spec.task_type))
        self._scoring, self._done = False, 0
        self._due = QTimer(self)  # scores that come one after the other are counted together
        self._due.setSingleShot(True)
        self._due.setInterval(SOON_MS)  # MANY_MS while all are scored
        self._due.timeout.connect(self._catch_up)
        self._lay_out()
        self._connect(session)
        self._on_rows_changed()

    def _lay_out(self) -> None:
        choices = QHBoxLayout()
        choices.setSpacing(4)
        choices.addWidget(self.sorting, 1)
        choices.addWidget(self.score_all)
        whole = dense(QVBoxLayout(self))
        whole.addWidget(self.filter)
        whole.addWidget(self.filter_note)
        whole.addLayout(choices)
        whole.addWidget(self.table, 1)
        whole.addWidget(self.footer)  # a line of its own: counts must not be cut off
        below = QHBoxLayout()
        below.setSpacing(4)
        below.addWidget(self.progress, 1)
        below.addStretch()
        below.addWidget(self.second)
        whole.addLayout(below)

    def _connect(self, session: ReviewSession) -> None:
        self.filter.textChanged.connect(session.set_filter)
        self.filter.left.connect(self._on_done)
        self.sorting.activated.connect(self._on_sorting_chosen)
        self.table.row_chosen.connect(self._on_row_chosen)
        self.table.horizontalHeader().setSectionsClickable(True)
        self.table.horizontalHeader().sectionClicked.connect(self._on_header_clicked)
        self.score_all.clicked.connect(self._on_score_all_clicked)
        events = session.events
        self._connections.add(events.rows_changed, self._on_rows_changed)
        self._connections.add(events.row_changed, self._on_row_changed)
        self._connections.add(events.case_changed, self._on_case_changed)
        self._connections.add(events.progress_changed, self._on_progress_changed)
        self._connections.add(session.second.events.chosen, self._fill_sortings)

    def close_connections(self) -> None:
        """Stop listening to the session."""
        super().close_connections()
        self._due.stop()
        self.model.close_connections()
        self.second.close_connections()

    def _fill_sortings(self) -> None:
        """Offer what the list can be sorted by."""
        self.sorting.clear()
        self.sorting.addItem("as listed", None)
        for key in (*self._session.metrics, *sortings(self._session)):
            self.sorting.addItem(sorting_text(key), key)
        self.sorting.setCurrentIndex(max(self.sorting.findData(self._session.worst_first), 0))

    # ---------------------------------------------------------------- what the user does

    def _on_row_chosen(self, row: int) -> None:
        case_id = self.model.case_id(row)
        if case_id != self._session.current_id:
            self._session.go_to(case_id)
        self._on_done()

    def _on_sorting_chosen(self, place: int) -> None:
        self._session.sort_worst_first(self.sorting.itemData(place))
        self._on_done()

    def _on_header_clicked(self, column: int) -> None:
        metric = self.model.metric_of(column)
        self._session.sort_worst_first(None if metric == self._session.worst_first else metric)
        self._on_done()

    def _on_score_all_clicked(self) -> None:
        if self._scoring:
            self._session.cancel_score_all()
        else:
            self._session.score_all()
        self._on_done()

    # ---------------------------------------------------------------- what the session says

    def _on_rows_changed(self) -> None:
        if self.filter.text() != self._session.filter:  # of a review that was taken up: the field says what is hidden
            self.filter.setText(self._session.filter)
        self.filter_note.setText(filter_note(self._session.filter))
        self.filter_note.setVisible(bool(self.filter_note.text()))
        self.sorting.setCurrentIndex(max(self.sorting.findData(self._session.worst_first), 0))
        self._on_case_changed()
        self._count()

    def _on_row_changed(self, _: str) -> None:
        if not self._due.isActive():
            self._due.start()

    def _catch_up(self) -> None:
        self.progress.setValue(self._done)
        self._count()

    def _on_case_changed(self, _: object = None) -> None:
        row = self.model.open_row()
        self.table.select(row)
        if row is not None:
            self.table.scrollTo(self.model.index(row, 0))

    def _on_progress_changed(self, done: int, total: int) -> None:
        self._done, scoring = done, total > 0 and done < total
        if not (scoring and self._scoring):
            self._due.setInterval(MANY_MS if scoring else SOON_MS)
        if scoring and self._scoring:
            if not self._due.isActive():
                self._due.start()
            return
        self._scoring = scoring
        self.score_all.setText("Cancel" if scoring else "Score all")
        self.progress.setVisible(scoring)
        self.footer.setVisible(not scoring)
        if scoring:
            self.progress.setRange(0, total)
            self.progress.setValue(done)

    def _count(self) -> None:
        rows = self._session.rows
        words = [row.status for row in rows]
        errors, without = sum(word in _ERRORS for word in words), words.count("no prediction")
        scored = f"{words.count('scored')} of {len(rows)} scored"
        shown_only = self._session.spec.task_type == SHOWN_ONLY
        parts = [f"{len(rows)} case{'s' * (len(rows) != 1)}" if shown_only else scored]
        parts += [f"{errors} error{'s' * (errors > 1)}"] if errors else []
        parts += [f"{without} no prediction"] if without else []
        listed = [f"{len(rows)} of {self._session.n_cases} listed"] * (len(rows) < self._session.n_cases)
        text = " · ".join([*listed, *reviewed_words(rows), *parts])  # the end may be cut off
        self.footer.setText(text)
        self.footer.setToolTip(text)
