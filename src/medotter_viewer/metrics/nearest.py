"""The nearest of some voxels for every other, by a search tree: the plain engine's search."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.threads import thread_count

_WHOLE = 2**53  # whole numbers up to here are exact floats
_SLACK = 1e-12  # what rounding may hide between the distances of a search tree

_Index = NDArray[np.integer[Any]]
_Found = tuple[NDArray[np.float64], NDArray[np.integer[Any]]]


def lengths(differences: NDArray[Any], spacing: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lengths in mm of (..., ndim) differences of indices: squares are added in the order of the axes."""
    total = np.zeros(differences.shape[:-1])
    for axis, step in enumerate(spacing):
        total += np.square(differences[..., axis] * step)
    return np.sqrt(total)


def nearest_by_tree(
    queries: _Index, targets: _Index, spacing: NDArray[np.float64], *, balanced: bool = False
) -> _Found:
    """Return the smallest length in mm from each query to the targets, and the row of such a target.

    Parameters
    ----------
    queries, targets : (n, ndim), (m, ndim) ndarray of int
        Array indices; one of each at least.
    spacing : (ndim,) ndarray of float64
        mm along each axis.
    balanced : bool
        Whether the tree is balanced, which takes longer to build: for voxels that are far from all targets, the other
        kind takes minutes.

    Returns
    -------
    distances : (n,) ndarray of float64
        The smallest of `lengths`, to the last bit.
    nearest : (n,) ndarray of int
    """
    from scipy.spatial import cKDTree

    # From one corner of both, so that no bit depends on where in the array they lie.
    corner = np.minimum(queries.min(axis=0), targets.min(axis=0))
    extent = np.maximum(queries.max(axis=0), targets.max(axis=0)) - corner
    tree = cKDTree((targets - corner) * spacing, balanced_tree=balanced, compact_nodes=balanced)
    places = (queries - corner) * spacing
    if _is_exact(extent, spacing):
        return queried(tree, places)
    # The tree's own rounding may take one of several for the nearest whose lengths differ in the last bit: look at all.
    slack = 1e-14 * float(np.max(extent * spacing))
    best, found = np.empty(len(queries)), np.empty(len(queries), dtype=np.intp)
    rows, k = np.arange(len(queries)), 2
    while rows.size:
        distances, nearest = queried(tree, places[rows], k)
        is_there = np.isfinite(distances)
        away = lengths(queries[rows, None] - targets[np.where(is_there, nearest, 0)], spacing)
        away[~is_there] = np.inf
        first = away.argmin(axis=1)
        best[rows], found[rows] = away[np.arange(rows.size), first], nearest[np.arange(rows.size), first]
        rows = rows[distances[:, -1] <= distances[:, 0] * (1 + _SLACK) + slack]
        k *= 2
    return best, found


def queried(tree: Any, places: NDArray[np.float64], k: int = 1) -> _Found:
    """Return distances and rows of the `k` nearest, asked for in a thread that Ctrl+C does not reach.

    Interrupted itself, a query leaves threads behind that go on computing; where the program then ends, it crashes
    instead of saying what was done.
    """
    with ThreadPoolExecutor(1) as asking:  # waits for its end, whatever happens
        return asking.submit(tree.query, places, k=k, workers=thread_count()).result()  # type: ignore[no-any-return]


def _is_exact(extent: NDArray[np.integer[Any]], spacing: NDArray[np.float64]) -> bool:
    """Tell whether no square and no sum of squares is ever rounded: then equal distances are equal numbers."""
    steps = [Fraction(step) for step in spacing.tolist()]
    unit = Fraction(1, math.lcm(*(step.denominator for step in steps)))
    return sum((int(n) * int(step / unit)) ** 2 for n, step in zip(extent.tolist(), steps, strict=True)) < _WHOLE
