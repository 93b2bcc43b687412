"""Areas of very many rings at once, and which of them cross themselves: a look at a file of a million polygons."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BATCH = 1 << 13  # edges swept at a time
_PAIRS_PER_EDGE, _MOST_PAIRS = 64, 1 << 21  # of edge and strip: a scribble of n points has n * n / 3 of them


@dataclass(frozen=True, slots=True, eq=False)
class RingAreas:
    """Areas of n rings.

    Parameters
    ----------
    shoelace : (n,) ndarray of float64
        Absolute area by the list of points.
    even_odd : (n,) ndarray of float64
        Area by the even-odd rule; NaN where the ring crosses itself, or is too intricate to be examined.
    crosses : (n,) ndarray of bool
        Whether two edges cross, or come so close that rounding makes it seem so.
    box : (n,) ndarray of float64
        Area of the box around the ring: what an area is small against.
    """

    shoelace: Floats
    even_odd: Floats
    crosses: NDArray[np.bool_]
    box: Floats


def ring_areas(points: Floats, starts: Ints) -> RingAreas:
    """Return the areas of rings.

    Parameters
    ----------
    points : (m, 2) ndarray
        x, y of all rings, one after the other; finite.
    starts : (n + 1,) ndarray of int
        Ring i has the points ``starts[i]`` to ``starts[i + 1]``, at least one. Closed or not.

    Returns
    -------
    RingAreas
        In the square of the coordinates' unit. Without rings, empty arrays.

    Notes
    -----
    Convex rings are told by their turns. Every other one is cut into strips at the y of its vertices: where no two
    edges change places between the two sides of a strip, none cross, and the trapezoids between the first and the
    second edge, the third and the fourth, ... are the area.

    Examples
    --------
    >>> found = ring_areas(np.array([[0, 0], [4, 0], [4, 3], [0, 0], [2, 2], [2, 0], [0, 2.0]]), np.array([0, 3, 7]))
    >>> found.even_odd.tolist(), found.shoelace.tolist(), found.crosses.tolist()
    ([6.0, nan], [6.0, 0.0], [False, True])
    """
    n = len(starts) - 1
    if n == 0:
        return RingAreas(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0))
    low = np.minimum.reduceat(points, starts[:-1])
    size = np.maximum.reduceat(points, starts[:-1]) - low
    box = size[:, 0] * size[:, 1]
    even_odd, crosses = np.zeros(n), np.zeros(n, dtype=np.bool_)
    count = np.diff(starts)
    step = points[_following(starts)] - points
    offset = points - np.repeat(points[starts[:-1]], count, axis=0)
    shoelace = np.abs(np.add.reduceat(offset[:, 0] * step[:, 1] - offset[:, 1] * step[:, 0], starts[:-1])) / 2
    convex = _is_convex(step, starts)
    even_odd[convex] = shoelace[convex]
    (rest,) = np.nonzero(~convex & (box > 0))
    batch = (np.cumsum(count[rest]) - 1) // _BATCH
    for number in np.unique(batch):
        rings = rest[batch == number]
        unit = (take_rings(points, starts, rings)[0] - np.repeat(low[rings], count[rings], axis=0)) / np.repeat(
            size[rings], count[rings], axis=0
        )
        area, crossing = _sweep(unit, np.concatenate([[0], np.cumsum(count[rings])]))
        even_odd[rings], crosses[rings] = area * box[rings], crossing
    return RingAreas(shoelace, even_odd, crosses, box)


def take_rings(points: Floats, starts: Ints, rings: Ints) -> tuple[Floats, Ints]:
    """Return the points and starts of some rings only."""
    count = np.diff(starts)[rings]
    begin = np.concatenate([[0], np.cumsum(count)])
    index = np.arange(begin[-1]) + np.repeat(starts[:-1][rings] - begin[:-1], count)
    return points[index], begin


def _following(starts: Ints) -> Ints:
    """Index of the point after each, the first of a ring after its last."""
    following = np.arange(1, starts[-1] + 1)
    following[starts[1:] - 1] = starts[:-1]
    return following


def _is_convex(step: Floats, starts: Ints) -> NDArray[np.bool_]:
    """Whether each ring turns one way, once around; False for rings without extent."""
    n = len(starts) - 1
    ring = np.repeat(np.arange(n), np.diff(starts))
    moving = (step != 0).any(axis=1)
    step, ring = step[moving], ring[moving]
    count = np.bincount(ring, minlength=n)
    there = count > 0
    first = np.concatenate([[0], np.cumsum(count[there])])
    if first[-1] == 0:
        return there
    after = step[_following(first)]
    turn = step[:, 0] * after[:, 1] - step[:, 1] * after[:, 0]
    ahead = (step * after).sum(axis=1)
    backwards = (turn == 0) & (ahead < 0)
    one_way = (np.minimum.reduceat(turn, first[:-1]) >= 0) | (np.maximum.reduceat(turn, first[:-1]) <= 0)
    around = np.abs(np.add.reduceat(np.arctan2(turn, ahead), first[:-1])) < 3 * pi
    convex = np.zeros(n, dtype=np.bool_)
    convex[there] = one_way & around & ~np.logical_or.reduceat(backwards, first[:-1])
    return convex


def _sweep(unit: Floats, starts: Ints) -> tuple[Floats, NDArray[np.bool_]]:
    """Areas of rings in the unit square, NaN where unknown, and whether edges cross; each ring in a band of its own."""
    n = len(starts) - 1
    ring = np.repeat(np.arange(n), np.diff(starts))
    unit = unit + np.stack([np.zeros(len(ring)), 2.0 * ring], axis=1)
    end = unit[_following(starts)]
    sloped = unit[:, 1] != end[:, 1]
    start, end, ring = unit[sloped], end[sloped], ring[sloped]
    down = (start[:, 1] > end[:, 1])[:, None]
    low, high = np.where(down, end, start), np.where(down, start, end)
    levels = np.unique(np.concatenate([low[:, 1], high[:, 1]]))
    first, last = np.searchsorted(levels, low[:, 1]), np.searchsorted(levels, high[:, 1])
    pairs = np.bincount(ring, last - first, n)
    intricate = (pairs > _PAIRS_PER_EDGE * np.diff(starts)) | (pairs > _MOST_PAIRS)
    (edges,) = np.nonzero(~intricate[ring])
    count = (last - first)[edges]
    edge = np.repeat(edges, count)
    strip = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + first[edge]
    begin, slope = low[edge], (high[edge] - low[edge])
    at = [begin[:, 0] + (y - begin[:, 1]) / slope[:, 1] * slope[:, 0] for y in (levels[strip], levels[strip + 1])]
    order = np.lexsort((at[1], at[0], strip))
    strip, of_ring = strip[order], ring[edge[order]]
    bottom, top = at[0][order], at[1][order]
    turned = (strip[1:] == strip[:-1]) & (top[1:] < top[:-1])
    crosses = np.zeros(n, dtype=np.bool_)
    crosses[of_ring[1:][turned]] = True
    middle, height = (bottom + top) / 2, levels[strip + 1] - levels[strip]
    strips = (middle[1::2] - middle[::2]) * height[::2]  # closed: even in every strip
    area = np.asarray(np.bincount(of_ring[::2], strips, n), dtype=np.float64)
    area[crosses | intricate] = np.nan
    return area, crosses
