"""Rings to a mask by the even-odd rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import U1, filled, given, kernel, part
from medotter_viewer.engine.kernels.words import set_word, word_at

_INSIDE = np.uint64(0x0101010101010101)  # of eight pixels: which are in
_CROSSED = np.uint64(0x0202020202020202)  # at which of them the rings that are drawn change sides
_ONE, _TWO = np.uint8(1), np.uint8(2)
_EIGHT = np.uint64(8)
_LARGEST = 1e100


@part
def _is_doubtful(points: Any, start: Any, stop: Any) -> Any:
    """Return 2 for coordinates that are none, 1 for a ring that may be flat, 0 for one that is surely not."""
    low_x, high_x, low_y, high_y = np.inf, -np.inf, np.inf, -np.inf
    twice = 0.0
    x0, y0 = points[2 * start], points[2 * start + 1]
    before_x, before_y = points[2 * stop - 2] - x0, points[2 * stop - 1] - y0
    for k in range(start, stop):
        x, y = points[2 * k], points[2 * k + 1]
        if not (abs(x) < _LARGEST and abs(y) < _LARGEST):
            return 2
        low_x, high_x = min(low_x, x), max(high_x, x)
        low_y, high_y = min(low_y, y), max(high_y, y)
        twice += before_x * (y - y0) - (x - x0) * before_y
        before_x, before_y = x - x0, y - y0
    n = float(stop - start)
    rounding = max(1e-6, 1e-15 * n * n)
    return 0 if abs(twice) > rounding * ((high_x - low_x) * (high_y - low_y)) else 1


@part
def _clipped(value: Any, most: Any) -> Any:
    """Return a number rounded up, from 0 to `most`."""
    return np.int64(min(max(np.ceil(value), 0.0), float(most)))


@kernel(
    types.int64(
        given(types.float64),
        given(types.int64),
        types.boolean,
        types.boolean,
        types.int64,
        types.int64,
        filled(U1),
    )
)
def fill_rings(points: Any, starts: Any, one_by_one: bool, is_checked: bool, rows: int, columns: int, mask: Any) -> int:
    """Set the pixels of an empty mask that rings enclose: of all rings together, or `one_by_one` of any of them.

    Ring i has the points x, y from ``2 * starts[i]`` on. Unless they are checked already, nothing is done where a ring
    may be flat or has coordinates that are none; 1 or 2 is returned then, else 0.
    """
    n = starts.size - 1
    if not is_checked:
        for ring in range(n):
            doubt = _is_doubtful(points, starts[ring], starts[ring + 1])
            if doubt != 0:
                return doubt
    first = 0
    while first < n:
        last = first + 1 if one_by_one else n
        low_row, high_row, low, high = rows, np.int64(0), columns, np.int64(0)
        for ring in range(first, last):
            start, stop = starts[ring], starts[ring + 1]
            for k in range(start, stop):
                after = k + 1 if k + 1 < stop else start
                x0, y0, x1, y1 = points[2 * k], points[2 * k + 1], points[2 * after], points[2 * after + 1]
                if y0 > y1:
                    x0, y0, x1, y1 = x1, y1, x0, y0
                from_row, to_row = _clipped(y0, rows), _clipped(y1, rows)
                if from_row >= to_row:
                    continue
                low_row, high_row = min(low_row, from_row), max(high_row, to_row)
                step_x, step_y = x1 - x0, y1 - y0
                for row in range(from_row, to_row):
                    column = _clipped(x0 + (float(row) - y0) * step_x / step_y, columns)
                    low, high = min(low, column), max(high, column)
                    if column < columns:
                        mask[np.uint64(row * columns + column)] ^= _TWO
        for row in range(low_row, high_row):
            i, end = np.uint64(row * columns + low), np.uint64(row * columns + min(high + 1, columns))
            inside = np.uint64(0)  # all crossed, or none
            while i + _EIGHT <= end:
                word = word_at(mask, i)
                crossed = word & _CROSSED
                if crossed != 0:
                    crossed ^= crossed << np.uint64(8)
                    crossed ^= crossed << np.uint64(16)
                    crossed ^= crossed << np.uint64(32)
                    crossed ^= inside
                    set_word(mask, i, (word & _INSIDE) | (crossed >> np.uint64(1)))
                    inside = _CROSSED if crossed >> np.uint64(57) != 0 else np.uint64(0)
                elif inside != 0:
                    set_word(mask, i, word | _INSIDE)
                i += _EIGHT
            while i < end:
                if mask[i] & _TWO != 0:
                    inside ^= _CROSSED
                mask[i] = (mask[i] & _ONE) | np.uint8(inside & np.uint64(2)) >> _ONE
                i += np.uint64(1)
        first = last
    return 0
