"""The dock in which cases are judged: verdicts, comments, what was said before, and where it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from qtpy.QtCore import Qt, QTimer, Signal
from qtpy.QtGui import QKeySequence
from qtpy.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout

from medotter_viewer.review.records import NOWHERE, Place
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.alarm import Alarm
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.comment_field import CommentField
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.layout import dense, remark
from medotter_viewer.ui.widgets.review_rows import COLUMNS, SaidLine, place_text, said_lines
from medotter_viewer.ui.widgets.verdict_buttons import VerdictButtons, VerdictListEditor

_MOST_FINDINGS = 3
_PLACE_MS = 30  # of a drag, or a scroll through slices, not every step is told


class SaidModel(CellModel):
    """What was said of the open case."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.lines: Sequence[SaidLine] = ()
        self.refresh()

    def show(self, lines: Sequence[SaidLine]) -> None:
        """Show other lines."""
        self.lines = tuple(lines)
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns."""
        return COLUMNS

    def n_rows(self) -> int:
        """Return how many lines there are."""
        return len(self.lines)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the cells of a line."""
        return self.lines[row].cells()


class ReviewDock(Panel):
    """Verdicts and comments on the open case.

    Parameters
    ----------
    session : ReviewSession
        What is read; the reader's choices are told to it.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    verdict_chosen, comment_given : Signal(str)
        A verdict was clicked; Return was pressed on a comment.
    undo_requested, next_requested : Signal()
        Take back the last one; go to the next case without verdict.
    place_requested : Signal(object)
        Go to the `Place` of something that was said.
    said : Signal(str)
        Something for the status line.
    """

    verdict_chosen = Signal(str)
    comment_given = Signal(str)
    undo_requested = Signal()
    next_requested = Signal()
    place_requested = Signal(object)
    said = Signal(str)

    def __init__(self, session: ReviewSession, on_done: Callable[[], None] = lambda: None, parent: Any = None) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self.place_of: Callable[[], Place] = lambda: NOWHERE  # what a comment would be bound to; the window tells
        self.reader = QLineEdit()
        self.reader.setToolTip("your name: records carry it, and your file is called by it")
        self.reader_note = remark()
        self.blinded = QCheckBox("blinded")
        self.blinded.setToolTip("hide the model's name, all numbers and other readers until you have judged the case")
        self.verdicts = VerdictButtons(self)
        self.editor = VerdictListEditor(self)
        self.editor.hide()
        self.edit_list, self.undo = QPushButton("Edit list"), QPushButton("Undo")
        self.undo.setToolTip("take back the last verdict or comment (Ctrl+Z here, or on the picture right after it)")
        self.comment = CommentField(self.show_place, self)
        self._comment_on: str | None = None  # the case that the field belongs to
        self._drafts: dict[str, str] = {}  # what was written of other cases, and not recorded
        self._place_due = QTimer(self)
        self._place_due.setSingleShot(True)
        self._place_due.setInterval(_PLACE_MS)
        self._place_due.timeout.connect(self.show_place)
        self.place, self.header = remark(), QLabel()
        self.header.setTextFormat(Qt.TextFormat.PlainText)
        self.model = SaidModel(self)
        self.table = CellTable(self.model, self)
        self.count, self.next = QLabel(), QPushButton("Next unreviewed")
        self.next.setToolTip("the next case of the list without a verdict of yours (U)")
        self.file, self.change_file = remark(), QPushButton("Change…")
        self.change_file.setToolTip("write to another file")
        self.alarm, self.findings = Alarm(self), Alarm(self)
        self._lay_out()
        self._connect()
        self._hand_over_field()
        self._show_choices()
        self._show_case()
        self._show_file()

    def begin_comment(self) -> None:
        """Put the keyboard into the comment field."""
        self.comment.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_place(self) -> None:
        """Show what a comment would be bound to, and that one is not recorded."""
        opened = self._session.opened
        is_open = opened is not None and self._session.current_id == opened.case.case_id
        text = place_text(self.place_of()) if is_open else ""
        at = f"at {text}" if text else ""
        draft = "not recorded: Return records it" if self.comment.text().strip() else ""
        self.place.setText(f"{draft} {at}".strip())

    def show_place_soon(self) -> None:
        """Show it once the picture has come to rest, as long as the panel is seen."""
        if self.isVisible() and not self._place_due.isActive():
            self._place_due.start()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Show where the picture is now: behind another tab nothing was followed."""
        super().showEvent(event)
        self.show_place_soon()

    # ---------------------------------------------------------------- what the user does

    def event(self, event: Any) -> bool:
        """Take Ctrl+Z for this panel before the window has it."""
        if event.type() == event.Type.ShortcutOverride and event.matches(QKeySequence.StandardKey.Undo):
            event.accept()
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Take back with Ctrl+Z; leave every other key to the window."""
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_requested.emit()
        else:
            event.ignore()

    def _on_verdict(self, word: str) -> None:
        self.verdict_chosen.emit(word)
        self._show_case()  # the button shows what holds, not what was clicked
        self._on_done()

    def _on_comment(self, text: str) -> None:
        self.comment_given.emit(text)
        self._on_done()

    def _hand_over_field(self, _: object = None) -> None:
        """Give the comment field to the case that is open now, with what was written of it before."""
        opened = self._session.opened
        now, before = None if opened is None else opened.case.case_id, self._comment_on
        if now == before:
            return
        if before is not None and (text := self.comment.text().strip()):
            self._drafts[before] = text
            self.said.emit(f"{before}: your comment is not recorded; it comes back with the case")
        self._comment_on = now
        self.comment.begin_with("" if now is None else self._drafts.pop(now, ""))

    def _on_reader(self) -> None:
        verdicts = self._session.verdicts
        if self.reader.text() != verdicts.reader:
            self.said.emit(verdicts.choose(reader=self.reader.text()))
            self.reader.setText(verdicts.reader)

    def _on_blinded(self, blinded: bool) -> None:
        self.said.emit(self._session.verdicts.choose(blinded=blinded))
        self._on_done()

    def _on_edit_list(self) -> None:
        self.editor.show_words(self._session.verdicts.words)
        self.editor.setVisible(self.editor.isHidden())

    def _on_list_used(self, lines: list[str]) -> None:
        self.said.emit(self._session.verdicts.choose(verdicts=tuple(lines)))

    def _on_editor_closed(self) -> None:
        self.editor.hide()
        self._on_done()

    def _on_change_file(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(
            self,
            "Write verdicts to",
            str(self._session.verdicts.path),
            "Verdicts (*.jsonl)",
            options=QFileDialog.Option.DontConfirmOverwrite,  # nothing is overwritten: records are appended
        )
        if chosen:
            self.said.emit(self._session.verdicts.write_to(Path(chosen)))
        self._on_done()

    def _on_row_chosen(self, row: int) -> None:
        self.place_requested.emit(self.model.lines[row].record.place)
        self._on_done()

    # ---------------------------------------------------------------- what the session says

    def _show_choices(self) -> None:
        verdicts = self._session.verdicts
        self.reader.setText(verdicts.reader)
        self.reader_note.setText(verdicts.reader_words)
        self.reader_note.setVisible(bool(verdicts.reader_words))
        self.blinded.setChecked(verdicts.blinded)
        if tuple(self.verdicts.buttons) != verdicts.words:
            self.verdicts.show_words(verdicts.words)
        self._show_case()

    def _show_case(self, _: object = None) -> None:
        session, opened = self._session, self._session.opened
        verdicts, case_id = session.verdicts, None if opened is None else opened.case.case_id
        self.verdicts.setEnabled(case_id is not None)
        self.comment.setEnabled(case_id is not None)
        if case_id is None:
            self.header.setText("no case is open")
            self.model.show(())
            self.verdicts.show_verdict("")
        else:
            verdict = verdicts.verdict(case_id)
            self.header.setText(f"{case_id}: {verdict or 'no verdict yet'}")
            self.verdicts.show_verdict(verdict)
            self.model.show(said_lines(verdicts.standing(case_id), verdicts.others(case_id)))
            self.table.scrollToBottom()
        ids = [row.case_id for row in session.rows]
        n = sum(bool(verdicts.verdict(i)) for i in ids)
        self.count.setText(f"{n} of {len(ids)} reviewed")
        self.next.setEnabled(n < len(ids))

    def _show_file(self) -> None:
        verdicts = self._session.verdicts
        hidden = verdicts.hides_open(self._session.case)
        name = "(hidden while you are blinded: it names the model)" if hidden else verdicts.path.name
        self.file.setText(f"{name}\n{verdicts.place_words.split(':')[0] if hidden else verdicts.place_words}")
        self.file.setToolTip("" if hidden else str(verdicts.path))
        self.alarm.say(verdicts.warning)
        found = () if hidden else verdicts.findings
        more = [f"and {len(found) - _MOST_FINDINGS} more"] if len(found) > _MOST_FINDINGS else []
        self.findings.say("\n".join([*(f.message for f in found[:_MOST_FINDINGS]), *more]))

    def _on_other_case(self, _: object = None) -> None:
        self.show_place_soon()  # once the window shows it

    def _show_all(self, _: object = None) -> None:
        self._show_case()
        self._show_file()

    def _connect(self) -> None:
        self.verdicts.chosen.connect(self._on_verdict)
        self.comment.given.connect(self._on_comment)
        self.comment.left.connect(self._on_done)
        self.comment.undo_requested.connect(self.undo_requested)
        self.reader.editingFinished.connect(self._on_reader)
        self.reader.returnPressed.connect(self._on_done)
        self.blinded.clicked.connect(self._on_blinded)
        self.edit_list.clicked.connect(self._on_edit_list)
        self.editor.used.connect(self._on_list_used)
        self.editor.closed.connect(self._on_editor_closed)
        self.undo.clicked.connect(self.undo_requested)
        self.undo.clicked.connect(self._on_done)
        self.next.clicked.connect(self.next_requested)
        self.next.clicked.connect(self._on_done)
        self.change_file.clicked.connect(self._on_change_file)
        self.table.row_chosen.connect(self._on_row_chosen)
        self.comment.textChanged.connect(self.show_place_soon)
        session, own = self._session, self._session.verdicts.events
        self._connections.add(session.events.case_changed, self._hand_over_field)
        for moved in (session.events.loading_started, session.events.case_changed, session.events.failed):
            self._connections.add(moved, self._on_other_case)
        self._connections.add(session.events.case_changed, self._show_all)
        self._connections.add(session.events.rows_changed, self._show_case)
        self._connections.add(own.case_changed, self._show_case)
        self._connections.add(own.all_changed, self._show_all)
        self._connections.add(own.choices_changed, self._show_choices)
        self._connections.add(own.place_changed, self._show_file)

    def _lay_out(self) -> None:
        whole = dense(QVBoxLayout(self))
        whole.addLayout(_row(QLabel("reader"), (self.reader, 1), self.blinded))
        whole.addWidget(self.reader_note)
        whole.addWidget(self.header)
        whole.addWidget(self.verdicts)
        whole.addLayout(_row((QLabel(), 1), self.edit_list, self.undo))
        whole.addWidget(self.editor)
        whole.addWidget(self.comment)
        whole.addWidget(self.place)
        whole.addWidget(self.table, 1)
        whole.addLayout(_row((self.count, 1), self.next))
        whole.addLayout(_row((self.file, 1), self.change_file))
        whole.addWidget(self.alarm)
        whole.addWidget(self.findings)


def _row(*parts: Any) -> QHBoxLayout:
    """A line of widgets, some with a stretch."""
    row = QHBoxLayout()
    row.setSpacing(4)
    for part in parts:
        widget, stretch = part if isinstance(part, tuple) else (part, 0)
        row.addWidget(widget, stretch)
    return row
