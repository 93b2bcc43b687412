"""One ring for an exterior and its holes, for formats in which a polygon is a single list of points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons.rings import Ring, as_ring, shoelace


def keyhole(exterior: ArrayLike, holes: Sequence[ArrayLike]) -> Ring:
    """Return one ring that runs along the exterior and, over a bridge, around each hole.

    Parameters
    ----------
    exterior : (n, 2) array_like
        Simple ring.
    holes : sequence of (m, 2) array_like
        Simple rings inside it that do not cross one another; they may touch.

    Returns
    -------
    (k, 2) ndarray
        Not closed. Holes run against the exterior, so its even-odd area and its `shoelace` both are the area of
        the exterior less the holes. Without holes the exterior itself.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses, or a hole that does not lie inside.

    Notes
    -----
    From the leftmost point of a hole the bridge runs along y towards smaller x to the nearest edge, and back over the
    same points: it crosses nothing. For rings along pixel edges its end is exact; on an oblique edge it is rounded
    like any coordinate.

    References
    ----------
    DICOM PS3.3 C.8.8.6.3: an inner contour is joined to the outer one by a channel without width.

    Examples
    --------
    >>> square = [(0, 0), (4, 0), (4, 4), (0, 4)]
    >>> ring = keyhole(square, [[(1, 1), (3, 1), (3, 3), (1, 3)]])
    >>> ring.tolist()[3:7], shoelace(ring)
    ([[0.0, 4.0], [0.0, 1.0], [1.0, 1.0], [1.0, 3.0]], 12.0)
    """
    ring = _open(as_ring(exterior))
    turn = shoelace(ring)
    inner = []
    for points in holes:
        hole = _open(as_ring(points))
        if len(hole) < 3:
            continue
        if shoelace(hole) * turn > 0:
            hole = hole[::-1]
        first = int(np.lexsort((hole[:, 1], hole[:, 0]))[0])
        inner.append(np.roll(hole, -first, axis=0))
    for hole in sorted(inner, key=lambda h: (h[0, 0], h[0, 1])):  # what lies to the left is joined already
        ring = _joined(ring, hole)
    return ring


def _joined(ring: Ring, hole: Ring) -> Ring:
    """Cut the ring where the bridge from the hole's first point meets it, and go around the hole there."""
    x, y = hole[0]
    start, end = ring, np.roll(ring, -1, axis=0)
    rise = end[:, 1] - start[:, 1]
    meets = (rise != 0) & (np.minimum(start[:, 1], end[:, 1]) <= y) & (y <= np.maximum(start[:, 1], end[:, 1]))
    edges = np.flatnonzero(meets)
    at = start[edges, 0] + (y - start[edges, 1]) * (end[edges, 0] - start[edges, 0]) / rise[edges]
    at = np.where(end[edges, 1] == y, end[edges, 0], at)
    left = at <= x
    if not left.any():
        raise MetricInputError(f"hole at ({x}, {y}) does not lie inside its exterior")
    edge = int(edges[left][np.argmax(at[left])])
    foot = np.array([[at[left].max(), y]])
    path = np.concatenate([ring[: edge + 1], foot, hole, hole[:1], foot, ring[edge + 1 :]])
    return _open(path)


def _open(ring: Ring) -> Ring:
    """Drop points that the next one repeats, so also a last one that repeats the first."""
    opened: Ring = ring[(ring != np.roll(ring, -1, axis=0)).any(axis=1)]
    return opened if len(opened) else ring[:1]
