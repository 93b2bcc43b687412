"""The facts of a submission of lung contours: how many polygons each scan has."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.core.findings import errors_of
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.polygon_csv import read_submission
from medotter_viewer.sources.info.facts import Facts, facts

SUFFIXES = (".csv", ".zip")


def submission_facts(path: Path) -> Facts:
    """Return the facts of a CSV file of polygons, or of a zip file with one: items are its scans.

    Raises
    ------
    ReadError
        If it cannot be read, or has no line that is a polygon. A malformed line among others is a note.
    """
    found = read_submission(path)
    broken = errors_of(found.findings)
    if broken and not found.polygons:
        raise ReadError(f"{path}: no submission of polygons: {broken[0].message}")
    items = [
        {"kind": "scan", "id": scan, "slices": len(slices), "polygons": sum(map(len, slices.values()))}
        for scan, slices in found.rings.items()
    ]
    counts = {"status": found.status, "lines": found.lines, "polygons": found.polygons}
    return {**facts(path, "submission", items=items, notes=found.findings), **counts}
