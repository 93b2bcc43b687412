"""Arrows, dots and corners of boxes as polygons in the plane that is looked at. Pure.

Polygons and not lines: the width of a line is measured in steps of the grid, which differ between the axes of a plane.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Polygon = NDArray[np.float64]
"""(n, 2) corners in mm, down and across; the last is not the first again."""

_HEAD_LENGTH, _HEAD_WIDTH = 4.5, 3.6  # of an arrow, in widths of its shaft
_DOT_CORNERS = 12


def arrow(start: ArrayLike, end: ArrayLike, width_mm: float, rim_mm: float = 0.0) -> Polygon:
    """Return an arrow; one that is seen from its end is a dot.

    Parameters
    ----------
    start, end : (2,) array_like
        mm.
    width_mm : float
        Of the shaft.
    rim_mm : float
        By how much it is larger on all sides: what lies under an arrow to set it off.

    Examples
    --------
    >>> arrow((0, 0), (0, 10), 1.0).round(2).tolist()
    [[-0.5, 0.0], [-0.5, 5.5], [-1.8, 5.5], [0.0, 10.0], [1.8, 5.5], [0.5, 5.5], [0.5, 0.0]]
    """
    tail, tip = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(tip - tail))
    if length < width_mm:
        return dot((tail + tip) / 2, 1.5 * width_mm + rim_mm)
    along = (tip - tail) / length
    across = np.array([along[1], -along[0]])
    head = min(_HEAD_LENGTH * width_mm, 0.7 * length)
    wide = _HEAD_WIDTH * width_mm / 2
    slope = np.hypot(head, wide) / wide  # how much farther the point reaches for its sides to be that much farther out
    half, wing = width_mm / 2 + rim_mm, wide + rim_mm * (np.hypot(head, wide) + wide) / head
    neck = length - head - rim_mm
    return np.array(
        [
            tail - rim_mm * along - half * across,
            tail + neck * along - half * across,
            tail + neck * along - wing * across,
            tail + (length + rim_mm * slope) * along,
            tail + neck * along + wing * across,
            tail + neck * along + half * across,
            tail - rim_mm * along + half * across,
        ]
    )


def dot(middle: ArrayLike, radius_mm: float) -> Polygon:
    """Return a disc."""
    turn = np.linspace(0, 2 * np.pi, _DOT_CORNERS, endpoint=False)
    return np.asarray(middle, dtype=np.float64) + radius_mm * np.stack([np.sin(turn), np.cos(turn)], axis=1)


def corners(
    low: Sequence[float], high: Sequence[float], arm_mm: float, width_mm: float, rim_mm: float = 0.0
) -> list[Polygon]:
    """Return the four corners of a box, which leave its sides free.

    Parameters
    ----------
    low, high : (2,) sequence of float
        The box, mm; the corners are drawn outside of it.
    arm_mm, width_mm, rim_mm : float
        How long and wide the arms are, and by how much larger on all sides.

    Examples
    --------
    >>> [c.tolist() for c in corners((0, 0), (10, 10), 2.0, 1.0)][0]
    [[-1.0, -1.0], [-1.0, 2.0], [0.0, 2.0], [0.0, 0.0], [2.0, 0.0], [2.0, -1.0]]
    """
    found = []
    for down, across in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        y, x = (low if down < 0 else high)[0], (low if across < 0 else high)[1]
        out, inner, arm = width_mm + rim_mm, -rim_mm, arm_mm + rim_mm
        shape = [(out, out), (out, -arm), (inner, -arm), (inner, inner), (-arm, inner), (-arm, out)]
        found.append(np.array([(y + down * a, x + across * b) for a, b in shape]))
    return found
