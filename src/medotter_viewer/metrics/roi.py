"""Mean, spread and extremes of the intensities in a region of interest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError


@dataclass(frozen=True, slots=True)
class RoiStatistics:
    """What the intensities of some voxels are, in the unit of the image.

    Parameters
    ----------
    n : int
        Voxels whose intensity is a number; the other values are of these.
    n_left_out : int
        Voxels inside whose intensity is none (NaN or infinite).
    mean, sd, low, high : float or None
        Mean, standard deviation of the population (divided by n, not by n - 1: the voxels are all there are of the
        region, and one voxel has a deviation of 0), least and greatest. None where n is 0.
    """

    n: int
    n_left_out: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None


def roi_statistics(values: NDArray[np.number[Any]]) -> RoiStatistics:
    """Return the statistics of intensities.

    Parameters
    ----------
    values : (n,) ndarray
        Of any real type; summed as float64.

    Raises
    ------
    MetricInputError
        If the values are no list of real numbers.

    Examples
    --------
    >>> roi_statistics(np.array([1, 3, 3, 5]))
    RoiStatistics(n=4, n_left_out=0, mean=3.0, sd=1.4142135623730951, low=1.0, high=5.0)
    """
    if values.ndim != 1 or values.dtype.kind not in "buif":
        raise MetricInputError(f"intensities: got {values.dtype} of shape {values.shape}, expected a list of numbers")
    numbers = values.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    left_out = values.size - numbers.size
    if numbers.size == 0:
        return RoiStatistics(0, left_out, None, None, None, None)
    mean, sd, low, high = (float(f(numbers)) for f in (np.mean, np.std, np.min, np.max))
    return RoiStatistics(numbers.size, left_out, mean, sd, low, high)


def in_rectangle(rows_mm: NDArray[np.float64], columns_mm: NDArray[np.float64], box: Box) -> NDArray[np.bool_]:
    """Return which of the positions (rows x columns) lie in a box, its rim included."""
    (top, left), (bottom, right) = box
    rows, columns = (rows_mm >= top) & (rows_mm <= bottom), (columns_mm >= left) & (columns_mm <= right)
    return np.logical_and.outer(rows, columns)


def in_ellipse(rows_mm: NDArray[np.float64], columns_mm: NDArray[np.float64], box: Box) -> NDArray[np.bool_]:
    """Return which of the positions (rows x columns) lie in the ellipse that fills a box, its rim included.

    A box without height or width holds an ellipse that is nothing but a line or a point.

    Examples
    --------
    >>> in_ellipse(np.arange(3.0), np.arange(3.0), ((0.0, 0.0), (2.0, 2.0))).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 1, 0]])
    """
    (top, left), (bottom, right) = box
    parts = []
    for mm, low, high in ((rows_mm, top, bottom), (columns_mm, left, right)):
        half = (high - low) / 2
        offset = np.abs(mm - (low + high) / 2)
        on_line = np.where(offset == 0, 0.0, np.inf)
        parts.append(on_line if half == 0 else (offset / half) ** 2)
    inside: NDArray[np.bool_] = np.add.outer(*parts) <= 1
    return inside


Box = tuple[tuple[float, float], tuple[float, float]]
"""(down, across) mm of the upper left corner and of the lower right one."""
