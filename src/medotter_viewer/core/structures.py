"""Named structures drawn as contours, before anything says on which slices they lie: the content of an RTSTRUCT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.segments import unique_names

XOR_TYPE = "CLOSEDPLANAR_XOR"
"""The geometric type whose rings DICOM combines by even-odd; of other types every ring stands by itself."""

_HOW_MANY = {
    "point": ("{} is a point", "{} are points"),
    "2 points": ("{} has 2 points", "{} have 2 points"),
    "open": ("{} is open", "{} are open"),
    "empty": ("{} is empty", "{} are empty"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """One list of points.

    Parameters
    ----------
    points_lps : (n, 3) ndarray
        mm LPS, as written; not closed: the last point is joined to the first. May be empty.
    geometric_type : str
        DICOM's Contour Geometric Type: ``CLOSED_PLANAR``, ``CLOSEDPLANAR_XOR``, ``OPEN_PLANAR``, ``POINT``, ...
    sop_uid : str or None
        The image it says it was drawn on.
    """

    points_lps: NDArray[np.float64]
    geometric_type: str = "CLOSED_PLANAR"
    sop_uid: str | None = None

    @property
    def no_area(self) -> str | None:
        """Why it encloses nothing: ``point``, ``2 points`` (distinct ones), ``open``, ``empty``; None if it may."""
        if len(self.points_lps) == 0:
            return "empty"
        if self.geometric_type.startswith("OPEN"):
            return "open"
        others = self.points_lps[(self.points_lps != self.points_lps[0]).any(axis=1)]
        if len(others) == 0 or self.geometric_type == "POINT":
            return "point"
        return None if (others != others[0]).any() else "2 points"


@dataclass(frozen=True, slots=True, eq=False)
class Roi:
    """One structure.

    Parameters
    ----------
    number : int
        ROI Number: what joins the name to the contours.
    name : str
        As written, without the blanks around it; other structures may have the same.
    color : (int, int, int) or None
        Red, green, blue, 0 to 255.
    contours : tuple of Contour
        Those whose numbers could be read.
    n_contours : int
        How many the file holds.
    frame_of_reference_uid : str or None
        The coordinate system of its points.
    """

    number: int
    name: str
    color: tuple[int, int, int] | None = None
    contours: tuple[Contour, ...] = ()
    n_contours: int = 0
    frame_of_reference_uid: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StructureSet:
    """All structures of one file.

    Parameters
    ----------
    rois : tuple of Roi
        In the order of the file; numbers differ.
    file : Path or None
        For messages.
    """

    rois: tuple[Roi, ...]
    file: Path | None = None

    @property
    def names(self) -> dict[int, str]:
        """ROI number to a name that no other has: see `core.segments.unique_names`."""
        return unique_names((roi.number, roi.name) for roi in self.rois)

    @property
    def frame_of_reference_uids(self) -> tuple[str, ...]:
        """The coordinate systems that structures name, each once."""
        return tuple(dict.fromkeys(r.frame_of_reference_uid for r in self.rois if r.frame_of_reference_uid))

    def described(self) -> str:
        """Return its file for messages."""
        return "the structure set" if self.file is None else str(self.file)


def without_area(reasons: Iterable[str]) -> str:
    """Return how many contours enclose nothing, by kind, as words.

    Examples
    --------
    >>> without_area(["open", "point", "point"])
    '2 are points, 1 is open'
    """
    counts = Counter(reasons)
    return ", ".join(_HOW_MANY[kind][counts[kind] > 1].format(counts[kind]) for kind in _HOW_MANY if counts[kind])
