"""A volume out of the colours that a file stores for each voxel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.volume import Volume


def colour_volume(colours: NDArray[np.uint8], grid: Grid, path: Path) -> tuple[Volume, list[Finding]]:
    """Return red, green and blue as an image, and a finding where some of it is transparent.

    Parameters
    ----------
    colours : (i, j, k, 3 or 4) ndarray of uint8
        Red, green, blue and, where there are four, how opaque a voxel is (255 altogether).
    grid : Grid
        Where the voxels lie.
    path : Path
        For the finding.
    """
    notes = []
    if colours.shape[3] == 4 and (colours[..., 3] != 255).any():
        message = "transparent voxels are shown in their stored colour: alpha is left out"
        notes.append(Finding("info", "alpha-left-out", message, file=str(path)))
    return Volume(colours[..., :3], grid, rgb=True), notes
