"""Voxel counts of every pair of ids, slice by slice: what the overlap of each label in each slice follows from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.slice_counting import slice_counts
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.overlap import OverlapTable, check_label_arrays, overlap_table, without_absent_ids

_SLICES_LIMIT = 1 << 25  # entries of the tables of all slices: 256 MB of counts
_LUT_LIMIT = 1 << 20
_CHUNK = 1 << 22  # voxels at once, as for the whole table

_Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class SliceTables:
    """Voxel counts of every pair of ids in each of the z slices along an axis.

    Parameters
    ----------
    gt_ids, pred_ids : (n,), (m,) ndarray of int64
        Ids that occur in some slice, ascending.
    counts : (z, n, m) ndarray of int64
        Voxels with that pair.
    """

    gt_ids: NDArray[np.int64]
    pred_ids: NDArray[np.int64]
    counts: NDArray[np.int64]

    def at(self, index: int) -> OverlapTable:
        """Return the table of one slice."""
        return without_absent_ids(self.gt_ids, self.pred_ids, self.counts[index])

    def total(self) -> OverlapTable:
        """Return the table of the whole volume."""
        return OverlapTable(self.gt_ids, self.pred_ids, self.counts.sum(axis=0))

    def region(self, ids: Iterable[int]) -> NDArray[np.int64]:
        """Return (z, 3) voxels in gt, in pred and in both, of the union of some ids taken as one mask."""
        wanted = list(ids)
        rows, columns = np.isin(self.gt_ids, wanted), np.isin(self.pred_ids, wanted)
        parts = (self.counts[:, rows], self.counts[:, :, columns], self.counts[:, rows][:, :, columns])
        return np.stack([part.sum(axis=(1, 2)) for part in parts], axis=-1)


def slice_tables(gt: _Ints, pred: _Ints, axis: int) -> SliceTables:
    """Count every pair of ids in every slice along an axis: dice of each slice and label is then algebra.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape.
    axis : int
        Array axis whose slices are counted.

    Raises
    ------
    MetricInputError
        If the shapes differ, a type is not whole, there is no such axis, or slices and ids are too many for a table
        (more than 33 million counts: instance maps, for example).

    Examples
    --------
    >>> tables = slice_tables(np.array([[1, 1], [2, 0]]), np.array([[1, 0], [2, 0]]), axis=0)
    >>> tables.region([1]).tolist(), tables.at(1).pred_voxels()
    ([[2, 1, 1], [0, 0, 0]], {0: 1, 2: 1})
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    check_label_arrays(gt, pred)
    if not -gt.ndim <= axis < gt.ndim:
        raise MetricInputError(f"axis: got {axis} for {gt.ndim} axes")
    if (found := slice_counts(gt, pred, axis % gt.ndim)) is not None:
        gt_ids, g = np.unique(found.gt, return_inverse=True)
        pred_ids, p = np.unique(found.pred, return_inverse=True)
        _check_size(gt.shape[axis], gt_ids.size, pred_ids.size)
        of_pairs = np.zeros((gt.shape[axis], gt_ids.size, pred_ids.size), dtype=np.int64)
        of_pairs[:, g, p] = found.counts
        return SliceTables(gt_ids, pred_ids, of_pairs)
    whole = overlap_table(gt, pred)
    n, m, slices = whole.gt_ids.size, whole.pred_ids.size, gt.shape[axis]
    _check_size(slices, n, m)
    counts = np.zeros(slices * n * m, dtype=np.int64)
    place = np.arange(slices).reshape([-1 if a == axis % gt.ndim else 1 for a in range(gt.ndim)]) * (n * m)
    slow = gt.ndim - 1 if gt.flags.f_contiguous else 0
    thick = max(1, _CHUNK * gt.shape[slow] // max(gt.size, 1))
    for start in range(0, gt.shape[slow] if gt.size else 0, thick):
        slab = (*[slice(None)] * slow, slice(start, start + thick))
        code = _rank(whole.gt_ids, gt[slab]) * m + _rank(whole.pred_ids, pred[slab])
        code += place[slab] if slow == axis % gt.ndim else place
        counts += np.bincount(code.ravel(order="K"), minlength=counts.size)
    return SliceTables(whole.gt_ids, whole.pred_ids, counts.reshape(slices, n, m))


def _check_size(slices: int, n: int, m: int) -> None:
    if slices * n * m > _SLICES_LIMIT:
        raise MetricInputError(f"{slices} slices of {n} x {m} ids: too many for tables; count fewer ids at once")


def _rank(ids: NDArray[np.int64], labels: _Ints) -> NDArray[np.intp]:
    """Return the place of every label among ids that hold them all, ascending."""
    low, high = int(ids[0]), int(ids[-1])
    if high - low >= _LUT_LIMIT:
        return np.searchsorted(ids, labels)
    shifted = labels.astype(np.int64) - low
    return shifted if high - low + 1 == ids.size else np.searchsorted(ids, np.arange(low, high + 1))[shifted]
