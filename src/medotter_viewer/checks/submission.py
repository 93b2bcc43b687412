"""What is wrong, or may be, with a submission of lung contours: before the contest says so by a score of zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.formats.finding_log import FindingLog
from medotter_viewer.formats.polygon_csv import Submission
from medotter_viewer.formats.submission_reader import Progress, Slices, Status, SubmissionReader
from medotter_viewer.formats.submission_rings import PolygonBlock, SubmissionRings
from medotter_viewer.geometry.polygons import even_odd_area
from medotter_viewer.geometry.polygons.many import RingAreas, ring_areas, take_rings

LISTED = 100
"""How many warnings of one code are listed."""

_SAME = 1e-9  # of the box: two areas that differ by rounding
_HUGE = 1 << 16  # points of a ring
_MOST_POINTS = 200  # of a ring whose two areas are computed for a message

_Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    """What `check_submission` found.

    Parameters
    ----------
    status : {"ok", "malformed"}
        One malformed line makes the whole file malformed.
    lines, polygons : int
        Lines read, and those that hold a polygon.
    findings : sequence of Finding
        Errors, then warnings; `where` is the line.
    boxes : mapping of str to (float, float, float, float)
        Scan id to smallest x and y, largest x and y of its polygons, mm.
    """

    status: Status
    lines: int
    polygons: int
    findings: Sequence[Finding]
    boxes: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)


def check_submission(
    path: Path, *, slices: Slices | None = None, contest_reader: bool = False, on_progress: Progress | None = None
) -> SubmissionCheck:
    """Return what is wrong with a submission, line by line, without keeping its polygons.

    Parameters
    ----------
    path, slices, contest_reader, on_progress
        As for `read_submission`.

    Returns
    -------
    SubmissionCheck
        With the warnings of `polygon_findings`.

    Raises
    ------
    ReadError
        If there is no such file, or it cannot be read.
    """
    reader = SubmissionReader(path, slices=slices, contest_reader=contest_reader, on_progress=on_progress)
    checks = PolygonChecks(str(path), reader.scan_ids)
    for block in reader:
        checks.add(block)
    findings = [*reader.log.findings(), *checks.findings()]
    return SubmissionCheck(reader.status, reader.lines, reader.polygons, findings, checks.boxes)


def polygon_findings(submission: Submission, path: Path) -> list[Finding]:
    """Return warnings about the polygons of a submission: they count, but perhaps not as meant.

    Rings that cross themselves so that the even-odd rule and the list of points disagree about their area, rings
    without area, polygons that stand twice, and coordinates that are no numbers.
    """
    if not isinstance(submission.rings, SubmissionRings):
        return []
    checks = PolygonChecks(str(path), submission.rings.scan_ids)
    for block in submission.rings.blocks:
        checks.add(block)
    return checks.findings()


class PolygonChecks:
    """Looks at polygons block by block; of each it keeps 12 bytes.

    Parameters
    ----------
    file : str
        For the findings.
    scan_ids : sequence of str
        What the blocks' `scans` mean; may grow while blocks are added.
    """

    def __init__(self, file: str, scan_ids: Sequence[str]) -> None:
        self._log = FindingLog(file, listed=LISTED)
        self._scan_ids = scan_ids
        self._keys: list[_Words] = []
        self._lines: list[NDArray[np.int32]] = []
        self.boxes: dict[str, tuple[float, float, float, float]] = {}

    def add(self, block: PolygonBlock) -> None:
        """Look at some polygons."""
        if not len(block):
            return
        self._keys.append(_fingerprints(block))
        self._lines.append(block.lines)
        self._widen(block)
        finite = np.logical_and.reduceat(np.isfinite(block.points).all(axis=1), block.starts[:-1])
        for index in np.flatnonzero(~finite).tolist():
            self._warn("not-a-number", block, index, "a coordinate is NaN or infinite: it has no area")
        huge = _is_huge(block)
        for index in np.flatnonzero(huge & finite).tolist():
            self._warn("polygon-not-examined", block, index, "it has too many points to be examined", level="info")
        (rings,) = np.nonzero(finite & ~huge)
        whole = len(rings) == len(block)
        areas = ring_areas(*((block.points, block.starts) if whole else take_rings(block.points, block.starts, rings)))
        flat = areas.even_odd <= _SAME * areas.box
        for index in rings[flat].tolist():
            self._warn(
                "polygon-without-area", block, index, "it encloses no area: its points lie on a line or retrace it"
            )
        for place in np.flatnonzero(np.isnan(areas.even_odd) & ~areas.crosses).tolist():
            message = "it has too many points, or crosses itself too often, to be examined"
            self._warn("polygon-not-examined", block, int(rings[place]), message, level="info")
        differ = np.abs(areas.even_odd - areas.shoelace) > _SAME * areas.box
        for place in np.flatnonzero(differ | areas.crosses).tolist():
            self._crossing(block, int(rings[place]), areas, place)

    def _widen(self, block: PolygonBlock) -> None:
        """Widen the boxes around the polygons of each scan."""
        n_points = np.diff(block.starts)
        scans = np.repeat(block.scans, n_points)
        finite = np.isfinite(block.points).all(axis=1)
        for scan in np.unique(block.scans).tolist():
            points = block.points[(scans == scan) & finite]
            if len(points):
                low, high = points.min(axis=0), points.max(axis=0)
                name = self._scan_ids[scan]
                if (old := self.boxes.get(name)) is not None:
                    low, high = np.minimum(low, old[:2]), np.maximum(high, old[2:])
                self.boxes[name] = (*low.tolist(), *high.tolist())

    def findings(self) -> list[Finding]:
        """Return the warnings about what was added."""
        self._duplicates()
        return self._log.findings()

    def _crossing(self, block: PolygonBlock, index: int, areas: RingAreas, place: int) -> None:
        """Warn where the two areas of a ring differ."""
        code = "self-crossing-polygon"
        if not self._log.is_listing("warning", code):
            self._log.count("warning", code, 1)
            return
        even_odd, listed = float(areas.even_odd[place]), float(areas.shoelace[place])
        if areas.crosses[place] and len(block.ring(index)) <= _MOST_POINTS:
            even_odd = even_odd_area(block.ring(index))
            if abs(even_odd - listed) <= _SAME * float(areas.box[place]):
                return  # it only seemed to cross, or crosses where it retraces itself
        what = "crosses itself" if areas.crosses[place] else "runs around a part twice"
        area = "" if np.isnan(even_odd) else f": {even_odd:.6g} mm2 count by the even-odd rule"
        by_points = f", {listed:.6g} mm2 by its list of points" if area else ""
        self._warn(code, block, index, f"it {what}{area}{by_points}")

    def _duplicates(self) -> None:
        """Warn about lines that repeat an earlier one."""
        if not self._keys:
            return
        keys, lines = np.concatenate(self._keys), np.concatenate(self._lines)
        order = np.argsort(keys, kind="stable")
        repeats = np.concatenate([[False], keys[order][1:] == keys[order][:-1]])
        first = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(order))))
        places = np.flatnonzero(repeats)
        places = places[np.argsort(lines[order[places]])]
        for place in places[:LISTED].tolist():
            line, earlier = int(lines[order[place]]), int(lines[order[first[place]]])
            message = f"line {line}: repeats line {earlier}: same scan, slice and points; it adds nothing to the union"
            self._log.add("warning", "duplicate-polygon", message, line=line)
        if len(places) > LISTED:
            self._log.count("warning", "duplicate-polygon", len(places) - LISTED)

    def _warn(self, code: str, block: PolygonBlock, index: int, message: str, *, level: Severity = "warning") -> None:
        if not self._log.is_listing(level, code):
            self._log.count(level, code, 1)
            return
        line, number = int(block.lines[index]), int(block.slices[index])
        where = f"line {line}: scan {self._scan_ids[block.scans[index]][:60]!a}, slice {number}"
        self._log.add(level, code, f"{where}: {message}", line=line)


def _is_huge(block: PolygonBlock) -> NDArray[np.bool_]:
    """Rings that are not worth the memory of a closer look."""
    return np.diff(block.starts) > _HUGE


def _fingerprints(block: PolygonBlock) -> _Words:
    """A number for scan, slice and points of each polygon; of two that differ it is the same once in 2**64 times."""
    huge = _is_huge(block)
    total = np.zeros(len(block), dtype=np.uint64)
    for index in np.flatnonzero(huge).tolist():
        total[index] = int.from_bytes(blake2b(block.ring(index).data, digest_size=8).digest(), "little")
    (rings,) = np.nonzero(~huge)
    if len(rings):
        points, starts = (block.points, block.starts)
        if len(rings) < len(block):
            points, starts = take_rings(points, starts, rings)
        words = (points + 0.0).reshape(-1).view(np.uint64)  # -0.0 is 0.0
        first, count = 2 * starts[:-1], 2 * np.diff(starts)
        place = np.arange(len(words)) - np.repeat(first, count)
        total[rings] = np.add.reduceat(_mixed(_mixed(words) + place.astype(np.uint64)), first)
    for part in (block.scans, block.slices, np.diff(block.starts)):
        total = _mixed(total + part.astype(np.uint64))
    return total


def _mixed(words: _Words) -> _Words:
    """Every bit depends on every bit: the finaliser of SplitMix64."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
