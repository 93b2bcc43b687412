"""The dock that writes polygons as they are edited."""

# Without deferred annotations: magicgui reads those of what it is given.
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from magicgui.types import FileDialogMode
from magicgui.widgets import CheckBox, ComboBox, FileEdit
from qtpy.QtCore import Signal
from qtpy.QtWidgets import QFormLayout, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from medotter_viewer.errors import WriteError
from medotter_viewer.export.polygon_files import Exported
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.session.working_cases import WorkingCases
from medotter_viewer.sources.source import Split
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.export_job import FORMATS, ExportOrder, error_text, export_now, result_text
from medotter_viewer.ui.widgets.latest import Background
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.remap import at_once

_THIS = "this case, as edited"
_FORMATS_HINT = (
    "CSV: the submission, and a table of areas, scores and who made each polygon beside it\n"
    "CSV + zip: the submission as an archive too\nRTSTRUCT: the contours of one case on its DICOM series"
)
_SPLITS: tuple[Split, ...] = ("test", "train", "all")


class ExportDock(Panel):
    """Writes this case, or all cases of a split, as a submission of polygons or an RTSTRUCT.

    Parameters
    ----------
    session : ReviewSession
        Whose cases, as they are edited.
    run_in_background : callable
        Takes work without arguments and a callable for its result, which must be called on the main thread; by
        default the work is done at once.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    what, region, format : ComboBox
        The choices.
    generated_only : CheckBox
        Whether polygons that a person edited are left out.
    file : FileEdit
        Where.
    result : QLabel
        How it went.
    """

    _progressed = Signal(int, int)  # from the thread that writes

    def __init__(
        self,
        session: ReviewSession,
        run_in_background: Background = at_once,
        on_done: Callable[[], None] = lambda: None,
        parent: Any = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._run, self._on_done = session, run_in_background, on_done
        self._cancelled: Event | None = None  # of the export that runs
        self._splits = _split_choices(session)
        self.what = ComboBox(choices=[_THIS, *self._splits])
        self.region = ComboBox(choices=list(session.spec.regions), tooltip="a submission holds one region")
        self.format = ComboBox(choices=list(FORMATS), tooltip=_FORMATS_HINT)
        self.generated_only = CheckBox(text="generated only: leave out what a person edited")
        self.file = FileEdit(mode=FileDialogMode.OPTIONAL_FILE, filter="Polygons (*.csv *.dcm)")
        self.form = QWidget()
        self.header, self.result = remark(), remark()
        self.button, self.cancel = QPushButton("Export"), QPushButton("Cancel")
        self.progress = QProgressBar()
        self.progress.setFormat("%v of %m cases")
        self._lay_out()
        if session.spec.headline.region in session.spec.regions:
            self.region.value = session.spec.headline.region
        self.file.line_edit.value = ""
        self.file.line_edit.native.setPlaceholderText("FILE.csv, or FILE.dcm for an RTSTRUCT")
        self.format.changed.connect(self._on_format_changed)
        self.button.clicked.connect(self._on_export_clicked)
        self.cancel.clicked.connect(self.stop)
        self._progressed.connect(self._on_progressed)
        self._connections.add(session.events.case_changed, self._show_state)
        self._connections.add(session.events.prediction_changed, self._show_state)
        self._connections.add(session.events.edits_written, self._show_state)
        self._connections.add(session.events.scores_changed, self._show_state)
        self._show_running(False)
        self._show_state()

    @property
    def order(self) -> ExportOrder:
        """What the form asks for.

        Raises
        ------
        WriteError
            If no case is open.
        """
        chosen = self._splits.get(self.what.value)
        if chosen is None:
            if self._session.case is None:
                raise WriteError("no case is open")
            chosen = (self._session.case.case_id,)
        named = str(self.file.line_edit.value).strip()
        file = Path(named).expanduser() if named else None
        return ExportOrder(chosen, self.region.value, self.format.value, self.generated_only.value, file)

    def stop(self, *_: object) -> None:
        """Stop an export that runs after the case it is at; files stay as they were."""
        if self._cancelled is not None:
            self._cancelled.set()
            self.result.setText("cancelling …")

    def close_connections(self) -> None:
        """Stop listening, and an export that runs."""
        super().close_connections()
        if self._cancelled is not None:
            self._cancelled.set()

    # ---------------------------------------------------------------- what the user does

    def _on_format_changed(self, name: str) -> None:
        """An RTSTRUCT holds one case."""
        single = name == "RTSTRUCT"
        if single:
            self.what.value = _THIS
        self.what.enabled = not single

    def _on_export_clicked(self) -> None:
        if self._cancelled is not None:
            return
        try:
            order = self.order
            order.path  # noqa: B018 - says what is wrong with the name
        except WriteError as error:
            self.result.setText(str(error))
            return
        cases, source, spec = self._session.edits.cases(), self._session.source, self._session.spec
        cancelled = self._cancelled = Event()
        self.result.setText("")
        self.progress.setRange(0, len(order.case_ids))
        self.progress.setValue(0)
        self._show_running(True)

        def work() -> Exported | Exception:
            try:
                return export_now(
                    order,
                    cases,
                    source,
                    spec,
                    on_progress=lambda done, total: None if cancelled.is_set() else self._progressed.emit(done, total),
                    is_cancelled=cancelled.is_set,
                )
            except Exception as error:  # noqa: BLE001 - told apart on the main thread
                return error

        self._run(work, lambda outcome: self._on_written(outcome, order, cases))
        self._on_done()

    # ---------------------------------------------------------------- what happened

    def _on_progressed(self, done: int, total: int) -> None:
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def _on_written(self, outcome: Exported | Exception, order: ExportOrder, cases: WorkingCases) -> None:
        self._cancelled = None
        self._show_running(False)
        if isinstance(outcome, Exception):
            self.result.setText(error_text(outcome))
            return
        self.result.setText(result_text(outcome, order))
        if outcome.files and not order.generated_only and self._session.spec.task_type == "lung_contour":
            self._session.edits.note_written(cases, order.case_ids, outcome.files[0].name)
            self._session.events.edits_written.emit()

    def _show_state(self, *_: object) -> None:
        edited, unwritten = self._session.edits.case_ids, self._session.edits.unwritten_ids
        lines = [f"edited here and in no file: {', '.join(unwritten)}"] * bool(unwritten)
        if written := [case_id for case_id in edited if case_id not in unwritten]:
            lines.append(f"edited here and saved: {', '.join(written)}")
        if edited and self._session.spec.is_vertebrae:
            lines.append("moved points are saved under Vertebrae; here label maps are written as polygons")
        self.header.setText("\n".join(lines) or "nothing is edited: polygons are written as the files have them")

    def _show_running(self, running: bool) -> None:
        self.progress.setVisible(running)
        self.cancel.setVisible(running)
        self.button.setEnabled(not running)
        self.form.setEnabled(not running)

    def _lay_out(self) -> None:
        fields = QFormLayout(self.form)
        fields.setContentsMargins(0, 0, 0, 0)
        fields.addRow("what", self.what.native)
        if len(self._session.spec.regions) > 1:
            fields.addRow("region", self.region.native)
        fields.addRow("format", self.format.native)
        fields.addRow("", self.generated_only.native)
        fields.addRow("file", self.file.native)
        row = QHBoxLayout()
        for part in (self.button, self.progress, self.cancel):
            row.addWidget(part, 1 if part is self.progress else 0)
        row.addStretch(0)
        layout = dense(QVBoxLayout(self))
        layout.addWidget(self.header)
        layout.addWidget(self.form)
        layout.addLayout(row)
        layout.addWidget(self.result)
        layout.addStretch(1)


def _split_choices(session: ReviewSession) -> dict[str, tuple[str, ...]]:
    """Words for each split that has cases of its own, and its case ids."""
    found: dict[str, tuple[str, ...]] = {}
    for split in _SPLITS:
        ids = tuple(session.source.case_ids(split))
        if ids and ids not in found.values():
            word = "cases" if split == "all" else f"cases of split {split}"
            found[f"all {len(ids)} {word}"] = ids
    return found
