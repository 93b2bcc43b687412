"""Rulers and regions of interest: what a person draws on a slice, and what it says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.volume import Volume
from medotter_viewer.geometry.measuring import distance_mm, pixel_area_mm2
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.metrics.roi import Box, RoiStatistics, in_ellipse, in_rectangle, roi_statistics

Shape = Literal["ruler", "ellipse", "rectangle"]
ARBITRARY = "a.u."
_MANY = 10000.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A ruler or a region of interest on one slice.

    Parameters
    ----------
    shape : {"ruler", "ellipse", "rectangle"}
        A line from start to end, or what fills the box between them.
    axis : int
        Displayed axis across the slice.
    start_mm, end_mm : (3,) tuple of float
        Displayed mm along I, P, L; the same along `axis`.
    """

    shape: Shape
    axis: int
    start_mm: tuple[float, float, float]
    end_mm: tuple[float, float, float]

    @property
    def position_mm(self) -> float:
        """Where the slice lies."""
        return self.start_mm[self.axis]

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Both ends as (down, across) mm."""
        down, across = (a for a in range(3) if a != self.axis)
        return (self.start_mm[down], self.start_mm[across]), (self.end_mm[down], self.end_mm[across])

    @property
    def box(self) -> Box:
        """(down, across) mm of the upper left corner and of the lower right one."""
        (a, b), (c, d) = self.ends
        return (min(a, c), min(b, d)), (max(a, c), max(b, d))

    def is_on(self, axis: int, position_mm: float, step_mm: float) -> bool:
        """Tell whether the mark lies on a slice."""
        return self.axis == axis and abs(self.position_mm - position_mm) < step_mm / 2


def ruler_text(mark: Mark, grid: Grid) -> str:
    """Return a ruler's length, with its unit.

    Examples
    --------
    >>> grid = Grid((9, 9, 9), np.diag([2.0, 2.0, 5.0, 1.0]))
    >>> ruler_text(Mark("ruler", 0, (0, 0, 0), (0, 6, 8)), grid)
    '10.0 mm'
    """
    length = distance_mm(grid, mark.start_mm, mark.end_mm)
    if length is None:
        return "no length: uneven slices"
    return f"{length:.1f} {grid.unit}"


@dataclass(frozen=True, slots=True)
class Measured:
    """Statistics of a region of interest and its area, both of the voxels whose centres are inside."""

    statistics: RoiStatistics
    area: float | None
    area_unit: str
    unit: str


def measured(mark: Mark, volume: Volume, unit: str) -> Measured | None:
    """Return what an image's own values are in a region of interest.

    Parameters
    ----------
    mark : Mark
        An ellipse or a rectangle.
    volume : Volume
        The image as it was read, of one value a voxel.
    unit : str
        Of its intensities; empty where they have none.

    Returns
    -------
    Measured or None
        None where the image has no such slice. No voxel is interpolated: one counts if its centre is inside.
    """
    order = display_order(volume.grid)
    shown = order.apply(volume.data)
    n = shown.shape[mark.axis]
    index = int(np.floor((mark.position_mm - order.translate[mark.axis]) / order.scale[mark.axis] + 0.5))
    if not 0 <= index < n or volume.rgb:
        return None
    plane = shown[tuple(index if a == mark.axis else slice(None) for a in range(3))]
    centres, parts = [], []
    in_plane = [a for a in range(3) if a != mark.axis]
    for axis, low, high in zip(in_plane, *mark.box, strict=True):
        mm: NDArray[np.float64] = order.translate[axis] + order.scale[axis] * np.arange(
            shown.shape[axis], dtype=np.float64
        )
        part = _within(mm, low, high)
        centres.append(mm[part])
        parts.append(part)
    inside = (in_ellipse if mark.shape == "ellipse" else in_rectangle)(centres[0], centres[1], mark.box)
    values = np.asarray(plane[parts[0], parts[1]])[inside]
    found = roi_statistics(values)
    face = pixel_area_mm2(volume.grid, mark.axis)
    area = None if face is None else face * (found.n + found.n_left_out)
    return Measured(found, area, "mm²" if volume.grid.unit == "mm" else "px²", unit or ARBITRARY)


def roi_text(found: Measured | None, volume: Volume | None) -> str:
    """Return what stands beside a region of interest: three lines, the first the most wanted."""
    if volume is None:
        return "no image"
    if volume.rgb:
        return "colours: no mean"
    if found is None:
        return "outside the image"
    s = found.statistics
    area = "no area: uneven slices" if found.area is None else f"{_number(found.area)} {found.area_unit}"
    voxels = f"{s.n} voxel{'s' * (s.n != 1)}" + f" ({s.n_left_out} without a number)" * (s.n_left_out > 0)
    if s.mean is None or s.sd is None or s.low is None or s.high is None:
        return f"{voxels}, {area}"
    return (
        f"mean {_number(s.mean)}  SD {_number(s.sd)} {found.unit}\n"
        f"min {_number(s.low)}  max {_number(s.high)}\n{voxels}  {area}"
    )


def _number(value: float) -> str:
    """One digit after the point where numbers are of the size of HU; four digits where they are small."""
    if value == 0 or 1 <= abs(value) < _MANY:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.0f}" if abs(value) >= _MANY else f"{value:.3g}"


def _within(mm: NDArray[np.float64], low: float, high: float) -> slice:
    """Which of ascending positions lie between two."""
    return slice(int(np.searchsorted(mm, low, "left")), int(np.searchsorted(mm, high, "right")))
