"""HoVer-Net's instance metrics, object by object: slow, short, written from their definition.

Graham et al., HoVer-Net, Medical Image Analysis 58 (2019). Objects are the ids other than 0. Their code adds 1e-6 to
the number of matches when it divides by it; here nothing is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Scores:
    """Detection quality, segmentation quality, their product, and both aggregated Jaccard indices."""

    dq: float
    sq: float
    pq: float
    aji: float
    aji_plus: float


def scores(gt: NDArray[np.integer[Any]], pred: NDArray[np.integer[Any]], threshold: float) -> Scores:
    """Return the metrics of two instance masks that both hold objects."""
    truths = [gt == i for i in np.unique(gt) if i]
    found = [pred == i for i in np.unique(pred) if i]
    places = {i: j for j, i in enumerate(i for i in np.unique(pred) if i)}
    inter = np.zeros((len(truths), len(found)), dtype=np.int64)
    for i, truth in enumerate(truths):  # as theirs, only with objects that it touches
        for j in (places[name] for name in np.unique(pred[truth]) if name):
            inter[i, j] = np.count_nonzero(truth & found[j])
    truth_areas, found_areas = (np.array([mask.sum() for mask in masks]) for masks in (truths, found))
    union = truth_areas[:, None] + found_areas[None, :] - inter
    iou = inter / union

    pairs = [(i, j) for i, j in _pairs(iou, threshold) if iou[i, j] > threshold]
    tp, fp, fn = len(pairs), len(found) - len(pairs), len(truths) - len(pairs)
    dq = tp / (tp + fp / 2 + fn / 2)
    sq = sum(iou[i, j] for i, j in pairs) / tp if tp else 0.0

    # AJI: the best prediction of each truth, the first of equals; it may serve several truths.
    best = [(i, int(np.argmax(iou[i]))) for i in range(len(truths)) if iou[i].max() > 0]
    one_to_one = [(i, j) for i, j in _assignment(iou) if iou[i, j] > 0]
    areas = truth_areas, found_areas
    return Scores(
        dq, sq, dq * sq, _aggregated(best, inter, union, *areas), _aggregated(one_to_one, inter, union, *areas)
    )


def _pairs(iou: NDArray[np.float64], threshold: float) -> list[tuple[int, int]]:
    """Candidates for matches: from 0.5 on no object can have two; below, the assignment of largest total IoU."""
    return list(np.ndindex(iou.shape)) if threshold >= 0.5 else _assignment(iou)


def _assignment(iou: NDArray[np.float64]) -> list[tuple[int, int]]:
    from scipy.optimize import linear_sum_assignment

    return list(zip(*(side.tolist() for side in linear_sum_assignment(-iou)), strict=True))


def _aggregated(pairs: Any, inter: Any, union: Any, truth_areas: Any, found_areas: Any) -> float:
    """Intersections over unions, to which what is in no pair adds its area."""
    above = sum(inter[i, j] for i, j in pairs)
    below = sum(union[i, j] for i, j in pairs)
    used, matched = {i for i, _ in pairs}, {j for _, j in pairs}
    below += sum(a for i, a in enumerate(truth_areas) if i not in used)
    below += sum(a for j, a in enumerate(found_areas) if j not in matched)
    return float(above / below)
