"""Rings that are combined, by even-odd or as a union, to polygons that have nothing in common: one ring each.

Nothing is clipped: every vertex stays where it is, and rings within others become holes by cutting to them. Which ring
lies in which is found by exact areas, so that rings may touch, retrace and cross themselves; rings that cross one
another have no such form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons.areas import combined_area, drawable, even_odd_area, overlap_areas
from medotter_viewer.geometry.polygons.keyholes import keyhole
from medotter_viewer.geometry.polygons.rings import Ring

_NOTHING = 1e-11  # of the smaller area: what rounding leaves of rings that only touch
_SAME = 1e-9  # relative, of the area before and after


class CrossingRingsError(MetricInputError):
    """Rings that cross each other: their combination has vertices that none of them has."""


def even_odd_polygons(rings: Iterable[ArrayLike]) -> list[Ring]:
    """Return polygons without common area that together cover what the rings do by the even-odd rule.

    Parameters
    ----------
    rings : iterable of (n, 2) array_like
        Of one structure on one slice, in any order and winding: a ring within another is a hole, one within that is
        an island.

    Returns
    -------
    list of (n, 2) ndarray
        In the order of the outer rings. A hole is a keyhole; see `keyhole`. Rings without area are left out, and
        pairs of equal ones, which cancel.

    Raises
    ------
    CrossingRingsError
        If two rings cross.
    MetricInputError
        For points that `as_ring` refuses.

    Examples
    --------
    >>> outer, inner = [(0, 0), (8, 0), (8, 8), (0, 8)], [(2, 2), (6, 2), (6, 6), (2, 6)]
    >>> (polygon,) = even_odd_polygons([inner, outer])
    >>> even_odd_area(polygon), len(polygon)
    (48.0, 11)
    """
    kept, _ = drawable(rings)
    if len(kept) < 2:
        return kept
    inside = _nested(kept, cancel_equal=True)
    kept, inside = _without_cancelled(kept, inside)
    depth = [len(outer) for outer in inside]
    polygons = []
    for place, ring in enumerate(kept):
        if depth[place] % 2:
            continue
        holes = [kept[i] for i, outer in enumerate(inside) if place in outer and depth[i] == depth[place] + 1]
        try:
            polygons.append(keyhole(ring, holes) if holes else ring)
        except MetricInputError as error:  # a hole on an oblique edge, up to rounding
            raise CrossingRingsError(f"rings touch so closely that no cut can be made: {error}") from error
    _check(combined_area(kept), polygons)
    return polygons


def union_polygons(rings: Iterable[ArrayLike]) -> list[Ring]:
    """Return those rings whose areas add up to what any of the rings covers: such as lie in another are left out.

    Parameters
    ----------
    rings : iterable of (n, 2) array_like
        Of one structure on one slice, each by the even-odd rule.

    Returns
    -------
    list of (n, 2) ndarray
        In the same order. Even-odd, united or summed, they are the same.

    Raises
    ------
    CrossingRingsError
        If two rings cross.
    MetricInputError
        For points that `as_ring` refuses.

    Examples
    --------
    >>> outer, inner = [(0, 0), (8, 0), (8, 8), (0, 8)], [(2, 2), (6, 2), (6, 6), (2, 6)]
    >>> len(union_polygons([inner, outer, outer]))
    1
    """
    kept, _ = drawable(rings)
    if len(kept) < 2:
        return kept
    polygons = [ring for ring, outer in zip(kept, _nested(kept, cancel_equal=False), strict=True) if not outer]
    _check(overlap_areas(kept, [])[1], polygons)
    return polygons


def _nested(rings: Sequence[Ring], *, cancel_equal: bool) -> list[set[int]]:
    """For each ring those around it; of equal rings each is around the other, or only the first around the second."""
    inside: list[set[int]] = [set() for _ in rings]
    low = np.array([ring.min(axis=0) for ring in rings])
    high = np.array([ring.max(axis=0) for ring in rings])
    for i, j in _meeting(low, high):
        both, only_i, only_j = overlap_areas([rings[i]], [rings[j]])
        least = _NOTHING * (both + min(only_i, only_j))
        if both <= least:
            continue
        if only_i > least and only_j > least:
            x, y = ((np.maximum(low[i], low[j]) + np.minimum(high[i], high[j])) / 2).tolist()
            raise CrossingRingsError(f"rings {i + 1} and {j + 1} cross each other near x {x:.6g}, y {y:.6g}")
        if only_j <= least:
            inside[j].add(i)
        if only_i <= least and (only_j > least or cancel_equal):
            inside[i].add(j)
    return inside


def _meeting(low: NDArray[np.float64], high: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Pairs of rings whose boxes share more than an edge; (n, 2) corners of the boxes."""
    for i in range(len(low) - 1):
        meets = ((low[i] < high[i + 1 :]) & (low[i + 1 :] < high[i])).all(axis=1)
        for j in np.flatnonzero(meets).tolist():
            yield i, i + 1 + j


def _without_cancelled(rings: list[Ring], inside: list[set[int]]) -> tuple[list[Ring], list[set[int]]]:
    """Rings without pairs of equal ones, each of which lies in the other."""
    left = set(range(len(rings)))
    for i in range(len(rings)):
        twin = next((j for j in inside[i] if i in left and j in left and i in inside[j]), None)
        if twin is not None:
            left -= {i, twin}
    places = sorted(left)
    number = {old: new for new, old in enumerate(places)}
    return [rings[i] for i in places], [{number[j] for j in inside[i] if j in left} for i in places]


def _check(area: float, polygons: Sequence[Ring]) -> None:
    """Raise unless the polygons have the area, each by itself and united."""
    summed = sum(even_odd_area(polygon) for polygon in polygons)
    united = overlap_areas(polygons, [])[1]
    if max(abs(summed - area), abs(united - area)) > _SAME * max(area, summed):
        raise CrossingRingsError(f"rings touch so closely that they cannot be told apart: {area:.6g}, not {summed:.6g}")
