"""Read ``auxiliary/<slice>.dat`` of a scan folder: the DICOM tags of one slice as lines of text."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.scan_text import read_lines, shown, to_number

MAX_BYTES = 1 << 20
_LARGEST_SIZE = 1 << 16
_LINE = re.compile(r"\s*\(([0-9a-fA-F]{4})\.([0-9a-fA-F]{4})\)\s*(?:,(.*))?")
_WANTED = {
    "0018.0050": ("thickness_mm", 1),
    "0020.0032": ("origin_lps", 3),
    "0020.0037": ("axes_lps", 6),
    "0028.0010": ("rows", 1),
    "0028.0011": ("columns", 1),
    "0028.0030": ("spacing_mm", 2),
    "0028.1052": ("intercept", 1),
    "0028.1053": ("slope", 1),
}
_TEXT = {"0028.1054": "unit"}


@dataclass(frozen=True, slots=True)
class SliceTags:
    """What the file of a slice says; None where it says nothing.

    Parameters
    ----------
    origin_lps : (float, float, float) or None
        (0020,0032): centre of the first pixel, mm LPS.
    axes_lps : tuple of 6 float or None
        (0020,0037): direction along a row, then along a column.
    spacing_mm : (float, float) or None
        (0028,0030) in the order of DICOM: between rows, between columns.
    thickness_mm : float or None
        (0018,0050).
    rows, columns : int or None
        (0028,0010), (0028,0011).
    slope, intercept : float or None
        (0028,1053), (0028,1052).
    unit : str or None
        (0028,1054).
    """

    origin_lps: tuple[float, ...] | None = None
    axes_lps: tuple[float, ...] | None = None
    spacing_mm: tuple[float, ...] | None = None
    thickness_mm: float | None = None
    rows: int | None = None
    columns: int | None = None
    slope: float | None = None
    intercept: float | None = None
    unit: str | None = None


def read_slice_tags(path: Path) -> tuple[SliceTags, list[Finding]]:
    """Return the tags of one slice, and what was noticed.

    Parameters
    ----------
    path : Path
        Lines ``(gggg.eeee),value,value``; blanks around values do not matter. Tags that are not needed are passed
        over, and so is an empty value.

    Raises
    ------
    ReadError
        If the file cannot be read, or a needed tag holds no number, not as many as it should, or stands twice with
        different values; the message names file, line and tag.
    """
    findings: list[Finding] = []
    texts: dict[str, tuple[int, str]] = {}
    strange: list[int] = []
    for number, line in read_lines(path, MAX_BYTES):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            strange.append(number)
            continue
        tag, text = f"{match[1]}.{match[2]}".lower(), (match[3] or "").strip()
        if (tag not in _WANTED and tag not in _TEXT) or not text:
            continue
        if tag in texts and texts[tag][1] != text:
            raise ReadError(
                f"{path}: lines {texts[tag][0]} and {number}: tag ({tag}) stands twice, as {shown(texts[tag][1])} and "
                f"{shown(text)}; keep one"
            )
        texts.setdefault(tag, (number, text))
    if strange:
        lines = ", ".join(map(str, strange[:5])) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
        message = f"{path}: line {lines}: not a tag, expected (gggg.eeee),value; passed over"
        findings.append(Finding("warning", "scan-line-unknown", message, str(path), str(strange[0])))
    found = {_TEXT[tag]: text for tag, (_, text) in texts.items() if tag in _TEXT}
    numbers = {_WANTED[tag][0]: _numbers(path, tag, *texts[tag]) for tag in texts if tag in _WANTED}
    known = {one.name for one in fields(SliceTags)}
    values = {name: value for name, value in {**found, **numbers}.items() if name in known}
    return SliceTags(**values), findings  # type: ignore[arg-type]


def _numbers(path: Path, tag: str, line: int, text: str) -> tuple[float, ...] | float | int:
    """The values of a tag, of the kind that belongs to it."""
    name, count = _WANTED[tag]
    where = f"{path}: line {line}: tag ({tag})"
    parts = text.split(",")
    try:
        values = tuple(map(to_number, parts))
    except ValueError as error:
        raise ReadError(f"{where}: {error}") from error
    if len(values) != count:
        raise ReadError(f"{where}: got {shown(text)}, expected {count} number{'s' * (count > 1)}")
    if name in ("rows", "columns"):
        if not (values[0].is_integer() and 0 < values[0] <= _LARGEST_SIZE):
            raise ReadError(f"{where}: got {shown(text)}, expected a number of pixels up to {_LARGEST_SIZE}")
        return int(values[0])
    if name == "spacing_mm" and min(values) <= 0:
        raise ReadError(f"{where}: got {shown(text)}, expected two lengths above 0 mm")
    return values if count > 1 else values[0]
