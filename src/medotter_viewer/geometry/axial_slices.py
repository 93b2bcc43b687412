"""The axial slices of a volume: their numbers, their thickness, and where their pixels lie in mm LPS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring
from medotter_viewer.core.grid import OBLIQUE_DEG, Grid
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.orientation import plane_of
from medotter_viewer.geometry.placed_rings import pixels_on

_FILES_AXES = ("sagittal", "coronal", "axial")


@dataclass(frozen=True, slots=True, eq=False)
class AxialSlices:
    """How the slices of a volume are counted and placed.

    Parameters
    ----------
    grid : Grid
        Of the volume, RAS+.
    axis : int
        The array axis along which the slices follow each other.
    numbers : tuple of int
        1-based slice number of every index along `axis`.
    thickness_mm : mapping of int to float
        Slice number to thickness.
    stack : SliceStack or None
        Where slices lie that are not evenly spaced.
    """

    grid: Grid
    axis: int
    numbers: tuple[int, ...]
    thickness_mm: Mapping[int, float]
    stack: SliceStack | None = None

    def mask(self, volume: NDArray[Any], index: int) -> NDArray[Any]:
        """Return one slice of an array, as it lies in the array: what `to_lps` takes as rows and columns."""
        return plane_of(np.asarray(volume), self.axis, index)

    def to_lps(self, pixels: Ring, index: int) -> Ring:
        """Return (n, 2) x, y in mm LPS of (n, 2) column, row of the slice that `mask` gives."""
        if self.stack is not None:
            return np.asarray(self.stack.to_lps(pixels[:, ::-1], index)[:, :2] + 0.0)  # no -0.0
        first, second = (axis for axis in range(3) if axis != self.axis)
        voxels = np.empty((len(pixels), 3))
        voxels[:, first], voxels[:, second], voxels[:, self.axis] = pixels[:, 1], pixels[:, 0], index
        return np.asarray(-self.grid.voxel_to_world(voxels)[:, :2] + 0.0)

    def to_pixels(self, points_xy: Ring, index: int) -> Ring:
        """Return (n, 2) column, row of (n, 2) x, y in mm LPS: the inverse of `to_lps`."""
        if self.stack is not None:
            return np.asarray(pixels_on(points_xy, self.stack, index)[:, ::-1])
        axes = [axis for axis in range(3) if axis != self.axis]
        origin = self.grid.affine[:2, 3] + self.grid.affine[:2, self.axis] * index
        offset = -np.asarray(points_xy, dtype=np.float64) - origin
        return np.asarray(np.linalg.solve(self.grid.affine[:2, axes], offset.T).T[:, ::-1])

    @property
    def pixel_area_mm2(self) -> float:
        """Area of one pixel, as x and y see it."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return float(abs(np.linalg.det(self.grid.affine[:2, [first, second]])))


def axial_slices(
    grid: Grid, *, stack: SliceStack | None = None, thickness_mm: Mapping[int, float] | None = None
) -> AxialSlices:
    """Return how the axial slices of a volume are counted and placed.

    Parameters
    ----------
    grid : Grid
        Of the volume.
    stack : SliceStack, optional
        Of a scan: its slices have the numbers it gives them, DICOM's Instance Number. Without it slices are counted
        from 1 along the axis that follows the patient's length, in the order of the file.
    thickness_mm : mapping of int to float, optional
        DICOM's (0018,0050) by slice number. A slice that is not in it is as thick as the step to the next one.

    Raises
    ------
    GridMismatchError
        If the volume does not say where it lies, is oblique by more than `OBLIQUE_DEG`, or what `stack_slices`
        refuses: then there is no x, y, slice to be written.
    """
    if grid.unit == "px" or not grid.has_world:
        raise GridMismatchError(
            "its file does not say where it lies, so that there is no x, y in mm; give one that does"
        )
    if grid.oblique_deg > OBLIQUE_DEG:
        raise GridMismatchError(
            f"its axes are {grid.oblique_deg:.3g} degrees oblique, at most {OBLIQUE_DEG} are allowed: x, y of a "
            "slice would not be those of the patient; resample it to the patient's axes"
        )
    axis = next(a for a, (world, _) in enumerate(grid.world_axes) if world == 2)
    if stack is not None:
        if axis != 2:
            raise GridMismatchError(f"its slices are {_FILES_AXES[grid.world_axes[2][0]]}, expected axial ones")
        return stack_slices(grid, stack, thickness_mm=thickness_mm)
    numbers = tuple(range(1, grid.shape[axis] + 1))
    return AxialSlices(grid, axis, numbers, _thickness(grid.spacing[axis], numbers, thickness_mm))


def stack_slices(grid: Grid, stack: SliceStack, *, thickness_mm: Mapping[int, float] | None = None) -> AxialSlices:
    """Return the slices of a scan with the numbers it gives them, however oblique they are: x and y alone count.

    Parameters
    ----------
    grid : Grid
        Of a volume on the voxels of `stack`.
    stack : SliceStack
        Of the scan.
    thickness_mm : mapping of int to float, optional
        As for `axial_slices`.

    Raises
    ------
    GridMismatchError
        If the volume has another shape, slices stand upright (x and y do not say where on them a point is), or their
        numbers are missing or not unique.
    """
    if len(stack) != grid.shape[2] or stack.grid.shape != grid.shape:
        raise GridMismatchError(f"it has {grid.describe()}, its scan {stack.grid.describe()}")
    numbers = tuple(0 if number is None else number for number in stack.numbers)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise GridMismatchError("its slices have no numbers of their own (DICOM's Instance Number, from 1)")
    if not slice_indices(stack):
        raise GridMismatchError("its slices stand upright: x and y do not say where on them a point is")
    return AxialSlices(grid, 2, numbers, _thickness(grid.spacing[2], numbers, thickness_mm), stack)


def _thickness(step: float, numbers: tuple[int, ...], known: Mapping[int, float] | None) -> dict[int, float]:
    return {number: (known or {}).get(number, step) for number in numbers}
