"""Voxels of every pair of ids of two uint8 label maps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import U1, filled, given, kernel
from medotter_viewer.engine.kernels.words import BLOCK_BITS, word_at

_ALIKE = np.uint64(0x0101010101010101)
_BYTE = np.uint64(255)
_EIGHT = np.uint64(8)


@kernel(types.void(given(U1), given(U1), types.int64, types.int64, filled(types.int64), filled(types.uint8)))
def count_pairs(gt: Any, pred: Any, start: int, stop: int, table: Any, occupied: Any) -> None:
    """Add the voxels from `start` to `stop` to ``table[256 * gt id + pred id]``; that of (0, 0) is left out.

    Label maps are mostly background and mostly uniform: words without any id are skipped, those of one pair of ids are
    counted at once. `start` is a multiple of a block's 1024 voxels; `occupied` is told of each block whether ground
    truth (1) and prediction (2) have any id in it.
    """
    i = np.uint64(start)
    end = np.uint64(stop)
    words = np.uint64(128)  # a block: looked at together for whether there is any id
    while i + words * _EIGHT <= end:
        of_gt, of_pred = np.uint64(0), np.uint64(0)
        for k in range(words):
            at = i + np.uint64(k) * _EIGHT
            of_gt |= word_at(gt, at)
            of_pred |= word_at(pred, at)
        occupied[i >> BLOCK_BITS] = (of_gt != 0) | ((of_pred != 0) << 1)
        if of_gt | of_pred != 0:
            for k in range(words):
                at = i + np.uint64(k) * _EIGHT
                g, p = word_at(gt, at), word_at(pred, at)
                if g | p == 0:
                    continue
                g0, p0 = g & _BYTE, p & _BYTE
                if g == g0 * _ALIKE and p == p0 * _ALIKE:
                    table[(g0 << _EIGHT) | p0] += 8
                else:
                    for _ in range(8):
                        table[((g & _BYTE) << _EIGHT) | (p & _BYTE)] += 1
                        g >>= _EIGHT
                        p >>= _EIGHT
        i += words * _EIGHT
    while i < end:
        occupied[i >> BLOCK_BITS] |= (gt[i] != 0) | ((pred[i] != 0) << 1)
        table[(np.uint64(gt[i]) << _EIGHT) | np.uint64(pred[i])] += 1
        i += np.uint64(1)
