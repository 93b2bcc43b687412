"""Surface voxels of regions, by the kernels: all regions in one pass over the label map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.counting import Occupied
from medotter_viewer.engine.flat import FlatLabels
from medotter_viewer.engine.threads import in_threads, thread_count
from medotter_viewer.errors import MetricInputError

_BITS = 64  # regions in one pass
_CHUNK = 1 << 14  # voxels written before the array for more is made
_LONGEST_TABLE = 1 << 22
_SLABS = 4  # for each thread: slabs differ in how much they hold
_MASK = (1 << 21) - 1

_Voxels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """What the numbers of voxels mean.

    Parameters
    ----------
    ndim : int
        Axes of the array.
    is_fortran : bool
        Whether x, the axis closest in memory, is the first.
    """

    ndim: int
    is_fortran: bool

    def index(self, voxels: _Voxels) -> NDArray[np.intp]:
        """Return the (n, ndim) array indices of voxels."""
        columns = [voxels & _MASK, (voxels >> 21) & _MASK, voxels >> 42][: self.ndim]
        return np.stack(columns if self.is_fortran else columns[::-1], axis=1).astype(np.intp, copy=False)

    def voxels(self, index: NDArray[np.integer[Any]]) -> _Voxels:
        """Return the numbers of (n, ndim) array indices, in their order."""
        columns = list(index.astype(np.int64).T)
        numbers = np.zeros(len(index), dtype=np.int64)
        for axis, column in enumerate(columns if self.is_fortran else columns[::-1]):
            numbers |= column << (21 * axis)
        return numbers


def region_surfaces(
    compiled: ModuleType,
    labels: FlatLabels,
    regions: Sequence[tuple[int, ...]],
    occupied: Occupied | None = None,
    side: int = 1,
) -> list[_Voxels] | None:
    """Return the surface voxels of every region, ascending; None where an id is too large for a table.

    Parameters
    ----------
    compiled : module
        The kernels.
    labels : FlatLabels
        The label map.
    regions : sequence of tuple of int
        Ids of each region, which may overlap; ids that do not occur may be among them.
    occupied : Occupied, optional
        Where the label map has any id, from counting it.
    side : {1, 2}
        Whether it was counted as ground truth or as the prediction.

    Raises
    ------
    MetricInputError
        If `occupied` has another number of blocks than the label map.
    """
    found: list[_Voxels] = []
    fits = occupied is not None and labels.ids.itemsize == 1 and occupied.is_fortran == labels.is_fortran
    blocks = occupied.blocks if occupied is not None and fits else np.zeros(0, dtype=np.uint8)
    if fits and blocks.size != (expected := -(-labels.ids.size >> int(compiled.BLOCK_BITS))):
        raise MetricInputError(f"`occupied` is of other label maps: got {blocks.size} blocks, expected {expected}")
    for start in range(0, len(regions), _BITS):
        some = regions[start : start + _BITS]
        members = _members(labels, some)
        if members is None:
            return None
        found += _surfaces(compiled, labels, members, len(some), blocks, side)
    return found


def _members(labels: FlatLabels, regions: Sequence[tuple[int, ...]]) -> NDArray[np.uint64] | None:
    """Which regions each id belongs to, as bits."""
    kind = labels.ids.dtype
    highest = np.iinfo(kind).max if kind.itemsize < 4 else max((i for ids in regions for i in ids), default=0)
    if highest >= _LONGEST_TABLE:
        return None
    members = np.zeros(highest + 1, dtype=np.uint64)
    for bit, ids in enumerate(regions):
        members[[i for i in set(ids) if 0 <= i <= highest]] |= np.uint64(1 << bit)
    return members


def _surfaces(
    compiled: ModuleType,
    labels: FlatLabels,
    members: NDArray[np.uint64],
    n: int,
    blocks: NDArray[np.uint8],
    side: int,
) -> list[_Voxels]:
    lengths = labels.lengths
    rows = int(np.maximum(lengths[:2], 1).prod())
    slabs = min(rows, thread_count() * _SLABS) if labels.ids.size > _CHUNK else 1
    edges = np.linspace(0, rows, slabs + 1).astype(np.int64).tolist()

    def find(slab: int) -> tuple[list[tuple[_Voxels, NDArray[np.uint64]]], NDArray[np.int64]]:
        row, parts, counts = edges[slab], [], np.zeros(n, dtype=np.int64)
        size = max(_CHUNK, int(lengths[2]))
        while row < edges[slab + 1]:
            voxels, regions = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.uint64)
            row, written = compiled.surface_voxels(
                labels.ids, lengths, row, edges[slab + 1], members, blocks, side, voxels, regions
            )
            parts.append((voxels[:written], regions[:written]))
            compiled.count_by_region(regions[:written], counts)
            size *= 2
        return parts, counts

    found = in_threads(find, range(slabs))
    counts = np.stack([counts for _, counts in found])  # (slabs, regions)
    ends = np.cumsum(counts.sum(axis=0))
    starts = ends - counts.sum(axis=0)
    places = starts + np.cumsum(counts, axis=0) - counts
    voxels = np.empty(int(ends[-1]) if n else 0, dtype=np.int64)

    def place(slab: int) -> None:
        for some, regions in found[slab][0]:
            compiled.sort_by_region(some, regions, places[slab], voxels)

    in_threads(place, range(slabs))
    return [voxels[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
