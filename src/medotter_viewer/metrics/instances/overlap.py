"""Which objects of two instance masks overlap, and by how much: one pass, memory for the pairs that occur only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.pairs import pair_counts
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.overlap import check_label_arrays

_CHUNK = 1 << 22  # voxels at once: keeps temporary arrays out of the way of large volumes
_DENSE = 1 << 20  # pairs that are summed in a table rather than by sorting
_FEW = 1 << 14  # ids that are counted in a table whatever their number
_CODES = 1 << 62  # a pair is one 64-bit number below


@dataclass(frozen=True, eq=False)
class InstanceOverlap:
    """Objects of two instance masks and every pair that shares a voxel.

    Parameters
    ----------
    gt_ids, pred_ids : (n,), (m,) ndarray of int64
        Ids that occur, ascending, without the background 0.
    gt_areas, pred_areas : (n,), (m,) ndarray of int64
        Voxels of each object.
    pair_gt, pair_pred : (k,) ndarray of int64
        Places in `gt_ids` and `pred_ids` of each overlapping pair, ascending by both.
    intersections : (k,) ndarray of int64
        Voxels of each pair.
    """

    gt_ids: NDArray[np.int64]
    pred_ids: NDArray[np.int64]
    gt_areas: NDArray[np.int64]
    pred_areas: NDArray[np.int64]
    pair_gt: NDArray[np.int64]
    pair_pred: NDArray[np.int64]
    intersections: NDArray[np.int64]

    @property
    def n_gt(self) -> int:
        """Objects in ground truth."""
        return int(self.gt_ids.size)

    @property
    def n_pred(self) -> int:
        """Predicted objects."""
        return int(self.pred_ids.size)

    @property
    def is_empty(self) -> bool:
        """Whether neither side holds an object."""
        return not self.n_gt and not self.n_pred

    @cached_property
    def unions(self) -> NDArray[np.int64]:
        """Voxels in one or both objects of each pair."""
        return self.gt_areas[self.pair_gt] + self.pred_areas[self.pair_pred] - self.intersections

    @cached_property
    def ious(self) -> NDArray[np.float64]:
        """Intersection over union of each pair, above 0 and at most 1."""
        return self.intersections / self.unions


def match_instances(gt: NDArray[np.integer[Any]], pred: NDArray[np.integer[Any]]) -> InstanceOverlap:
    """Find every pair of overlapping objects in one pass.

    An object is every voxel of one id, connected or not; 0 is background. Ids are names: they may be large, have
    gaps, and need not agree between the two masks.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Instance masks of one shape, any number of axes; types may differ.

    Raises
    ------
    MetricInputError
        If the shapes differ, a type is not whole, or an id is negative or does not fit a signed 64-bit number.

    Notes
    -----
    Works on runs of equal (gt, pred) ids in memory order, so that memory beyond a few million voxels' temporary
    arrays is that of the pairs. Two empty masks give no objects and no pairs.

    Examples
    --------
    >>> overlap = match_instances(np.array([7, 7, 7, 0, 9]), np.array([300, 300, 0, 0, 9]))
    >>> overlap.gt_ids, overlap.pred_ids, overlap.ious
    (array([7, 9]), array([  9, 300]), array([0.66666667, 1.        ]))
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    check_label_arrays(gt, pred)
    if gt.size and (counted := pair_counts(gt, pred)) is not None:
        _check_ids("gt", counted.gt)
        _check_ids("pred", counted.pred)
        return _overlap(counted.gt, counted.pred, counted.voxels)
    order = "F" if gt.flags.f_contiguous else "C"
    g, p = gt.ravel(order=order), pred.ravel(order=order)  # type: ignore[arg-type]
    for name, ids in (("gt", g), ("pred", p)):
        _check_ids(name, ids)
    found = [_pairs(g[start : start + _CHUNK], p[start : start + _CHUNK]) for start in range(0, g.size, _CHUNK)]
    none = np.zeros(0, dtype=np.int64)
    pairs = [np.concatenate(part) for part in zip(*found, strict=True)] if found else [none, none, none]
    return _overlap(*_summed(*pairs))


def _overlap(pair_gt: NDArray[np.int64], pair_pred: NDArray[np.int64], voxels: NDArray[np.int64]) -> InstanceOverlap:
    """From every pair of ids that occurs, ascending, with background."""
    gt_ids, gt_areas, gt_place = _areas(pair_gt, voxels)
    pred_ids, pred_areas, pred_place = _areas(pair_pred, voxels)
    both = np.flatnonzero((pair_gt != 0) & (pair_pred != 0))
    return InstanceOverlap(gt_ids, pred_ids, gt_areas, pred_areas, gt_place[both], pred_place[both], voxels[both])


def _check_ids(name: str, ids: NDArray[np.integer[Any]]) -> None:
    if ids.size == 0 or ids.dtype.kind == "b":
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high > np.iinfo(np.int64).max:
        raise MetricInputError(f"{name}: instance ids from {low} to {high}, expected ids of 0 or more within 63 bits")


def _pairs(
    g: NDArray[np.integer[Any]], p: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Each (gt, pred) pair of a stretch of voxels once, and its voxels."""
    changes = np.flatnonzero((g[1:] != g[:-1]) | (p[1:] != p[:-1])) + 1
    starts = np.concatenate([np.zeros(1, dtype=np.int64), changes])
    lengths = np.diff(starts, append=g.size)
    return _summed(g[starts].astype(np.int64), p[starts].astype(np.int64), lengths.astype(np.int64))


def _summed(
    g: NDArray[np.int64], p: NDArray[np.int64], voxels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sum the voxels of equal pairs; sorted by gt, then pred."""
    if voxels.size == 0:
        return g, p, voxels
    width = int(p.max()) + 1
    if int(g.max()) >= _CODES // width:
        order = np.lexsort((p, g))
    else:
        code = g * width + p
        low = int(code.min())
        if int(code.max()) - low < _DENSE:  # counts below 2**53: exact as floats
            sums = np.bincount(code - low, weights=voxels)
            there = np.flatnonzero(sums)
            return (there + low) // width, (there + low) % width, sums[there].astype(np.int64)
        order = np.argsort(code)
    g, p, voxels = g[order], p[order], voxels[order]
    first = np.concatenate([[0], np.flatnonzero((g[1:] != g[:-1]) | (p[1:] != p[:-1])) + 1])
    return g[first], p[first], np.add.reduceat(voxels, first)


def _areas(
    ids: NDArray[np.int64], voxels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ids without background, ascending, the voxels of each, and the place of every one given among them."""
    if ids.size and int(ids.max()) < _FEW + 4 * ids.size:
        sums = np.bincount(ids, weights=voxels)  # below 2**53: exact as floats
        sums[0] = 0
        unique = np.flatnonzero(sums).astype(np.int64, copy=False)
        place = np.zeros(sums.size, dtype=np.int64)
        place[unique] = np.arange(unique.size)
        return unique, sums[unique].astype(np.int64), place[ids]
    every, found = np.unique(ids, return_inverse=True)
    areas = np.zeros(every.size, dtype=np.int64)
    np.add.at(areas, found, voxels)
    rest = every != 0
    return every[rest], areas[rest], (np.cumsum(rest) - 1)[found]
