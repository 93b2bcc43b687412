"""Write a submission and the table beside it: whole and read back, or not at all."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ContourRules, Origin, Ring
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError, MetricInputError, WriteError
from medotter_viewer.export.case_rings import CaseRings, Provenance, case_rings
from medotter_viewer.export.companion import COLUMNS, Row, polygon_row, score_rows
from medotter_viewer.formats.submission_file import MAX_BYTES, MEGABYTE
from medotter_viewer.formats.submission_reader import MAX_LINES, SubmissionReader
from medotter_viewer.geometry.polygons.many import ring_areas

_SAME_AREA = 1e-9  # relative, of an area written and read back
_MEMBER_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that an archive can say: the same polygons give the same bytes


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    Parameters
    ----------
    files : tuple of Path
        Submission, table, and archive where one was asked for; empty where no case could be written.
    cases : int
        Cases that are in the submission, with or without polygons.
    polygons : int
        Its lines.
    findings : tuple of Finding
        Cases that were left out (errors), and what else was noticed.
    """

    files: tuple[Path, ...]
    cases: int
    polygons: int
    findings: tuple[Finding, ...]


def export_cases(
    cases: Iterable[Case],
    out: Path,
    *,
    spec: EvalSpec,
    region: str,
    provenance: Provenance | None = None,
    generated_only: bool = False,
    zipped: bool = False,
) -> Exported:
    """Write the predicted polygons of a region as a submission, with a table of areas and scores beside it.

    Parameters
    ----------
    cases : iterable of Case
        One after the other; none is kept.
    out : Path
        ``FILE.csv``; the table is ``FILE.scores.csv``. Files that are there are replaced at the end, all or none.
    spec : EvalSpec
        Gives the region's ids and the rules of the score.
    region : str
        The one region: a submission has no column for it.
    provenance : callable, optional
        Who made a polygon. By default ``model`` for what was traced, ``imported`` for what was polygons before.
    generated_only : bool
        Leave out what a person edited.
    zipped : bool
        Write ``FILE.zip`` too, with the submission as its one member.

    Returns
    -------
    Exported
        A case that cannot be written is left out and named by an error.

    Raises
    ------
    WriteError
        If the files cannot be written, would exceed the limits of a submission, or are not read back as they were
        meant; nothing is changed then.
    RegionNotFoundError
        If there is no such region.
    """
    spec.check_region(region)
    if out.suffix.lower() != ".csv":
        raise WriteError(f"{out}: expected a name that ends in .csv")
    paths = {"csv": out, "scores": out.with_suffix(".scores.csv"), "zip": out.with_suffix(".zip")}
    if not zipped:
        del paths["zip"]
    for path in paths.values():
        if path.is_dir():
            raise WriteError(f"{path}: is a folder")
    writer = _Writer(spec, region, provenance, generated_only)
    try:
        with _replacing(paths) as parts:
            with parts["csv"].open("xb") as lines, parts["scores"].open("x", encoding="utf-8", newline="") as table:
                rows = csv.DictWriter(table, COLUMNS, lineterminator="\n")
                rows.writeheader()
                for case in cases:
                    for line, row in writer.case(case):
                        lines.write(line)
                        rows.writerow({column: _text(value) for column, value in row.items()})
            if not writer.cases:
                return Exported((), 0, 0, tuple(writer.findings))
            if zipped:
                _pack(parts["csv"], parts["zip"], out.name)
            for part in ("csv", "zip") if zipped else ("csv",):
                _check(parts[part], paths[part], writer)
            for part, path in paths.items():
                parts[part].replace(path)
    except MedotterViewerError:
        raise
    except OSError as error:
        raise WriteError(f"{out}: cannot be written: {error.strerror or error}") from error
    return Exported(tuple(paths.values()), len(writer.cases), len(writer.areas), tuple(writer.findings))


def submission_line(case_id: str, number: int, ring: Ring) -> bytes:
    r"""Return the line of a polygon: shortest decimals that give the same numbers when read.

    Examples
    --------
    >>> submission_line("TC1", 7, np.array([[0.1, -2], [0.5, 3], [1e-7, 4]]))
    b'TC1,7,0.1,-2.0,0.5,3.0,1e-07,4.0\n'
    """
    return f"{case_id},{number},{','.join(map(repr, ring.ravel().tolist()))}\n".encode()


