"""The dock of a scan's vertebrae: which are identified, how far off they are, and what if all labels were moved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from qtpy.QtCore import Signal
from qtpy.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout

from medotter_viewer.errors import WriteError
from medotter_viewer.export.landmark_files import ExportedLandmarks, export_landmarks
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.session.working_cases import WorkingCases
from medotter_viewer.ui.widgets import vertebra_rows as rows
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.latest import Background, Latest
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.remap import at_once
from medotter_viewer.ui.widgets.spine_picture import SpinePicture, draw_spine
from medotter_viewer.ui.widgets.theme import tone_color
from medotter_viewer.ui.widgets.vertebra_facts import VertebraFacts, vertebra_facts
from medotter_viewer.ui.widgets.vertebra_model import VertebraeModel


class VertebraeDock(Panel):
    """The vertebrae of the open case.

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
    vertebra_activated : Signal(int)
        A vertebra's row was clicked: its label.
    facts : VertebraFacts or None
        What is shown.
    """

    vertebra_activated = Signal(int)

    def __init__(
        self,
        session: ReviewSession,
        run_in_background: Background = at_once,
        on_done: Callable[[], None] = lambda: None,
        parent: Any = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self._latest = Latest(run_in_background, self._on_facts)
        self._drawing = Latest(run_in_background, self._on_picture)
        self._saving = Latest(run_in_background, self._on_saved)
        self._stale, self._scoring = True, False
        self.facts: VertebraFacts | None = None
        self._being_saved: WorkingCases | None = None
        self.picture: SpinePicture | None = None
        self.header, self.derived, self.shift, self.status = (remark() for _ in range(4))
        self.model = VertebraeModel(session.spec, self)
        self.table = CellTable(self.model, self)
        self.what_if, self.as_in_file = QPushButton(), QPushButton("As in the file")
        self.to_head, self.to_feet = QPushButton("▲ head"), QPushButton("▼ feet")
        self.overview, self.save = QPushButton("Overview"), QPushButton("Save points as…")
        for button, tip in (
            (self.what_if, "look at the scan as if the predicted labels had been moved; no file changes"),
            (self.as_in_file, "end the what-if"),
            (self.to_head, "what if all predicted labels were one level nearer to the head"),
            (self.to_feet, "what if all predicted labels were one level nearer to the feet"),
            (self.overview, "the spine straightened along its points, in a window of its own"),
            (self.save, "write the predicted points as they are shown, and beside them who changed what"),
        ):
            button.setToolTip(tip)
        self._lay_out()
        self._connect()
        self._show()
        self._ask()

    def save_points(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the predicted points as they are shown; what comes of it is said below the buttons."""
        working = self._session.working
        if working is None:
            return
        case, source, by = working.frozen(), working.case, working.level_shift
        unshifted, entries = working.frozen(what_if=False), list(self._session.source.entries("all"))

        def work() -> ExportedLandmarks | WriteError:
            try:
                return export_landmarks(
                    case,
                    path,
                    source=source,
                    unshifted=unshifted,
                    level_shift=by,
                    entries=entries,
                    overwrite=overwrite,
                )
            except WriteError as error:
                return error

        self._being_saved = self._session.edits.cases()
        self._saving.ask(lambda: work)

    def close_connections(self) -> None:
        """Stop listening to the session, and close the overview."""
        super().close_connections()
        if self.picture is not None:
            self.picture.close()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Catch up with what was not computed while nobody looked."""
        super().showEvent(event)
        self._color_alarms()
        if self._stale:
            self._ask()

    def changeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == event.Type.PaletteChange and hasattr(self, "shift"):
            self._color_alarms()

    # ---------------------------------------------------------------- what the user does

    def _on_row_chosen(self, row: int) -> None:
        self.vertebra_activated.emit(self.model.label(row))
        self._on_done()

    def _on_what_if_clicked(self) -> None:
        found = None if self.facts is None else self.facts.found
        if found is not None and found.level_shift:
            self._move_labels(found.level_shift)

    def _move_labels(self, by: int) -> None:
        """Move all predicted labels on from where they are now."""
        working = self._session.working
        if working is not None:
            self._session.edits.set_level_shift(working.level_shift + by)
        self._on_done()

    def _on_as_in_file_clicked(self) -> None:
        self._session.edits.set_level_shift(0)
        self._on_done()

    def _on_overview_clicked(self) -> None:
        if self.picture is None:
            self.picture = SpinePicture(self)
        self.picture.show()
        self.picture.raise_()
        self._draw()

    def _on_save_clicked(self) -> None:
        case = self._session.case
        if case is None:
            return
        name = f"{case.case_id.rsplit('/', 1)[-1]}_ctd.json"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save points", name, "Points of vertebrae (*.json)")
        if chosen:
            path = Path(chosen if chosen.lower().endswith(".json") else f"{chosen}.json")
            self.save_points(path, overwrite=str(path) == chosen)  # the dialog has asked about that very name
        self._on_done()

    # ---------------------------------------------------------------- what the session says

    def _on_case_changed(self, _: object) -> None:
        self.facts = None
        self.status.setText("")
        self._show()
        self._ask()

    def _on_scores_changed(self, _: object) -> None:
        self._show_table()
        if self.facts is not None and self.facts.pred is not None and self.facts.pred.derived:
            self._ask()  # the mask may have been painted: nothing else says so

    def _on_scoring_changed(self, scoring: bool) -> None:
        self._scoring = scoring
        self._show_table()

    def _ask(self) -> None:
        """Gather what is shown, in the background and only while it is seen."""
        self._stale = not self.isVisible()
        if self._session.working is None or self._stale:
            return
        self._latest.ask(self._prepare)

    def _prepare(self) -> Callable[[], VertebraFacts | None]:
        working = self._session.working
        if working is None:
            return lambda: None
        case, by = working.frozen(), working.level_shift
        unshifted = working.frozen(what_if=False) if by else None
        return partial(vertebra_facts, case, self._session.spec, level_shift=by, unshifted=unshifted)

    def _on_facts(self, facts: VertebraFacts | None) -> None:
        case = self._session.case
        if facts is not None and case is not None and facts.case.case_id == case.case_id:
            self.facts = facts
            self._show()
            if self.picture is not None and self.picture.isVisible():
                self._draw()

    def _draw(self) -> None:
        """Draw the overview of what is shown."""
        facts = self.facts
        if facts is None or self.picture is None:
            return
        case, spec, modality = facts.case, self._session.spec, self._session.source.modality
        self.picture.show_waiting(case.case_id)
        self._drawing.ask(lambda: lambda: (case.case_id, draw_spine(case, spec, modality)))

    def _on_picture(self, drawn: tuple[str, bytes | str]) -> None:
        case = self._session.case
        if self.picture is not None and case is not None and drawn[0] == case.case_id:
            self.picture.show_picture(*drawn)

    def _on_saved(self, done: ExportedLandmarks | WriteError) -> None:
        if isinstance(done, WriteError):
            self.status.setText(f"Not saved: {done}")
        else:
            self.status.setText(f"{done.points} points saved: {done.path}\nwho changed what: {done.beside.name}")
            working = self._session.working
            if working is not None and self._being_saved is not None and not working.is_painted:
                self._session.edits.note_written(self._being_saved, [working.case.case_id], done.path.name)
                self._session.events.edits_written.emit()

    # ---------------------------------------------------------------- words

    def _show(self) -> None:
        facts = self.facts
        shown = facts is not None and not facts.level_shift  # a what-if says so itself
        edited = self._session.edits.words if shown else ""
        self.header.setText(rows.header_text(facts, edited=edited))
        for label, text in ((self.derived, rows.derived_text(facts)), (self.shift, rows.shift_text(facts))):
            label.setText(text)
            label.setVisible(bool(text))
        found = None if facts is None else facts.found
        suggested = 0 if found is None or found.level_shift is None or facts is None else found.level_shift
        self.what_if.setText(f"What if: move labels {rows.levels(suggested)}" if suggested else "")
        self.what_if.setVisible(bool(suggested))
        self.as_in_file.setVisible(facts is not None and bool(facts.level_shift))
        has_pred = facts is not None and facts.pred is not None
        for button in (self.to_head, self.to_feet, self.save):
            button.setEnabled(has_pred)
        self.overview.setEnabled(facts is not None and bool(facts.labels))
        self._show_table()

    def _show_table(self) -> None:
        self.model.show(self.facts, self._session.score, coming=self._scoring)

    def _color_alarms(self) -> None:
        color = tone_color(self.palette(), "error").name()
        for label in (self.derived, self.shift):
            label.setStyleSheet(f"color: {color};")

    # ---------------------------------------------------------------- layout

    def _lay_out(self) -> None:
        layout = dense(QVBoxLayout(self))
        for part in (self.header, self.derived, self.shift):
            layout.addWidget(part)
        line = QHBoxLayout()
        for button in (self.what_if, self.as_in_file):
            line.addWidget(button)
        layout.addLayout(line)
        layout.addWidget(self.table, 1)
        below = QHBoxLayout()
        what_if = remark()
        what_if.setText("what if all labels:")
        what_if.setWordWrap(False)
        for part in (what_if, self.to_head, self.to_feet):
            below.addWidget(part)
        below.addStretch(1)
        for button in (self.overview, self.save):
            below.addWidget(button)
        layout.addLayout(below)
        layout.addWidget(self.status)

    def _connect(self) -> None:
        self.table.row_chosen.connect(self._on_row_chosen)
        self.what_if.clicked.connect(self._on_what_if_clicked)
        self.as_in_file.clicked.connect(self._on_as_in_file_clicked)
        self.to_head.clicked.connect(lambda: self._move_labels(-1))
        self.to_feet.clicked.connect(lambda: self._move_labels(1))
        self.overview.clicked.connect(self._on_overview_clicked)
        self.save.clicked.connect(self._on_save_clicked)
        events = self._session.events
        self._connections.add(events.case_changed, self._on_case_changed)
        self._connections.add(events.prediction_changed, self._ask)
        self._connections.add(events.edits_written, self._show)
        self._connections.add(events.scores_changed, self._on_scores_changed)
        self._connections.add(events.scoring_changed, self._on_scoring_changed)
