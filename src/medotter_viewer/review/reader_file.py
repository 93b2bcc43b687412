"""A reader's file while it is open: what it says of each case, what is added, and what others' files beside it say."""

from __future__ import annotations

from glob import escape
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.review.log import ReviewLog
from medotter_viewer.review.places import SUFFIX, ReviewPlace, reviews_folder
from medotter_viewer.review.reading import ReviewFile, read_reviews
from medotter_viewer.review.records import Record, Subject
from medotter_viewer.review.standing import Standing, standings


class ReaderFile:
    """The file of one reader on one subject.

    Parameters
    ----------
    place : ReviewPlace
        The file, and why it is that one.
    subject : Subject
        What is judged; records on other things are passed over.
    reader : str
        Who judges.
    name_start : str
        What the names of all readers' files on this subject begin with.
    before : ReaderFile, optional
        The file that was written to until now: what it says still holds, and what it could not take is written here.

    Attributes
    ----------
    log : ReviewLog
        Appends.
    records : list of Record
        All that the reader said, oldest first.
    own : dict of str to Standing
        What holds of each case by it.
    findings : tuple of Finding
        Lines of this file and of others' that could not be read.
    """

    def __init__(
        self, place: ReviewPlace, subject: Subject, reader: str, name_start: str, before: ReaderFile | None = None
    ) -> None:
        self.place = place
        self._subject = subject
        # What could not be written beside the predictions at an earlier time is in the user's own folder.
        files = [_read(path) for path in dict.fromkeys((place.path, reviews_folder() / place.path.name))]
        self.log = ReviewLog(place.path, files[0].records)
        found = [r for f in files for r in f.records if r.reader == reader and r.subject.identity == subject.identity]
        found += [] if before is None else before.records
        self.records: list[Record] = list({r.record_id: r for r in found}.values())
        if before is not None or len([f for f in files if f.records]) > 1:
            self.records.sort(key=lambda r: r.time)
        self.own = standings(self.records)
        self._reader, self._start, self._files = reader, name_start, files
        self._seen: tuple[tuple[Path, int], ...] | None = None
        self._others: dict[str, dict[str, Standing]] = {}
        self.findings: tuple[Finding, ...] = ()
        self.others()
        for record in () if before is None else before.log.unwritten:
            self.log.append(record)

    def add(self, record: Record) -> None:
        """Keep a record, and write it if that is possible."""
        self.records.append(record)
        self.log.append(record)
        of_case = [r for r in self.records if r.case_id == record.case_id]
        self.own[record.case_id] = standings(of_case)[record.case_id]

    def others(self) -> dict[str, dict[str, Standing]]:
        """Return what other readers said, by case id and name; read again where their files have grown."""
        beside = sorted(self.place.path.parent.glob(f"{escape(self._start)}*{SUFFIX}"))
        seen = tuple((path, _size(path)) for path in beside if path.name != self.place.path.name)
        if seen != self._seen:
            self._seen = seen
            files = [*self._files, *(_read(path) for path, _ in seen)]
            self._others = self._by_case([r for f in files for r in f.records if r.reader != self._reader])
            self.findings = tuple(finding for file in files for finding in file.findings)
        return self._others

    def _by_case(self, records: list[Record]) -> dict[str, dict[str, Standing]]:
        found: dict[str, dict[str, Standing]] = {}
        for reader in dict.fromkeys(r.reader for r in records):
            of_reader = [r for r in records if r.reader == reader and r.subject.identity == self._subject.identity]
            for case_id, standing in standings(of_reader).items():
                found.setdefault(case_id, {})[reader] = standing
        return found


def readers_of(path: Path) -> list[str]:
    """Return the names of those whose records a file holds; none where it is not there or cannot be read."""
    return list(dict.fromkeys(record.reader for record in _read(path).records))


def _read(path: Path) -> ReviewFile:
    """What a file holds; one that is not there holds nothing, one that cannot be read is a finding."""
    if not path.exists():
        return ReviewFile(path)
    try:
        return read_reviews(path)
    except MedotterViewerError as error:
        return ReviewFile(path, findings=(Finding("error", "unreadable-reviews", str(error), str(path)),))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # it was just removed
        return -1
