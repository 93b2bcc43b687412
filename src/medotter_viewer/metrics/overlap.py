"""How many voxels carry which pair of ids, and what follows from it: dice, iou, volumes, tp, fp, fn.

One pass over both label maps gives a table from which the overlap of every region, under every remap, is algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.counting import Occupied, small_id_table
from medotter_viewer.engine.pairs import PairCounts, pair_counts
from medotter_viewer.errors import MetricInputError

_DENSE_LIMIT = 1 << 22  # entries of a table over ranges of ids: 32 MB of counts
_TABLE_LIMIT = 1 << 26  # entries of a table of the ids that occur: 512 MB
_CHUNK = 1 << 22  # voxels at once: keeps the 64-bit codes of a whole volume out of memory

_Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class OverlapTable:
    """Voxel counts of every pair of ground-truth and predicted id.

    Parameters
    ----------
    gt_ids, pred_ids : (n,), (m,) ndarray of int64
        Ids that occur, ascending; 0 is background.
    counts : (n, m) ndarray of int64
        Voxels with that pair.
    occupied : Occupied, optional
        Where the label maps had any id when they were counted; only of a table that was counted, by the kernels.
    """

    gt_ids: NDArray[np.int64]
    pred_ids: NDArray[np.int64]
    counts: NDArray[np.int64]
    occupied: Occupied | None = None

    def gt_voxels(self) -> dict[int, int]:
        """Return the voxels of every ground-truth id."""
        return dict(zip(self.gt_ids.tolist(), self.counts.sum(axis=1).tolist(), strict=True))

    def pred_voxels(self) -> dict[int, int]:
        """Return the voxels of every predicted id."""
        return dict(zip(self.pred_ids.tolist(), self.counts.sum(axis=0).tolist(), strict=True))

    def region(self, ids: Iterable[int]) -> Overlap:
        """Return the overlap of the union of some ids, taken as one mask on both sides."""
        some = set(ids)
        if len(some) == 1:  # most regions are of one id, and what-ifs ask for thousands: no arrays of indices are made
            return self._of_one(some.pop())
        wanted = np.array(sorted(some), dtype=np.int64)
        rows, columns = _places(self.gt_ids, wanted), _places(self.pred_ids, wanted)
        of_gt = self.counts[rows]
        return Overlap(int(of_gt.sum()), int(self.counts[:, columns].sum()), int(of_gt[:, columns].sum()))

    def _of_one(self, label: int) -> Overlap:
        row, column = int(self.gt_ids.searchsorted(label)), int(self.pred_ids.searchsorted(label))
        in_gt = row < self.gt_ids.size and self.gt_ids[row] == label
        in_pred = column < self.pred_ids.size and self.pred_ids[column] == label
        return Overlap(
            int(self.counts[row].sum()) if in_gt else 0,
            int(self.counts[:, column].sum()) if in_pred else 0,
            int(self.counts[row, column]) if in_gt and in_pred else 0,
        )

    def remap_gt(self, target: Callable[[int], int]) -> OverlapTable:
        """Return the table after every ground-truth id is replaced by ``target(id)``: no voxel is read again."""
        mapped = np.array([target(int(i)) for i in self.gt_ids], dtype=np.int64)
        ids, place = np.unique(mapped, return_inverse=True)
        counts = np.zeros((ids.size, self.pred_ids.size), dtype=np.int64)
        np.add.at(counts, place, self.counts)
        return OverlapTable(ids, self.pred_ids, counts)

    def updated(self, changes: tuple[_Ints, _Ints, _Ints]) -> OverlapTable:
        """Return the table after predicted voxels changed; only the changed ones are looked at.

        Parameters
        ----------
        changes : (gt, old, new), each (n,) ndarray of int
            Ids at the changed voxels: ground truth, prediction before, prediction after. A voxel that changed twice
            stands twice.

        Raises
        ------
        MetricInputError
            If the lengths differ, or more voxels leave a pair than it has.

        Examples
        --------
        >>> table = overlap_table(np.array([1, 1, 2, 0]), np.array([1, 0, 2, 0]))
        >>> table.updated((np.array([1]), np.array([0]), np.array([1]))).region([1]).dice
        1.0
        """
        gt, old, new = (np.asarray(ids).astype(np.int64) for ids in changes)
        if gt.ndim != 1 or not gt.shape == old.shape == new.shape:
            raise MetricInputError(f"changes: got shapes {gt.shape}, {old.shape}, {new.shape}, expected one length")
        gt_ids, pred_ids = _with_ids(self.gt_ids, gt), _with_ids(self.pred_ids, np.concatenate([old, new]))
        counts = np.zeros((gt_ids.size, pred_ids.size), dtype=np.int64)
        counts[np.ix_(np.searchsorted(gt_ids, self.gt_ids), np.searchsorted(pred_ids, self.pred_ids))] = self.counts
        rows = np.searchsorted(gt_ids, gt)
        np.add.at(counts, (rows, np.searchsorted(pred_ids, new)), 1)
        np.subtract.at(counts, (rows, np.searchsorted(pred_ids, old)), 1)
        if counts.size and counts.min() < 0:
            raise MetricInputError("changes: more voxels leave a pair of ids than the table has; count the maps again")
        return without_absent_ids(gt_ids, pred_ids, counts)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Voxel counts of one region in ground truth, prediction and both."""

    gt: int
    pred: int
    intersection: int

    @property
    def tp(self) -> int:
        """Voxels in both."""
        return self.intersection

    @property
    def fp(self) -> int:
        """Voxels predicted only."""
        return self.pred - self.intersection

    @property
    def fn(self) -> int:
        """Voxels missed."""
        return self.gt - self.intersection

    @property
    def dice(self) -> float | None:
        """Twice the intersection over the sum of both, 0..1; None when both are empty.

        References
        ----------
        Dice, Ecology 26 (1945).
        """
        both = self.gt + self.pred
        return 2 * self.intersection / both if both else None

    @property
    def iou(self) -> float | None:
        """Intersection over union (Jaccard index), 0..1; None when both are empty."""
        union = self.gt + self.pred - self.intersection
        return self.intersection / union if union else None