class _Writer:
    """Turns cases into lines, and remembers what must be read back."""

    def __init__(self, spec: EvalSpec, region: str, provenance: Provenance | None, generated_only: bool) -> None:
        self._spec, self._region, self._provenance, self._generated = spec, region, provenance, generated_only
        self._rules = spec.contours or ContourRules()
        self._bytes = 0
        self.cases: set[str] = set()
        self.areas: list[float] = []
        self.traced: list[bool] = []
        self.findings: list[Finding] = []

    def case(self, case: Case) -> Iterator[tuple[bytes, Row]]:
        """Yield line and row of each polygon, then rows without a line; a case that cannot be written gives none."""
        try:
            rings = case_rings(case, self._region, self._spec)
        except WriteError as error:
            self.findings.append(Finding("error", "case-not-written", str(error), where=case.case_id))
            return
        if rings.case_id in self.cases:
            raise WriteError(f"case {rings.case_id}: twice among the cases: its polygons would be united")
        self.cases.add(rings.case_id)
        rings, origins = self._chosen(rings)
        for number, found in rings.pred.items():
            for ring, area, origin in zip(found, rings.areas_mm2[number], origins[number], strict=True):
                line = submission_line(rings.case_id, number, ring)
                self._count(line, area, rings.traced)
                yield line, polygon_row(rings.case_id, number, len(self.areas), self._region, origin, area)
        try:
            for row in score_rows(rings, self._region, self._rules):
                yield b"", row
        except MetricInputError as error:
            message = f"case {rings.case_id}: written without scores: {error}"
            self.findings.append(Finding("warning", "case-not-scored", message, where=rings.case_id))

    def _chosen(self, rings: CaseRings) -> tuple[CaseRings, Mapping[int, Sequence[Origin]]]:
        """The rings to be written, and who made them."""
        usual: Origin = "model" if rings.traced else "imported"
        ask = self._provenance or (lambda *_: usual)
        origins = {n: [ask(rings.case_id, n, place) for place in range(len(r))] for n, r in rings.pred.items()}
        if not self._generated:
            return rings, origins
        kept = {n: [place for place, origin in enumerate(o) if origin != "edited"] for n, o in origins.items()}
        n_left_out = sum(map(len, origins.values())) - sum(map(len, kept.values()))
        if n_left_out:
            message = f"case {rings.case_id}: {n_left_out} polygons that a person edited are left out, as asked"
            self.findings.append(Finding("info", "edited-left-out", message, where=rings.case_id))
        pred = {n: [rings.pred[n][place] for place in places] for n, places in kept.items()}
        areas = {n: [rings.areas_mm2[n][place] for place in places] for n, places in kept.items()}
        return replace(rings, pred=pred, areas_mm2=areas), {
            n: [origins[n][place] for place in places] for n, places in kept.items()
        }

    def _count(self, line: bytes, area: float, traced: bool) -> None:
        """Keep to the limits of a submission."""
        self.areas.append(area)
        self.traced.append(traced)
        self._bytes += len(line)
        if len(self.areas) > MAX_LINES or self._bytes > MAX_BYTES:
            limits = f"{MAX_LINES:,} polygons and {MAX_BYTES // MEGABYTE} MB"
            raise WriteError(f"more than a submission may hold, {limits}: nothing is written; export fewer cases")


@contextmanager
def _replacing(paths: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Names beside the files, to be written first; what is left of them at the end is removed."""
    parts = {name: path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}") for name, path in paths.items()}
    for part in parts.values():
        part.unlink(missing_ok=True)  # of a process of the same number that was killed
    try:
        yield parts
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _pack(source: Path, archive: Path, name: str) -> None:
    with zipfile.ZipFile(archive, "x") as packed:
        member = zipfile.ZipInfo(name, _MEMBER_DATE)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = 0o644 << 16
        with source.open("rb") as file, packed.open(member, "w") as stream:
            while piece := file.read(1 << 20):
                stream.write(piece)


def _check(part: Path, path: Path, writer: _Writer) -> None:
    """Raise WriteError unless the file is read as a submission of the same areas."""
    reader = SubmissionReader(part)
    first = 0
    expected, traced = np.array(writer.areas), np.array(writer.traced, dtype=np.bool_)
    for block in reader:
        here = slice(first, first + len(block))
        first += len(block)
        if not len(block) or first > len(expected):
            continue
        found = ring_areas(block.points, block.starts)
        area = np.where(traced[here], found.shoelace, found.even_odd)
        bad = np.abs(area - expected[here]) > _SAME_AREA * found.box
        bad |= traced[here] & (found.crosses | (expected[here] <= 0))
        if bad.any():
            line = int(block.lines[np.flatnonzero(bad)[0]])
            raise WriteError(f"{path}: not written: line {line} is not read back with its area; this is a defect")
    errors = [finding.message for finding in reader.log.findings() if finding.severity == "error"]
    if errors or first != len(expected):
        reasons = "; ".join(errors[:3]) or f"{first} polygons of {len(expected)} are read back"
        raise WriteError(f"{path}: not written, it would be malformed: {reasons}")


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else "" if value is None else str(value)
