"""Whether a point lies inside rings, exactly: no rounding decides it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.geometry.polygons.rings import as_ring

_ROUNDING = 1e-14  # of the products: below it a sign is computed in whole fractions


def covers(rings: Iterable[ArrayLike], x: float, y: float) -> bool:
    """Tell whether any ring encloses a point, each by the even-odd rule; a point on an outline is inside.

    Parameters
    ----------
    rings : iterable of (n, 2) array_like
        Closed or not.
    x, y : float
        The point, in the unit of the rings; one that is not finite is nowhere.

    Returns
    -------
    bool
        False without rings.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses.

    Notes
    -----
    Counts the edges that a line from the point towards smaller x crosses, ``y_low <= y < y_high``. Where rounding
    could decide on which side of an edge the point lies, it is computed in fractions.

    Examples
    --------
    >>> square = [(0, 0), (10, 0), (10, 10), (0, 10)]
    >>> covers([square], 5, 5), covers([square], 10, 5), covers([square], 10.5, 5)
    (True, True, False)
    >>> covers([square, square], 5, 5)  # united: two rings do not cut each other out
    True
    """
    if not np.isfinite([x, y]).all():
        return False
    return any(_covers(as_ring(ring), float(x), float(y)) for ring in rings)


def _covers(ring: NDArray[np.float64], x: float, y: float) -> bool:
    if len(ring) == 0:
        return False
    start, end = ring, np.roll(ring, -1, axis=0)
    level = (start[:, 1] == y) & (end[:, 1] == y)
    if (level & (np.minimum(start[:, 0], end[:, 0]) <= x) & (x <= np.maximum(start[:, 0], end[:, 0]))).any():
        return True
    down = (start[:, 1] > end[:, 1])[:, None]
    low, high = np.where(down, end, start), np.where(down, start, end)
    passes = ~level & (low[:, 1] <= y) & (y <= high[:, 1])
    side = _sides(low[passes], high[passes], x, y)
    if (side == 0).any():
        return True
    return bool(np.count_nonzero((side > 0) & (high[passes][:, 1] > y)) % 2)


def _sides(low: NDArray[np.float64], high: NDArray[np.float64], x: float, y: float) -> NDArray[np.int64]:
    """1 where an edge passes at a smaller x than the point, -1 at a larger, 0 through it."""
    step = high - low
    along, across = (x - low[:, 0]) * step[:, 1], (y - low[:, 1]) * step[:, 0]
    side = np.sign(along - across).astype(np.int64)
    for i in np.flatnonzero(np.abs(along - across) <= _ROUNDING * (np.abs(along) + np.abs(across))).tolist():
        (x0, y0), (x1, y1) = _exact(low[i]), _exact(high[i])
        found = (Fraction(x) - x0) * (y1 - y0) - (Fraction(y) - y0) * (x1 - x0)
        side[i] = (found > 0) - (found < 0)
    return side


def _exact(point: Any) -> tuple[Fraction, Fraction]:
    return Fraction(float(point[0])), Fraction(float(point[1]))
