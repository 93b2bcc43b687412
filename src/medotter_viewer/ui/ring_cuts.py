"""Rings of a scan as masks of planes across its slices. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.geometry.placed_rings import PlacedRings
from medotter_viewer.geometry.ring_runs import RingRuns, ring_runs


class RingCuts:
    """What rings enclose in planes across their slices; runs of pixels are found once, with the first plane.

    Parameters
    ----------
    placed : PlacedRings
        The rings; overlapping ones are united.
    """

    def __init__(self, placed: PlacedRings) -> None:
        self.placed = placed
        self._runs: RingRuns | None = None

    def plane(self, axis: int, index: int) -> NDArray[np.uint8]:
        """Return the mask of a plane, its two other axes in displayed order.

        Parameters
        ----------
        axis : int
            Displayed axis across the plane; not the one across the slices.
        index : int
            Displayed index along it.
        """
        placed = self.placed
        if self._runs is None:
            columns, rows, slices = placed.stack.grid.shape
            found = ((k, placed.pixels(k)) for k in placed.rings)
            self._runs = ring_runs(found, (columns, rows, slices))
        across = placed.order.axes[axis]
        n = placed.stack.grid.shape[across]
        at = n - 1 - index if placed.order.flips[axis] else index
        mask = self._runs.at_column(at) if across == 0 else self._runs.at_row(at)
        shown = placed.order.apply(np.expand_dims(mask.view(np.uint8), across))
        return np.take(shown, 0, axis=axis)
