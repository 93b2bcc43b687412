"""When slices lie evenly, and how far apart they usually lie: the only place that decides it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import PASS_FRACTION

EVEN_FRACTION, EVEN_MM = 0.01, 0.01
"""Distances differ where they do so by more than both: a part of the usual distance, and mm."""


def usual_distance(gaps: NDArray[np.float64]) -> float:
    """Return the distance that most neighbours have; the smallest of those that are equally frequent.

    Parameters
    ----------
    gaps : (n,) ndarray
        Distances between neighbours, mm, at least one.

    Examples
    --------
    >>> usual_distance(np.array([3.0, 6.0, 3.0, 9.0]))
    3.0
    """
    ordered = np.sort(gaps)
    near = np.searchsorted(ordered, ordered + np.maximum(EVEN_FRACTION * ordered, EVEN_MM), side="right")
    first = int(np.argmax(near - np.arange(len(ordered))))
    return float(np.median(ordered[first : near[first]]))


def differ(gaps: NDArray[np.float64]) -> bool:
    """Whether distances differ by more than positions are written with."""
    return len(gaps) > 0 and bool(np.ptp(gaps) > max(EVEN_FRACTION * usual_distance(gaps), EVEN_MM))


def off_even_mm(positions: NDArray[np.float64]) -> float:
    """Return by how many mm the worst slice lies off its place on the even grid from the first to the last."""
    return float(np.abs(positions - np.linspace(positions[0], positions[-1], len(positions))).max())


def are_uneven(positions: NDArray[np.float64]) -> bool:
    """Whether a slice lies more than `PASS_FRACTION` of the distance off its place: no one step holds for all then.

    Parameters
    ----------
    positions : (n,) ndarray
        mm along the normal, increasing.

    Examples
    --------
    >>> are_uneven(np.array([0.0, 3.0, 6.0, 9.0])), are_uneven(np.array([0.0, 3.0, 9.0]))
    (False, True)
    """
    gaps = np.diff(positions)
    return differ(gaps) and off_even_mm(positions) > PASS_FRACTION * usual_distance(gaps)
