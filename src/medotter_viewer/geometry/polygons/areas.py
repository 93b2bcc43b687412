"""Areas that rings enclose by the even-odd rule, alone and in common, by sweeping a line over all of their edges.

Not by polygon clipping: libraries for that repair a ring before they use it, which follows another rule where a ring
retraces itself (a bridge to a hole that crosses a second hole), and may lose a whole face where edges nearly coincide.
A sweep has no such states: rounding moves a crossing by rounding, and the area by as little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons.rings import Ring, as_ring, edges_of, shoelace

Floats = NDArray[np.float64]
_FLAT = 1e-12  # of the box around a ring: what rounding leaves of a ring without area
_MOST_IN_A_STRIP = 3000  # each is compared with each
_BLOCK = 1 << 18  # pairs of edge and strip at a time: bounds the memory that thousands of rings take


def even_odd_area(points: ArrayLike) -> float:
    """Return the area of the points that any line to the outside reaches by crossing the ring an odd number of times.

    Parameters
    ----------
    points : (n, 2) array_like
        One ring, closed or not. Spikes and repeated points add nothing, a stretch traversed twice is none; a hole
        may be a keyhole of either winding.

    Returns
    -------
    float
        0 or more, in the square of the coordinates' unit; 0 with fewer than three distinct points.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses.

    Examples
    --------
    >>> even_odd_area([(0, 0), (20, 20), (20, 0), (0, 20)]), even_odd_area([(0, 0), (0, 1), (0, 2)])
    (200.0, 0.0)
    """
    _, area, _ = overlap_areas([points], [])
    return area


def overlap_areas(first: Iterable[ArrayLike], second: Iterable[ArrayLike]) -> tuple[float, float, float]:
    """Return the areas in the unions of both sets of rings, of the first only, and of the second only.

    Parameters
    ----------
    first, second : iterable of (n, 2) array_like
        Rings, closed or not. Each encloses what it does by the even-odd rule; a set covers what any of its rings
        encloses.

    Returns
    -------
    both, first_only, second_only : float
        0 or more, in the square of the coordinates' unit; 0 without rings.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses, and where thousands of edges cross each other at one height.

    Notes
    -----
    The plane is cut into strips at the y of every vertex and every crossing of edges. Within a strip edges do not
    cross, so the trapezoid between two neighbours is its width half-way up times its height, and counts for the rings
    with an odd number of edges to its left. Exact for rings along pixel edges; otherwise the error is that of rounding
    coordinates.

    References
    ----------
    Bentley and Ottmann, Algorithms for reporting and counting geometric intersections, IEEE Trans. Comput. C-28
    (1979), for the sweep; strips replace their event queue here.

    Examples
    --------
    >>> overlap_areas([[(0, 0), (4, 0), (4, 4), (0, 4)]], [[(2, 2), (6, 2), (6, 6), (2, 6)], [(3, 3), (4, 3), (4, 4)]])
    (4.0, 12.0, 12.0)
    """
    return _swept(_edges([as_ring(points) for points in first], [as_ring(points) for points in second]))


def combined_area(rings: Iterable[ArrayLike]) -> float:
    """Return the area by the even-odd rule over all rings at once: a ring within another is a hole.

    Parameters
    ----------
    rings : iterable of (n, 2) array_like
        Closed or not, in any order and winding.

    Returns
    -------
    float
        0 or more, in the square of the coordinates' unit; 0 without rings.

    Raises
    ------
    MetricInputError
        As `overlap_areas`.

    Examples
    --------
    >>> combined_area([[(1, 1), (1, 3), (3, 3), (3, 1)], [(0, 0), (4, 0), (4, 4), (0, 4)]])
    12.0
    """
    edges = _edges([as_ring(points) for points in rings], [])
    _, area, _ = _swept(replace(edges, ring=np.zeros_like(edges.ring)))
    return area


def _swept(edges: _Edges) -> tuple[float, float, float]:
    """Areas in both sets, the first only, the second only."""
    levels = np.unique(np.concatenate([edges.low[:, 1], edges.high[:, 1]]))
    crossings = [_crossings(edges, strips) for strips in _strips(edges, levels)]
    levels = np.unique(np.concatenate([levels, *crossings]))
    total = np.zeros(3)
    for strips in _strips(edges, levels):
        total += _trapezoids(edges, strips)
    both, first_only, second_only = total.tolist()
    return both, first_only, second_only


def drawable(rings: Iterable[ArrayLike]) -> tuple[list[Ring], int]:
    """Return the rings that enclose an area, and how many do not.

    Left out are rings of fewer than three distinct points and those without even-odd area: collinear, retraced.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses.

    Examples
    --------
    >>> kept, n_skipped = drawable([[(1, 1)], [(0, 0), (0, 1), (0, 2)], [(0, 0), (4, 0), (4, 4)]])
    >>> len(kept), n_skipped
    (1, 2)
    """
    all_rings = [as_ring(points) for points in rings]
    kept = [ring for ring in all_rings if even_odd_area(ring) > flat_area(ring)]
    return kept, len(all_rings) - len(kept)


def is_flat(ring: Ring) -> bool:
    """Tell whether points lie on lines: cheaper than `drawable`, but a ring that is traversed twice is not flat."""
    flat = flat_area(ring)
    return abs(shoelace(ring)) <= flat and even_odd_area(ring) <= flat


def flat_area(ring: Ring) -> float:
    """Return the largest area that only rounding gives a ring."""
    return float(np.prod(np.ptp(ring, axis=0))) * _FLAT if len(ring) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Edges that are not horizontal: lower and upper ends, number of the ring, and whether it is of the second set."""

    low: Floats
    high: Floats
    ring: NDArray[np.int64]
    second: NDArray[np.bool_]

    def x(self, edge: NDArray[np.int64], y: Floats) -> Floats:
        """X of edges at y; of the same edge in either direction the same."""
        low, high = self.low[edge], self.high[edge]
        found: Floats = low[:, 0] + (y - low[:, 1]) / (high[:, 1] - low[:, 1]) * (high[:, 0] - low[:, 0])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Strips:
    """Some consecutive strips: each edge that passes through one, its strip, and where that begins and ends."""

    edge: NDArray[np.int64]
    strip: NDArray[np.int64]
    bottom: Floats
    top: Floats


