"""Read what is drawn in a scan folder: names of its structures, and the rings of one structure on one slice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from medotter_viewer.core.contours import Ring
from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.scan_text import FARTHEST_MM, read_lines, to_number

MAX_NAMES_BYTES, MAX_RINGS_BYTES = 1 << 20, 1 << 26
_AXES = 3
_PLAIN = str.maketrans("", "", "0123456789+-.eE, \t\r")


def read_structure_names(path: Path) -> tuple[list[str], list[Finding]]:
    """Return the names of ``structures.dat``, and what was noticed; the n-th (from 1) is that of structure n.

    Parameters
    ----------
    path : Path
        One line, names with ``|`` between. Names are taken as written, blanks included; an end of line is none.

    Raises
    ------
    ReadError
        If the file cannot be read, is empty, or has a second line that is not blank.
    """
    lines = [(n, line.rstrip("\r")) for n, line in read_lines(path, MAX_NAMES_BYTES)]
    while len(lines) > 1 and not lines[-1][1].strip():
        lines.pop()
    if len(lines) > 1:
        raise ReadError(f"{path}: line {lines[1][0]}: got a second line, expected all names in one, with | between")
    if not lines or not lines[0][1]:
        raise ReadError(f"{path}: empty, expected names of structures with | between")
    names = lines[0][1].split("|")
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        message = f"{path}: names stand more than once: {', '.join(repeated[:5])}; each has its own contours"
        return names, [Finding("info", "scan-name-repeated", message, str(path))]
    return names, []


def read_rings(path: Path) -> tuple[list[Ring], list[Finding]]:
    """Return the rings of one structure on one slice, and what was noticed.

    Parameters
    ----------
    path : Path
        One ring in each line: ``x,y,z,x,y,z,...`` in mm LPS. z is not used.

    Returns
    -------
    rings : list of (n, 2) ndarray
        x, y as written; those without area too.
    findings : list of Finding
        Blank lines, and values left over at the end of a line: both are passed over.

    Raises
    ------
    ReadError
        If the file cannot be read, or a value is no number; the message names the line.
    """
    rings: list[Ring] = []
    blank: list[int] = []
    uneven: list[int] = []
    few: list[int] = []
    for number, line in read_lines(path, MAX_RINGS_BYTES):
        text = line.strip().removesuffix(",")
        if not text:
            blank.append(number)
            continue
        values = _values(text, path, number)
        whole = len(values) - len(values) % _AXES
        if whole != len(values):
            uneven.append(number)
        points = values[:whole].reshape(-1, _AXES)[:, :2].copy()
        if len(points) < 3:
            few.append(number)
        rings.append(points)
    findings = []
    for code, lines, what in (
        ("scan-blank-line", blank, "blank, passed over (the contest's reader stops here)"),
        ("scan-odd-values", uneven, "the number of values is no multiple of 3: those left over are passed over"),
        ("contour-without-area", few, "fewer than 3 points: no area"),
    ):
        if lines:
            severity = "warning" if code != "contour-without-area" else "info"
            message = f"{path}: line {_listed(lines)}: {what}"
            findings.append(Finding(severity, code, message, str(path), str(lines[0])))  # type: ignore[arg-type]
    return rings, findings


def _values(text: str, path: Path, number: int) -> Ring:
    """The numbers of a line; the quick way first, because a scan has a hundred thousand of them."""
    parts = text.split(",")
    try:
        if text.translate(_PLAIN):  # what float() takes beyond it: nan, inf, 1_0
            raise ValueError
        values = np.array(list(map(float, parts)))
    except ValueError:
        for place, part in enumerate(parts, 1):
            try:
                to_number(part)
            except ValueError as error:
                raise ReadError(f"{path}: line {number}: value {place}: {error}") from error
        raise ReadError(f"{path}: line {number}: expected numbers x,y,z,x,y,z,...") from None
    if not (np.abs(values) <= FARTHEST_MM).all():
        farthest = values[np.abs(values).argmax()]
        raise ReadError(f"{path}: line {number}: got {farthest:g} mm, expected at most {FARTHEST_MM:g} mm")
    return values


def _listed(lines: list[int]) -> str:
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return ", ".join(map(str, lines[:5])) + more
