"""A mask to the rings of its axial slices, along the edges of its pixels, in mm LPS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring
from medotter_viewer.geometry.axial_slices import AxialSlices
from medotter_viewer.geometry.polygons import trace_slices


def traced_rings(mask: NDArray[np.bool_], slices: AxialSlices) -> tuple[dict[int, list[Ring]], dict[int, list[float]]]:
    """Return the rings of a mask by slice number, and their areas in mm2: pixels times the area of a pixel.

    Parameters
    ----------
    mask : (i, j, k) ndarray of bool
        In file-axis order.
    slices : AxialSlices
        Of the mask's grid.

    Returns
    -------
    rings : dict of int to list of (n, 2) ndarray
        x, y in mm LPS; one for each piece of a slice, a hole is a keyhole. Slices without a pixel are left out.
    areas_mm2 : dict of int to list of float
        Of each ring.
    """
    traced = trace_slices(mask, slices.axis)
    rings: dict[int, list[Ring]] = {}
    areas: dict[int, list[float]] = {}
    for index, label in traced.places():
        polygons = traced.polygons(index, label)
        number = slices.numbers[index]
        rings[number] = [slices.to_lps(polygon.keyhole(), index) for polygon in polygons]
        areas[number] = [polygon.area * slices.pixel_area_mm2 for polygon in polygons]
    return dict(sorted(rings.items())), areas
