"""The aggregated Jaccard index, with predictions that may be used again (AJI) and one to one (AJI+)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.instances.assignment import best_pairs
from medotter_viewer.metrics.instances.losses import taken_pairs
from medotter_viewer.metrics.instances.overlap import InstanceOverlap


def aji(overlap: InstanceOverlap) -> float | None:
    """Return the aggregated Jaccard index, 0..1; None when neither mask holds an object.

    Every ground-truth object takes the prediction of highest IoU (of equal ones that of the lowest id), which other
    objects may take too. AJI is the sum of these intersections over the sum of these unions, to which the areas of
    ground-truth objects without overlap and of predictions that nobody took are added.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.

    References
    ----------
    Kumar et al., IEEE Transactions on Medical Imaging 36 (2017), and the MoNuSeg challenge's code, which allows reuse.

    Examples
    --------
    >>> from medotter_viewer.metrics.instances import match_instances
    >>> merged = match_instances(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 1]))
    >>> aji(merged), aji_plus(merged)
    (0.5, 0.3333333333333333)
    """
    return _aggregated(overlap, taken_pairs(overlap))


def aji_plus(overlap: InstanceOverlap) -> float | None:
    """Return AJI with a one-to-one pairing of largest total IoU, 0..1; None when neither mask holds an object.

    Parameters
    ----------
    overlap : InstanceOverlap
        From `match_instances`.

    References
    ----------
    Graham et al., HoVer-Net, Medical Image Analysis 58 (2019).
    """
    return _aggregated(overlap, best_pairs(overlap, overlap.ious))


def _aggregated(overlap: InstanceOverlap, pairs: NDArray[np.int64]) -> float | None:
    """Intersections of the pairs over their unions and the areas of all objects outside them."""
    if overlap.is_empty:
        return None
    left_gt, left_pred = np.ones(overlap.n_gt, dtype=bool), np.ones(overlap.n_pred, dtype=bool)
    left_gt[overlap.pair_gt[pairs]] = False
    left_pred[overlap.pair_pred[pairs]] = False
    union = overlap.unions[pairs].sum() + overlap.gt_areas[left_gt].sum() + overlap.pred_areas[left_pred].sum()
    return int(overlap.intersections[pairs].sum()) / int(union)
