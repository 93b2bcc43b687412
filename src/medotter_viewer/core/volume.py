"""Image intensities on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.errors import ReadError


@dataclass(frozen=True, slots=True, eq=False)
class Volume:
    """Image intensities.

    Parameters
    ----------
    data : (i, j, k) ndarray
        Intensities in file-axis order, any real type; (i, j, k, 3) uint8 red, green and blue where `rgb`.
    grid : Grid
        Where it lies.
    unit : str
        Unit of the intensities: ``"HU"`` for CT, ``""`` where unknown.
    rgb : bool
        Whether `data` are colours.
    """

    data: NDArray[np.number[Any]]
    grid: Grid
    unit: str = ""
    rgb: bool = False

    def __post_init__(self) -> None:
        if self.data.shape != self.grid.shape + (3,) * self.rgb:
            raise ReadError(f"volume of shape {self.data.shape} on a grid of shape {self.grid.shape}")
        if self.rgb and self.data.dtype != np.uint8:
            raise ReadError(f"colours of type {self.data.dtype}, expected uint8")
