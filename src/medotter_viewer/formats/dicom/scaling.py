"""From stored values to intensities: each slice by its own slope and intercept, without any wrap-around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.formats.dicom.values import Header

_WHOLE_LIMIT = 1 << 20  # beyond it products of whole numbers are left to floating point
_TYPES = (np.int16, np.uint16, np.int32, np.uint32, np.int64)


@dataclass(frozen=True, slots=True)
class Scaling:
    """How stored values become intensities.

    Parameters
    ----------
    slope, intercept : float
        Intensity is stored value times slope plus intercept.
    is_given : bool
        Whether the file says so; else values are taken as stored.
    had_zero_slope : bool
        Whether the file says a slope of 0, which is read as 1.
    """

    slope: float = 1.0
    intercept: float = 0.0
    is_given: bool = False
    had_zero_slope: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether whole stored values stay whole."""
        return all(v.is_integer() and abs(v) <= _WHOLE_LIMIT for v in (self.slope, self.intercept))

    def apply(self, stored: NDArray[Any], *, whole: bool) -> NDArray[Any]:
        """Return intensities: int64 if `whole` and scaling changes anything, float64 otherwise."""
        if (self.slope, self.intercept) == (1.0, 0.0):
            return stored
        if whole:
            return stored.astype(np.int64) * int(self.slope) + int(self.intercept)
        with np.errstate(all="ignore"):  # what overflows is infinite
            return stored.astype(np.float64) * self.slope + self.intercept


def scaling_of(header: Header) -> Scaling:
    """Return how a header, or an item of its Pixel Value Transformation, scales; absent or blank means as stored.

    Raises
    ------
    ReadError
        If slope or intercept are malformed.
    """
    slope, intercept = header.number("RescaleSlope"), header.number("RescaleIntercept")
    is_given = slope is not None or intercept is not None
    return Scaling(slope or 1.0, intercept or 0.0, is_given, slope == 0)


def assembled(
    frames: Iterable[tuple[int, NDArray[Any], Scaling]], count: int, scalings: Sequence[Scaling]
) -> NDArray[Any]:
    """Return slices as one array: the smallest whole type that holds all values, else float32.

    Parameters
    ----------
    frames : iterable of (int, (rows, columns) or (rows, columns, 3) ndarray, Scaling)
        Place of each slice in the volume, its stored values and their scaling; taken one by one.
    count : int
        How many there are.
    scalings : sequence of Scaling
        Of all of them: they decide whether values stay whole.

    Returns
    -------
    (columns, rows, slices) or (columns, rows, slices, 3) ndarray
        A transposed view: pixels of a slice lie together in memory. int16 where it fits; uint8 for 8-bit values that
        are not scaled, and for colours.
    """
    whole, only_bytes = all(s.is_whole for s in scalings), True
    low, high = 0, 0
    out: NDArray[Any] | None = None
    for place, frame, scaling in frames:
        stored = frame.view(np.uint8) if frame.dtype == np.bool_ else frame
        whole = whole and stored.dtype.kind in "iu" and stored.dtype.itemsize <= 4
        values = scaling.apply(stored, whole=whole)
        only_bytes = only_bytes and values.dtype == np.uint8
        kind: type[np.generic] = np.float32
        if whole:
            low, high = min(low, int(values.min())), max(high, int(values.max()))
            kind = np.uint8 if only_bytes else _smallest(low, high)
        if out is None:
            out = np.empty((count, *values.shape), dtype=kind)
        with np.errstate(all="ignore"):  # what overflows is infinite
            out = out.astype(kind, copy=False)
            out[place] = values
    if out is None:
        raise ValueError("no slices")
    return out.transpose(2, 1, 0, 3) if out.ndim == 4 else out.transpose(2, 1, 0)


def _smallest(low: int, high: int) -> type[np.generic]:
    return next(t for t in _TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