def overlap_table(gt: NDArray[np.integer[Any]], pred: NDArray[np.integer[Any]]) -> OverlapTable:
    """Count every pair of ids in one pass.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape, any number of axes; negative and large ids are counted as they are.

    Raises
    ------
    MetricInputError
        If the shapes differ (nothing is broadcast), a type is not whole, or the ids are too many for a table (more
        than 8192 on both sides).

    Examples
    --------
    >>> table = overlap_table(np.array([1, 1, 2, 0]), np.array([1, 0, 2, 0]))
    >>> table.region([1]).dice, table.region([1, 2]).intersection
    (0.6666666666666666, 2)
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    check_label_arrays(gt, pred)
    if gt.size == 0:
        none = np.zeros(0, dtype=np.int64)
        return OverlapTable(none, none, np.zeros((0, 0), dtype=np.int64))
    if (counted := small_id_table(gt, pred)) is not None:
        ids = np.arange(len(counted[0]), dtype=np.int64)
        return replace(without_absent_ids(ids, ids, counted[0]), occupied=counted[1])
    if (pairs := pair_counts(gt, pred)) is not None:
        return _table_of_pairs(pairs)
    # Any order does, as long as it is the same: walk memory as it lies.
    order = "F" if gt.flags.f_contiguous else "C"
    g, p = gt.ravel(order=order), pred.ravel(order=order)  # type: ignore[arg-type]
    g_low, p_low = int(g.min()), int(p.min())
    rows, columns = int(g.max()) - g_low + 1, int(p.max()) - p_low + 1
    if rows * columns > _DENSE_LIMIT:
        return _sparse_table(g, p)
    dense = np.zeros(rows * columns, dtype=np.int64)
    for start in range(0, g.size, _CHUNK):
        code = g[start : start + _CHUNK].astype(np.int64) - g_low
        code *= columns
        code += p[start : start + _CHUNK].astype(np.int64) - p_low
        dense += np.bincount(code, minlength=dense.size)
    gt_ids, pred_ids = np.arange(rows, dtype=np.int64) + g_low, np.arange(columns, dtype=np.int64) + p_low
    return without_absent_ids(gt_ids, pred_ids, dense.reshape(rows, columns))


def label_voxels(labels: NDArray[np.integer[Any]]) -> dict[int, int]:
    """Return the voxels of every id that occurs, ascending."""
    return overlap_table(labels, np.zeros(labels.shape, dtype=np.uint8)).gt_voxels()


def id_mask(labels: NDArray[np.integer[Any]], ids: Iterable[int]) -> NDArray[np.bool_]:
    """Return the mask of the union of some ids, in the memory order of `labels`.

    Examples
    --------
    >>> id_mask(np.array([0, 1, 2, 3], dtype=np.uint8), [1, 3, 300])
    array([False,  True, False,  True])
    """
    if labels.dtype.kind == "u" and labels.dtype.itemsize <= 2:
        lut = np.zeros(np.iinfo(labels.dtype).max + 1, dtype=np.bool_)
        lut[[i for i in ids if 0 <= i < lut.size]] = True
        return np.take(lut, labels.T).T if is_fortran_like(labels) else np.take(lut, labels)
    return np.isin(labels, list(ids))


def is_fortran_like(array: NDArray[Any]) -> bool:
    """Tell whether neighbours along the first axis lie closest in memory, as in a cut from a NIfTI file's array."""
    return array.ndim > 1 and abs(array.strides[0]) < abs(array.strides[-1])


