"""Read a submission of lung tumour contours: lines of ``scan,slice,x1,y1,x2,y2,...`` in mm LPS, as CSV or zip.

In the contest a malformed file scores zero as a whole, so every line is judged before any is used. The file is read
as a stream; what is kept of a line is its numbers, and the findings of each kind are bounded in number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medotter_viewer.core.contours import Ring
from medotter_viewer.core.findings import Finding
from medotter_viewer.formats.submission_reader import Progress, Slices, Status, SubmissionReader
from medotter_viewer.formats.submission_rings import PolygonBlock, SubmissionRings


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """What a submission holds.

    Parameters
    ----------
    status : {"ok", "malformed"}
        One malformed line makes the whole file malformed.
    lines : int
        Lines read, blank ones included; the first that is too many is the last.
    polygons : int
        Lines that hold a polygon.
    findings : sequence of Finding
        Errors name the line in `where`. Of each code the first 1000 are listed, and how many more there are.
    rings : mapping of str to mapping of int to sequence of (n, 2) ndarray
        Scan id, slice number (1-based), rings x, y in mm LPS as written. Empty for a malformed file.
    """

    status: Status
    lines: int
    polygons: int
    findings: Sequence[Finding] = ()
    rings: Mapping[str, Mapping[int, Sequence[Ring]]] = field(default_factory=SubmissionRings)


def read_submission(
    path: Path,
    *,
    slices: Slices | None = None,
    contest_reader: bool = False,
    on_progress: Progress | None = None,
) -> Submission:
    """Return the polygons of a submission, or what is wrong with it.

    Parameters
    ----------
    path : Path
        CSV file, or zip archive with one CSV file: UTF-8, no header, at most 1,000,000 lines and 100,000,000 bytes of
        text.
    slices : mapping of str to collection of int, optional
        The scans there are and the numbers of their slices; any other is an error. Without it every scan is taken,
        and every slice from 1 on.
    contest_reader : bool, default False
        Take what the contest's own reader takes, see `contest_line`.
    on_progress : callable, optional
        Called with the MB read and all MB.

    Returns
    -------
    Submission
        An empty file is valid. Blank lines are passed over.

    Raises
    ------
    ReadError
        If there is no such file, or it cannot be read. What it holds raises nothing.
    """
    reader = SubmissionReader(path, slices=slices, contest_reader=contest_reader, on_progress=on_progress)
    blocks: list[PolygonBlock] = []
    for block in reader:
        if reader.log.has_errors:
            blocks.clear()
        else:
            blocks.append(block)
    if reader.status == "malformed":
        blocks.clear()
    rings = SubmissionRings(blocks, reader.scan_ids if blocks else ())
    return Submission(reader.status, reader.lines, reader.polygons, reader.log.findings(), rings)
