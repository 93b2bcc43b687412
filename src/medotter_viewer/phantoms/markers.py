"""Small volumes for tests of geometry, and any volume stored in any of the 48 axis orders."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.phantoms.paint import Phantom, Point, ras_grid

ImageT = TypeVar("ImageT", Volume, LabelMap)

_AXES = {
    code: (axis, sign) for axis, pair in enumerate(("LR", "PA", "IS")) for code, sign in zip(pair, (-1, 1), strict=True)
}
_BLOCKS = {1: ((0, 2), (0, 3), (0, 2)), 2: ((5, 9), (1, 3), (3, 6)), 3: ((3, 5), (6, 10), (5, 7))}


def marker_phantom(
    shape: Sequence[int] = (9, 11, 7), spacing: Point = (2.0, 1.5, 3.0), centre_world: Point = (10.0, -20.0, 30.0)
) -> Phantom:
    """Return a small volume in RAS order in which no two directions can be confused.

    One voxel of the image is bright (1000): one step from the corner at the patient's left, front and head.
    All others hold i + 10 j + 100 k modulo 500 of their index. Labels 1, 2 and 3 are boxes of 12, 24 and 16 voxels
    that do not touch, and none of them falls on itself when axes are flipped.

    Parameters
    ----------
    shape : sequence of int
        At least 9, 10 and 7 voxels.
    spacing, centre_world : sequence of float
        mm per axis, and where the middle of the volume lies in mm RAS+.

    Examples
    --------
    >>> phantom = marker_phantom()
    >>> int(phantom.image.data[1, 9, 5]), np.bincount(phantom.labels.data.ravel()).tolist()
    (1000, [641, 12, 24, 16])
    """
    if any(n < least for n, least in zip(shape, (9, 10, 7), strict=True)):
        raise GridMismatchError(f"marker phantom: got shape {tuple(shape)}, expected at least (9, 10, 7)")
    grid = ras_grid(shape, spacing, centre_world)
    i, j, k = np.indices(grid.shape)
    image = ((i + 10 * j + 100 * k) % 500).astype(np.int16)
    image[1, -2, -2] = 1000
    labels = np.zeros(grid.shape, dtype=np.uint8)
    for label, box in _BLOCKS.items():
        labels[tuple(slice(*ends) for ends in box)] = label
    names = {1: "one", 2: "two", 3: "three"}
    return Phantom({"image": Volume(image, grid)}, LabelMap(labels, grid), names)


def reoriented(image: ImageT, axcodes: str) -> ImageT:
    """Return the same content in the same place, stored in another axis order.

    Parameters
    ----------
    image : Volume or LabelMap
        On any grid.
    axcodes : str
        The direction in which each new array axis grows: one of the 48 like ``"LPS"`` or ``"PIR"``.

    Returns
    -------
    Volume or LabelMap
        Array axes permuted and flipped, affine to match: every voxel keeps its value and its world position.

    Raises
    ------
    GridMismatchError
        If `axcodes` does not name three different axes.

    Examples
    --------
    >>> reoriented(marker_phantom().labels, "SPL").grid.shape
    (7, 11, 9)
    """
    wanted = [_AXES.get(code, (-1, 0)) for code in axcodes]
    if sorted(axis for axis, _ in wanted) != [0, 1, 2]:
        raise GridMismatchError(f"axis codes: got {axcodes!r}, expected one each of L/R, P/A and I/S")
    grid = image.grid
    follows = {world: (axis, sign) for axis, (world, sign) in enumerate(grid.world_axes)}
    turn = np.zeros((4, 4))
    turn[3, 3] = 1
    order, steps = [], []
    for new, (world, sign) in enumerate(wanted):
        old, old_sign = follows[world]
        flip = sign != old_sign
        order.append(old)
        steps.append(slice(None, None, -1 if flip else None))
        turn[old, new] = -1 if flip else 1
        turn[old, 3] = grid.shape[old] - 1 if flip else 0
    data = np.ascontiguousarray(image.data.transpose(order)[tuple(steps)])
    return dataclasses.replace(image, data=data, grid=Grid(data.shape, grid.affine @ turn, grid.has_world))
