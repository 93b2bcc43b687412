"""Slices that only have numbers: what contours are drawn on where no file says where slices lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.slice_stack import SliceStack

_MARGIN_MM = 20.0
_MOST_PIXELS = 512
_LARGEST_MM = 1e9
_UPRIGHT = 0.05  # of the normal's length along z: beneath it x and y do not say where in the plane a point is


def stack_by_numbers(contours: Iterable[ScanContours], thickness_mm: Mapping[int, float]) -> SliceStack | None:
    """Return slices in the order of their numbers, as far apart as they are thick, around all rings.

    Parameters
    ----------
    contours : iterable of ScanContours
        Their x and y, mm LPS, say how large a slice is.
    thickness_mm : mapping of int to float
        By slice number; these slices are there too.

    Returns
    -------
    SliceStack or None
        Pixels of 1 mm, or larger where that would be more than 512 across; ``has_world`` of its grid is False, as z
        is made up. None without any ring.
    """
    sides = list(contours)
    points = [_finite(ring) for side in sides for rings in side.rings.values() for ring in rings]
    points = [ring for ring in points if len(ring)]
    if not points:
        return None
    low = np.min([ring.min(axis=0) for ring in points], axis=0) - _MARGIN_MM
    high = np.max([ring.max(axis=0) for ring in points], axis=0) + _MARGIN_MM
    pixel = max(1.0, float((high - low).max()) / _MOST_PIXELS)
    columns, rows = (int(n) + 1 for n in np.ceil((high - low) / pixel))
    numbers = sorted({n for side in sides for n, rings in side.rings.items() if len(rings)} | set(thickness_mm))
    thick = [t for t in thickness_mm.values() if t is not None and np.isfinite(t) and 0 < t < _LARGEST_MM]
    step = float(np.median(thick)) if thick else 1.0
    # z grows against the numbers, so that they are counted from the first displayed slice.
    affine = np.diag([-pixel, -pixel, -step, 1.0])
    affine[:2, 3] = -low
    n = len(numbers)
    origins = np.column_stack([np.tile(low, (n, 1)), -step * np.arange(n)])
    grid = Grid((columns, rows, n), affine, has_world=False)
    thickness = [thickness_mm.get(number) for number in numbers]
    return SliceStack(grid, origins, numbers, thickness, [None] * n, [Path()] * n)


def axial_stack(grid: Grid) -> SliceStack | None:
    """Return the slices of a volume as if they had been numbered from 1 in the order of its file.

    Returns
    -------
    SliceStack or None
        None where the last axis of the array is not the one across axial slices, or the volume does not say where it
        lies.
    """
    if not grid.has_world or grid.unit == "px" or grid.world_axes[2][0] != 2:
        return None
    n = grid.shape[2]
    voxels = np.column_stack([np.zeros((n, 2)), np.arange(n)])
    origins_lps = grid.voxel_to_world(voxels) * (-1.0, -1.0, 1.0)
    numbers = list(range(1, n + 1))
    return SliceStack(grid, origins_lps, numbers, [grid.spacing[2]] * n, [None] * n, [Path()] * n)


def slice_indices(stack: SliceStack) -> dict[int, int]:
    """Return slice numbers with the index of their slices; none where the slices stand upright.

    On upright slices (sagittal, coronal) x and y alone do not say where a point lies.
    """
    if abs(stack.normal_lps[2]) < _UPRIGHT:
        return {}
    return {number: index for index, number in enumerate(stack.numbers) if number is not None}


def _finite(ring: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points that can be drawn; none of what is no list of pairs."""
    points = np.asarray(ring, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        return np.zeros((0, 2))
    return points[(np.abs(points) < _LARGEST_MM).all(axis=1)]
