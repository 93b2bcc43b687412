"""Errors as connected pieces: what is known of each, and where their voxels lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.voxel_runs import Runs

ErrorKind = Literal["fn", "fp", "wrong"]
KINDS: tuple[ErrorKind, ...] = ("fp", "fn", "wrong")

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ErrorComponent:
    """One connected piece of voxels that are wrong in the same way.

    Parameters
    ----------
    id : int
        Rank by volume, from 1.
    kind : {"fn", "fp", "wrong"}
        Missed, invented, or another label.
    gt_label, pred_label : int
        Ids on both sides, the same for all of its voxels; 0 is background. Of a piece of a region that was compared as
        one mask those that most of its voxels have, of equals the lower.
    voxels : int
        How many.
    volume_mm3 : float
        Voxels times the product of the spacing (mm2 in 2-D).
    centroid : tuple of float
        Mean array index; of a bent piece it may lie outside.
    box : tuple of (int, int)
        First index and one past the last, for each axis.
    voxel : tuple of int
        The voxel of the piece that lies nearest, in mm, to its centroid; of equals the first in C order.
    farthest_mm : float or None
        Largest distance of a voxel to the other side's surface, where it was asked for and there is one: missed voxels
        to the surface of their label in the prediction, all others to that of the predicted label in the ground truth;
        of a region both times to that of the region.
    farthest_voxel : tuple of int or None
        Where that is: always a voxel of the piece, of equals the first in C order.
    """

    id: int
    kind: ErrorKind
    gt_label: int
    pred_label: int
    voxels: int
    volume_mm3: float
    centroid: tuple[float, ...]
    box: tuple[tuple[int, int], ...]
    voxel: tuple[int, ...]
    farthest_mm: float | None = None
    farthest_voxel: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class KindTotal:
    """How many pieces of a kind there are, listed or not, and of how many voxels."""

    pieces: int = 0
    voxels: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ErrorPieces:
    """The errors of a pair of label maps.

    Parameters
    ----------
    listed : tuple of ErrorComponent
        The largest pieces, largest first.
    totals : mapping of ErrorKind to KindTotal
        Of all pieces, those too that are not listed.
    runs, bounds : Runs, (n + 1,) ndarray of int64
        Where the voxels of the listed pieces lie: piece number ``i`` has the runs from ``bounds[i]`` on.
    is_fortran : bool
        Whether `runs` counts along the axes of the arrays in reverse order.
    """

    listed: tuple[ErrorComponent, ...]
    totals: Mapping[ErrorKind, KindTotal]
    runs: Runs
    bounds: _Ints
    is_fortran: bool

    @property
    def n_pieces(self) -> int:
        """How many there are, listed or not."""
        return sum(total.pieces for total in self.totals.values())

    def flat_voxels(self, place: int) -> _Ints:
        """Return the voxels of the listed piece at a place (rank - 1), as flat indices in memory order, ascending."""
        part = slice(int(self.bounds[place]), int(self.bounds[place + 1]))
        return Runs(self.runs.shape, self.runs.start[part], self.runs.length[part], self.runs.code[part]).voxels()

    def index(self, place: int) -> tuple[NDArray[np.intp], ...]:
        """Return the same as array indices, one array for each axis."""
        found = np.unravel_index(self.flat_voxels(place), self.runs.shape)
        return found[::-1] if self.is_fortran else found