def overlap_by_slice(gt: NDArray[np.bool_], pred: NDArray[np.bool_], axis: int) -> NDArray[np.int64]:
    """Return (n, 3) voxels in gt, in pred and in both, for each of the n slices along an axis."""
    others = tuple(a for a in range(gt.ndim) if a != axis % gt.ndim)
    return np.stack([np.count_nonzero(m, axis=others) for m in (gt, pred, gt & pred)], axis=-1).astype(np.int64)


def without_absent_ids(
    gt_ids: NDArray[np.int64], pred_ids: NDArray[np.int64], counts: NDArray[np.int64]
) -> OverlapTable:
    """Return a table without the ids that no voxel has."""
    rows, columns = counts.any(axis=1), counts.any(axis=0)
    return OverlapTable(gt_ids[rows], pred_ids[columns], counts[np.ix_(rows, columns)])


def check_label_arrays(gt: NDArray[Any], pred: NDArray[Any]) -> None:
    """Raise MetricInputError unless both are whole-number arrays of one shape, in 64 signed bits."""
    if gt.shape != pred.shape:
        raise MetricInputError(f"shapes differ: gt {gt.shape}, pred {pred.shape}; nothing is broadcast")
    for name, array in (("gt", gt), ("pred", pred)):
        if array.dtype.kind not in "biu":
            raise MetricInputError(f"{name}: got {array.dtype}, expected whole label ids; convert them first")

        if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise MetricInputError(f"{name}: ids up to {array.max()}; they must fit a signed 64-bit integer")


def _with_ids(ids: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ascending ids with more of them; mostly there are none."""
    if ids.size and (ids[np.minimum(np.searchsorted(ids, more), ids.size - 1)] == more).all():
        return ids
    return np.union1d(ids, more).astype(np.int64)


def _places(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where those of some ids stand that occur; both ascending."""
    if ids.size == 0:
        return np.zeros(0, dtype=np.intp)
    places = np.minimum(np.searchsorted(ids, wanted), ids.size - 1)
    there: NDArray[np.intp] = places[ids[places] == wanted]
    return there


def _sparse_table(g: NDArray[np.integer[Any]], p: NDArray[np.integer[Any]]) -> OverlapTable:
    """Count pairs of ids that are too large for a dense table."""
    gt_ids, g_place = np.unique(g, return_inverse=True)
    pred_ids, p_place = np.unique(p, return_inverse=True)
    _check_size(gt_ids.size, pred_ids.size)
    pairs, voxels = np.unique(g_place.astype(np.int64) * pred_ids.size + p_place, return_counts=True)
    counts = np.zeros((gt_ids.size, pred_ids.size), dtype=np.int64)
    counts.ravel()[pairs] = voxels
    return OverlapTable(gt_ids.astype(np.int64), pred_ids.astype(np.int64), counts)


def _table_of_pairs(pairs: PairCounts) -> OverlapTable:
    gt_ids, g_place = np.unique(pairs.gt, return_inverse=True)
    pred_ids, p_place = np.unique(pairs.pred, return_inverse=True)
    _check_size(gt_ids.size, pred_ids.size)
    counts = np.zeros((gt_ids.size, pred_ids.size), dtype=np.int64)
    counts[g_place, p_place] = pairs.voxels
    return OverlapTable(gt_ids, pred_ids, counts)


def _check_size(rows: int, columns: int) -> None:
    if rows * columns > _TABLE_LIMIT:
        raise MetricInputError(f"{rows} x {columns} ids: too many for a table; are these label maps?")
