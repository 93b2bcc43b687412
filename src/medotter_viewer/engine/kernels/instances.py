"""Voxels of every pair of ids of two label maps, whatever the ids: in a hash table that grows with the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.cpython.unsafe.numbers import trailing_zeros

from medotter_viewer.engine.kernels.compiling import LABELS, filled, given, kernel, part
from medotter_viewer.engine.kernels.words import bytes_of, word_at

_EIGHT = np.uint64(8)
_HALF = np.int64(1 << 31)  # ids are moved up by it, so that keys in ascending order are pairs in ascending order
_LOW_8, _LOW_16 = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x7FFF7FFF7FFF7FFF)  # all but the highest bit of ids
_LOW_32 = np.uint64(0xFFFFFFFF)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@part
def _key(g: Any, p: Any) -> Any:
    """Return a pair as one number."""
    return (np.uint64(g + _HALF) << np.uint64(32)) | np.uint64(p + _HALF)


@part
def _add(keys: Any, counts: Any, shift: Any, key: Any, n: Any) -> Any:
    """Add n voxels of a pair; return 1 if the pair is new, else 0."""
    last = np.uint64(keys.size - 1)
    at = (key * _SPREAD) >> shift
    while counts[at] != 0:
        if keys[at] == key:
            counts[at] += n
            return 0
        at = (at + np.uint64(1)) & last
    keys[at] = key
    counts[at] = n
    return 1


@part
def _id(labels: Any, size: Any, i: Any) -> Any:
    """Return the id of a voxel."""
    if bytes_of(labels) != 1:
        return np.int64(labels[i])
    one = np.uint64(1)
    at = i * size
    if size == one:
        return np.int64(labels[at])
    low = np.int64(labels[at]) | (np.int64(labels[at + one]) << 8)
    if size == np.uint64(2):
        return low
    high = np.int64(labels[at + np.uint64(2)]) | (np.int64(np.int8(labels[at + np.uint64(3)])) << 8)
    return low | (high << 16)


@part
def _unlike(labels: Any, size: Any, i: Any) -> Any:
    """Return a number that is 0 where each of the eight voxels from `i` on has the id of the one before it."""
    unit, word = size // bytes_of(labels), _EIGHT // bytes_of(labels)
    at = i * unit
    found = np.uint64(0)
    for _ in range(np.int64(size)):
        found |= word_at(labels, at) ^ word_at(labels, at - unit)
        at += word
    return found


@part
def _changes(labels: Any, size: Any, i: Any) -> Any:
    """Return eight bits: which of the voxels from `i` on have another id than the one before."""
    unit, word = size // bytes_of(labels), _EIGHT // bytes_of(labels)
    at = i * unit
    found = np.uint64(0)
    if size == np.uint64(1):
        some = _some(word_at(labels, at) ^ word_at(labels, at - unit), _LOW_8) >> np.uint64(7)
        return (some * np.uint64(0x0102040810204080)) >> np.uint64(56)
    if size == np.uint64(2):
        for k in range(2):
            some = _some(word_at(labels, at) ^ word_at(labels, at - unit), _LOW_16) >> np.uint64(15)
            found |= (((some * np.uint64(0x0001000200040008)) >> np.uint64(48)) & np.uint64(15)) << np.uint64(4 * k)
            at += word
        return found
    for k in range(4):
        differs = word_at(labels, at) ^ word_at(labels, at - unit)
        found |= np.uint64((differs & _LOW_32) != 0) << np.uint64(2 * k)
        found |= np.uint64(differs > _LOW_32) << np.uint64(2 * k + 1)
        at += word
    return found


@part
def _some(word: Any, low: Any) -> Any:
    """Return a word of which the highest bit of each id says whether it had any; `low` holds all others."""
    return (((word & low) + low) | word) & ~low


@kernel(
    *(
        types.UniTuple(types.int64, 2)(
            given(label),
            types.int64,
            given(label),
            types.int64,
            types.int64,
            types.int64,
            types.int64,
            filled(types.uint64),
            filled(types.int64),
        )
        for label in LABELS
    )
)
def count_id_pairs(
    gt: Any,
    gt_bytes: int,
    pred: Any,
    pred_bytes: int,
    start: int,
    stop: int,
    n_pairs: int,
    keys: Any,
    counts: Any,
) -> tuple[int, int]:
    """Add the voxels from `start` to `stop` to a hash table of pairs of ids; that of (0, 0) is left out.

    Label maps of different types are given as bytes, with the bytes of an id: 1, 2, or 4 with a sign; it takes twice
    the time. The table has 2**n places and holds `n_pairs`; an empty place has the count 0. Works on runs of equal
    pairs. Returns the voxel to go on with (`stop` unless the table became more than half full) and how many pairs it
    holds then.
    """
    a = np.uint64(gt_bytes) if bytes_of(gt) == 1 else bytes_of(gt)
    b = np.uint64(pred_bytes) if bytes_of(pred) == 1 else bytes_of(pred)
    if start >= stop:
        return start, n_pairs
    shift = np.uint64(64) - np.uint64(trailing_zeros(np.uint64(keys.size)))
    most = keys.size // 2
    n = n_pairs
    one = np.uint64(1)
    end = np.uint64(stop)
    first = np.uint64(start)  # of the run
    g, p = _id(gt, a, first), _id(pred, b, first)
    i = first + one
    while True:
        changes = np.uint64(0)
        if i + _EIGHT <= end:
            if (_unlike(gt, a, i) | _unlike(pred, b, i)) == 0:
                i += _EIGHT
                continue
            changes = _changes(gt, a, i) | _changes(pred, b, i)
        else:
            for k in range(np.int64(end) - np.int64(i)):
                at = i + np.uint64(k)
                differs = _id(gt, a, at) != _id(gt, a, at - one) or _id(pred, b, at) != _id(pred, b, at - one)
                changes |= np.uint64(differs) << np.uint64(k)
        is_last = i + _EIGHT >= end
        while changes != 0 or is_last:
            at = end
            if changes != 0:
                at = i + np.uint64(trailing_zeros(changes))
                changes &= changes - one
            else:
                is_last = False
            if (g | p) != 0:
                if n >= most:
                    return np.int64(first), n
                n += _add(keys, counts, shift, _key(g, p), np.int64(at - first))
            if at == end:
                return stop, n
            first = at
            g, p = _id(gt, a, at), _id(pred, b, at)
        i += _EIGHT


@kernel(types.int64(given(types.uint64), given(types.int64), types.int64, filled(types.uint64), filled(types.int64)))
def add_id_pairs(more_keys: Any, more_counts: Any, n_pairs: int, keys: Any, counts: Any) -> int:
    """Add one hash table to another, which is large enough; return how many pairs this holds then."""
    shift = np.uint64(64) - np.uint64(trailing_zeros(np.uint64(keys.size)))
    n = n_pairs
    for i in range(more_keys.size):
        if more_counts[i] != 0:
            n += _add(keys, counts, shift, more_keys[i], more_counts[i])
    return n
