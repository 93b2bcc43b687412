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
    makes every assignment a full one. Memory is that of the pairs, not of objects times objects. Where two
    assignments have the same sum either may be returned.

    References
    ----------
    Jonker and Volgenant, Computing 38 (1987); `scipy.sparse.csgraph.min_weight_full_bipartite_matching`.
    """
    g, p = overlap.pair_gt, overlap.pair_pred
    alone = (np.bincount(g, minlength=overlap.n_gt)[g] == 1) & (np.bincount(p, minlength=overlap.n_pred)[p] == 1)
    entangled = np.flatnonzero(~alone)
    if entangled.size == 0:
        return np.flatnonzero(alone)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, row = np.unique(g[entangled], return_inverse=True)
    columns, column = np.unique(p[entangled], return_inverse=True)
    own = np.arange(rows.size)
    cost = np.concatenate([_OFFSET - weights[entangled], np.full(rows.size, _OFFSET)])
    where = np.concatenate([row, own]), np.concatenate([column, columns.size + own])
    graph = csr_array((cost, where), shape=(rows.size, columns.size + rows.size))
    taken_row, taken_column = min_weight_full_bipartite_matching(graph)
    partner = np.full(rows.size, -1)
    partner[taken_row] = taken_column
    chosen = entangled[partner[row] == column]
    return np.sort(np.concatenate([np.flatnonzero(alone), chosen]))
