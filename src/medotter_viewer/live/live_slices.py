"""Voxel counts of every slice along one axis, kept up to date voxel by voxel."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import Remap
from medotter_viewer.metrics.slice_tables import SliceTables

_Ints = NDArray[np.integer[Any]]


class LiveSlices:
    """Counts of native ground truth against prediction in each slice.

    Parameters
    ----------
    tables : SliceTables
        As counted; not changed.
    """

    def __init__(self, tables: SliceTables) -> None:
        self._gt_ids, self._pred_ids = tables.gt_ids, tables.pred_ids
        self._counts = tables.counts.copy()

    @property
    def tables(self) -> SliceTables:
        """The counts as they are now; ids that vanished from the prediction may still be listed."""
        return SliceTables(self._gt_ids, self._pred_ids, self._counts.copy())

    def update(self, slices: _Ints, gt: _Ints, old: _Ints, new: _Ints) -> None:
        """Count changed voxels: the slice of each, its ground truth, and its prediction before and after."""
        places = np.minimum(np.searchsorted(self._pred_ids, new), self._pred_ids.size - 1)
        if (self._pred_ids[places] != new).any():
            ids = np.union1d(self._pred_ids, new).astype(np.int64)
            counts = np.zeros((*self._counts.shape[:2], ids.size), dtype=np.int64)
            counts[:, :, np.searchsorted(ids, self._pred_ids)] = self._counts
            self._pred_ids, self._counts = ids, counts
        rows = np.searchsorted(self._gt_ids, gt)
        np.add.at(self._counts, (slices, rows, np.searchsorted(self._pred_ids, new)), 1)
        np.subtract.at(self._counts, (slices, rows, np.searchsorted(self._pred_ids, old)), 1)

    def region(self, ids: Collection[int], remap: Remap, *, as_one: bool) -> tuple[NDArray[np.int64], ...]:
        """Return voxels in ground truth, prediction and both of each slice.

        Parameters
        ----------
        ids : collection of int
            Canonical ids.
        remap : Remap
            What native ids become.
        as_one : bool
            Whether a voxel is right when both sides have any of the ids, or only when both have the same.
        """
        targets = np.array([remap.target(int(i)) for i in self._gt_ids], dtype=np.int64)
        rows, columns = np.isin(targets, list(ids)), np.isin(self._pred_ids, list(ids))
        right = rows[:, None] & columns[None, :]
        if not as_one:
            right &= targets[:, None] == self._pred_ids[None, :]
        gt, pred = self._counts[:, rows].sum(axis=(1, 2)), self._counts[:, :, columns].sum(axis=(1, 2))
        return gt, pred, self._counts[:, right].sum(axis=1)
