"""Where a prediction is wrong, voxel by voxel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.overlap import check_label_arrays, id_mask

TP, FN, FP, WRONG = 1, 2, 3, 4
"""Values of an error map; 0 is right background."""


def error_map(
    gt: NDArray[np.integer[Any]],
    pred: NDArray[np.integer[Any]],
    *,
    ids: Iterable[int] | None = None,
    as_one: bool = False,
) -> NDArray[np.uint8]:
    """Return 1 right, 2 missed (FN), 3 invented (FP), 4 wrong label, 0 background on both sides.

    Parameters
    ----------
    gt, pred : ndarray of int
        Label maps of one shape.
    ids : iterable of int, optional
        Ids that count; all others are background on both sides. None takes every id but 0.
    as_one : bool
        Whether the ids are one mask (a region): then there is no wrong label.

    Examples
    --------
    >>> error_map(np.array([0, 1, 1, 0, 2]), np.array([0, 1, 0, 1, 1]))
    array([0, 1, 2, 3, 4], dtype=uint8)
    """
    check_label_arrays(gt, pred)
    if ids is None:
        in_gt, in_pred = gt != 0, pred != 0
    else:
        wanted = [i for i in ids if i != 0]
        in_gt, in_pred = id_mask(gt, wanted), id_mask(pred, wanted)
    out = np.zeros_like(gt, dtype=np.uint8)
    both = in_gt & in_pred
    out[both] = TP
    out[in_gt & ~in_pred] = FN
    out[in_pred & ~in_gt] = FP
    if not as_one:
        out[both & (gt != pred)] = WRONG
    return out
