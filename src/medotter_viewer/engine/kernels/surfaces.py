"""Surface voxels of every region of a label map in one pass.

A voxel is written as one number, ``z << 42 | y << 21 | x`` with x along the axis that lies closest in memory, so that
numbers in ascending order are voxels in memory order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.cpython.unsafe.numbers import trailing_zeros

from medotter_viewer.engine.kernels.compiling import LABELS, filled, given, kernel, part
from medotter_viewer.engine.kernels.words import BLOCK_BITS, bytes_of, word_at

_Y, _Z = np.int64(21), np.int64(42)
_LANES = tuple(np.uint64(sum(1 << (at + b - 1) for at in range(0, 64, b))) for b in (8, 16, 32))


@part
def _unlike(labels: Any, i: Any, up: Any, over: Any) -> Any:
    """Return a word whose bits are 0 in the voxels that have the id of all their neighbours."""
    one = np.uint64(1)
    word = word_at(labels, i)
    found = (word ^ word_at(labels, i - one)) | (word ^ word_at(labels, i + one))
    found |= (word ^ word_at(labels, i - up)) | (word ^ word_at(labels, i + up))
    return found | (word ^ word_at(labels, i - over)) | (word ^ word_at(labels, i + over))


@part
def _member_of(labels: Any, i: Any, members: Any) -> Any:
    """Return the regions of a voxel's id as bits; ids beyond the table have none."""
    if bytes_of(labels) == 4 and (labels[i] < 0 or labels[i] >= members.size):  # of smaller types it has every id
        return np.uint64(0)
    return members[np.uint64(labels[i])]


@part
def _surface_at(labels: Any, i: Any, up: Any, over: Any, members: Any) -> Any:
    """Return the regions that a voxel within the array is surface of, as bits."""
    one = np.uint64(1)
    around = _member_of(labels, i - one, members) & _member_of(labels, i + one, members)
    around &= _member_of(labels, i - up, members) & _member_of(labels, i + up, members)
    around &= _member_of(labels, i - over, members) & _member_of(labels, i + over, members)
    return _member_of(labels, i, members) & ~around


@part
def _some_bit(word: Any, bits: Any) -> Any:
    """Return a word of which the highest bit of each voxel says whether it had any; `bits` is those of a voxel."""
    lanes = _LANES[0] if bits == 8 else _LANES[1] if bits == 16 else _LANES[2]
    return (((word & ~lanes) + ~lanes) | word) & lanes


@kernel(
    *(
        types.UniTuple(types.int64, 2)(
            given(label),
            given(types.int64),
            types.int64,
            types.int64,
            given(types.uint64),
            given(types.uint8),
            types.uint8,
            filled(types.int64),
            filled(types.uint64),
        )
        for label in LABELS
    )
)
def surface_voxels(
    labels: Any,
    lengths: Any,
    first_row: int,
    last_row: int,
    members: Any,
    occupied: Any,
    side: int,
    voxels: Any,
    regions: Any,
) -> tuple[int, int]:
    """Write the surface voxels of the rows from `first_row` to `last_row`, and which regions each is surface of.

    `lengths` holds the number of voxels along z, y, x; 0 for an axis that there is not. `members` gives the regions
    of an id as bits. `occupied` has the bit `side` for each block of 1024 voxels with any id but 0, and is empty where
    that is not known. Returns the row to go on with (`last_row` unless `voxels` is full) and how many were written.
    """
    nx, ny, nz = max(lengths[2], 1), max(lengths[1], 1), max(lengths[0], 1)
    up = np.uint64(nx if lengths[1] else 0)
    over = np.uint64(nx * ny if lengths[0] else 0)
    in_word = np.uint64(8) // bytes_of(labels)
    in_block = np.uint64(64) // bytes_of(labels)
    bits = np.uint64(8) * bytes_of(labels)
    one = np.uint64(1)
    skips_zero = members[0] == 0
    n = np.uint64(0)
    for row in range(first_row, last_row):
        if n + np.uint64(nx) > np.uint64(voxels.size):
            return row, np.int64(n)
        start = np.uint64(row * nx)
        last = start + np.uint64(nx - 1)
        if skips_zero and occupied.size:
            there = np.uint8(0)
            for k in range(start >> BLOCK_BITS, (last >> BLOCK_BITS) + one):
                there |= occupied[k]
            if there & side == 0:
                continue
        if skips_zero and np.uint64(nx) >= in_word:  # most rows are empty
            some = word_at(labels, last + one - in_word)
            for k in range(np.uint64(nx) // in_word):
                some |= word_at(labels, start + np.uint64(k) * in_word)
            if some == 0:
                continue
        z, y = row // ny, row % ny
        code = (np.int64(z) << _Z) | (np.int64(y) << _Y)
        at_border = (lengths[0] and (z == 0 or z == nz - 1)) or (lengths[1] and (y == 0 or y == ny - 1))
        i = start
        while i <= last:
            if at_border or i in (start, last) or np.uint64(nx) < np.uint64(2) * in_block:
                while skips_zero and i + in_word <= last and word_at(labels, i) == 0:
                    i += in_word
                if at_border or i in (start, last):  # beyond the array is background
                    here = _member_of(labels, i, members)
                else:
                    here = _surface_at(labels, i, up, over, members)
                if here != 0:
                    voxels[n] = code | np.int64(i - start)
                    regions[n] = here
                    n += one
                i += one
                continue
            # A block that would reach the last voxel starts earlier; what it sees again is left out below.
            block = min(i, last - in_block)
            some = np.uint64(0)
            for k in range(8):
                some |= word_at(labels, block + np.uint64(k) * in_word)
            if some == 0 and skips_zero:
                i = block + in_block
                continue
            some = np.uint64(0)
            for k in range(8):
                some |= _unlike(labels, block + np.uint64(k) * in_word, up, over)
            if some != 0:
                for k in range(8):
                    at = block + np.uint64(k) * in_word
                    unlike = _some_bit(_unlike(labels, at, up, over), bits)
                    if skips_zero:
                        unlike &= _some_bit(word_at(labels, at), bits)
                    while unlike != 0:
                        place = at + np.uint64(trailing_zeros(unlike)) // bits
                        unlike &= unlike - one
                        if place >= i:
                            here = _surface_at(labels, place, up, over, members)
                            if here != 0:
                                voxels[n] = code | np.int64(place - start)
                                regions[n] = here
                                n += one
            i = block + in_block
    return last_row, np.int64(n)


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
