"""Reading a file of records: every line that can be read, and a finding for every one that cannot."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.review.parsing import NewerSchemaError, record_of
from medotter_viewer.review.records import Record

_MOST_BYTES = 1 << 28  # half a million records
_ID_START = b'{"id": "'
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """What a file of records holds.

    Parameters
    ----------
    path : Path
        The file.
    records : tuple of Record
        In order of writing; a record that was written twice counts once.
    findings : tuple of Finding
        Lines that hold no record.
    """

    path: Path
    records: tuple[Record, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_reviews(path: Path) -> ReviewFile:
    """Return the records of a file.

    A line that was cut short (by a kill, a power cut, a full disk) is a finding and spoils no other line.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ReadError
        If it cannot be read, is no file, or is far too large.
    """
    try:
        with path.open("rb") as file:
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):
                raise ReadError(f"{path}: is no file")
            if about.st_size > _MOST_BYTES:
                raise ReadError(f"{path}: {about.st_size:,} bytes: too large for a file of verdicts")
            lines = file.read().removeprefix(_BOM).split(b"\n")
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error.strerror or error}; expected a file of verdicts (.reviews.jsonl)") from error
    found: dict[str, Record] = {}
    torn: list[tuple[int, bytes]] = []
    findings: list[Finding] = []
    for number, line in enumerate(lines, 1):
        if not (text := line.rstrip(b"\r")):
            continue
        try:
            record = record_of(text)
        except (json.JSONDecodeError, UnicodeDecodeError):
            torn.append((number, text))
        except NewerSchemaError as error:
            findings.append(_finding(path, number, "error", "newer-record", f"{error}; the line is left out"))
        except ValueError as error:
            findings.append(_finding(path, number, "error", "bad-record", f"{error}; the line is left out"))
        else:
            found.setdefault(record.record_id, record)
    findings += _torn_findings(path, torn, found)
    findings += _undone_nothing(path, found.values())
    return ReviewFile(path, tuple(found.values()), tuple(findings))


def _torn_findings(path: Path, torn: Iterable[tuple[int, bytes]], found: Iterable[str]) -> Iterator[Finding]:
    """What is to be said of lines that were cut short: nothing is lost where the record was written again."""
    known = set(found)
    for number, text in torn:
        start = text.removeprefix(_ID_START)
        name, quote, _ = start.partition(b'"')
        again = bool(quote) and start != text and name.decode("utf-8", "replace") in known
        if again:
            yield _finding(path, number, "info", "torn-record", "cut short, and written again: nothing is lost")
        else:
            yield _finding(
                path, number, "warning", "torn-record", "cut short, as by a crash while it was written: it is left out"
            )


def _undone_nothing(path: Path, records: Iterable[Record]) -> Iterator[Finding]:
    known = {record.record_id: record for record in records}
    for record in known.values():
        undone = known.get(record.undoes or "")
        if record.kind == "undo" and (undone is None or undone.kind == "undo"):
            message = f"case {record.case_id}: takes back record {record.undoes}, which is not in this file"
            yield Finding("warning", "undo-of-nothing", f"{path.name}: {message}", str(path), record.case_id)


def _finding(path: Path, number: int, severity: str, code: str, message: str) -> Finding:
    where = f"line {number}"
    return Finding(severity, code, f"{path.name}: {where}: {message}", str(path), where)  # type: ignore[arg-type]
