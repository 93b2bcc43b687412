"""The dock that shows what the label remap did to the open case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qtpy.QtCore import QTimer, Signal
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QAbstractItemView, QHBoxLayout, QPushButton, QVBoxLayout

from medotter_viewer.core.case import Case
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.scoring.segmentation import is_labelled
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.alarm import Alarm
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.remap_model import RemapModel
from medotter_viewer.ui.widgets.remap_rows import TARGET_COLUMN, remap_header
from medotter_viewer.ui.widgets.target_delegate import TargetDelegate
from medotter_viewer.ui.widgets.what_if_rows import banner_line, overall_text

_OVERALL_DELAY_MS = 300  # further choices within it are one what-if over all cases

Background = Callable[[Callable[[], Any], Callable[[Any], None]], None]


def at_once(work: Callable[[], Any], on_done: Callable[[Any], None]) -> None:
    """Do some work here and now and hand over its result."""
    on_done(work())


class RemapDock(Panel):
    """Native ids of the open case.

    Parameters
    ----------
    session : ReviewSession
        What is read and told.
    run_in_background : callable
        Takes work without arguments and a callable for its result, which must be called on the main thread; by
        default the work is done at once.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    native_activated : Signal(int)
        A native id's row was clicked.
    """

    native_activated = Signal(int)

    def __init__(
        self,
        session: ReviewSession,
        run_in_background: Background = at_once,
        on_done: Callable[[], None] = lambda: None,
        parent: Any = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._run, self._on_done = session, run_in_background, on_done
        self._shown: Case | None = None
        self._voxels: Mapping[int, int] = {}
        self._overall_due = QTimer(self)
        self._overall_due.setSingleShot(True)
        self._overall_due.setInterval(_OVERALL_DELAY_MS)
        self._overall_due.timeout.connect(session.what_if.request_overall)
        self.alarm, self.overall = Alarm(self), remark()
        self.reset, self.copy_yaml = QPushButton("Reset"), QPushButton("Copy YAML diff")
        self.reset.setToolTip("end the what-if: every id becomes what the files say")
        self.copy_yaml.setToolTip("put the changed lines of task.yaml on the clipboard")
        self.header, self.footer = remark(), remark()
        self.model = RemapModel(self)
        self.table = CellTable(self.model, self)
        self.show_native = QPushButton("Show native labels")
        self.show_native.setCheckable(True)
        self.show_native.setToolTip("show the ground truth in the dataset's own ids, before the remap")
        self.show_native.setChecked(session.native_shown)
        self.table.setItemDelegateForColumn(TARGET_COLUMN, TargetDelegate(self.model.choices, self.table))
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked)
        layout = dense(QVBoxLayout(self))
        for part in (self.header, self.alarm, self.overall, self.table, self.footer):
            layout.addWidget(part)
        line = QHBoxLayout()
        for button in (self.show_native, self.reset, self.copy_yaml):
            line.addWidget(button)
        layout.addLayout(line)
        self.model.target_chosen.connect(self._on_target_chosen)
        self.model.refused.connect(session.events.failed.emit)
        self.reset.clicked.connect(self._on_reset_clicked)
        self.copy_yaml.clicked.connect(self._on_copy_clicked)
        self._connections.add(session.events.what_if_changed, self._on_what_if_changed)
        self._connections.add(session.events.overall_changed, self._show_overall)
        self.table.row_chosen.connect(self._on_row_chosen)
        self.show_native.clicked.connect(self._on_show_native_clicked)
        self._connections.add(session.events.case_changed, self._on_case_changed)
        self._connections.add(session.events.native_shown_changed, self._on_native_shown_changed)
        self._catch_up()

    def close_connections(self) -> None:
        """Stop listening to the session."""
        super().close_connections()
        self._overall_due.stop()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Count what was not counted while nobody looked."""
        super().showEvent(event)
        self._catch_up()

    def _on_row_chosen(self, row: int) -> None:
        self.native_activated.emit(self.model.native(row))
        self._on_done()

    def _on_show_native_clicked(self, checked: bool) -> None:
        self._session.show_native(checked)
        self._on_done()

    def _on_target_chosen(self, native: int, to: int | None) -> None:
        case = self._session.case
        if case is not None:
            self._session.what_if.set_target(case, native, to)
        self._on_done()

    def _on_reset_clicked(self) -> None:
        self._session.what_if.reset()
        self._on_done()

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._session.what_if.yaml(self._session.case))
        self._on_done()

    def _on_case_changed(self, _: object) -> None:
        self._catch_up()

    def _on_what_if_changed(self) -> None:
        """Show the rows under the remap that is tried, and ask what it does to all cases."""
        if self._shown is not None and self._shown is self._session.case:
            self._show_rows(self._shown)
        what_if = self._session.what_if
        if what_if.is_on and what_if.overall is None and not what_if.is_computing:
            self._overall_due.start()
        self._show_overall()

    def _show_overall(self) -> None:
        """Say what is tried, and what comes of it."""
        session, case = self._session, self._session.case
        is_on = session.what_if.is_on
        line = banner_line(session.what_if, None if case is None else case.entry)
        self.alarm.say(line or "what if: ids of other cases are mapped otherwise; nothing is saved" * is_on)
        self.overall.setText(overall_text(session.what_if))
        self.overall.setVisible(bool(self.overall.text()))
        self.reset.setVisible(is_on)
        self.copy_yaml.setVisible(is_on)

    def _on_native_shown_changed(self, shown: bool) -> None:
        self.show_native.setChecked(shown)

    def _catch_up(self) -> None:
        """Show the open case; voxels are counted only while the dock is seen."""
        case = self._session.case
        self.header.setText(remap_header(case.entry if case is not None else None))
        self.show_native.setEnabled(case is not None and case.gt_native is not None)
        self.model.can_edit = self._session.what_if.can_try(case)
        self._show_overall()
        if case is self._shown:
            return
        self._shown = None
        self.model.show_case(None, {}, self._session.spec)
        if case is None or case.gt_native is None:
            self.footer.setText("" if case is None else "This case has no ground truth that could be read.")
        elif self.isVisible():
            self._shown = case
            labels = case.gt_native.data
            self.footer.setText("counting voxels…")
            self._run(lambda: label_voxels(labels), lambda voxels: self._on_counted(case, voxels))

    def _on_counted(self, case: Case, voxels: Mapping[int, int]) -> None:
        if case is not self._shown:  # another case was opened meanwhile
            return
        self._voxels = voxels
        self._show_rows(case)

    def _show_rows(self, case: Case) -> None:
        spec, what_if = self._session.spec, self._session.what_if
        entry = what_if.entry(case)
        self.model.show_case(case, self._voxels, spec, tried=entry.remap, edits=what_if.edits(case.entry))
        lines = [self.model.summary]
        unlabelled = [n for n, ids in spec.regions.items() if not is_labelled(entry, spec, ids)]
        if unlabelled:
            lines.append(f"regions not labelled by this dataset: {', '.join(unlabelled)}")
        self.footer.setText("\n".join(line for line in lines if line))
