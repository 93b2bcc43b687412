"""One-to-one pairing of objects with the largest total weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.instances.overlap import InstanceOverlap

_OFFSET = 2.0  # above every weight: keeps all costs positive, as the sparse solver needs


def best_pairs(overlap: InstanceOverlap, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the pairs of a one-to-one assignment with the largest sum of weights, ascending.

    Parameters
    ----------
    overlap : InstanceOverlap
        Pairs to choose from; objects without overlap stay alone.
    weights : (k,) ndarray of float
        Of each pair, above 0 and below 2.

    Notes
    -----
    The Hungarian assignment on the full matrix of objects, solved on the overlapping pairs alone: pairs without
    overlap weigh nothing there. Each ground-truth object may instead take a place of its own that weighs 0, which
    makes every assignment a full one. Before, every pair is taken that weighs more than the heaviest other pairs of
    both its objects together: whatever they would take instead weighs less. Memory is that of the pairs, not of objects
    times objects. Where two assignments have the same sum either may be returned.

    References
    ----------
    Jonker and Volgenant, Computing 38 (1987); `scipy.sparse.csgraph.min_weight_full_bipartite_matching`.
    """
    chosen = np.zeros(weights.size, dtype=np.bool_)
    left = np.arange(weights.size)
    while left.size:
        g, p, weight = overlap.pair_gt[left], overlap.pair_pred[left], weights[left]
        sure = weight > _rivals(g, weight, overlap.n_gt) + _rivals(p, weight, overlap.n_pred)
        if not sure.any():
            chosen[_solved(left, g, p, weight)] = True
            break
        chosen[left[sure]] = True
        taken_g, taken_p = np.zeros(overlap.n_gt, dtype=np.bool_), np.zeros(overlap.n_pred, dtype=np.bool_)
        taken_g[g[sure]], taken_p[p[sure]] = True, True
        left = left[~(taken_g[g] | taken_p[p])]
    return np.flatnonzero(chosen)


def _rivals(owner: NDArray[np.int64], weights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The largest weight of another pair of the same object; 0 where there is none."""
    order = np.lexsort((weights, owner))
    last = np.cumsum(np.bincount(owner, minlength=n)) - 1  # of each object's pairs in this order: the heaviest
    ordered, owned = weights[order], owner[order]
    before = np.concatenate([[0.0], np.where(owned[1:] == owned[:-1], ordered[:-1], 0.0)])
    heaviest = last[owner]
    is_heaviest = np.zeros(owner.size, dtype=np.bool_)
    is_heaviest[order[last[owned]]] = True
    return np.where(is_heaviest, before[heaviest], ordered[heaviest])


def _solved(
    places: NDArray[np.int64], g: NDArray[np.int64], p: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Those of some pairs that the assignment takes."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, row = np.unique(g, return_inverse=True)
    columns, column = np.unique(p, return_inverse=True)
    own = np.arange(rows.size)
    cost = np.concatenate([_OFFSET - weights, np.full(rows.size, _OFFSET)])
    where = np.concatenate([row, own]), np.concatenate([column, columns.size + own])
    graph = csr_array((cost, where), shape=(rows.size, columns.size + rows.size))
    taken_row, taken_column = min_weight_full_bipartite_matching(graph)
    partner = np.full(rows.size, -1)
    partner[taken_row] = taken_column
    taken: NDArray[np.int64] = places[partner[row] == column]
    return taken
