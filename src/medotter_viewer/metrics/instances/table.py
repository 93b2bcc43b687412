"""What became of every object: found, missed, invented, merged with a neighbour or split."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.instances.detection import matched_pairs
from medotter_viewer.metrics.instances.overlap import InstanceOverlap

MatchKind = Literal["tp", "fp", "fn", "merge", "split"]


@dataclass(frozen=True, slots=True)
class InstanceMatch:
    """What became of one object, or of one matching pair.

    Parameters
    ----------
    kind : {"tp", "fp", "fn", "merge", "split"}
        ``tp`` is a matching pair. A predicted object without match is a ``merge`` when more than half of each of
        two or more ground-truth objects lies in it, else ``fp``. A ground-truth object without match is a ``split``
        when two or more predicted objects lie in it with more than half of themselves, else ``fn``.
    gt_id, pred_id : int or None
        The object; both for ``tp``.
    iou : float
        Of the pair; without a match the highest IoU with any object of the other side, 0 without overlap.
    gt_area, pred_area : int or None
        Voxels.
    covers : tuple of int
        Ground-truth ids of which more than half lies in the predicted object.
    parts : tuple of int
        Predicted ids of which more than half lies in the ground-truth object.
    """

    kind: MatchKind
    gt_id: int | None
    pred_id: int | None
    iou: float
    gt_area: int | None
    pred_area: int | None
    covers: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()


def match_table(overlap: InstanceOverlap, threshold: float = 0.5, *, inclusive: bool = False) -> list[InstanceMatch]:
    """Return one row for each match, then for each ground-truth and each predicted object without one.

    The rows count as the scores do: TP is the number of ``tp``, FN of ``fn`` and ``split``, FP of ``fp`` and
    ``merge``. A matching pair stays ``tp`` when its prediction swallows a second object too: `covers` tells. Two
    empty masks give no rows.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.
    threshold, inclusive
        As for `matched_pairs`.

    Raises
    ------
    MetricInputError
        If the threshold is not from 0 to 1.

    Notes
    -----
    Of any object at most one other can hold more than half, so that merges and splits are unambiguous at any
    threshold. The rule is that of the Cell Tracking Challenge's SEG for ground-truth objects.

    References
    ----------
    Maška et al., Bioinformatics 30 (2014).

    Examples
    --------
    >>> from medotter_viewer.metrics.instances import match_instances
    >>> [(r.kind, r.gt_id, r.pred_id, r.covers) for r in match_table(match_instances(
    ...     np.array([1, 1, 2, 2, 3]), np.array([8, 8, 8, 8, 9])))]
    [('tp', 3, 9, (3,)), ('fn', 1, None, ()), ('fn', 2, None, ()), ('merge', None, 8, (1, 2))]
    """
    pairs = matched_pairs(overlap, threshold, inclusive=inclusive)
    g, p, n = overlap.pair_gt, overlap.pair_pred, overlap.intersections
    covers = _grouped(p, overlap.gt_ids[g], 2 * n > overlap.gt_areas[g])
    parts = _grouped(g, overlap.pred_ids[p], 2 * n > overlap.pred_areas[p])
    best_gt, best_pred = np.zeros(overlap.n_gt), np.zeros(overlap.n_pred)
    np.maximum.at(best_gt, g, overlap.ious)
    np.maximum.at(best_pred, p, overlap.ious)
    rows = [
        InstanceMatch(
            "tp",
            int(overlap.gt_ids[i]),
            int(overlap.pred_ids[j]),
            float(iou),
            int(overlap.gt_areas[i]),
            int(overlap.pred_areas[j]),
            covers[j],
            parts[i],
        )
        for i, j, iou in zip(g[pairs].tolist(), p[pairs].tolist(), overlap.ious[pairs], strict=True)
    ]
    for i in _others(overlap.n_gt, g[pairs]):
        kind: MatchKind = "split" if len(parts[i]) > 1 else "fn"
        area = int(overlap.gt_areas[i])
        rows.append(InstanceMatch(kind, int(overlap.gt_ids[i]), None, float(best_gt[i]), area, None, (), parts[i]))
    for j in _others(overlap.n_pred, p[pairs]):
        kind = "merge" if len(covers[j]) > 1 else "fp"
        area = int(overlap.pred_areas[j])
        rows.append(InstanceMatch(kind, None, int(overlap.pred_ids[j]), float(best_pred[j]), None, area, covers[j]))
    return rows


def _grouped(
    owner: NDArray[np.int64], ids: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> defaultdict[int, tuple[int, ...]]:
    """Ids of the chosen pairs by the object they belong to."""
    groups: defaultdict[int, tuple[int, ...]] = defaultdict(tuple)
    for place, one in zip(owner[chosen].tolist(), ids[chosen].tolist(), strict=True):
        groups[place] += (one,)
    return groups


def _others(count: int, matched: NDArray[np.int64]) -> list[int]:
    rest: list[int] = np.setdiff1d(np.arange(count), matched).tolist()
    return rest
