"""Judge a submission of lung tumour contours line by line, as a stream."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from medotter_viewer.formats.finding_log import FindingLog
from medotter_viewer.formats.submission_file import (
    MAX_BYTES,
    MEGABYTE,
    SubmissionFileError,
    SubmissionText,
    open_submission,
    too_large,
)
from medotter_viewer.formats.submission_lines import (
    Line,
    LineError,
    ParseLine,
    contest_line,
    is_blank,
    strict_line,
    strict_lines,
)
from medotter_viewer.formats.submission_rings import PolygonBlock

MAX_LINES = 1_000_000
"""As many are allowed; a newline at the end begins no further line."""

Status = Literal["ok", "malformed"]
Progress = Callable[[int, int], object]
"""Called with the MB read and all MB."""
Slices = Mapping[str, Collection[int]]
"""Ids of the scans there are, to the numbers of their slices."""

_CHUNK = 1 << 20
_BOM, _UTF16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
_SHOWN = 60  # letters of a scan id


class SubmissionReader:
    """Reads a submission once, block by block, and keeps counts and findings only.

    Parameters
    ----------
    path, slices, contest_reader, on_progress
        As for `read_submission`.

    Attributes
    ----------
    lines, polygons : int
        How many were read so far.
    scan_ids : list of str
        What the blocks' `scans` mean.
    log : FindingLog
        What was noticed so far.
    """

    def __init__(
        self,
        path: Path,
        *,
        slices: Slices | None = None,
        contest_reader: bool = False,
        on_progress: Progress | None = None,
    ) -> None:
        self.lines, self.polygons = 0, 0
        self.scan_ids: list[str] = []
        self.log = FindingLog(str(path))
        self._path, self._known, self._contest, self._on_progress = path, slices, contest_reader, on_progress
        self._scans: dict[bytes, int | str] = {}  # index, or why there is no such scan
        self._allowed: list[Collection[int] | None] = []
        self._blank = 0

    @property
    def status(self) -> Status:
        """What the file is, as far as it was read."""
        return "malformed" if self.log.has_errors else "ok"

    def __iter__(self) -> Iterator[PolygonBlock]:
        """Read the file; blocks hold the polygons of the lines that are well-formed.

        Raises
        ------
        ReadError
            If there is no such file, or it cannot be read.
        """
        try:
            with open_submission(self._path) as text:
                if text.climbs:
                    message = "the member's name in the zip archive leaves its folder; it is read, not expanded"
                    self.log.add("warning", "unsafe-member", message)
                for lines in self._chunks(text):
                    yield self._good_block(lines) or self._block(lines)
                    if self.lines > MAX_LINES:
                        break
        except SubmissionFileError as error:
            self.log.add("error", error.code, str(error))
        if self._blank:
            self.log.add("info", "blank-lines", f"{self._blank} blank lines are passed over")
        if self.polygons == 0 and not self.log.has_errors:
            self.log.add("warning", "no-polygons", "the submission holds no polygon: every scan scores 0")

    def _chunks(self, text: SubmissionText) -> Iterator[list[bytes]]:
        """Whole lines without their ends, about a megabyte at a time."""
        pending: list[bytes] = []
        n_bytes = 0
        while chunk := text.read(_CHUNK):
            while chunk.endswith(b"\r") and (more := text.read(1)):  # an end of line must not be cut in two
                chunk += more
            if n_bytes == 0:
                chunk = self._without_mark(chunk, text)
            n_bytes += len(chunk)
            if n_bytes > MAX_BYTES:
                raise too_large("the text", n_bytes)
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            pending.append(chunk[:end] if end else chunk)
            if end:
                yield b"".join(pending).splitlines()
                pending = [chunk[end:]]
            if self._on_progress is not None:
                self._on_progress(-(-n_bytes // MEGABYTE), max(-(-text.n_bytes // MEGABYTE), -(-n_bytes // MEGABYTE)))
        if last := b"".join(pending):
            del pending
            yield [last]

    def _without_mark(self, chunk: bytes, text: SubmissionText) -> bytes:
        while len(chunk) < len(_BOM) and (more := text.read(1)):
            chunk += more
        if chunk.startswith(_UTF16):
            message = "the text is UTF-16, expected UTF-8; save it as UTF-8 without byte order mark"
            raise SubmissionFileError("not-utf-8", message)
        if not chunk.startswith(_BOM):
            return chunk
        message = (
            "line 1: a byte order mark (BOM) stands before the first scan id; for the contest's reader it is part of it"
        )
        self.log.add("error" if self._contest else "warning", "byte-order-mark", message, line=1)
        return chunk[len(_BOM) :]

    def _good_block(self, lines: Sequence[bytes]) -> PolygonBlock | None:
        """Polygons of lines without any fault; None where one has to be judged by itself."""
        if self._contest or self.lines + len(lines) > MAX_LINES or (found := strict_lines(lines)) is None:
            return None
        known = self._scans
        for written in dict.fromkeys(found.scans):
            if written not in known:
                known[written] = self._new_scan(written)
        scans = [known[written] for written in found.scans]
        for scan, number in set(zip(scans, found.slice_numbers.tolist(), strict=True)):
            if isinstance(scan, str) or not self._has_slice(scan, number):
                return None
        numbers = np.arange(self.lines + 1, self.lines + len(lines) + 1, dtype=np.int32)
        self.lines += len(lines)
        self.polygons += len(lines)
        found.values.setflags(write=False)
        starts = np.concatenate([[0], np.cumsum(found.n_values) // 2])
        return PolygonBlock(
            found.values.reshape(-1, 2), starts, np.array(scans, dtype=np.int32), found.slice_numbers, numbers
        )

    def _block(self, lines: Sequence[bytes]) -> PolygonBlock:
        """Judge some lines."""
        parse: ParseLine = contest_line if self._contest else strict_line
        values, starts = array("d"), array("q", [0])
        scans, slices, numbers = array("i"), array("i"), array("i")
        for line in lines:
            self.lines += 1
            if self.lines > MAX_LINES:
                message = f"line {self.lines:,} is one too many: at most {MAX_LINES:,} lines are allowed"
                self.log.add("error", "too-many-lines", message, line=self.lines)
                break
            try:
                polygon = parse(line)
                scan = self._scan(polygon)
            except LineError as fault:
                self._judge(line, fault)
                continue
            if scan is None:
                continue
            scans.append(scan)
            slices.append(polygon.slice_number)
            numbers.append(self.lines)
            values.extend(polygon.values)
            starts.append(len(values) // 2)
        self.polygons += len(numbers)
        points = np.frombuffer(values, dtype=np.float64) if values else np.zeros(0)
        points.setflags(write=False)
        return PolygonBlock(
            points.reshape(-1, 2),
            np.frombuffer(starts, dtype=np.int64),
            *(np.array(part, dtype=np.int32) for part in (scans, slices, numbers)),
        )

    def _judge(self, line: bytes, fault: LineError) -> None:
        """Pass over a blank line, and note any other that is no polygon."""
        if is_blank(line, contest_reader=self._contest):
            self._blank += 1
        else:
            self._error("malformed-line", str(fault))

    def _scan(self, polygon: Line) -> int | None:
        """Index of the scan; None, with a finding, where there is no such scan or slice."""
        found = self._scans.get(polygon.scan)
        if found is None:
            found = self._scans[polygon.scan] = self._new_scan(polygon.scan)
        if isinstance(found, str):
            self._error("unknown-scan" if found.startswith("unknown") else "malformed-line", found)
            return None
        number = polygon.slice_number
        if self._has_slice(found, number):
            return found
        scan_id = self.scan_ids[found][:_SHOWN]
        why = "; slices count from 1" if number < 1 else ""
        self._error("unknown-slice", f"scan {scan_id!a} has no slice {number}{why}")
        return None

    def _has_slice(self, scan: int, number: int) -> bool:
        allowed = self._allowed[scan]
        return number >= 1 and (allowed is None or number in allowed)

    def _new_scan(self, written: bytes) -> int | str:
        """Index of a scan that was not met before, or what is wrong with its id."""
        try:
            scan_id = written.decode("utf-8")
        except UnicodeDecodeError:
            return "the scan id is not UTF-8"
        if self._known is not None and scan_id not in self._known:
            return f"unknown scan {scan_id[:_SHOWN]!a}: no scan folder of that name"
        if not scan_id.isprintable():
            return f"scan id {scan_id[:_SHOWN]!a} holds letters that cannot be seen: is it UTF-16? Expected UTF-8 text"
        if not self._contest and (scan_id != scan_id.strip() or '"' in scan_id):
            return f"scan id {scan_id[:_SHOWN]!a}: expected no quotation marks and no blanks around it"
        self.scan_ids.append(scan_id)
        allowed = None if self._known is None else self._known[scan_id]
        if self._contest and allowed is not None and not isinstance(allowed, range):
            allowed = range(1, max(allowed, default=0) + 1)  # it knows no gaps
        self._allowed.append(allowed)
        return len(self.scan_ids) - 1

    def _error(self, code: str, reason: str) -> None:
        self.log.add("error", code, f"line {self.lines}: {reason}", line=self.lines)