def _edges(first: list[Ring], second: list[Ring]) -> _Edges:
    """All edges, moved next to the origin, where coordinates are finest."""
    rings = [ring for ring in (*first, *second) if len(ring)]
    start, end = edges_of(rings)
    number = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    sloped = start[:, 1] != end[:, 1]
    start, end, number = start[sloped], end[sloped], number[sloped]
    origin = start.min(axis=0, initial=np.inf) if len(start) else np.zeros(2)
    down = (start[:, 1] > end[:, 1])[:, None]
    low, high = np.where(down, end, start) - origin, np.where(down, start, end) - origin
    return _Edges(low, high, number, number >= sum(len(ring) > 0 for ring in first))


def _strips(edges: _Edges, levels: Floats) -> Iterator[_Strips]:
    """Cut between levels, and give strips in blocks of bounded size."""
    begin, end = np.searchsorted(levels, edges.low[:, 1]), np.searchsorted(levels, edges.high[:, 1])
    changes = np.bincount(begin, minlength=len(levels)) - np.bincount(end, minlength=len(levels))
    filled = np.cumsum(np.cumsum(changes))
    at = 0
    while at < len(levels) - 1:
        before = filled[at - 1] if at else 0
        stop = min(max(at + 1, int(np.searchsorted(filled, before + _BLOCK, side="right"))), len(levels) - 1)
        first, last = np.maximum(begin, at), np.minimum(end, stop)
        (there,) = np.nonzero(first < last)
        counts = last[there] - first[there]
        edge = np.repeat(there, counts)
        strip = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]
        yield _Strips(edge, strip, levels[strip], levels[strip + 1])
        at = stop


def _crossings(edges: _Edges, strips: _Strips) -> Floats:
    """The y at which edges cross within a strip: those whose order below and above differ."""
    bottom, top = edges.x(strips.edge, strips.bottom), edges.x(strips.edge, strips.top)
    order = np.lexsort((top, bottom, strips.strip))
    strip, bottom, top = strips.strip[order], bottom[order], top[order]
    turned = (strip[1:] == strip[:-1]) & (top[1:] < top[:-1])
    found = [np.zeros(0)]
    for at in np.unique(strip[1:][turned]):
        here = slice(*np.searchsorted(strip, [at, at + 1]))
        if here.stop - here.start > _MOST_IN_A_STRIP:
            raise MetricInputError(
                f"{here.stop - here.start} edges cross each other at one height, at most {_MOST_IN_A_STRIP} can be "
                "compared: these are no outlines of structures"
            )
        gap, closing = (np.subtract.outer(x[here], x[here]) for x in (bottom, top))
        crossing = (gap > 0) & (closing < 0)
        gap, closing = gap[crossing], closing[crossing]
        low, high = strips.bottom[order[here.start]], strips.top[order[here.start]]
        found.append(low + gap / (gap - closing) * (high - low))
    return np.unique(np.concatenate(found))


def _trapezoids(edges: _Edges, strips: _Strips) -> Floats:
    """Areas in both sets, the first only, the second only."""
    x = edges.x(strips.edge, (strips.bottom + strips.top) / 2)
    ring = edges.ring[strips.edge]
    by_ring = np.lexsort((x, ring, strips.strip))
    enters = np.empty(len(x), dtype=np.int64)
    enters[by_ring] = 1 - 2 * (np.arange(len(x)) & 1)  # a closed ring has an even number of edges in every strip
    order = np.lexsort((x, strips.strip))
    second = edges.second[strips.edge][order]
    in_first = np.cumsum(np.where(second, 0, enters[order]))[:-1] > 0
    in_second = np.cumsum(np.where(second, enters[order], 0))[:-1] > 0
    area = np.diff(x[order]) * (strips.top - strips.bottom)[order][:-1]
    return np.array(
        [area[in_first & in_second].sum(), area[in_first & ~in_second].sum(), area[in_second & ~in_first].sum()]
    )
