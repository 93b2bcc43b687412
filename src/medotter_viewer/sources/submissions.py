"""One model's polygons of many scans: one file, read once, of which a malformed line spoils the whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.polygon_csv import read_submission

_NAMED = 3  # lines whose fault is part of each case's message


@dataclass(frozen=True, slots=True, eq=False)
class SubmittedScans:
    """What a model submitted.

    Parameters
    ----------
    file : Path or None
        The submission; None where there is none.
    rings : mapping of str to mapping of int to sequence of ring
        Scan id to slice number to rings; empty for a file that cannot be used.
    error : Finding or None
        Why the file cannot be used: the same for every scan.
    findings : sequence of Finding
        What was noticed in the file.
    """

    file: Path | None = None
    rings: Mapping[str, Mapping[int, Sequence[Ring]]] = field(default_factory=dict)
    error: Finding | None = None
    findings: Sequence[Finding] = ()

    def of(self, scan_id: str) -> ScanContours | None:
        """Return the rings of a scan: none for a scan that is not mentioned, None without a usable submission."""
        if self.file is None or self.error is not None:
            return None
        if scan_id not in self.rings:
            return ScanContours()
        return ScanContours({number: list(rings) for number, rings in self.rings[scan_id].items()})


def load_submission(place: Path, name: str, slices: Mapping[str, Collection[int]]) -> SubmittedScans:
    """Return what a model submitted.

    Parameters
    ----------
    place : Path
        The file, or the folder that holds it.
    name : str
        Its name in the folder; with ``.zip`` or ``.csv`` instead of its suffix it is taken too.
    slices : mapping of str to collection of int
        The scans there are and the numbers of their slices.
    """
    files = [place]
    if place.is_dir():
        stem = name.rsplit(".", 1)[0] if name.lower().endswith((".csv", ".zip")) else name
        names = dict.fromkeys((name, f"{stem}.csv", f"{stem}.zip"))
        files = [path for one in names if (path := place / Path(one).name).is_file()]
    if not files:
        return SubmittedScans()
    if len(files) > 1:
        message = f"{place}: holds {' and '.join(path.name for path in files)}; keep one"
        return SubmittedScans(files[0], error=Finding("error", "ambiguous-prediction", message, str(place)))
    try:
        found = read_submission(files[0], slices=slices)
    except ReadError as error:
        return SubmittedScans(files[0], error=Finding("error", "unreadable-file", str(error), str(files[0])))
    if found.status == "ok":
        return SubmittedScans(files[0], found.rings, None, found.findings)
    faults = errors_of(found.findings)
    more = f"; and {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
    reasons = "; ".join(fault.message for fault in faults[:_NAMED])
    message = f"{files[0]} is malformed, so none of it counts: {reasons}{more}"
    why = Finding("error", "malformed-submission", message, str(files[0]))
    return SubmittedScans(files[0], {}, why, found.findings)
