"""Surface voxels of a mask: those with at least one face neighbour outside it; outside the array is background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError

_LONGEST = 1e12  # mm; beyond it, and below its inverse, sums of squares lose their digits


def surface_voxels(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of those voxels that have a face neighbour outside the mask.

    Equals ``mask ^ binary_erosion(mask)`` with 6-connectivity (4 in 2-D) and a background border.

    Examples
    --------
    >>> surface_voxels(np.ones((3, 3), dtype=bool)).astype(int)
    array([[1, 1, 1],
           [1, 0, 1],
           [1, 1, 1]])
    """
    inner = mask.copy()
    for axis in range(mask.ndim):
        low: list[Any] = [slice(None)] * mask.ndim
        high: list[Any] = [slice(None)] * mask.ndim
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        inner[tuple(high)] &= mask[tuple(low)]
        inner[tuple(low)] &= mask[tuple(high)]
        for edge in (0, -1):
            border: list[Any] = [slice(None)] * mask.ndim
            border[axis] = edge
            inner[tuple(border)] = False
    return mask & ~inner


def bounding_box(mask: NDArray[np.bool_]) -> tuple[slice, ...] | None:
    """Return the smallest box that holds every True, or None when there is none."""
    box = []
    for axis in range(mask.ndim):
        others = tuple(a for a in range(mask.ndim) if a != axis)
        there = np.flatnonzero(mask.any(axis=others))
        if there.size == 0:
            return None
        box.append(slice(int(there[0]), int(there[-1]) + 1))
    return tuple(box)


def surface_index(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the (n, ndim) array indices of a mask's surface voxels; only the mask's bounding box is worked on."""
    box = bounding_box(mask)
    if box is None:
        return np.zeros((0, mask.ndim), dtype=np.intp)
    # Outside the box there is no mask, so the box's border is background just as the array's is.
    return np.argwhere(surface_voxels(mask[box])) + np.array([s.start for s in box], dtype=np.intp)


def check_spacing(spacing: Sequence[float], ndim: int) -> NDArray[np.float64]:
    """Return the spacing as an array, or raise MetricInputError unless it is `ndim` positive finite numbers."""
    try:
        steps = np.asarray(spacing, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MetricInputError(f"spacing: got {spacing!r}, expected {ndim} numbers of mm in axis order") from error
    if steps.shape != (ndim,) or not ((steps >= 1 / _LONGEST) & (steps <= _LONGEST)).all():
        raise MetricInputError(f"spacing: got {steps.tolist()}, expected {ndim} positive numbers of mm in axis order")
    return steps
