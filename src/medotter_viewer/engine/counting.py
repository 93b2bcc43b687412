"""Voxel counts of pairs of ids, by the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.flat import FlatLabels, flat_labels, lies_fortran
from medotter_viewer.engine.threads import in_threads, shares

_IDS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Occupied:
    """Where two label maps have any id but 0, as long as nobody changes them: what comes next need not look elsewhere.

    Parameters
    ----------
    blocks : (n,) ndarray of uint8
        Of every 1024 voxels in memory order: 1 where ground truth has any, 2 where the prediction, 3 where both.
    is_fortran : bool
        The memory order: whether the first axis lies closest.
    """

    blocks: NDArray[np.uint8]
    is_fortran: bool


def small_id_table(gt: NDArray[Any], pred: NDArray[Any]) -> tuple[NDArray[np.int64], Occupied] | None:
    """Return (256, 256) voxels of every pair of ids below 256, and where any are; None where plain code must count.

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
    block = 1 << int(compiled.BLOCK_BITS)
    blocks = np.zeros(-(-g.size // block), dtype=np.uint8)

    def count(share: tuple[int, int]) -> NDArray[np.int64]:
        table = np.zeros(_IDS * _IDS, dtype=np.int64)
        compiled.count_pairs(g, p, share[0] * block, min(share[1] * block, g.size), table, blocks)
        return table

    table = np.sum(in_threads(count, shares(blocks.size, g.size)), axis=0)
    table[0] = 0
    table[0] = g.size - table.sum()  # background is skipped
    return table.reshape(_IDS, _IDS), Occupied(blocks, lies_fortran(gt))


def _small_pair(gt: NDArray[Any], pred: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if gt.dtype not in (np.uint8, np.bool_) or pred.dtype not in (np.uint8, np.bool_):
        return None
    is_fortran = lies_fortran(gt)
    flat: list[FlatLabels | None] = [flat_labels(part, is_fortran=is_fortran) for part in (gt, pred)]
    return None if flat[0] is None or flat[1] is None else (flat[0].ids, flat[1].ids)
