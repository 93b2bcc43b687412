"""Rings of many slices cut by a plane across the slices, without filling the slices.

What rings enclose is kept as runs of pixels along rows: a plane then takes the runs it meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.geometry.polygons import Ring
from medotter_viewer.geometry.polygons.filling import row_crossings

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class RingRuns:
    """Runs of the pixels that rings enclose; runs of rings that overlap overlap, too.

    Parameters
    ----------
    shape : (int, int, int)
        Columns, rows and slices of the scan.
    slices, rows, starts, ends : (n,) ndarray of int32
        Slice and row of every run, its first column and the column after its last.
    """

    shape: tuple[int, int, int]
    slices: Ints
    rows: Ints
    starts: Ints
    ends: Ints

    def at_column(self, column: int) -> NDArray[np.bool_]:
        """Return the (rows, slices) mask of one column of all slices."""
        mask = np.zeros(self.shape[1:], dtype=np.bool_)
        met = (self.starts <= column) & (column < self.ends)
        mask[self.rows[met], self.slices[met]] = True
        return mask

    def at_row(self, row: int) -> NDArray[np.bool_]:
        """Return the (columns, slices) mask of one row of all slices."""
        columns, _, slices = self.shape
        met = self.rows == row
        changes = np.zeros((columns + 1, slices), dtype=np.int32)
        np.add.at(changes, (self.starts[met], self.slices[met]), 1)
        np.add.at(changes, (self.ends[met], self.slices[met]), -1)
        mask: NDArray[np.bool_] = np.cumsum(changes[:columns], axis=0) > 0
        return mask


def ring_runs(rings: Iterable[tuple[int, Sequence[Ring]]], shape: tuple[int, int, int]) -> RingRuns:
    """Return the runs of the pixels whose centres rings enclose.

    Parameters
    ----------
    rings : iterable of (int, sequence of (n, 2) ndarray)
        Slice index, and column, row of its rings, which are united, each by itself by the even-odd rule: the pixels
        are those of ``polygons.fill(rings, ..., rule="union")``.
    shape : (int, int, int)
        Columns, rows and slices; what lies outside is cut off.
    """
    flat = [(index, np.asarray(ring, dtype=np.float64)) for index, found in rings for ring in found if len(ring) > 2]
    if not flat:
        none = np.zeros(0, dtype=np.int32)
        return RingRuns(shape, none, none, none, none)
    edge, row, column = row_crossings([ring for _, ring in flat], (shape[1], shape[0]))
    ring = np.repeat(np.arange(len(flat)), [len(ring) for _, ring in flat])[edge]
    # A closed ring crosses each row an even number of times: two crossings that follow each other bound a run.
    order = np.lexsort((column, row, ring))
    starts, ends = column[order][0::2], column[order][1::2]
    some = ends > starts
    slices = np.array([index for index, _ in flat])[ring[order][0::2]]
    parts = (slices, row[order][0::2], starts, ends)
    return RingRuns(shape, *(part[some].astype(np.int32) for part in parts))
