"""What a ring is, and its area by its list of points alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.errors import MetricInputError

Ring = NDArray[np.float64]
"""(n, 2) points x, y; the last is joined to the first, whether or not it repeats it."""

_LARGEST = 1e100  # products of two coordinates stay finite


def as_ring(points: ArrayLike) -> Ring:
    """Return points as an (n, 2) float array; no point at all gives (0, 2).

    Raises
    ------
    MetricInputError
        If they are no pairs of numbers, or a coordinate is NaN, infinite or absurdly large.

    Examples
    --------
    >>> as_ring([(0, 0), (2, 0), (2, 1)]).shape, as_ring([]).shape
    ((3, 2), (0, 2))
    """
    try:
        ring = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MetricInputError(f"ring: got {points!r:.80}, expected pairs of numbers x, y") from error
    if ring.size == 0:
        return np.zeros((0, 2))
    if ring.ndim != 2 or ring.shape[1] != 2:
        raise MetricInputError(f"ring: got an array of shape {ring.shape}, expected (n, 2): x, y of n points")
    good = np.abs(ring) < _LARGEST
    if not good.all():
        point = int(np.flatnonzero(~good.all(axis=1))[0])
        raise MetricInputError(
            f"ring: point {point + 1} of {len(ring)} is ({ring[point, 0]}, {ring[point, 1]}); coordinates are finite "
            "numbers, remove or correct the ring"
        )
    return ring


def shoelace(points: ArrayLike) -> float:
    """Return the signed area by the vertex list; positive when x turns towards y (clockwise where y grows down).

    Parameters
    ----------
    points : (n, 2) array_like
        One ring, closed or not; fewer than three points give 0.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses.

    Notes
    -----
    ``sum(x[i] y[i+1] - x[i+1] y[i]) / 2``, taken about the first point. Every region counts as often as the ring
    winds around it: a bow-tie gives 0, a square traversed twice counts twice. `even_odd_area` counts it once.

    Examples
    --------
    >>> shoelace([(0, 0), (20, 0), (20, 10), (0, 10)]), shoelace([(0, 0), (20, 20), (20, 0), (0, 20)])
    (200.0, 0.0)
    """
    ring = as_ring(points)
    if len(ring) < 3:
        return 0.0
    x, y = (ring - ring[0]).T
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def edges_of(rings: Sequence[Ring]) -> tuple[Ring, Ring]:
    """Return the start and end points of all edges, the closing ones included."""
    if not rings:
        return np.zeros((0, 2)), np.zeros((0, 2))
    return np.concatenate(rings), np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
