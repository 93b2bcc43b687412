"""Where the parallel slices of a scan lie: what contours are placed on and areas become volumes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import LPS_TO_RAS, Grid
from medotter_viewer.errors import GridMismatchError


@dataclass(frozen=True, slots=True, eq=False)
class SliceStack:
    """Parallel slices of one size, in the order of the volume: along the normal of the image plane.

    Parameters
    ----------
    grid : Grid
        Of the volume, RAS+; shape is (columns, rows, slices), the order of DICOM's pixels. Where `is_uneven`, the
        step of its last axis is the mean distance.
    origins_lps : (n, 3) ndarray
        Centre of the first pixel of each slice, mm LPS: DICOM's Image Position.
    numbers : sequence of int or None
        DICOM's Instance Number, or the slice id of a scan folder.
    thickness_mm : sequence of float or None
        DICOM's (0018,0050); never the distance between slices.
    sop_uids : sequence of str or None
        DICOM's SOP Instance UID.
    files : sequence of Path
        Where each slice was read.
    frame_of_reference_uid : str or None
        Of all slices.
    is_uneven : bool
        Whether the distances between neighbours differ by more than can be ignored.
    """

    grid: Grid
    origins_lps: NDArray[np.float64]
    numbers: Sequence[int | None]
    thickness_mm: Sequence[float | None]
    sop_uids: Sequence[str | None]
    files: Sequence[Path]
    frame_of_reference_uid: str | None = None
    is_uneven: bool = False

    def __post_init__(self) -> None:
        n = self.grid.shape[2]
        parts = (self.origins_lps, self.numbers, self.thickness_mm, self.sop_uids, self.files)
        if any(len(part) != n for part in parts):
            raise GridMismatchError(f"{n} slices, but their lists hold {[len(part) for part in parts]}")

    def __len__(self) -> int:
        """How many slices there are."""
        return self.grid.shape[2]

    @property
    def affine_lps(self) -> NDArray[np.float64]:
        """(4, 4) column, row and slice index to mm LPS."""
        return LPS_TO_RAS @ self.grid.affine

    @property
    def normal_lps(self) -> NDArray[np.float64]:
        """(3,) unit vector across the slices, in the direction in which they are counted."""
        across = np.cross(self.affine_lps[:3, 0], self.affine_lps[:3, 1])
        along = across / np.linalg.norm(across)
        return np.asarray(along if along @ self.affine_lps[:3, 2] >= 0 else -along)

    @property
    def positions_mm(self) -> NDArray[np.float64]:
        """(n,) where each slice lies along the normal, increasing."""
        return np.asarray(self.origins_lps @ self.normal_lps)

    def to_pixels(self, points_lps: NDArray[np.float64], index: int) -> NDArray[np.float64]:
        """Return (n, 2) column, row (pixel centres at integers) of (n, 3) mm LPS in the plane of slice `index`."""
        axes = self.affine_lps[:3, :2]
        offset = np.asarray(points_lps, dtype=np.float64) - self.origins_lps[index]
        return np.asarray(offset @ np.linalg.pinv(axes).T)

    def to_lps(self, pixels: NDArray[np.float64], index: int) -> NDArray[np.float64]:
        """Return (n, 3) mm LPS of (n, 2) column, row on slice `index`."""
        return np.asarray(np.asarray(pixels, dtype=np.float64) @ self.affine_lps[:3, :2].T + self.origins_lps[index])
