"""The nearest voxel of a surface for every voxel of another, without a distance transform or a search tree.

Surfaces are ascending numbers as in `surfaces`. The squared distance is ``(x*x + y*y) + z*z`` or ``(z*z + y*y) + x*x``
of differences in mm, each rounded: whichever is the order of the array's axes. Sums of squares only grow, also when
rounded, so that leaving out rows whose own part reaches the best is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import filled, given, kernel, part

_Y, _Z = np.int64(21), np.int64(42)
_MASK = np.int64((1 << 21) - 1)
_FEW = 12  # voxels of a row that are looked at one by one


@kernel(types.void(given(types.int64), types.int64, types.int64, types.int64, filled(types.int32)))
def row_starts(target: Any, low_z: int, low_y: int, n_y: int, starts: Any) -> None:
    """Write where each row (z, y) of the target's box starts in it; one entry more ends the last."""
    row = 0
    for i in range(target.size):
        here = ((target[i] >> _Z) - low_z) * n_y + ((target[i] >> _Y) & _MASK) - low_y
        while row <= here:
            starts[row] = i
            row += 1
    while row < starts.size:
        starts[row] = target.size
        row += 1


@kernel(types.UniTuple(types.int64, 2)(given(types.int64)))
def row_range(target: Any) -> tuple[int, int]:
    """Return the lowest and the highest y."""
    low, high = _MASK, np.int64(0)
    for i in range(target.size):
        y = (target[i] >> _Y) & _MASK
        low = min(low, y)
        high = max(high, y)
    return low, high


@kernel(types.void(given(types.int64), types.int64, filled(types.int32)))
def slice_boxes(target: Any, low_z: int, boxes: Any) -> None:
    """Write low y, high y, low x, high x of each slice of the target; an empty one has low y above high y."""
    for i in range(0, boxes.size, 2):
        boxes[i], boxes[i + 1] = _MASK, 0
    for i in range(target.size):
        y, x = (target[i] >> _Y) & _MASK, target[i] & _MASK
        at = 4 * ((target[i] >> _Z) - low_z)
        boxes[at], boxes[at + 1] = min(boxes[at], y), max(boxes[at + 1], y)
        boxes[at + 2], boxes[at + 3] = min(boxes[at + 2], x), max(boxes[at + 3], x)


@part
def _nearest_in_row(target: Any, first: Any, stop: Any, x: Any) -> Any:
    """Return the place of the voxel nearest to x in a row that is not empty; of two the left one."""
    low = first
    if stop - first <= _FEW:
        while low < stop and (target[low] & _MASK) < x:
            low += 1
    else:
        high = stop
        while low < high:
            middle = (low + high) >> 1
            if (target[middle] & _MASK) < x:
                low = middle + 1
            else:
                high = middle
    if low == stop or (low > first and x - (target[low - 1] & _MASK) <= (target[low] & _MASK) - x):
        low -= 1
    return low


@part
def _sum(x: Any, y: Any, z: Any, x_first: Any) -> Any:
    return (x + y) + z if x_first else (z + y) + x


@kernel(
    types.int64(
        given(types.int64),  # queries
        given(types.int64),  # target
        given(types.int32),  # starts
        given(types.int64),  # box
        given(types.int32),  # near_z
        given(types.int32),  # near_y
        given(types.float64),  # near
        given(types.float64),  # squares
        types.boolean,  # x_first
        filled(types.float64),  # distances
        filled(types.int32),  # nearest
    )
)
def nearest_voxels(
    queries: Any,
    target: Any,
    starts: Any,
    box: Any,
    near_z: Any,
    near_y: Any,
    near: Any,
    squares: Any,
    x_first: bool,
    distances: Any,
    nearest: Any,
) -> int:
    """Write the distance of every query to the target, and the place of a nearest voxel in it.

    `box` is low z, n z, low y, n y of the target, then where the squares of y and of z start in `squares`. Rows at
    (`near_z`, `near_y`) are visited in ascending order of `near`, their own part of the squared distance; what is not
    found within the last is left -1. Returns how many are left.
    """
    low_z, n_z, low_y, n_y, from_y, from_z = box[0], box[1], box[2], box[3], box[4], box[5]
    left = 0
    within = near[near.size - 1]
    for q in range(queries.size):
        x, y, z = queries[q] & _MASK, (queries[q] >> _Y) & _MASK, queries[q] >> _Z
        best, found = np.inf, np.int64(-1)
        y_out = max(low_y - y, y - (low_y + n_y - 1), 0)
        z_out = max(low_z - z, z - (low_z + n_z - 1), 0)
        if squares[from_y + y_out] + squares[from_z + z_out] < within:
            for k in range(near.size):
                if near[k] >= best:
                    break
                row_z, row_y = z + near_z[k] - low_z, y + near_y[k] - low_y
                if row_z < 0 or row_z >= n_z or row_y < 0 or row_y >= n_y:
                    continue
                row = row_z * n_y + row_y
                first, stop = np.int64(starts[row]), np.int64(starts[row + 1])
                if first == stop:
                    continue
                at = _nearest_in_row(target, first, stop, x)
                d = _sum(
                    squares[abs((target[at] & _MASK) - x)],
                    squares[from_y + abs(near_y[k])],
                    squares[from_z + abs(near_z[k])],
                    x_first,
                )
                if d < best:
                    best, found = d, at
        if best <= within:
            distances[q] = np.sqrt(best)
            nearest[q] = found
        else:
            distances[q] = -1.0
            nearest[q] = found
            left += 1
    return left


