"""Objects found, invented and missed at any IoU threshold: F1 (DQ), SQ and PQ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.instances.assignment import best_pairs
from medotter_viewer.metrics.instances.overlap import InstanceOverlap

CURVE_THRESHOLDS: tuple[float, ...] = tuple(round(0.5 + 0.05 * i, 2) for i in range(10))
"""0.50, 0.55 ... 0.95: the thresholds of a curve."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Objects found at one threshold.

    Parameters
    ----------
    threshold : float
        IoU that a pair must exceed (or reach) to be a match.
    tp, fp, fn : int
        Matches, predicted objects without match, ground-truth objects without match.
    iou_sum : float
        Sum of the IoU of the matches.

    Notes
    -----
    Nothing is added to a denominator. All ratios are None when neither mask holds an object, and 0 without a match.

    References
    ----------
    Kirillov et al., Panoptic Segmentation, CVPR 2019; Graham et al., HoVer-Net, Medical Image Analysis 58 (2019),
    where F1 is called DQ.

    Examples
    --------
    >>> two_of_three = Detection(0.5, tp=2, fp=1, fn=0, iou_sum=1.6)
    >>> two_of_three.f1, two_of_three.sq, round(two_of_three.pq, 12)
    (0.8, 0.8, 0.64)
    """

    threshold: float
    tp: int
    fp: int
    fn: int
    iou_sum: float

    @property
    def is_empty(self) -> bool:
        """Whether neither mask holds an object."""
        return not self.tp + self.fp + self.fn

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN), also called detection quality (DQ)."""
        return None if self.is_empty else 2 * self.tp / (2 * self.tp + self.fp + self.fn)

    @property
    def dq(self) -> float | None:
        """Detection quality: another name of `f1`."""
        return self.f1

    @property
    def sq(self) -> float | None:
        """Segmentation quality: mean IoU of the matches."""
        if self.is_empty:
            return None
        return self.iou_sum / self.tp if self.tp else 0.0

    @property
    def pq(self) -> float | None:
        """Panoptic quality: sum of IoU / (TP + FP/2 + FN/2), which is SQ times DQ."""
        return None if self.is_empty else self.iou_sum / (self.tp + self.fp / 2 + self.fn / 2)


def detections(
    overlap: InstanceOverlap, thresholds: Sequence[float] = CURVE_THRESHOLDS, *, inclusive: bool = False
) -> list[Detection]:
    """Return what is found at each threshold, in the order given.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.
    thresholds : sequence of float
        From 0 to 1; by default those of the usual curve.
    inclusive : bool
        See `matched_pairs`.

    Raises
    ------
    MetricInputError
        If a threshold is not from 0 to 1.

    Examples
    --------
    >>> from medotter_viewer.metrics.instances import match_instances
    >>> halves = match_instances(np.array([1, 1, 1, 1]), np.array([1, 1, 2, 2]))
    >>> [(d.tp, d.fp, d.fn) for d in detections(halves, (0.4, 0.5))]
    [(1, 1, 0), (0, 2, 1)]
    >>> detections(halves, (0.5,), inclusive=True)[0].f1
    0.6666666666666666
    """
    found = []
    for threshold, pairs in zip(thresholds, _matches(overlap, thresholds, inclusive), strict=True):
        tp = int(pairs.size)
        iou_sum = math.fsum(overlap.ious[pairs].tolist())  # exact: does not depend on the ids
        found.append(Detection(float(threshold), tp, overlap.n_pred - tp, overlap.n_gt - tp, iou_sum))
    return found


def matched_pairs(overlap: InstanceOverlap, threshold: float = 0.5, *, inclusive: bool = False) -> NDArray[np.int64]:
    """Return the places of the matching pairs in the table of `overlap`, ascending.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.
    threshold : float
        IoU from 0 to 1 that a match exceeds.
    inclusive : bool
        A match may also have exactly this IoU.

    Raises
    ------
    MetricInputError
        If the threshold is not from 0 to 1.

    Notes
    -----
    Above 0.5 (exclusive: from 0.5 on) each object has at most one such partner. Below, an assignment decides: by
    default the one with the largest total IoU, from which pairs at or below the threshold are dropped, as in
    HoVer-Net; `inclusive` takes the one with most pairs at or above the threshold and, of these, the largest total
    IoU, as in StarDist. Objects that share no voxel never match.

    References
    ----------
    Kirillov et al., CVPR 2019; Graham et al. 2019 (``get_fast_pq``); Schmidt et al., MICCAI 2018 (StarDist's
    ``matching``).
    """
    return next(iter(_matches(overlap, (threshold,), inclusive)))


def _matches(overlap: InstanceOverlap, thresholds: Sequence[float], inclusive: bool) -> list[NDArray[np.int64]]:
    ious = overlap.ious
    largest_total: NDArray[np.int64] | None = None  # does not depend on the threshold
    found = []
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise MetricInputError(f"IoU threshold: got {threshold}, expected a number from 0 to 1")
        above = ious >= threshold if inclusive else ious > threshold
        if threshold > 0.5 or (threshold == 0.5 and not inclusive):
            found.append(np.flatnonzero(above))
        elif inclusive:
            weights = above + ious / (2 * max(1, min(overlap.n_gt, overlap.n_pred)))
            chosen = best_pairs(overlap, weights)
            found.append(chosen[above[chosen]])
        else:
            if largest_total is None:
                largest_total = best_pairs(overlap, ious)
            found.append(largest_total[above[largest_total]])
    return found
