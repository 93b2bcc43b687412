"""Voxel counts of pairs of any ids, by the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.counting import small_id_table
from medotter_viewer.engine.flat import flat_labels, lies_fortran
from medotter_viewer.engine.threads import in_threads, shares

_PLACES = 1 << 14  # of a hash table to begin with: twice the pairs of a picture with thousands of objects
_HALF = 1 << 31  # what kernels add to an id

_Ids = NDArray[np.int64]
_Table = tuple[NDArray[np.uint64], NDArray[np.int64], int]


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Pairs of ids that occur, ascending by ground truth, then prediction.

    Parameters
    ----------
    gt, pred : (n,) ndarray of int64
        The ids; 0 is background.
    voxels : (n,) ndarray of int64
        With that pair.
    """

    gt: _Ids
    pred: _Ids
    voxels: NDArray[np.int64]


def pair_counts(gt: NDArray[Any], pred: NDArray[Any]) -> PairCounts | None:
    """Return the voxels of every pair of ids that occurs; None where the plain code must count.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Of one shape.
    """
    compiled = kernels()
    if compiled is None:
        return None
    if (small := small_id_table(gt, pred)) is not None:
        g, p = np.nonzero(small[0])
        return PairCounts(g.astype(np.int64, copy=False), p.astype(np.int64, copy=False), small[0][g, p])
    is_fortran = lies_fortran(gt)
    of_gt, of_pred = (flat_labels(part, is_fortran=is_fortran) for part in (gt, pred))
    if of_gt is None or of_pred is None:
        return None
    return _counted(compiled, of_gt.ids, of_pred.ids)


def _counted(compiled: ModuleType, g: NDArray[Any], p: NDArray[Any]) -> PairCounts:
    size, sizes = g.size, (g.itemsize, p.itemsize)
    if g.dtype != p.dtype:
        g, p = g.view(np.uint8), p.view(np.uint8)

    def count(share: tuple[int, int]) -> _Table:
        at, stop = share
        table = _empty(_PLACES)
        while True:
            keys, counts, n = table
            at, n = compiled.count_id_pairs(g, sizes[0], p, sizes[1], at, stop, n, keys, counts)
            table = keys, counts, n
            if at == stop:
                return table
            table = _joined(compiled, [table], 4 * keys.size)

    tables = in_threads(count, shares(size, size))
    places = 2 << (2 * sum(n for _, _, n in tables)).bit_length()
    keys, counts, _ = tables[0] if len(tables) == 1 else _joined(compiled, tables, places)
    there = np.flatnonzero(counts)
    keys, voxels = keys[there], counts[there]
    if background := size - int(voxels.sum()):  # is skipped
        keys = np.append(keys, np.uint64((_HALF << 32) | _HALF))
        voxels = np.append(voxels, background)
    order = np.argsort(keys)
    keys = keys[order]
    gt_ids, pred_ids = (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return PairCounts(gt_ids - _HALF, pred_ids - _HALF, voxels[order])


def _empty(places: int) -> _Table:
    return np.zeros(places, dtype=np.uint64), np.zeros(places, dtype=np.int64), 0


def _joined(compiled: ModuleType, tables: list[_Table], places: int) -> _Table:
    """All in one with so many places, which is a power of two."""
    keys, counts, n = _empty(places)
    for more_keys, more_counts, _ in tables:
        n = compiled.add_id_pairs(more_keys, more_counts, n, keys, counts)
    return keys, counts, n
