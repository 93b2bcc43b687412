"""RTSTRUCT files: named structures, each with the contours that its ROI Number says are its own.

Names and contours stand in two lists of the file that need not have one order or one length; only (3006,0022) and
(3006,0084) say what belongs together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.structures import Contour, Roi, StructureSet
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.files import kind_of, read_header
from medotter_viewer.formats.dicom.values import Header

NAME = "rtstruct"

_KEYWORDS = (
    "SpecificCharacterSet", "SOPClassUID", "Modality", "FrameOfReferenceUID", "ReferencedFrameOfReferenceSequence",
    "StructureSetROISequence", "ROIContourSequence",
)  # fmt: skip
_FARTHEST_MM = 1e6
_WRITTEN = re.compile(r"[-+0-9.eE\\ \0]*")  # what float() takes beyond it, DICOM does not: 1_000, inf, nan
_MOST_MEETINGS, _FEW_POINTS = 100_000_000, 10_000  # fewer points than these cannot meet so often
_NAMED = 3  # bad contours that a message names one by one


def read_structures(path: Path) -> tuple[StructureSet, list[Finding]]:
    """Return the structures of an RTSTRUCT, and what was noticed.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    structures : StructureSet
        In the order of the file, those without contours too.
    findings : list of Finding
        An error for contours whose numbers cannot be read: they are left out, so that no area is right.

    Raises
    ------
    ReadError
        If the file is no RTSTRUCT, is damaged, or two structures have one number.
    """
    header = read_header(path, _KEYWORDS)
    if kind_of(header) != "rtstruct":
        raise ReadError(f"{path}: not an RTSTRUCT, but {header.text('Modality') or 'DICOM without a modality'}")
    reader = _Reader(path)
    rois = reader.named(header)
    for item in header.items("ROIContourSequence", "contours of structure"):
        number = item.whole("ReferencedROINumber")
        if number is None:
            raise ReadError(f"{item.place}no Referenced ROI Number: its contours belong to no structure")
        if number not in rois:
            reader.add("warning", "roi-not-listed", f"contours of ROI {number}, which the file does not name")
        roi = rois.get(number, Roi(number, f"ROI {number}", frame_of_reference_uid=reader.frame))
        rois[number] = reader.with_contours(roi, item)
    return StructureSet(tuple(rois.values()), path), reader.findings


def parse_points(text: str) -> NDArray[np.float64]:
    r"""Return (n, 3) mm LPS from the text of Contour Data, numbers with ``\`` between.

    Raises
    ------
    ValueError
        If a number is not written as DICOM writes them, is beyond a kilometre, or they are no triples.

    Examples
    --------
    >>> parse_points("1\\2\\-3.5\\4\\5e0\\-3.5 ").tolist()
    [[1.0, 2.0, -3.5], [4.0, 5.0, -3.5]]
    """
    if not text.strip(" \0"):
        return np.zeros((0, 3))
    parts = text.rstrip(" \0").split("\\")
    if not _WRITTEN.fullmatch(text):
        wrong = next(part for part in parts if not _WRITTEN.fullmatch(part))
        raise ValueError(f"got {wrong[:40]!r}, expected a number with a decimal point")
    try:
        values = np.array(list(map(float, parts)))
    except ValueError as error:
        place = next(i for i, part in enumerate(parts) if not _is_number(part))
        raise ValueError(f"value {place + 1} of {len(parts)} is {parts[place][:40]!r}, expected a number") from error
    if len(values) % 3:
        raise ValueError(f"got {len(values)} numbers, expected x, y, z of each point")
    if not (np.abs(values) <= _FARTHEST_MM).all():
        raise ValueError(f"got {values[np.abs(values).argmax()]:g} mm, expected at most {_FARTHEST_MM:g} mm")
    return values.reshape(-1, 3)


def _check_effort(points: NDArray[np.float64]) -> None:
    """Refuse a contour that runs to and fro without end: measuring it would take for ever."""
    if len(points) <= _FEW_POINTS:
        return
    meetings = 0
    for axis in range(3):
        levels, rank = np.unique(points[:, axis], return_inverse=True)
        if len(levels) > 1:
            meetings = max(meetings, int(np.abs(np.diff(rank.astype(np.int64))).sum()))
    if meetings > _MOST_MEETINGS:
        raise ValueError(f"{len(points)} points that run to and fro {meetings // len(points)} times over, no outline")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Reader:
    """Collects the findings of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.findings: list[Finding] = []
        self.frame: str | None = None

    def add(self, severity: Severity, code: str, message: str, where: str | None = None) -> None:
        self.findings.append(Finding(severity, code, message, str(self.path), where))

    def named(self, header: Header) -> dict[int, Roi]:
        """Structures by number, without contours."""
        frames = {item.text("FrameOfReferenceUID") for item in header.items("ReferencedFrameOfReferenceSequence")}
        frames = frames - {None} or {header.text("FrameOfReferenceUID")}
        self.frame = frames.pop() if len(frames) == 1 else None
        rois: dict[int, Roi] = {}
        for item in header.items("StructureSetROISequence", "structure"):
            number = item.whole("ROINumber")
            if number is None:
                raise ReadError(f"{item.place}no ROI Number: nothing says which contours are its own")
            name = item.words("ROIName")
            if number in rois:
                raise ReadError(
                    f"{self.path}: ROI number {number} stands twice ({rois[number].name!r} and {name!r}): nothing "
                    "says whose contours are whose; number them and export again"
                )
            frame = item.text("ReferencedFrameOfReferenceUID") or self.frame
            rois[number] = Roi(number, name or f"ROI {number}", frame_of_reference_uid=frame)
        return rois

    def with_contours(self, roi: Roi, item: Header) -> Roi:
        """The structure with the contours of one item added to those it has."""
        contours, seen, bad = list(roi.contours), {_content(c) for c in roi.contours}, []
        n, n_twice, n_counts, n_types = roi.n_contours, 0, 0, 0
        for one in item.items("ContourSequence"):
            n += 1
            try:
                points = parse_points(one.text("ContourData") or "")
                _check_effort(points)
            except ValueError as error:
                bad.append(f"contour {n}: {error}")
                continue
            kind = (one.text("ContourGeometricType") or "").upper()
            images = one.items("ContourImageSequence")
            uid = images[0].text("ReferencedSOPInstanceUID") if images else None
            contour = Contour(points, kind or "CLOSED_PLANAR", uid)
            n_types += not kind
            told = one.text("NumberOfContourPoints")
            n_counts += told is not None and told != str(len(points))
            content = _content(contour)
            if contour.no_area is None and content in seen:
                n_twice += 1
                continue
            seen.add(content)
            contours.append(contour)
        self.tell(roi.name, bad, n_twice, n_counts, n_types)
        color = roi.color or _color(item.text("ROIDisplayColor"))
        return replace(roi, color=color, contours=tuple(contours), n_contours=n)

    def tell(self, name: str, bad: list[str], n_twice: int, n_counts: int, n_types: int) -> None:
        """Say what is wrong with the contours of one structure."""
        if bad:
            more = f"; and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
            message = f"{name}: {'; '.join(bad[:_NAMED])}{more}: left out, correct the file"
            self.add("error", "contour-unreadable", message, name)
        if n_twice:
            message = f"{name}: {_count(n_twice)} the same points as another and are taken once"
            self.add("warning", "contour-repeated", message, name)
        if n_counts:
            message = f"{name}: {_count(n_counts)} another number of points than the file tells; all are taken"
            self.add("warning", "contour-point-count", message, name)
        if n_types:
            self.add("info", "contour-without-type", f"{name}: {_count(n_types)} no type; taken as closed", name)


def _count(n: int) -> str:
    return "1 contour has" if n == 1 else f"{n} contours have"


def _content(contour: Contour) -> bytes:
    return contour.points_lps.tobytes()


def _color(text: str | None) -> tuple[int, int, int] | None:
    """Red, green, blue, or None where they are no such numbers."""
    parts: Iterable[str] = (part.strip(" \0") for part in (text or "").split("\\"))
    values = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= 3]
    return (values[0], values[1], values[2]) if len(values) == 3 and max(values) <= 255 else None
