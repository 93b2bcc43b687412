"""Place the points of a file in the patient: from coordinates along axes named by codes to world mm.

The last voxel of an axis of n is n - 1, so that a coordinate x along a flipped axis is n - 1 - x. The helper of
anjany/verse (``reorient_centroids_to``) takes n - x and is off by one voxel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.errors import GridMismatchError, ReadError

AXES: Mapping[str, tuple[int, int]] = {
    "R": (0, 1), "L": (0, -1), "A": (1, 1), "P": (1, -1), "S": (2, 1), "I": (2, -1),
}  # fmt: skip
"""Code to world axis (x, y, z of RAS+) and sign."""
_SAME = 0.01  # relative, of zooms


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkFile:
    """The points of a file before they are placed in the patient.

    Parameters
    ----------
    path : Path
        The file.
    points : mapping of int to (x, y, z)
        Label to coordinates along `axes`.
    axes : str
        Direction in which each coordinate grows, e.g. ``"PIR"``; empty for a file without points.
    in_mm : bool
        Whether coordinates are mm from the centre of the first voxel (of the world where `in_world`), not voxels.
    zoom, shape : tuple or None
        Of the image along `axes`, where the header says so.
    grid : Grid or None
        The image's own grid, for a header that says everything.
    findings : tuple of Finding
        What was noticed.
    in_world : bool
        Whether coordinates are mm of the world, RAS+: no image is needed to place them.
    derived, edited : bool, frozenset of int
        As of `Landmarks`, where the file's provenance says so.
    """

    path: Path
    points: Mapping[int, Point]
    axes: str
    in_mm: bool = False
    zoom: tuple[float, ...] | None = None
    shape: tuple[int, ...] | None = None
    grid: Grid | None = None
    findings: tuple[Finding, ...] = ()
    in_world: bool = False
    derived: bool = False
    edited: frozenset[int] = frozenset()

    def place(self, grid: Grid | None) -> tuple[Landmarks, list[Finding]]:
        """Return the points in world mm RAS+, and what was noticed.

        Parameters
        ----------
        grid : Grid or None
            Of the image (or label map) the points belong to; a file with a grid of its own needs none. Without one, mm
            are taken from an unknown first voxel: such points can be compared with points of the same axes only.

        Raises
        ------
        ReadError
            If voxel coordinates have no grid.
        GridMismatchError
            If the grid does not say how its image lies.
        """
        findings = list(self.findings)
        if self.in_world:
            if grid is not None and grid.has_world:
                findings += _outside(self.points, grid, self.path)
            return Landmarks(self.points, str(self.path), self.derived, self.edited), findings
        if self.grid is None and grid is None and self.points and not self.in_mm:
            raise ReadError(f"{self.path}: coordinates are voxels of an image; give the image")
        if self.grid is None and grid is not None and not grid.has_world and self.points:
            raise GridMismatchError(
                f"{self.path}: points along {self.axes}, but the image's orientation is unknown (no form codes)"
            )
        own = self.grid or grid
        if self.grid is None and grid is not None:
            findings += self._differences(grid)
        world = {label: self._world(point, own) for label, point in self.points.items()}
        if grid is not None and grid.has_world:
            findings += _outside(world, grid, self.path)
        return Landmarks(world, str(self.path), self.derived, self.edited), findings

    def _world(self, point: Point, grid: Grid | None) -> Point:
        grows = {AXES[code][0]: (AXES[code][1], value) for code, value in zip(self.axes, point, strict=True)}
        if grid is None:
            x, y, z = (sign * value for sign, value in (grows[axis] for axis in range(3)))
            return x, y, z
        voxel = []
        for n, spacing, (axis, sign) in zip(grid.shape, grid.spacing, grid.world_axes, strict=True):
            its_sign, value = grows[axis]
            steps = value / spacing if self.in_mm else value
            voxel.append(steps if its_sign == sign else n - 1 - steps)
        x, y, z = grid.voxel_to_world(voxel).tolist()
        return x, y, z

    def _differences(self, grid: Grid) -> list[Finding]:
        """Say where the header names another image than the one given."""
        place = {world: i for i, (world, _) in enumerate(grid.world_axes)}
        order = [place[AXES[code][0]] for code in self.axes]
        parts = []
        if self.shape is not None and self.shape != (its := tuple(grid.shape[i] for i in order)):
            parts.append(f"shape {self.shape}, the image's is {its}")
        if self.zoom is not None:
            mm = tuple(grid.spacing[i] for i in order)
            if any(abs(a - b) > _SAME * b for a, b in zip(self.zoom, mm, strict=True)):
                parts.append(f"zoom {self.zoom}, the image's is {tuple(round(v, 4) for v in mm)}")
        if not parts:
            return []
        message = f"{self.path.name}: the header says {'; '.join(parts)} (along {self.axes}); the image's is used"
        return [Finding("warning", "landmark-grid-differs", message, str(self.path))]


def _outside(world: Mapping[int, Point], grid: Grid, path: Path) -> list[Finding]:
    far = []
    for label, point in world.items():
        voxel = grid.world_to_voxel(point)
        if (voxel < -0.5).any() or (voxel > np.asarray(grid.shape) - 0.5).any():
            far.append(f"{label} ({vertebra_name(label)})")
    if not far:
        return []
    message = f"{path.name}: points outside the image: {', '.join(far)}"
    return [Finding("warning", "landmark-outside-image", message, str(path))]
