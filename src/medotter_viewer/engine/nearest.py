"""The nearest voxel of one surface for every voxel of another, by the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.threads import in_threads

_CHUNK = 1 << 14  # queries at once
_ROWS = 400  # about as many rows around a voxel are visited before the search for far ones
_FEW = 256  # queries that say whether the others are near
_PATIENCE = 250  # steps for a far voxel on average, beyond which a search tree is faster
_FEW_LEFT = 200  # voxels that are compared with all others rather than by a tree made for them
_SMALL_TARGET = 1500  # voxels that are all looked at as fast as by a tree
_TREE_COSTS = 4  # queries are worth one voxel of a tree that is made
_MASK = (1 << 21) - 1

_Voxels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """Squared distances along each axis, and in which order they are added.

    Parameters
    ----------
    squares : (n,) ndarray of float64
        Squares of 0, 1, 2 ... steps in mm along x, then y, then z.
    from_y, from_z : int
        Where those of y and z start.
    x_first : bool
        Whether the axis closest in memory is the array's first: squares are added in the order of its axes.
    near_z, near_y, near : (m,) ndarray
        Rows around a voxel, and their part of the squared distance, ascending.
    """

    squares: NDArray[np.float64]
    from_y: int
    from_z: int
    x_first: bool
    near_z: NDArray[np.int32]
    near_y: NDArray[np.int32]
    near: NDArray[np.float64]


def metric(shape: tuple[int, ...], spacing: tuple[float, ...], *, is_fortran: bool) -> Metric:
    """Return the metric of an array's lattice; `spacing` in mm, in axis order."""
    lengths = list(shape) if is_fortran else list(shape[::-1])
    steps = list(spacing) if is_fortran else list(spacing[::-1])
    lengths += [1] * (3 - len(lengths))
    steps += [1.0] * (3 - len(steps))
    squares = [np.square(np.arange(n) * step) for n, step in zip(lengths, steps, strict=True)]
    near = _rows_around(lengths[1], steps[1], lengths[2], steps[2])
    return Metric(np.concatenate(squares), lengths[0], lengths[0] + lengths[1], is_fortran, *near)


