"""Voxel counts of pairs of ids, by the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.flat import FlatLabels, flat_labels, lies_fortran
from medotter_viewer.engine.threads import in_threads, shares

_IDS = 256


def small_id_table(gt: NDArray[Any], pred: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return (256, 256) voxels of every pair of ids below 256; None where the plain code must count.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Of one shape.
    """
    pair = _small_pair(gt, pred)
    compiled = kernels()
    if pair is None or compiled is None:
        return None
    g, p = pair

    def count(share: tuple[int, int]) -> NDArray[np.int64]:
        table = np.zeros(_IDS * _IDS, dtype=np.int64)
        compiled.count_pairs(g, p, *share, table)
        return table

    table = np.sum(in_threads(count, shares(g.size, g.size)), axis=0)
    table[0] = 0
    table[0] = g.size - table.sum()  # background is skipped
    counted: NDArray[np.int64] = table.reshape(_IDS, _IDS)
    return counted


def _small_pair(gt: NDArray[Any], pred: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if gt.dtype not in (np.uint8, np.bool_) or pred.dtype not in (np.uint8, np.bool_):
        return None
    is_fortran = lies_fortran(gt)
    flat: list[FlatLabels | None] = [flat_labels(part, is_fortran=is_fortran) for part in (gt, pred)]
    return None if flat[0] is None or flat[1] is None else (flat[0].ids, flat[1].ids)
