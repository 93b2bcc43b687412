"""Corners between the voxels of a mask, each with which of the voxels around it are in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import U1, filled, given, kernel
from medotter_viewer.engine.kernels.words import word_at

_ALIKE = np.uint64(0x0101010101010101)
_EIGHT = np.uint64(8)
_Y, _Z = np.int64(21), np.int64(42)


@kernel(types.void(given(U1), types.int64, types.int64, types.int64, filled(U1)))
def mark_rows(mask: Any, nx: int, first_row: int, last_row: int, marks: Any) -> None:
    """Set the marks of the rows from `first_row` to `last_row` that have a voxel which is not 0, and clear others'."""
    for row in range(first_row, last_row):
        i = np.uint64(row * nx)
        end = i + np.uint64(nx)
        some = np.uint64(0)
        while i + np.uint64(64) <= end and some == 0:
            for k in range(8):
                some |= word_at(mask, i + np.uint64(k) * _EIGHT)
            i += np.uint64(64)
        while i < end and some == 0:
            some |= np.uint64(mask[i])
            i += np.uint64(1)
        marks[row] = np.uint8(some != 0)


@kernel(
    types.UniTuple(types.int64, 2)(
        given(U1),
        given(types.int64),
        given(U1),
        given(types.uint64),
        types.int64,
        types.int64,
        filled(types.uint64),
        filled(types.int64),
        filled(U1),
    )
)
def surface_corners(
    mask: Any,
    lengths: Any,
    marks: Any,
    bits: Any,
    first_row: int,
    last_row: int,
    near: Any,
    corners: Any,
    codes: Any,
) -> tuple[int, int]:
    """Write the corners in the rows of corners from `first_row` to `last_row` around which not all voxels are alike.

    A corner is one number, as a voxel of `surfaces`: corner k lies between the voxels k - 1 and k. Its code has a bit
    for every voxel around it, and `bits` gives their places, in the order z, y, x. `mask` holds 0 and 1, `lengths` its
    voxels along z, y, x, 0 for z where there is no such axis. `near` is room for twelve numbers. Returns the row to go
    on with (`last_row` unless `corners` is full) and how many were written.
    """
    nz, ny, nx = lengths[0], lengths[1], lengths[2]
    layers = 2 if nz else 1
    all_in = np.uint64(255 if nz else 15)
    n = np.uint64(0)
    for row in range(first_row, last_row):
        if n + np.uint64(nx + 1) > np.uint64(corners.size):
            return row, np.int64(n)
        z, y = row // (ny + 1), row % (ny + 1)
        # The rows of voxels around this row of corners: where they start, and the bits of their left and right voxel.
        m = 0
        for layer in range(layers):
            for side in range(2):
                at_z, at_y = z - 1 + layer, y - 1 + side
                if nz == 0:
                    at_z = np.int64(0)
                if at_z < 0 or at_y < 0 or at_y >= ny or (nz and at_z >= nz) or not marks[at_z * ny + at_y]:
                    continue
                near[3 * m] = np.uint64((at_z * ny + at_y) * nx)
                near[3 * m + 1] = bits[4 * layer + 2 * side]
                near[3 * m + 2] = bits[4 * layer + 2 * side + 1]
                m += 1
        if m == 0:
            continue
        code = (np.int64(z) << _Z) | (np.int64(y) << _Y)
        x = 0
        while x <= nx:
            found = np.uint64(0)
            width = 1
            if x > 0 and x + 8 <= nx:
                width = 8
                for k in range(m):
                    at = near[3 * k] + np.uint64(x)
                    found |= word_at(mask, at - np.uint64(1)) << near[3 * k + 1]
                    found |= word_at(mask, at) << near[3 * k + 2]
                if found == 0 or found == all_in * _ALIKE:
                    x += 8
                    continue
            else:
                for k in range(m):
                    at = near[3 * k] + np.uint64(x)
                    if x > 0:
                        found |= np.uint64(mask[at - np.uint64(1)]) << near[3 * k + 1]
                    if x < nx:
                        found |= np.uint64(mask[at]) << near[3 * k + 2]
            for k in range(width):
                here = found & np.uint64(255)
                found >>= _EIGHT
                if here != 0 and here != all_in:
                    corners[n] = code | np.int64(x + k)
                    codes[n] = here
                    n += np.uint64(1)
            x += width
    return last_row, np.int64(n)
