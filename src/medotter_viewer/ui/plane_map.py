"""Where the displayed mm of a plane are seen on a widget, and the way back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_LEAST_MM = 1e-6


@dataclass(frozen=True, slots=True)
class PlaneMap:
    """How a plane is seen: one mm is as long down as across, so that nothing is stretched.

    Parameters
    ----------
    centre_mm : (float, float)
        Displayed mm, down and across, in the middle of the widget.
    zoom : float
        Pixels per mm.
    width, height : float
        Of the widget, pixels.
    down, across : int
        1 where displayed mm grow downwards and to the right, -1 where the camera is turned round.
    swapped : bool
        Whether the plane's first axis runs across and its second one down, as napari can turn it; points are given
        and returned in the order of the axes all the same.

    Examples
    --------
    >>> view = PlaneMap((10.0, 20.0), 2.0, 100.0, 80.0)
    >>> view.to_pixels((10.0, 25.0)).tolist(), view.to_mm(60.0, 40.0)
    ([60.0, 40.0], (10.0, 25.0))
    """

    centre_mm: tuple[float, float]
    zoom: float
    width: float
    height: float
    down: int = 1
    across: int = 1
    swapped: bool = False

    @classmethod
    def fitting(
        cls, low_mm: Sequence[float], high_mm: Sequence[float], width: float, height: float, margin_px: float = 0.0
    ) -> PlaneMap:
        """Return the map in which a box, (down, across) mm, is as large as it can be and in the middle."""
        extent = [max(float(high - low), _LEAST_MM) for low, high in zip(low_mm, high_mm, strict=True)]
        room = (max(height - 2 * margin_px, 1.0), max(width - 2 * margin_px, 1.0))
        zoom = min(room[0] / extent[0], room[1] / extent[1])
        centre = tuple((float(low) + float(high)) / 2 for low, high in zip(low_mm, high_mm, strict=True))
        return cls((centre[0], centre[1]), zoom, width, height)

    def to_pixels(self, points_mm: ArrayLike) -> Floats:
        """Return the (..., 2) x, y of (..., 2) displayed mm, down and across."""
        points = np.asarray(points_mm, dtype=np.float64)[..., :: -1 if self.swapped else 1]
        offset = (points - self.centre_mm) * (self.down, self.across) * self.zoom
        return np.stack([self.width / 2 + offset[..., 1], self.height / 2 + offset[..., 0]], axis=-1)

    def to_mm(self, x: float, y: float) -> tuple[float, float]:
        """Return the displayed mm, down and across, that are seen at a pixel: the inverse of `to_pixels`."""
        down = self.centre_mm[0] + self.down * (y - self.height / 2) / self.zoom
        across = self.centre_mm[1] + self.across * (x - self.width / 2) / self.zoom
        return (across, down) if self.swapped else (down, across)

    def lines(self, ratio: float = 1.0) -> tuple[Floats, Floats]:
        """Return the displayed mm of the middles of all rows and all columns of pixels.

        Parameters
        ----------
        ratio : float
            Pixels of the screen per pixel of the widget.
        """
        rows, columns = (max(1, round(n * ratio)) for n in (self.height, self.width))
        y: Floats = (np.arange(rows, dtype=np.float64) + 0.5) / ratio
        x: Floats = (np.arange(columns, dtype=np.float64) + 0.5) / ratio
        down: Floats = self.centre_mm[0] + self.down * (y - self.height / 2) / self.zoom
        across: Floats = self.centre_mm[1] + self.across * (x - self.width / 2) / self.zoom
        return down, across
