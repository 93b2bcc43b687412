"""What the reader says of the cases of a review: verdicts, comments, undo, and who sees what while blinded."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from psygnal import Signal, SignalGroup

from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import MedotterViewerError, WriteError
from medotter_viewer.review.choices import (
    READER_VARIABLE,
    Choices,
    keep_choices,
    named_reader,
    read_choices,
    reader_name,
    verdict_list,
)
from medotter_viewer.review.places import SUFFIX, ReviewPlace, choose_place, file_name, name_start, reviews_folder
from medotter_viewer.review.reader_file import ReaderFile, readers_of
from medotter_viewer.review.records import NOWHERE, Place, Record, Subject, verdict_key
from medotter_viewer.review.standing import Standing
from medotter_viewer.sources.source import CaseSource

_NOTHING_SAID = Standing()
_LOG = logging.getLogger(__name__)


class VerdictEvents(SignalGroup):
    """What happened to the verdicts; every signal is emitted on the main thread."""

    case_changed = Signal(str)  # case id of which something was said or taken back
    all_changed = Signal()  # other records are there than before: another reader, another file
    choices_changed = Signal()  # reader, list of verdicts, or whether to be blinded
    place_changed = Signal()  # the file is another, or what cannot be written


class ReviewVerdicts:
    """The verdicts of one reader on the cases of a source.

    Nothing is read before it is asked for, and no file is made before something is said.

    Parameters
    ----------
    source : CaseSource
        The cases.

    Attributes
    ----------
    events : VerdictEvents
        What happened.
    """

    def __init__(self, source: CaseSource) -> None:
        self.events = VerdictEvents()
        self._source = source
        self._subject = Subject(source.name, source.version, source.hash, source.model)
        self._kept: Choices | None = None  # for reviews to come
        self._known: Choices | None = None  # of this review
        self._open: ReaderFile | None = None
        self._made: list[Record] = []  # in this review, not taken back: what undo takes back

    # ---------------------------------------------------------------- who, and by which words

    @property
    def reader(self) -> str:
        """Name that records carry."""
        return self._choices.reader

    @property
    def words(self) -> tuple[str, ...]:
        """The verdicts there are to choose from; the first seven have keys."""
        return self._choices.verdicts

    @property
    def blinded(self) -> bool:
        """Whether model, numbers and other readers are hidden until a case is judged."""
        return self._choices.blinded

    @property
    def reader_words(self) -> str:
        """Where the reader's name comes from, where it is not what was chosen for all reviews; else empty."""
        if self.reader == named_reader():
            return f"{self.reader} is named by {READER_VARIABLE}: for this window alone"
        return ""

    def choose(self, *, keep: bool = True, **changes: Any) -> str:
        """Choose another `reader`, other `verdicts` or whether to be `blinded`.

        Another reader has another file. Returns what is to be said, empty where all is well.

        Parameters
        ----------
        keep : bool
            Whether that is kept for reviews to come. What holds by other ways, such as a reader that the environment
            names, is never kept along with it.
        **changes
            What is chosen.
        """
        before = self._choices
        chosen = _usable(replace(before, **changes))
        said = ""
        if chosen.reader != before.reader and self._open is not None:
            if self.close():  # they are this reader's: nobody else may have them, and they must not be lost
                return f"the reader stays {before.reader}: {self.warning}"
            self._made.clear()
            self._open = None
        self._known = chosen
        kept = self._kept if self._kept is not None else read_choices()
        if keep and (now := replace(kept, **{key: getattr(chosen, key) for key in changes})) != kept:
            self._kept = now
            try:
                keep_choices(now)
            except WriteError as error:
                said = str(error)
        if chosen == before:
            return said
        self.events.choices_changed.emit()
        if chosen.reader != before.reader or chosen.blinded != before.blinded:
            self.events.all_changed.emit()
            self.events.place_changed.emit()
        return said

    # ---------------------------------------------------------------- what was said

    def standing(self, case_id: str) -> Standing:
        """Return what this reader said of a case."""
        return self._file.own.get(case_id, _NOTHING_SAID)

    def verdict(self, case_id: str) -> str:
        """Return this reader's verdict on a case; empty without any."""
        record = self.standing(case_id).verdict
        return "" if record is None else record.verdict or ""

    def others(self, case_id: str) -> dict[str, Standing]:
        """Return what other readers said of a case, by name; nothing while this reader is blinded to it."""
        return {} if self.hides(case_id) else self._file.others().get(case_id, {})

    def hides(self, case_id: str | None) -> bool:
        """Whether model, numbers and other readers are hidden: blinded, and the case has no verdict yet."""
        return self.blinded and (case_id is None or not self.verdict(case_id))

    def hides_open(self, case: Case | None) -> bool:
        """Whether that holds of the open case; without any, as of one that was not judged."""
        return self.hides(None if case is None else case.case_id)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Lines of the files that could not be read."""
        return self._file.findings

    def next_unreviewed(self, ids: Sequence[str], current: str | None) -> str | None:
        """Return the next case of a list without verdict, after the current one and round; None where all have one."""
        start = ids.index(current) + 1 if current in ids else 0
        return next((i for i in [*ids[start:], *ids[:start]] if i != current and not self.verdict(i)), None)

    # ---------------------------------------------------------------- saying something

    def record(self, case_id: str, verdict: str, place: Place = NOWHERE) -> str:
        """Record a verdict on a case; the last one counts. Returns what is to be said."""
        before, key = self.verdict(case_id), verdict_key(verdict)
        record = Record("verdict", self.reader, self._subject, case_id, verdict=key, place=place)
        self._append(record)
        self._made.append(record)
        was = f" (was {before})" if before and before != key else ""
        return self._with_warning(f"{case_id}: {key}{was}, by {self.reader}")

    def comment(self, case_id: str, text: str, place: Place = NOWHERE) -> str:
        """Record a comment on a case, bound to a place. Returns what is to be said; an empty text says nothing."""
        text = text.strip()
        if not text:
            return ""
        record = Record("comment", self.reader, self._subject, case_id, text=text, place=place)
        self._append(record)
        self._made.append(record)
        where = place.position_world
        at = "" if where is None else f" at LPS {-where[0]:z.1f} {-where[1]:z.1f} {where[2]:z.1f} mm"
        return self._with_warning(f"{case_id}: comment recorded{at}, by {self.reader}")

    def undo(self) -> str:
        """Take back the last verdict or comment of this review; what was recorded before it stays. Returns words."""
        if not self._made:
            return "nothing to take back: no verdict or comment was recorded in this window"
        last = self._made.pop()
        record = Record("undo", self.reader, self._subject, last.case_id, undoes=last.record_id)
        self._append(record)
        what = f"verdict {last.verdict}" if last.kind == "verdict" else "comment"
        now = self.verdict(last.case_id)
        return self._with_warning(f"{last.case_id}: {what} taken back; verdict: {now or 'none'}")

    @property
    def last_words(self) -> str:
        """What `undo` would take back, in words; empty where there is nothing."""
        if not self._made:
            return ""
        last = self._made[-1]
        return f"verdict {last.verdict} on {last.case_id}" if last.kind == "verdict" else f"comment on {last.case_id}"

    # ---------------------------------------------------------------- the file

    @property
    def path(self) -> Path:
        """The file that records are appended to."""
        return self._file.log.path

    @property
    def place_words(self) -> str:
        """Why it is that file."""
        return self._file.place.why

    @property
    def n_unwritten(self) -> int:
        """Number of records that are in memory alone."""
        return 0 if self._open is None else len(self._open.log.unwritten)

    @property
    def warning(self) -> str:
        """What is to be said of records that could not be written; empty where all are on the disk."""
        if not (n := self.n_unwritten):
            return ""
        records = "1 record is" if n == 1 else f"{n} records are"
        reason = f"{self._file.log.error}. {records} kept in memory and tried again with the next key"
        return f"NOT WRITTEN: {reason}" if self.blinded else f"NOT WRITTEN to {self.path}: {reason}"

    def write_to(self, path: Path) -> str:
        """Append from now on to another file, what waits too. Returns what is to be said.

        Parameters
        ----------
        path : Path
            A file, or a folder to put one into. What the file holds of this reader counts from now on. Beside a
            file that is another reader's, one of this reader is written.
        """
        own, theirs = self._own_name, ""
        if path.is_dir():
            path = path / own
        elif not path.name.endswith(".jsonl"):
            path = path.with_name(f"{path.name}{SUFFIX}")
        if (readers := readers_of(path)) and self.reader not in readers:
            theirs = f"{path.name} is of {', '.join(readers)}; "
            path = path.with_name(own)
        before = self._file
        self._open = self._opened(ReviewPlace(path, "where you said"), before)
        self.events.all_changed.emit()
        self.events.place_changed.emit()
        return self._with_warning(f"{theirs}verdicts are written to {path}")

    def close(self) -> tuple[Record, ...]:
        """Try to write what waits: to its file, else to the user's own folder. Returns what is still in no file."""
        if self._open is None:
            return ()
        log, own = self._open.log, reviews_folder() / self._own_name
        path = log.path
        if not log.flush() and not log.move_to(own):
            log.path = path
        if left := log.unwritten:  # the last place there is: where the program was started
            lines = "".join(record.to_line().decode("utf-8", "replace") for record in left)
            _LOG.error("%s of the review could not be written (%s):\n%s", len(left), log.error, lines)
        return left

    # ---------------------------------------------------------------- inside

    @property
    def _choices(self) -> Choices:
        if self._known is None:
            self._kept = read_choices()
            self._known = _usable(replace(self._kept, reader=named_reader() or self._kept.reader))
        return self._known

    @property
    def _own_name(self) -> str:
        """Of this reader's file, wherever it lies."""
        return file_name(self._subject, self._source.target, self.reader)

    @property
    def _file(self) -> ReaderFile:
        if self._open is None:
            self._open = self._opened(choose_place(_predictions(self._source), self._own_name))
        return self._open

    def _opened(self, place: ReviewPlace, before: ReaderFile | None = None) -> ReaderFile:
        start = name_start(self._subject, self._source.target)
        return ReaderFile(place, self._subject, self.reader, start, before)

    def _append(self, record: Record) -> None:
        self._file.add(record)
        self.events.case_changed.emit(record.case_id)
        self.events.place_changed.emit()

    def _with_warning(self, said: str) -> str:
        """A line for the status bar: what was said, and in short that it is in no file; the panel tells which."""
        n, again = self.n_unwritten, self._file.log.n_again
        if again:
            records = "1 record" if again == 1 else f"{again} records"
            said += f" · the file had been removed or shortened: {records} written again"
        reason = (
            f"NOT WRITTEN ({self._file.log.error}): {n} record{'s' * (n > 1)} in memory, tried again with the next key"
        )
        return f"{said} · {reason}" if n else said


def _usable(choices: Choices) -> Choices:
    return Choices(reader_name(choices.reader), verdict_list(choices.verdicts), choices.blinded)


def _predictions(source: CaseSource) -> Path | None:
    """Folder or file of the predictions; None without any."""
    try:
        named = source.record().get("predictions")
    except MedotterViewerError:  # it is said where cases are read
        return None
    return Path(named) if isinstance(named, str) else None
