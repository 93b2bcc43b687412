"""Write a submission and the table beside it: whole, read back and scored, or not at all."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Ring
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError, WriteError
from medotter_viewer.export.companion import COLUMNS
from medotter_viewer.export.replacing import unfinished
from medotter_viewer.export.submission_writer import SubmissionWriter
from medotter_viewer.formats.submission_reader import SubmissionReader
from medotter_viewer.geometry.polygons.many import ring_areas

Progress = Callable[[int, int], object]
"""Called with the cases and the polygons written so far."""

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
    generated_only: bool = False,
    zipped: bool = False,
    as_drawn: bool = False,
    on_progress: Progress | None = None,
) -> Exported:
    """Write the predicted polygons of a region as a submission, with a table of areas and scores beside it.

    Parameters
    ----------
    cases : iterable of Case
        One after the other; none is kept: in memory are the rings of one case, twice while they are read back, and
        eight bytes for each polygon. `ScanContours.origins` says who made a polygon; where it does not, a traced one is
        of a ``model`` and any other ``imported``.
    out : Path
        ``FILE.csv``; the table is ``FILE.scores.csv``. Files that are there are replaced at the end, all or none.
    spec : EvalSpec
        Gives the region's ids and the rules of the score.
    region : str
        The one region: a submission has no column for it.
    generated_only : bool
        Leave out what a person edited.
    zipped : bool
        Write ``FILE.zip`` too, with the submission as its one member.
    as_drawn : bool
        Write a prediction drawn as an RTSTRUCT as it was drawn, unless its label map was changed since; else it is
        traced.
    on_progress : callable, optional
        Called after each case.

    Returns
    -------
    Exported
        A case that cannot be written is left out and named by an error.

    Raises
    ------
    WriteError
        If the files cannot be written, would exceed the limits of a submission, or are not read back as they were
        meant, with their areas and scores; nothing is changed then.
    RegionNotFoundError
        If there is no such region.
    """
    spec.check_region(region)
    if out.suffix.lower() != ".csv":
        raise WriteError(f"{out}: expected a name that ends in .csv")
    paths = submission_paths(out, zipped=zipped)
    for path in paths.values():
        if path.is_dir():
            raise WriteError(f"{path}: is a folder")
    writer = SubmissionWriter(
        spec, region, generated_only=generated_only, as_drawn=as_drawn, line=submission_line, out=out
    )
    try:
        with unfinished({**paths, "case": out.with_suffix(".case.csv")}) as parts:
            with parts["csv"].open("xb") as lines, parts["scores"].open("x", encoding="utf-8", newline="") as table:
                rows = csv.DictWriter(table, COLUMNS, lineterminator="\n")
                rows.writeheader()
                for place, case in enumerate(cases, 1):
                    writer.write(case, lines, rows, parts["case"])
                    if on_progress is not None:
                        on_progress(place, len(writer.areas))
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


def submission_paths(out: Path, *, zipped: bool) -> dict[str, Path]:
    """Return every file of an export by what it is: ``csv``, ``scores`` and, where asked for, ``zip``."""
    paths = {"csv": out, "scores": out.with_suffix(".scores.csv")}
    return {**paths, "zip": out.with_suffix(".zip")} if zipped else paths


def submission_line(case_id: str, number: int, ring: Ring) -> bytes:
    r"""Return the line of a polygon: shortest decimals that give the same numbers when read.

    Examples
    --------
    >>> submission_line("TC1", 7, np.array([[0.1, -2], [0.5, 3], [1e-7, 4]]))
    b'TC1,7,0.1,-2.0,0.5,3.0,1e-07,4.0\n'
    """
    return f"{case_id},{number},{','.join(map(repr, ring.ravel().tolist()))}\n".encode()


def _pack(source: Path, archive: Path, name: str) -> None:
    with zipfile.ZipFile(archive, "x") as packed:
        member = zipfile.ZipInfo(name, _MEMBER_DATE)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = 0o644 << 16
        with source.open("rb") as file, packed.open(member, "w") as stream:
            while piece := file.read(1 << 20):
                stream.write(piece)


def _check(part: Path, path: Path, writer: SubmissionWriter) -> None:
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
