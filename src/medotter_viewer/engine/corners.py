"""Corners of the surface elements of a mask, by the kernels."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.flat import FlatLabels
from medotter_viewer.engine.surfaces import Lattice
from medotter_viewer.engine.threads import in_threads, shares

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
    marks = np.empty(rows, dtype=np.uint8)
    nx = int(lengths[2])
    in_threads(lambda share: compiled.mark_rows(mask.ids, nx, *share, marks), shares(rows, mask.ids.size))
    corner_rows = int((lengths[0] + 1 if ndim == 3 else 1) * (lengths[1] + 1))
    bits = _bits(ndim, is_fortran=mask.is_fortran)

    def find(share: tuple[int, int]) -> list[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        (row, stop), size, found = share, max(_CHUNK, nx + 1), []
        near = np.empty(12, dtype=np.uint64)
        while row < stop:
            corners, codes = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.uint8)
            row, n = compiled.surface_corners(mask.ids, lengths, marks, bits, row, stop, near, corners, codes)
            found.append((corners[:n], codes[:n]))
            size *= 2
        return found

    pieces = [piece for part in in_threads(find, shares(corner_rows, mask.ids.size)) for piece in part]
    numbers, codes = (np.concatenate(part) for part in zip(*pieces, strict=True))
    corners = Lattice(ndim, mask.is_fortran).index(numbers)
    if mask.is_fortran:
        order = np.argsort(Lattice(ndim, is_fortran=False).voxels(corners))
        corners, codes = corners[order], codes[order]
    return corners, codes


def _bits(ndim: int, *, is_fortran: bool) -> NDArray[np.uint64]:
    """Place in a code of the voxels around a corner, these in the order z, y, x with x closest in memory."""
    weights = [4, 2, 1][3 - ndim :]
    of_axis: list[Any] = [0] * (3 - ndim) + (weights[::-1] if is_fortran else weights)
    places = [of_axis[0] * z + of_axis[1] * y + of_axis[2] * x for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    return np.array(places, dtype=np.uint64)
