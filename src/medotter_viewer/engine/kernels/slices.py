"""Voxels of every pair of ids of two uint8 label maps, in each slice along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import U1, filled, given, kernel
from medotter_viewer.engine.kernels.words import word_at

_ALIKE = np.uint64(0x0101010101010101)
_BYTE = np.uint64(255)
_EIGHT = np.uint64(8)


@kernel(
    types.int64(
        given(U1),
        given(U1),
        given(types.int64),
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        filled(types.int32),
        filled(types.int64),
    )
)
def count_pairs_by_slice(
    gt: Any,
    pred: Any,
    lengths: Any,
    axis: int,
    first_row: int,
    last_row: int,
    most: int,
    numbers: Any,
    counts: Any,
) -> int:
    """Add the voxels of the rows from `first_row` to `last_row` to ``counts[most * slice + number of the pair]``.

    `lengths` holds the voxels along z, y, x, 1 where there is no such axis; `axis` says along which of them slices
    follow each other. Pairs are numbered as they come: `numbers` holds that of ``256 * gt id + pred id``, 0 where it
    has none yet. Number 0 is that of (0, 0), and its count is of no use, as background is skipped. Returns how many
    numbers there are, or -1 if there are more than `most`.
    """
    ny, nx = np.uint64(lengths[1]), np.uint64(lengths[2])
    width = np.uint64(most)
    n = np.uint64(1)
    for row in range(first_row, last_row):
        i = np.uint64(row) * nx
        end = i + nx
        at = np.uint64(0)
        if axis == 0:
            at = np.uint64(row) // ny * width
        elif axis == 1:
            at = np.uint64(row) % ny * width
        while i < end:
            if i + np.uint64(64) <= end:
                some = np.uint64(0)
                for k in range(8):
                    place = i + np.uint64(k) * _EIGHT
                    some |= word_at(gt, place) | word_at(pred, place)
                if some == 0:
                    i += np.uint64(64)
                    continue
            is_alike = False
            if axis != 2 and i + _EIGHT <= end:
                g, p = word_at(gt, i), word_at(pred, i)
                if g | p == 0:
                    i += _EIGHT
                    continue
                is_alike = g == (g & _BYTE) * _ALIKE and p == (p & _BYTE) * _ALIKE
            pair = (np.uint64(gt[i]) << _EIGHT) | np.uint64(pred[i])
            if pair != 0:
                number = np.uint64(numbers[pair])
                if number == 0:
                    if n == width:
                        return -1
                    numbers[pair] = n
                    number = n
                    n += np.uint64(1)
                here = at
                if axis == 2:
                    here = (i + nx - end) * width
                counts[here + number] += 8 if is_alike else 1
            i += _EIGHT if is_alike else np.uint64(1)
    return np.int64(n)