@lru_cache(maxsize=64)
def _rows_around(
    n_y: int, step_y: float, n_z: int, step_z: float
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Offsets of the rows nearest to a voxel, and their squared distances, ascending."""
    radius = np.sqrt(_ROWS / np.pi * step_y * step_z) if n_y > 1 and n_z > 1 else _ROWS / 4 * max(step_y, step_z)
    reach_y = int(min(n_y - 1, radius // step_y, _ROWS))
    reach_z = int(min(n_z - 1, radius // step_z, _ROWS))
    # No row that is left out may be nearer than the last one that is not.
    bounds = [
        (reach + 1) * step for reach, n, step in ((reach_y, n_y, step_y), (reach_z, n_z, step_z)) if reach < n - 1
    ]
    y, z = np.arange(-reach_y, reach_y + 1), np.arange(-reach_z, reach_z + 1)
    squared = np.square(y * step_y)[None, :] + np.square(z * step_z)[:, None]
    at_z, at_y = np.nonzero(squared < min(bounds, default=np.inf) ** 2)
    found = squared[at_z, at_y]
    order = np.argsort(found, kind="stable")
    return z[at_z][order].astype(np.int32), y[at_y][order].astype(np.int32), found[order]


@dataclass(slots=True, eq=False)
class Target:
    """A surface in which the nearest voxel is sought, with the start of each of its rows."""

    voxels: _Voxels
    starts: NDArray[np.int32]
    box: NDArray[np.int64]
    _slices: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, compiled: ModuleType, voxels: _Voxels, measure: Metric) -> Target:
        """Return the target of voxels in ascending order, of which there is one at least."""
        low_z, n_z = int(voxels[0] >> 42), int((voxels[-1] >> 42) - (voxels[0] >> 42)) + 1
        low_y, high_y = compiled.row_range(voxels)
        n_y = high_y - low_y + 1
        starts = np.empty(n_z * n_y + 1, dtype=np.int32)
        compiled.row_starts(voxels, low_z, low_y, n_y, starts)
        return cls(voxels, starts, np.array([low_z, n_z, low_y, n_y, measure.from_y, measure.from_z], dtype=np.int64))

    def slices(self, compiled: ModuleType) -> NDArray[np.int32]:
        """Return the box of each slice, which only the search for far voxels needs."""
        if self._slices is None:
            boxes = np.empty(4 * int(self.box[1]), dtype=np.int32)
            compiled.slice_boxes(self.voxels, int(self.box[0]), boxes)
            self._slices = boxes
        return self._slices


@dataclass(frozen=True, slots=True, eq=False)
class Directed:
    """Distances in mm of the voxels of one surface to another, and the place of a nearest voxel in that.

    Where there are so many, and so far, that a search tree is faster, the distance is -1: `n_left` times.
    """

    distances: NDArray[np.float64]
    nearest: NDArray[np.int32]
    n_left: int


def directed_distances(
    compiled: ModuleType, pairs: Sequence[tuple[_Voxels, _Voxels]], measure: Metric
) -> list[tuple[Directed, Directed]]:
    """Return the distances of both directions of each pair of surfaces.

    Parameters
    ----------
    compiled : module
        The kernels.
    pairs : sequence of (voxels, voxels)
        Each ascending and not empty.
    measure : Metric
        Of the lattice of all.
    """
    surfaces = [voxels for pair in pairs for voxels in pair]
    targets = in_threads(lambda voxels: Target.of(compiled, voxels, measure), surfaces)
    queries = [(surfaces[i], targets[i ^ 1]) for i in range(len(surfaces))]
    distances = [np.empty(len(voxels)) for voxels in surfaces]
    nearest = [np.empty(len(voxels), dtype=np.int32) for voxels in surfaces]
    chunks = [
        (i, slice(start, start + _CHUNK))
        for i, voxels in enumerate(surfaces)
        for start in range(0, len(voxels), _CHUNK)
    ]

    def search(chunk: tuple[int, slice]) -> int:
        i, part = chunk
        voxels, target = queries[i]
        return _nearest_in(compiled, target, voxels[part], measure, distances[i][part], nearest[i][part])

    left = [0] * len(surfaces)
    for (i, _), n in zip(chunks, in_threads(search, chunks), strict=True):
        left[i] += n
    found = [Directed(*one) for one in zip(distances, nearest, left, strict=True)]
    return list(zip(found[::2], found[1::2], strict=True))


def distances_to(compiled: ModuleType, queries: _Voxels, target: _Voxels, measure: Metric) -> Directed:
    """Return the distances of some voxels to a surface: one direction alone.

    Parameters
    ----------
    compiled : module
        The kernels.
    queries : (n,) ndarray of int64
        Any voxels; those that follow each other lie near each other at best.
    target : (m,) ndarray of int64
        The surface, ascending and not empty.
    measure : Metric
        Of the lattice of both.
    """
    found = Target.of(compiled, target, measure)
    distances, nearest = np.empty(len(queries)), np.empty(len(queries), dtype=np.int32)
    parts = [slice(start, start + _CHUNK) for start in range(0, len(queries), _CHUNK)]

    def search(part: slice) -> int:
        return _nearest_in(compiled, found, queries[part], measure, distances[part], nearest[part])

    return Directed(distances, nearest, sum(in_threads(search, parts)))


def _nearest_in(
    compiled: ModuleType,
    target: Target,
    queries: _Voxels,
    measure: Metric,
    distances: NDArray[np.float64],
    nearest: NDArray[np.int32],
) -> int:
    m, t = measure, target

    def near(queries: _Voxels, distances: NDArray[np.float64], nearest: NDArray[np.int32]) -> int:
        left: int = compiled.nearest_voxels(
            queries, t.voxels, t.starts, t.box, m.near_z, m.near_y, m.near, m.squares, m.x_first, distances, nearest
        )
        return left

    def is_in_vain() -> bool:
        """Whether the voxels after the first few are mostly far, too: those may be a small part by itself."""
        some = queries[n_few :: max(1, (len(queries) - n_few) // _FEW)].copy()
        return near(some, np.empty(len(some)), np.empty(len(some), dtype=np.int32)) * 2 > len(some)

    # Where surfaces are far apart, looking around most voxels is in vain: a few say so.
    n_few = min(_FEW, len(queries))
    left = near(queries[:n_few], distances[:n_few], nearest[:n_few])
    if left * 2 > n_few and is_in_vain():
        distances[n_few:], nearest[n_few:] = -1, -1
        left += len(queries) - n_few
    else:
        left += near(queries[n_few:], distances[n_few:], nearest[n_few:])
    if left:
        # A tree pays when it is asked often.
        patience = _PATIENCE if left * _TREE_COSTS > len(t.voxels) else 20 * _PATIENCE
        left = compiled.far_voxels(
            queries, t.voxels, t.starts, t.box, t.slices(compiled), m.squares, m.x_first, patience, distances, nearest
        )
    if left and (left <= _FEW_LEFT or len(t.voxels) <= _SMALL_TARGET):
        compiled.compared_voxels(queries, t.voxels, t.box, m.squares, m.x_first, distances, nearest)
        left = 0
    return left
