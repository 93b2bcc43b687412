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
        Intensities in file-axis order, any real type.
    grid : Grid
        Where it lies.
    unit : str
        Unit of the intensities: ``"HU"`` for CT, ``""`` where unknown.
    """

    data: NDArray[np.number[Any]]
    grid: Grid
    unit: str = ""

    def __post_init__(self) -> None:
        if self.data.shape != self.grid.shape:
            raise ReadError(f"volume of shape {self.data.shape} on a grid of shape {self.grid.shape}")
