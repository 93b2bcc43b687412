"""Reorder and flip array axes so that a volume is seen the same way whatever order its file stores it in.

A view, never a copy. The displayed frame is napari's world here: axis 0 grows towards the feet (I), axis 1 towards
the back (P), axis 2 towards the patient's left (L), in mm; it is (-z, y, x) of DICOM's LPS. An axial slice then
shows anterior up and the patient's right at screen left.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.core.grid import Grid

ScalarT = TypeVar("ScalarT", bound=np.generic)

# displayed axis -> (world axis of RAS+, sign): I is -z, P is -y, L is -x
_DISPLAY = ((2, -1), (1, -1), (0, -1))
DISPLAY_AXES = ("I", "P", "L")


@dataclass(frozen=True, slots=True)
class DisplayOrder:
    """How to turn an array of one grid into displayed order.

    Parameters
    ----------
    axes : tuple of int
        Array axis shown as displayed axis 0, 1, 2.
    flips : tuple of bool
        Whether the displayed axis runs against the array axis.
    scale, translate : tuple of float
        mm per displayed step (positive), and displayed mm of the displayed array's first voxel centre.
    """

    axes: tuple[int, ...]
    flips: tuple[bool, ...]
    scale: tuple[float, ...]
    translate: tuple[float, ...]

    def apply(self, array: NDArray[ScalarT]) -> NDArray[ScalarT]:
        """Return the (I, P, L) view of an (i, j, k) array; a colour axis at the end stays there."""
        turned = array.transpose(*self.axes, *range(3, array.ndim))
        return turned[tuple(slice(None, None, -1 if flip else 1) for flip in self.flips)]

    def displayed_index(self, index_voxel: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the displayed index of an (..., 3) array index; `shape` is the array's."""
        index = np.asarray(index_voxel, dtype=np.float64)[..., list(self.axes)]
        size = np.asarray([shape[a] for a in self.axes], dtype=np.float64)
        return np.where(self.flips, size - 1 - index, index)

    def voxel_index(self, displayed: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the (..., 3) array index of a displayed index: the inverse of `displayed_index`."""
        size = np.asarray([shape[a] for a in self.axes], dtype=np.float64)
        index = np.asarray(displayed, dtype=np.float64)
        index = np.where(self.flips, size - 1 - index, index)
        return index[..., list(np.argsort(self.axes))]


def display_order(grid: Grid) -> DisplayOrder:
    """Return how a grid's arrays are shown.

    An oblique volume is shown along its own axes; its centre is put where it lies in the patient.

    Examples
    --------
    >>> order = display_order(Grid((2, 3, 4), np.diag([1.0, 1.0, 5.0, 1.0])))
    >>> order.axes, order.flips, order.scale
    ((2, 1, 0), (True, True, True), (5.0, 1.0, 1.0))
    """
    follows = {world: (axis, sign) for axis, (world, sign) in enumerate(grid.world_axes)}
    axes = tuple(follows[world][0] for world, _ in _DISPLAY)
    flips = tuple(follows[world][1] != sign for world, sign in _DISPLAY)
    scale = tuple(grid.spacing[a] for a in axes)
    centre = world_to_display(grid.voxel_to_world([(n - 1) / 2 for n in grid.shape]))
    half = [s * (grid.shape[a] - 1) / 2 for a, s in zip(axes, scale, strict=True)]
    translate = tuple(float(c - h) for c, h in zip(centre, half, strict=True))
    return DisplayOrder(axes, flips, scale, translate)


def plane_of(volume: NDArray[ScalarT], axis: int, index: int) -> NDArray[ScalarT]:
    """Return the plane of an array at an index along an axis: a view (`numpy.take` may copy the whole array first).

    Examples
    --------
    >>> plane_of(np.arange(8).reshape(2, 2, 2), 1, -1)
    array([[2, 3],
           [6, 7]])
    """
    return volume[(slice(None),) * axis + (index,)]


def world_to_display(points_world: ArrayLike) -> NDArray[np.float64]:
    """Return (..., 3) displayed mm (-z, y, x of LPS) of (..., 3) world mm RAS+."""
    points = np.asarray(points_world, dtype=np.float64)
    return np.stack([sign * points[..., world] for world, sign in _DISPLAY], axis=-1)


def display_to_world(points_display: ArrayLike) -> NDArray[np.float64]:
    """Return (..., 3) world mm RAS+ of (..., 3) displayed mm."""
    points = np.asarray(points_display, dtype=np.float64)
    return np.stack([-points[..., 2], -points[..., 1], -points[..., 0]], axis=-1)


def drawing_error_mm(grid: Grid) -> float:
    """Return by how many mm the worst corner of a grid is drawn elsewhere than it lies: 0 unless it is oblique."""
    order = display_order(grid)
    corners = np.array(list(itertools.product(*((0, n - 1) for n in grid.shape))), dtype=np.float64)
    drawn = order.displayed_index(corners, grid.shape) * order.scale + order.translate
    return float(np.linalg.norm(drawn - world_to_display(grid.voxel_to_world(corners)), axis=1).max())
