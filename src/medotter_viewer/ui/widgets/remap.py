"""The dock that shows what the label remap did to the open case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qtpy.QtCore import Signal
from qtpy.QtWidgets import QPushButton, QVBoxLayout

from medotter_viewer.core.case import Case
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.scoring.segmentation import is_labelled
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.remap_model import RemapModel
from medotter_viewer.ui.widgets.remap_rows import remap_header

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
        self.header, self.footer = remark(), remark()
        self.model = RemapModel(self)
        self.table = CellTable(self.model, self)
        self.show_native = QPushButton("Show native labels")
        self.show_native.setCheckable(True)
        self.show_native.setToolTip("show the ground truth in the dataset's own ids, before the remap")
        self.show_native.setChecked(session.native_shown)
        layout = dense(QVBoxLayout(self))
        for part in (self.header, self.table, self.footer, self.show_native):
            layout.addWidget(part)
        self.table.row_chosen.connect(self._on_row_chosen)
        self.show_native.clicked.connect(self._on_show_native_clicked)
        self._connections.add(session.events.case_changed, self._on_case_changed)
        self._connections.add(session.events.native_shown_changed, self._on_native_shown_changed)
        self._catch_up()

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

    def _on_case_changed(self, _: object) -> None:
        self._catch_up()

    def _on_native_shown_changed(self, shown: bool) -> None:
        self.show_native.setChecked(shown)

    def _catch_up(self) -> None:
        """Show the open case; voxels are counted only while the dock is seen."""
        case = self._session.case
        self.header.setText(remap_header(case.entry if case is not None else None))
        self.show_native.setEnabled(case is not None and case.gt_native is not None)
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
        self.model.show_case(case, voxels, self._session.spec)
        lines = [self.model.summary]
        unlabelled = [
            n for n, ids in self._session.spec.regions.items() if not is_labelled(case.entry, self._session.spec, ids)
        ]
        if unlabelled:
            lines.append(f"regions not labelled by this dataset: {', '.join(unlabelled)}")
        self.footer.setText("\n".join(line for line in lines if line))
