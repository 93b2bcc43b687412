"""Which rings of a scan are probably not meant as they are: named one by one, none left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import as_ring, even_odd_area
from medotter_viewer.geometry.polygons.areas import flat_area
from medotter_viewer.geometry.polygons.many import ring_areas

FEW_POINTS = "fewer than 3 points"
NO_AREA = "no area"
TINY = "smaller than a pixel"
REPEATED = "repeated points"
CROSSING = "crosses itself"
NO_SLICE = "the scan has no such slice"
UNREADABLE = "not finite numbers"


@dataclass(frozen=True, slots=True)
class RingFault:
    """A ring and what is odd about it.

    Parameters
    ----------
    number : int
        Slice number.
    place : int
        Which of the slice's rings, 0-based.
    n_points : int
        How many points it has.
    area_mm2 : float or None
        By the even-odd rule; None where it cannot be computed.
    reasons : tuple of str
        What is odd, the gravest first; at least one.
    centre : (float, float) or None
        x, y in mm LPS of the middle of its box; None without a finite point.
    """

    number: int
    place: int
    n_points: int
    area_mm2: float | None
    reasons: tuple[str, ...]
    centre: tuple[float, float] | None


def ring_faults(
    contours: ScanContours, *, numbers: Collection[int] | None = None, pixel_mm2: float = 0.0
) -> list[RingFault]:
    """Return the rings without area, smaller than a pixel, with repeated points, crossing themselves, or on no slice.

    Parameters
    ----------
    contours : ScanContours
        Of one structure, or one side.
    numbers : collection of int, optional
        The slices that the scan has; None where that is not known.
    pixel_mm2 : float
        Area of a pixel; 0 where there are none.

    Returns
    -------
    list of RingFault
        In the order of slices and rings; empty where nothing is odd.

    Notes
    -----
    Repeated means one after the other: a bridge to a hole passes the same points twice and is as it should be, and so
    is a first point that stands at the end again.
    """
    found: list[RingFault] = []
    for number in sorted(contours.rings):
        here = contours.rings[number]
        missing = numbers is not None and number not in numbers
        for place, (ring, crosses) in enumerate(_examined(here)):
            if ring is None:
                reasons = [UNREADABLE, *[NO_SLICE] * missing]
                found.append(RingFault(number, place, len(here[place]), None, tuple(reasons), None))
                continue
            area = _area(ring)
            reasons = [*[NO_SLICE] * missing, *_reasons(ring, area, pixel_mm2), *[CROSSING] * crosses]
            if reasons:
                middle = (ring.min(axis=0) + ring.max(axis=0)) / 2 if len(ring) else None
                centre = None if middle is None else (float(middle[0]), float(middle[1]))
                found.append(RingFault(number, place, len(ring), area, tuple(reasons), centre))
    return found


def _examined(rings: Sequence[ArrayLike]) -> Iterator[tuple[NDArray[np.float64] | None, bool]]:
    """Every ring of a slice, None for one that cannot be read, and whether it crosses itself."""
    read: list[NDArray[np.float64] | None] = []
    for points in rings:
        try:
            read.append(as_ring(points))
        except MetricInputError:
            read.append(None)
    full = [ring for ring in read if ring is not None and len(ring)]
    if full:
        starts = np.concatenate([[0], np.cumsum([len(ring) for ring in full])])
        crossing = iter(ring_areas(np.concatenate(full), starts).crosses.tolist())
    for ring in read:
        yield ring, bool(next(crossing)) if ring is not None and len(ring) else False


def _area(ring: NDArray[np.float64]) -> float | None:
    try:
        area = even_odd_area(ring)
    except MetricInputError:
        return None
    return 0.0 if area <= flat_area(ring) else area


def _reasons(ring: NDArray[np.float64], area: float | None, pixel_mm2: float) -> Iterator[str]:
    distinct = len(np.unique(ring, axis=0))
    if distinct < 3:
        yield FEW_POINTS
    elif area == 0:
        yield NO_AREA
    elif area is not None and area < pixel_mm2:
        yield TINY
    if len(ring) > 1 and (ring[1:] == ring[:-1]).all(axis=1).any():
        yield REPEATED
