"""What every object costs of the aggregated Jaccard index, in voxels: the costs add up to what is missing from 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.instances.overlap import InstanceOverlap


@dataclass(frozen=True, slots=True, eq=False)
class AjiLosses:
    """Costs of all objects.

    Parameters
    ----------
    gt : (n,) ndarray of int64
        Voxels that each ground-truth object costs.
    pred : (m,) ndarray of int64
        Voxels that each predicted object costs: 0 where a ground-truth object takes it.
    union : int
        The denominator of the index, in voxels; 0 only where neither mask holds an object.
    """

    gt: NDArray[np.int64]
    pred: NDArray[np.int64]
    union: int

    def share(self, voxels: int) -> float:
        """Return the part of 1 that some voxels cost; 0 where neither mask holds an object."""
        return voxels / self.union if self.union else 0.0


def taken_pairs(overlap: InstanceOverlap) -> NDArray[np.int64]:
    """Return the places of the pairs that the index is made of: to every overlapped object of ground truth its best.

    That is the prediction of highest IoU, of equal ones that of the lowest id; others may take it, too.
    """
    g = overlap.pair_gt  # ascending
    if not g.size:
        return np.zeros(0, dtype=np.int64)
    starts = np.concatenate([[0], np.flatnonzero(g[1:] != g[:-1]) + 1])
    highest = np.repeat(np.maximum.reduceat(overlap.ious, starts), np.diff(starts, append=g.size))
    best = np.flatnonzero(overlap.ious == highest)  # predictions of an object ascend: the first has the lowest id
    first = np.concatenate([[True], g[best[1:]] != g[best[:-1]]])
    pairs: NDArray[np.int64] = best[first]
    return pairs


def aji_losses(overlap: InstanceOverlap) -> AjiLosses:
    """Return how many voxels of the aggregated Jaccard index (AJI) every object costs.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.

    Notes
    -----
    AJI = I / U, where I sums ``|g & p|`` and U sums ``|g | p|`` over every ground-truth object g with the prediction p
    that it takes, and U also counts g alone where nothing overlaps it, and every prediction that nobody took. So::

        1 - AJI = (U - I) / U
        loss(g) = |g | p| - |g & p|     voxels in one of the two only; |g| without overlap
        loss(q) = |q|                   of a prediction that nobody took, else 0

    and the losses of all objects sum to U - I exactly, whole numbers as they are. A prediction that two objects take
    (a merge) costs in both of them, as it does in the index.

    Examples
    --------
    >>> from medotter_viewer.metrics.instances import match_instances
    >>> found = aji_losses(match_instances(np.array([1, 1, 2, 2, 0]), np.array([1, 1, 1, 1, 5])))
    >>> found.gt, found.pred, found.union
    (array([2, 2]), array([0, 1]), 9)
    """
    pairs = taken_pairs(overlap)
    g, p = overlap.pair_gt[pairs], overlap.pair_pred[pairs]
    gt, pred = overlap.gt_areas.astype(np.int64), overlap.pred_areas.astype(np.int64)  # copies
    union = int(overlap.unions[pairs].sum())
    without = np.ones(gt.size, dtype=np.bool_)
    without[g] = False
    gt[g] = overlap.unions[pairs] - overlap.intersections[pairs]
    pred[p] = 0
    return AjiLosses(gt, pred, union + int(gt[without].sum()) + int(pred.sum()))