@kernel(
    types.int64(
        given(types.int64),  # queries
        given(types.int64),  # target
        given(types.int32),  # starts
        given(types.int64),  # box
        given(types.int32),  # slices
        given(types.float64),  # squares
        types.boolean,  # x_first
        types.int64,  # patience
        filled(types.float64),  # distances
        filled(types.int32),  # nearest
    )
)
def far_voxels(
    queries: Any,
    target: Any,
    starts: Any,
    box: Any,
    slices: Any,
    squares: Any,
    x_first: bool,
    patience: int,
    distances: Any,
    nearest: Any,
) -> int:
    """Do the same for the queries that `nearest_voxels` left, sweeping slices and rows outwards from each.

    The nearest of the query before bounds the search: what is far has far neighbours. `slices` holds the box (low y,
    high y, low x, high x) of each slice of the target, low above high where it is empty. Gives up, and returns how many
    are left, once a query takes more than `patience` steps on average; the first few have more.
    """
    low_z, n_z, low_y, n_y, from_y, from_z = box[0], box[1], box[2], box[3], box[4], box[5]
    left, steps, done = 0, 0, 0
    guess = np.int64(0)
    for q in range(queries.size):
        if distances[q] >= 0:
            continue
        if steps > patience * (done + 50):
            left += 1
            continue
        x, y, z = queries[q] & _MASK, (queries[q] >> _Y) & _MASK, queries[q] >> _Z
        if nearest[q] >= 0:
            guess = np.int64(nearest[q])
        t = target[guess]
        found = guess
        best = _sum(
            squares[abs((t & _MASK) - x)],
            squares[from_y + abs(((t >> _Y) & _MASK) - y)],
            squares[from_z + abs((t >> _Z) - z)],
            x_first,
        )
        middle_z = min(max(z - low_z, 0), n_z - 1)
        for side in range(2):
            row_z = middle_z - side
            step_z = 1 - 2 * side
            while row_z >= 0 and row_z < n_z:
                steps += 1
                d_z = squares[from_z + abs(row_z + low_z - z)]
                if d_z >= best:
                    break
                first_y, last_y = np.int64(slices[4 * row_z]), np.int64(slices[4 * row_z + 1])
                out_x = max(slices[4 * row_z + 2] - x, x - slices[4 * row_z + 3], 0)
                out_y = max(first_y - y, y - last_y, 0)
                d_x = squares[out_x]
                if first_y > last_y or _sum(d_x, squares[from_y + out_y], d_z, x_first) >= best:
                    row_z += step_z
                    continue
                middle_y = min(max(y, first_y), last_y)
                for way in range(2):
                    row_y = middle_y - way
                    step_y = 1 - 2 * way
                    while row_y >= first_y and row_y <= last_y:
                        steps += 1
                        d_y = squares[from_y + abs(row_y - y)]
                        if _sum(d_x, d_y, d_z, x_first) >= best:
                            break
                        row = row_z * n_y + row_y - low_y
                        first, stop = np.int64(starts[row]), np.int64(starts[row + 1])
                        if first < stop:
                            out = max((target[first] & _MASK) - x, x - (target[stop - 1] & _MASK), 0)
                            if _sum(squares[out], d_y, d_z, x_first) < best:
                                at = _nearest_in_row(target, first, stop, x)
                                d = _sum(squares[abs((target[at] & _MASK) - x)], d_y, d_z, x_first)
                                if d < best:
                                    best, found = d, at
                        row_y += step_y
                row_z += step_z
        distances[q] = np.sqrt(best)
        nearest[q] = found
        guess = found
        done += 1
    return left


@kernel(
    types.void(
        given(types.int64),  # queries
        given(types.int64),  # target
        given(types.int64),  # box
        given(types.float64),  # squares
        types.boolean,  # x_first
        filled(types.float64),  # distances
        filled(types.int32),  # nearest
    )
)
def compared_voxels(
    queries: Any, target: Any, box: Any, squares: Any, x_first: bool, distances: Any, nearest: Any
) -> None:
    """Do the same by comparing each query that is left with every voxel of the target: right where one side has few."""
    from_y, from_z = box[4], box[5]
    for q in range(queries.size):
        if distances[q] >= 0:
            continue
        x, y, z = queries[q] & _MASK, (queries[q] >> _Y) & _MASK, queries[q] >> _Z
        best, found = np.inf, 0
        for i in range(target.size):
            d = _sum(
                squares[abs((target[i] & _MASK) - x)],
                squares[from_y + abs(((target[i] >> _Y) & _MASK) - y)],
                squares[from_z + abs((target[i] >> _Z) - z)],
                x_first,
            )
            if d < best:
                best, found = d, i
        distances[q] = np.sqrt(best)
        nearest[q] = found
