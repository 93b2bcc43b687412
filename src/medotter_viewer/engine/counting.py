"""Voxel counts of pairs of ids, by the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.flat import FlatLabels, flat_labels, lies_fortran
from medotter_viewer.engine.threads import in_threads, thread_count

_IDS = 256
_SMALL = 1 << 20  # voxels that are not worth a second thread


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
    parts = thread_count() if g.size > _SMALL else 1
    edges = np.linspace(0, g.size, parts + 1).astype(np.int64)

    def count(part: int) -> NDArray[np.int64]:
        table = np.zeros(_IDS * _IDS, dtype=np.int64)
        compiled.count_pairs(g, p, edges[part], edges[part + 1], table)
        return table

    table = np.sum(in_threads(count, range(parts)), axis=0)
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
