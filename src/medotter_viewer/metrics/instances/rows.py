"""Every object of two instance masks in arrays, at any threshold: fast enough to follow a slider.

The same objects as `match_table` gives, without a Python object for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.instances.assignment import best_pairs
from medotter_viewer.metrics.instances.detection import Detection, matched_pairs
from medotter_viewer.metrics.instances.losses import AjiLosses, aji_losses
from medotter_viewer.metrics.instances.overlap import InstanceOverlap
from medotter_viewer.metrics.instances.table import MatchKind

KINDS: tuple[MatchKind, ...] = get_args(MatchKind)
"""What a code of `MatchRows.kinds` stands for."""
_TP, _FP, _FN, _MERGE, _SPLIT = (KINDS.index(kind) for kind in ("tp", "fp", "fn", "merge", "split"))


@dataclass(frozen=True, slots=True, eq=False)
class MatchRows:
    """One line for every match, then for every ground-truth and every predicted object without one.

    Parameters
    ----------
    kinds : (n,) ndarray of uint8
        Places in `KINDS`. ``tp`` is a pair, ``fn`` and ``split`` are ground-truth objects, ``fp`` and ``merge``
        predicted ones.
    gt, pred : (n,) ndarray of int64
        Places in the ids of the overlap: the object, and of the other side the one it matches, or without a match that
        of highest IoU (of equal ones that of the lowest id); -1 where nothing overlaps it.
    ious : (n,) ndarray of float64
        Of the two; 0 without overlap.
    losses : (n,) ndarray of int64
        Voxels that the line costs of the aggregated Jaccard index, see `aji_losses`; of a match both objects'.
    """

    kinds: NDArray[np.uint8]
    gt: NDArray[np.int64]
    pred: NDArray[np.int64]
    ious: NDArray[np.float64]
    losses: NDArray[np.int64]

    @property
    def of_gt(self) -> NDArray[np.bool_]:
        """Whether a line is about a ground-truth object, alone or in a pair."""
        return np.isin(self.kinds, (_TP, _FN, _SPLIT))

    @property
    def of_pred(self) -> NDArray[np.bool_]:
        """Whether a line is about a predicted object, alone or in a pair."""
        return np.isin(self.kinds, (_TP, _FP, _MERGE))

    @property
    def is_match(self) -> NDArray[np.bool_]:
        """Whether a line is a pair that matches."""
        return np.asarray(self.kinds == _TP)

    def count(self, kind: MatchKind) -> int:
        """Return how many lines are of a kind."""
        return int(np.count_nonzero(self.kinds == KINDS.index(kind)))


class Matcher:
    """The matches of two instance masks at any threshold; what does not depend on it is worked out once.

    A match has an IoU **above** the threshold, as for `matched_pairs`.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.

    Examples
    --------
    >>> from medotter_viewer.metrics.instances import match_instances
    >>> matcher = Matcher(match_instances(np.array([1, 1, 1, 1]), np.array([1, 1, 2, 2])))
    >>> [(d.tp, d.fp, d.fn) for d in map(matcher.detection, (0.4, 0.5))]
    [(1, 1, 0), (0, 2, 1)]
    """

    def __init__(self, overlap: InstanceOverlap) -> None:
        self.overlap = overlap

    @cached_property
    def losses(self) -> AjiLosses:
        """What every object costs of the aggregated Jaccard index."""
        return aji_losses(self.overlap)

    @cached_property
    def n_parts(self) -> NDArray[np.int64]:
        """(n,) predicted objects that lie in each ground-truth object with more than half of themselves."""
        overlap = self.overlap
        inside = 2 * overlap.intersections > overlap.pred_areas[overlap.pair_pred]
        return np.bincount(overlap.pair_gt[inside], minlength=overlap.n_gt)

    @cached_property
    def n_covers(self) -> NDArray[np.int64]:
        """(m,) ground-truth objects of which more than half lies in each predicted object."""
        overlap = self.overlap
        covered = 2 * overlap.intersections > overlap.gt_areas[overlap.pair_gt]
        return np.bincount(overlap.pair_pred[covered], minlength=overlap.n_pred)

    def parts(self, gt: int) -> list[int]:
        """Return the ids of the predicted objects that `n_parts` counts; `gt` is a place in the ids."""
        overlap = self.overlap
        low, high = np.searchsorted(overlap.pair_gt, [gt, gt + 1])
        p = overlap.pair_pred[low:high]
        found: list[int] = overlap.pred_ids[p[2 * overlap.intersections[low:high] > overlap.pred_areas[p]]].tolist()
        return found

    def covers(self, pred: int) -> list[int]:
        """Return the ids of the ground-truth objects that `n_covers` counts; `pred` is a place in the ids."""
        overlap = self.overlap
        pairs = np.flatnonzero(overlap.pair_pred == pred)
        g = overlap.pair_gt[pairs]
        found: list[int] = overlap.gt_ids[g[2 * overlap.intersections[pairs] > overlap.gt_areas[g]]].tolist()
        return found

    def pairs(self, threshold: float) -> NDArray[np.int64]:
        """Return what `matched_pairs` returns.

        Raises
        ------
        MetricInputError
            If the threshold is not from 0 to 1.
        """
        if not 0 <= threshold < 0.5:
            return matched_pairs(self.overlap, threshold)
        chosen = self._largest_total  # an assignment that no threshold changes
        return chosen[self.overlap.ious[chosen] > threshold]

    def detection(self, threshold: float) -> Detection:
        """Return what `detections` returns for one threshold, to the last bit.

        Raises
        ------
        MetricInputError
            If the threshold is not from 0 to 1.
        """
        return self._detection(threshold, self.pairs(threshold))

    def counts(self, thresholds: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return how many matches there are at each of some thresholds, and the sum of their IoU, rounded as it comes.

        Much faster than `detection` for each, for a curve; its sums may differ in the last digits.
        """
        at = np.asarray(thresholds)
        ious = self.overlap.ious
        below, above = (np.sort(part) for part in (ious[self._largest_total], ious[ious > 0.5]))
        tp, sums = np.zeros(at.size, dtype=np.int64), np.zeros(at.size)
        for part, chosen in ((below, at < 0.5), (above, at >= 0.5)):
            first = np.searchsorted(part, at[chosen], side="right")
            totals = np.concatenate([np.cumsum(part[::-1])[::-1], [0.0]])
            tp[chosen], sums[chosen] = part.size - first, totals[first]
        return tp, sums

    def rows(self, threshold: float) -> MatchRows:
        """Return what became of every object.

        Raises
        ------
        MetricInputError
            If the threshold is not from 0 to 1.
        """
        overlap, pairs = self.overlap, self.pairs(threshold)
        g, p = overlap.pair_gt[pairs], overlap.pair_pred[pairs]
        left_gt, left_pred = _left(overlap.n_gt, g), _left(overlap.n_pred, p)
        best_pred, gt_ious = (part[left_gt] for part in self._best_of_gt)
        best_gt, pred_ious = (part[left_pred] for part in self._best_of_pred)
        kinds = (
            np.full(pairs.size, _TP),
            np.where(self.n_parts[left_gt] > 1, _SPLIT, _FN),
            np.where(self.n_covers[left_pred] > 1, _MERGE, _FP),
        )
        losses = self.losses.gt[g] + self.losses.pred[p], self.losses.gt[left_gt], self.losses.pred[left_pred]
        return MatchRows(
            np.concatenate(kinds).astype(np.uint8),
            np.concatenate([g, left_gt, best_gt]),
            np.concatenate([p, best_pred, left_pred]),
            np.concatenate([overlap.ious[pairs], gt_ious, pred_ious]),
            np.concatenate(losses),
        )

    def prepare(self) -> None:
        """Work out all that is kept, so that no threshold has to wait for it."""
        _ = self.losses, self.n_parts, self.n_covers, self._largest_total, self._best_of_gt, self._best_of_pred

    @cached_property
    def _largest_total(self) -> NDArray[np.int64]:
        return best_pairs(self.overlap, self.overlap.ious)

    @cached_property
    def _best_of_gt(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return _best(self.overlap.pair_gt, self.overlap.pair_pred, self.overlap.ious, self.overlap.n_gt)

    @cached_property
    def _best_of_pred(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return _best(self.overlap.pair_pred, self.overlap.pair_gt, self.overlap.ious, self.overlap.n_pred)

    def _detection(self, threshold: float, pairs: NDArray[np.int64]) -> Detection:
        tp = int(pairs.size)
        iou_sum = math.fsum(self.overlap.ious[pairs].tolist())
        return Detection(float(threshold), tp, self.overlap.n_pred - tp, self.overlap.n_gt - tp, iou_sum)


def _left(count: int, matched: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places that no match has."""
    left = np.ones(count, dtype=np.bool_)
    left[matched] = False
    return np.flatnonzero(left)


def _best(
    owner: NDArray[np.int64], other: NDArray[np.int64], ious: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """To each object the one of the other side with the highest IoU (of equal ones the first), and that IoU."""
    order = np.lexsort((other, -ious, owner))
    first = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
    best, iou = np.full(count, -1, dtype=np.int64), np.zeros(count)
    best[owner[first]], iou[owner[first]] = other[first], ious[first]
    return best, iou
