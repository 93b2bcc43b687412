"""Polygons on the slices of one scan, and how thick each slice is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ring = NDArray[np.float64]
"""(n, 2) x, y in mm LPS, not closed: the last point is joined to the first."""


@dataclass(frozen=True, slots=True, eq=False)
class ScanContours:
    """The rings of one structure on the slices of a scan.

    Parameters
    ----------
    rings : mapping of int to sequence of (n, 2) ndarray
        Slice number (1-based, as in the scan's files) to rings in mm LPS. A hole is a keyhole within one ring.
    """

    rings: Mapping[int, Sequence[Ring]] = field(default_factory=dict)

    @property
    def n_rings(self) -> int:
        """How many rings there are on all slices."""
        return sum(len(rings) for rings in self.rings.values())
