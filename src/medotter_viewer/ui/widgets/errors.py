"""The dock with the errors of the open case: a ranked list to walk through, and the scores without one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QSize
from qtpy.QtGui import QColor, QIcon, QPixmap
from qtpy.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout

from medotter_viewer.metrics.pieces import KINDS, ErrorKind, KindTotal
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.error_words import COLORS, LONG, SHORT, left_out_line, volume_text, what_if_line
from medotter_viewer.ui.widgets.alarm import Alarm
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.error_model import ErrorsModel, WithoutModel
from medotter_viewer.ui.widgets.layout import dense, remark

_SQUARE_PX = 10


class ErrorsDock(Panel):
    """Errors of the open case; they are found while the dock is seen, or when a key asks for one.

    Parameters
    ----------
    session : ReviewSession
        What is read and told.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.
    """

    def __init__(self, session: ReviewSession, on_done: Callable[[], None] = lambda: None, parent: Any = None) -> None:
        super().__init__(parent)
        self._errors, self._on_done = session.errors, on_done
        self.header, self.footer = remark(), remark()
        self.model = ErrorsModel(session, self)
        self.table = CellTable(self.model, self)
        self.kinds = {kind: self._kind_button(kind) for kind in KINDS}
        self.rank = QPushButton("Rank again")
        self.rank.setToolTip("after an edit errors keep their order: put them in the order of their volumes again")
        self.without = QPushButton("Without this one")
        self.without.setCheckable(True)
        self.without.setToolTip("N: what the scores would be if the error that is looked at were gone")
        self.alarm = Alarm(self)
        self.without_model = WithoutModel(session, self)
        self.without_table = CellTable(self.without_model, self)
        self.without_table.setSelectionMode(CellTable.SelectionMode.NoSelection)
        self._lay_out()
        self.table.row_chosen.connect(self._on_row_chosen)
        self.rank.clicked.connect(self._on_rank_clicked)
        self.without.clicked.connect(self._on_without_clicked)
        events = self._errors.events
        self._connections.add(events.changed, self._show)
        self._connections.add(events.current_changed, self._show_current)
        self._connections.add(events.without_changed, self._show_without)
        self._connections.add(session.events.scores_changed, self._on_scores_changed)
        self._show()
        self._show_without()

    def set_position(self, axis: int) -> None:
        """Tell along which displayed axis is looked (0 axial, 1 coronal, 2 sagittal): slices are counted along it."""
        if axis != self.model.axis:
            self.model.axis = axis
            self._show()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Find what was not found while nobody looked."""
        super().showEvent(event)
        self._errors.keep_up(True)

    def hideEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Find nothing more until it is asked for."""
        super().hideEvent(event)
        self._errors.keep_up(False)

    def close_connections(self) -> None:
        """Stop listening to the session."""
        super().close_connections()
        self._errors.keep_up(False)

    # ---------------------------------------------------------------- what the user does

    def _on_row_chosen(self, row: int) -> None:
        self._errors.go_to(self.model.item(row))
        self._on_done()

    def _on_kind_clicked(self, _: bool) -> None:
        self._errors.set_kinds(kind for kind, button in self.kinds.items() if button.isChecked())
        self._on_done()

    def _on_rank_clicked(self) -> None:
        self._errors.rank()
        self._on_done()

    def _on_without_clicked(self) -> None:
        self._errors.toggle_without()
        self.without.setChecked(self._errors.without is not None)
        self._on_done()

    # ---------------------------------------------------------------- what the session says

    def _show(self) -> None:
        found = self._errors.items
        self.header.setText(self._state())
        self.header.setVisible(bool(self.header.text()))
        for kind, button in self.kinds.items():
            total = KindTotal() if found is None else found.pieces.totals.get(kind, KindTotal())
            size = 0.0 if found is None else found.voxel_mm3
            button.setText(f"{SHORT[kind]} {total.pieces:,}\n{volume_text(total.voxels * size)}")
            button.setVisible(kind != "wrong" or found is None or found.region is None)
            button.setChecked(kind in self._errors.kinds)
        self.rank.setVisible(found is not None and not found.is_ranked)
        self.footer.setText("" if found is None else left_out_line(found))
        self.footer.setVisible(bool(self.footer.text()))
        self.model.refresh()
        self._show_current()

    def _show_current(self) -> None:
        row = self.model.current_row()
        self.table.select(row)
        self.without.setEnabled(self._errors.current is not None)
        if row is not None:
            self.table.scrollTo(self.model.index(row, 0))

    def _show_without(self) -> None:
        without = self._errors.without
        self.alarm.say("" if without is None else what_if_line(without.item))
        self.without.setChecked(without is not None)
        self.without_model.refresh()
        self.without_table.fit_height()

    def _on_scores_changed(self, _: object) -> None:
        if self._errors.without is not None:
            self._show_without()

    def _state(self) -> str:
        """What is listed, or why nothing is."""
        errors = self._errors
        if errors.why_none:
            return errors.why_none
        if errors.items is None:
            return "finding errors…" if errors.is_computing else ""
        whose = f"{errors.items.region} alone, as one mask" if errors.items.region else "all scored regions"
        if not errors.items.items:
            return f"{whose}: no voxel is wrong"
        return f"{whose}: {errors.items.pieces.n_pieces:,} pieces; J next, K previous, 9 largest"

    # ---------------------------------------------------------------- parts

    def _kind_button(self, kind: ErrorKind) -> QPushButton:
        picture = QPixmap(_SQUARE_PX, _SQUARE_PX)
        picture.fill(QColor(COLORS[kind]))
        button = QPushButton(QIcon(picture), SHORT[kind])
        button.setIconSize(QSize(_SQUARE_PX, _SQUARE_PX))
        button.setCheckable(True)
        button.setChecked(True)
        button.setToolTip(f"{LONG[kind]}: list and walk through them, or leave them out")
        button.clicked.connect(self._on_kind_clicked)
        return button

    def _lay_out(self) -> None:
        layout, kinds, below = dense(QVBoxLayout(self)), QHBoxLayout(), QHBoxLayout()
        for button in self.kinds.values():
            kinds.addWidget(button, 1)
        below.addWidget(self.without, 1)
        below.addWidget(self.rank, 1)
        layout.addWidget(self.header)
        layout.addLayout(kinds)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.footer)
        layout.addLayout(below)
        layout.addWidget(self.alarm)
        layout.addWidget(self.without_table)
