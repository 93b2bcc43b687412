"""Voxel counts of pairs of small ids, slice by slice, by the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.flat import FlatLabels, flat_labels, lies_fortran
from medotter_viewer.engine.threads import in_threads, shares

_IDS = 256
_PAIRS = 256  # for which there is room to begin with
_LIMIT = 1 << 25  # counts: 256 MB


@dataclass(frozen=True, slots=True, eq=False)
class SliceCounts:
    """Voxels of pairs of ids in slices.

    Parameters
    ----------
    gt, pred : (n,) ndarray of int64
        Ids of each pair that occurs in some slice.
    counts : (slices, n) ndarray of int64
        Voxels.
    """

    gt: NDArray[np.int64]
    pred: NDArray[np.int64]
    counts: NDArray[np.int64]


def slice_counts(gt: NDArray[Any], pred: NDArray[Any], axis: int) -> SliceCounts | None:
    """Return the voxels of every pair of ids in each slice along an axis; None where the plain code must count.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Of one shape.
    axis : int
        From 0 on.
    """
    compiled = kernels()
    if compiled is None or any(part.dtype not in (np.uint8, np.bool_) for part in (gt, pred)):
        return None
    is_fortran = lies_fortran(gt)
    of_gt, of_pred = (flat_labels(part, is_fortran=is_fortran) for part in (gt, pred))
    if of_gt is None or of_pred is None:
        return None
    return _counted(compiled, of_gt, of_pred, 2 - axis if is_fortran else 3 - gt.ndim + axis)


def _counted(compiled: ModuleType, gt: FlatLabels, pred: FlatLabels, along: int) -> SliceCounts | None:
    """Count along z, y or x: 0, 1, 2."""
    lengths = np.maximum(gt.lengths, 1)
    rows, slices = int(lengths[0] * lengths[1]), int(lengths[along])
    parts = shares(rows, gt.ids.size)

    def count(share: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
        """Pairs and the counts of each."""
        most = _PAIRS
        while slices * most <= _LIMIT:
            numbers = np.zeros(_IDS * _IDS, dtype=np.int32)
            counts = np.zeros(slices * most, dtype=np.int64)
            n = compiled.count_pairs_by_slice(gt.ids, pred.ids, lengths, along, *share, most, numbers, counts)
            if n >= 0:
                pairs = np.flatnonzero(numbers)
                return pairs, counts.reshape(slices, most)[:, numbers[pairs]]
            most *= 4
        return None

    found = [one for one in in_threads(count, parts) if one is not None]
    if len(found) < len(parts):
        return None
    pairs = np.unique(np.concatenate([[0], *(some for some, _ in found)]))
    counts = np.zeros((slices, pairs.size), dtype=np.int64)
    for some, of_part in found:
        counts[:, np.searchsorted(pairs, some)] += of_part
    counts[:, 0] = gt.ids.size // slices - counts.sum(axis=1)  # background is skipped
    there = counts.any(axis=0)
    pairs = pairs[there].astype(np.int64)
    return SliceCounts(pairs // _IDS, pairs % _IDS, counts[:, there])
