"""Surface voxels of every region of a label map in one pass.

A voxel is written as one number, ``z << 42 | y << 21 | x`` with x along the axis that lies closest in memory, so that
numbers in ascending order are voxels in memory order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.cpython.unsafe.numbers import trailing_zeros

from medotter_viewer.engine.kernels.compiling import LABELS, filled, given, inlined, kernel
from medotter_viewer.engine.kernels.words import word_at

_Y, _Z = np.int64(21), np.int64(42)


@inlined
def _member_of(label: Any, members: Any) -> Any:
    """Return the regions of an id as bits; ids beyond the table have none."""
    found = np.uint64(0)
    if label >= 0 and label < members.size:
        found = members[np.uint64(label)]
    return found


@kernel(
    *(
        types.UniTuple(types.int64, 2)(
            given(label),
            given(types.int64),
            types.int64,
            types.int64,
            given(types.uint64),
            filled(types.int64),
            filled(types.uint64),
        )
        for label in LABELS
    )
)
def surface_voxels(
    labels: Any, lengths: Any, first_row: int, last_row: int, members: Any, voxels: Any, regions: Any
) -> tuple[int, int]:
    """Write the surface voxels of the rows from `first_row` to `last_row`, and which regions each is surface of.

    `lengths` holds the number of voxels along z, y, x; 0 for an axis that there is not. `members` gives the regions of
    an id as bits. Returns the row to go on with (`last_row` unless `voxels` is full) and how many were written.
    """
    nx = max(lengths[2], 1)
    ny = max(lengths[1], 1)
    nz = max(lengths[0], 1)
    up = np.uint64(nx if lengths[1] else 0)
    over = np.uint64(nx * ny if lengths[0] else 0)
    in_word = np.uint64(8 // labels.itemsize)
    in_block = np.uint64(8) * in_word
    one = np.uint64(1)
    skips_zero = members[0] == 0
    n = 0
    for row in range(first_row, last_row):
        if n + nx > voxels.size:
            return row, n
        z, y = row // ny, row % ny
        start = np.uint64(row * nx)
        last = np.uint64(start + np.uint64(nx - 1))
        code = (np.int64(z) << _Z) | (np.int64(y) << _Y)
        at_border = (lengths[0] and (z == 0 or z == nz - 1)) or (lengths[1] and (y == 0 or y == ny - 1))
        i = start
        while i <= last:
            # Words that equal all their neighbours have no surface; those without any id are skipped by the block.
            while skips_zero and i + in_block <= last + one:
                some = np.uint64(0)
                for k in range(8):
                    some |= word_at(labels, i + np.uint64(k) * in_word)
                if some != 0:
                    break
                i += in_block
            if i > last:
                break
            stop = min(i + in_word, last + one)
            if i + in_word <= last + one:
                word = word_at(labels, i)
                if word == 0 and skips_zero:
                    i = stop
                    continue
                if (
                    not at_border
                    and i > start
                    and stop <= last
                    and word == word_at(labels, i - one)
                    and word == word_at(labels, i + one)
                    and word == word_at(labels, i - up)
                    and word == word_at(labels, i + up)
                    and word == word_at(labels, i - over)
                    and word == word_at(labels, i + over)
                ):
                    i = stop
                    continue
            while i < stop:
                here = _member_of(labels[i], members)
                if here != 0:
                    if not at_border and i > start and i < last:
                        around = (
                            _member_of(labels[i - one], members)
                            & _member_of(labels[i + one], members)
                            & _member_of(labels[i - up], members)
                            & _member_of(labels[i + up], members)
                            & _member_of(labels[i - over], members)
                            & _member_of(labels[i + over], members)
                        )
                        here &= ~around
                    if here != 0:
                        voxels[n] = code | np.int64(i - start)
                        regions[n] = here
                        n += 1
                i += one
    return last_row, n


@kernel(types.void(given(types.uint64), filled(types.int64)))
def count_by_region(regions: Any, counts: Any) -> None:
    """Add the voxels of every region to `counts`."""
    for i in range(regions.size):
        left = regions[i]
        while left != 0:
            counts[trailing_zeros(left)] += 1
            left &= left - np.uint64(1)


@kernel(types.void(given(types.int64), given(types.uint64), filled(types.int64), filled(types.int64)))
def sort_by_region(voxels: Any, regions: Any, places: Any, sorted_voxels: Any) -> None:
    """Write each voxel to the place of each of its regions, and move that place on."""
    for i in range(voxels.size):
        left = regions[i]
        while left != 0:
            region = trailing_zeros(left)
            sorted_voxels[places[region]] = voxels[i]
            places[region] += 1
            left &= left - np.uint64(1)
