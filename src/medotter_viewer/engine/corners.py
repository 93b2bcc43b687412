"""Corners of the surface elements of a mask, by the kernels."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.flat import FlatLabels
from medotter_viewer.engine.threads import in_threads, thread_count

_SMALL = 1 << 20  # voxels that are not worth a second thread
_MASK = (1 << 21) - 1
_CHUNK = 1 << 14  # corners written before the array for more is made


def surface_corners(compiled: ModuleType, mask: FlatLabels) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return the corners around which not all voxels are alike, and which of these are in.

    Parameters
    ----------
    compiled : module
        The kernels.
    mask : FlatLabels
        Of 0 and 1, with two or three axes.

    Returns
    -------
    corners : (n, ndim) ndarray of intp
        In C order; corner k of an axis lies between the voxels k - 1 and k.
    codes : (n,) ndarray of uint8
        Bit b is the b-th voxel around the corner in C order.
    """
    ndim, lengths = len(mask.shape), mask.lengths
    rows = int(max(lengths[0], 1) * lengths[1])
    parts = thread_count() if mask.ids.size > _SMALL else 1
    marks = np.empty(rows, dtype=np.uint8)
    edges = np.linspace(0, rows, parts + 1).astype(np.int64).tolist()
    nx = int(lengths[2])
    in_threads(lambda part: compiled.mark_rows(mask.ids, nx, edges[part], edges[part + 1], marks), range(parts))
    corner_rows = int((lengths[0] + 1 if ndim == 3 else 1) * (lengths[1] + 1))
    corner_edges = np.linspace(0, corner_rows, parts + 1).astype(np.int64).tolist()
    bits = _bits(ndim, is_fortran=mask.is_fortran)

    def find(part: int) -> list[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        row, stop, size, found = corner_edges[part], corner_edges[part + 1], max(_CHUNK, nx + 1), []
        near = np.empty(12, dtype=np.uint64)
        while row < stop:
            corners, codes = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.uint8)
            row, n = compiled.surface_corners(mask.ids, lengths, marks, bits, row, stop, near, corners, codes)
            found.append((corners[:n], codes[:n]))
            size *= 2
        return found

    pieces = [piece for part in in_threads(find, range(parts)) for piece in part]
    numbers, codes = (np.concatenate(part) for part in zip(*pieces, strict=True))
    columns = [numbers & _MASK, (numbers >> 21) & _MASK, numbers >> 42][:ndim]
    if mask.is_fortran:
        order = np.argsort(sum((column << (21 * (ndim - 1 - axis)) for axis, column in enumerate(columns)), start=0))
        columns, codes = [column[order] for column in columns], codes[order]
    else:
        columns.reverse()
    return np.array(columns, dtype=np.intp).T, codes


def _bits(ndim: int, *, is_fortran: bool) -> NDArray[np.uint64]:
    """Place in a code of the voxels around a corner, these in the order z, y, x with x closest in memory."""
    weights = [4, 2, 1][3 - ndim :]
    of_axis: list[Any] = [0] * (3 - ndim) + (weights[::-1] if is_fortran else weights)
    places = [of_axis[0] * z + of_axis[1] * y + of_axis[2] * x for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    return np.array(places, dtype=np.uint64)
