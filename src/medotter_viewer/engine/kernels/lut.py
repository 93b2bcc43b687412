"""A label map with every id replaced by another, from a table of all ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import I4, U1, U2, filled, given, kernel, part
from medotter_viewer.engine.kernels.words import bytes_of, word_at


@part
def _entry(table: Any, labels: Any, i: Any) -> Any:
    """Return what a voxel becomes; ids beyond the table become 0."""
    if bytes_of(labels) == 4 and (labels[i] < 0 or labels[i] >= table.size):  # of smaller types it has every id
        return table.dtype.type(0)
    return table[np.uint64(labels[i])]


@part
def _alike(labels: Any, i: Any) -> Any:
    """Return whether the voxels of a word have one id."""
    word = word_at(labels, i)
    bits = np.uint64(8) * bytes_of(labels)
    return word == (word << bits) | (word & ((np.uint64(1) << bits) - np.uint64(1)))


@kernel(
    *(
        types.void(given(label), given(made), types.int64, types.int64, filled(made))
        for label, made in ((U1, U1), (U2, U1), (U2, U2), (I4, U1))  # each takes a second to compile: others are rare
    )
)
def look_up(labels: Any, table: Any, start: int, stop: int, made: Any) -> None:
    """Write what the voxels from `start` to `stop` become to `made`, which holds nothing but zeros.

    The table of uint8 and uint16 ids has all of them. Words of one id are looked up once, background is skipped.
    """
    in_word = np.uint64(8) // bytes_of(labels)
    in_block = in_word * np.uint64(8)
    skips_zero = table[0] == 0
    i, end = np.uint64(start), np.uint64(stop)
    while i + in_block <= end:
        some = np.uint64(0)
        for k in range(8):
            some |= word_at(labels, i + np.uint64(k) * in_word)
        if some != 0 or not skips_zero:
            for k in range(8):
                at = i + np.uint64(k) * in_word
                if _alike(labels, at):
                    value = _entry(table, labels, at)
                    for j in range(in_word):
                        made[at + np.uint64(j)] = value
                else:
                    for j in range(in_word):
                        made[at + np.uint64(j)] = _entry(table, labels, at + np.uint64(j))
        i += in_block
    while i < end:
        made[i] = _entry(table, labels, i)
        i += np.uint64(1)
