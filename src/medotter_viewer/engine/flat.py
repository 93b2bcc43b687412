"""Label maps as kernels take them: flat, in memory order, in one of three types; no copy of what is so already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_LENGTH = 1 << 21
"""Voxels along an axis, fewer than which kernels can take: a voxel is one number below 2**63."""
_HIGHEST = np.iinfo(np.int32).max
_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class FlatLabels:
    """A label map in memory order.

    Parameters
    ----------
    ids : (n,) ndarray of uint8, uint16 or int32
        Without negative ids where the array given had another type.
    shape : tuple of int
        Of the array, in axis order.
    is_fortran : bool
        Whether the first axis lies closest in memory.
    """

    ids: NDArray[Any]
    shape: tuple[int, ...]
    is_fortran: bool

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Voxels along z, y, x, with x closest in memory; 0 for axes that there are not."""
        lengths = self.shape[::-1] if self.is_fortran else self.shape
        return np.array([0] * (3 - len(lengths)) + list(lengths), dtype=np.int64)


def flat_labels(labels: NDArray[Any], *, is_fortran: bool) -> FlatLabels | None:
    """Return a label map in one order of axes; None where kernels cannot take it and the plain code must.

    These are more than three axes or none, nothing in it, 2**21 voxels and more along an axis, and ids that do not fit
    32 bits.
    """
    if not 1 <= labels.ndim <= 3 or not labels.size or max(labels.shape) >= MAX_LENGTH:
        return None
    narrow = _narrow(labels)
    if narrow is None:
        return None
    # A copy where the two label maps of a pair lie differently, or a cut-out has gaps; else none.
    return FlatLabels(narrow.ravel(order="F" if is_fortran else "C"), labels.shape, is_fortran)


def lies_fortran(labels: NDArray[Any]) -> bool:
    """Tell whether the first axis lies closest in memory, as in an array of a NIfTI file."""
    return labels.ndim > 1 and abs(labels.strides[0]) < abs(labels.strides[-1])


def _narrow(labels: NDArray[Any]) -> NDArray[Any] | None:
    if labels.dtype == np.bool_:
        return labels.view(np.uint8)
    if labels.dtype in _TYPES and labels.dtype.isnative:
        return labels
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high > _HIGHEST:
        return None
    return labels.astype(next(kind for kind in _TYPES if high <= np.iinfo(kind).max))
