"""Rings on numbered slices back to a mask: what a submission means in voxels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.axial_slices import AxialSlices
from medotter_viewer.geometry.polygons import FillRule, fill

_PIXEL_PARTS = 1 << 16  # what lies on a pixel's edge but for the rounding of mm, lies there


def ring_mask(
    rings: Mapping[int, Sequence[Ring]], slices: AxialSlices, *, rule: FillRule = "union"
) -> NDArray[np.bool_]:
    """Return the voxels whose centres the rings enclose: the inverse of `traced_rings`.

    Parameters
    ----------
    rings : mapping of int to sequence of (n, 2) ndarray
        Slice number to x, y in mm LPS.
    slices : AxialSlices
        Which slices have these numbers, and where their pixels lie.
    rule : {"union", "even_odd"}
        What several rings of a slice mean: polygons of a submission are united, those of an RTSTRUCT combined by
        even-odd.

    Returns
    -------
    (i, j, k) ndarray of bool
        On the grid of `slices`, in file-axis order.

    Raises
    ------
    GridMismatchError
        If there are rings on a slice that is not there.
    MetricInputError
        For points that are no ring.
    """
    mask = np.zeros(slices.grid.shape, dtype=np.bool_, order="F")
    index_of = {number: index for index, number in enumerate(slices.numbers)}
    for number, found in rings.items():
        if not len(found):
            continue
        if number not in index_of:
            raise GridMismatchError(f"there is no slice {number}; there are {len(slices.numbers)} slices")
        plane = np.moveaxis(mask, slices.axis, 0)[index_of[number]]  # a view
        pixels = (np.round(slices.to_pixels(ring, index_of[number]) * _PIXEL_PARTS) / _PIXEL_PARTS for ring in found)
        fill(pixels, (plane.shape[0], plane.shape[1]), rule=rule, out=plane)
    return mask
