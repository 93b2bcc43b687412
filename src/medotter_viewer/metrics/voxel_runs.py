"""Connected pieces of few voxels in a large array: found from runs of neighbours, without looking at the array again.

What it costs follows from the number of voxels, not from the size of the array or of a piece's box.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Voxels of one code that follow each other along the axis closest in memory.

    Parameters
    ----------
    shape : tuple of int
        Of the array, the axis closest in memory last.
    start, length : (n,) ndarray of int64
        Flat index of the first voxel, ascending, and how many there are. No run goes over the end of a row.
    code : (n,) ndarray of int64
        What the voxels of a run have in common.
    """

    shape: tuple[int, ...]
    start: _Ints
    length: _Ints
    code: _Ints

    def of_voxels(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return for every voxel, in the order of the runs, what `values` (n,) says of its run."""
        return np.repeat(values, self.length)

    def voxels(self) -> _Ints:
        """Return the flat index of every voxel, in the order of the runs."""
        before = np.cumsum(self.length) - self.length
        found: _Ints = np.arange(int(self.length.sum()), dtype=np.int64) + self.of_voxels(self.start - before)
        return found

    def ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the (n, ndim) indices of the first and of the last voxel of each run, axes as in `shape`."""
        first, last = (np.stack(np.unravel_index(at, self.shape), axis=1) for at in (self.start, self._last))
        return first, last

    @property
    def _last(self) -> _Ints:
        return self.start + self.length - 1


def runs_of(voxels: _Ints, codes: _Ints, shape: tuple[int, ...]) -> Runs:
    """Return the runs of some voxels.

    Parameters
    ----------
    voxels : (n,) ndarray of int64
        Flat indices, ascending, each once.
    codes : (n,) ndarray of int64
        Voxels of different codes are never in one run.
    shape : tuple of int
        Of the array, the axis closest in memory last.

    Examples
    --------
    >>> runs = runs_of(np.array([0, 1, 2, 3, 5]), np.array([7, 7, 8, 8, 8]), (2, 3))
    >>> runs.start.tolist(), runs.length.tolist(), runs.code.tolist()
    ([0, 2, 3, 5], [2, 1, 1, 1], [7, 8, 8, 8])
    """
    is_first = np.ones(voxels.size, dtype=np.bool_)
    is_first[1:] = (voxels[1:] != voxels[:-1] + 1) | (codes[1:] != codes[:-1]) | (voxels[1:] % shape[-1] == 0)
    first = np.flatnonzero(is_first)
    return Runs(shape, voxels[first], np.diff(np.append(first, voxels.size)), codes[first])


def connected(runs: Runs, *, corners: bool) -> NDArray[np.int32]:
    """Return for each run the number, from 0, of the connected piece that it belongs to.

    Parameters
    ----------
    runs : Runs
        Only those of one code are connected.
    corners : bool
        Whether voxels that touch by an edge or a corner are connected, or only those that share a face.
    """
    from scipy.sparse import coo_matrix, csgraph

    n, none = runs.start.size, np.zeros(0, dtype=np.int64)
    pairs = list(_touching(runs, corners=corners))
    one, other = (np.concatenate([none, *(pair[side] for pair in pairs)]) for side in (0, 1))
    graph = coo_matrix((np.ones(one.size, dtype=np.int8), (one, other)), shape=(n, n))
    numbers: NDArray[np.int32] = csgraph.connected_components(graph, directed=False)[1]
    return numbers


def _touching(runs: Runs, *, corners: bool) -> Iterator[tuple[_Ints, _Ints]]:
    """Pairs of runs of one code in neighbouring rows that have a neighbour in each other."""
    *rows, width = runs.shape
    strides = [width * int(np.prod(rows[axis + 1 :])) for axis in range(len(rows))]
    place = np.stack(np.unravel_index(runs.start // width, tuple(rows)), axis=1) if rows else None
    last = runs.start + runs.length - 1
    reach = int(corners)
    for offset in _offsets(len(rows), corners=corners):
        there = place + np.array(offset) if place is not None else np.zeros((0, 0))
        mine = np.flatnonzero(((there >= 0) & (there < rows)).all(axis=1))
        shift = int(np.dot(offset, strides))
        row = (runs.start[mine] // width) * width + shift
        low = np.maximum(runs.start[mine] + shift - reach, row)
        high = np.minimum(last[mine] + shift + reach, row + width - 1)
        begin, end = np.searchsorted(last, low), np.searchsorted(runs.start, high, side="right")
        counts = end - begin
        one = np.repeat(mine, counts)
        other = np.arange(one.size) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
        same = runs.code[one] == runs.code[other]
        yield one[same], other[same]


def _offsets(n: int, *, corners: bool) -> Sequence[tuple[int, ...]]:
    """Steps to neighbouring rows, of each pair of opposite ones the first."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=n) if step > (0,) * n]
    return steps if corners else [step for step in steps if sum(map(abs, step)) == 1]
