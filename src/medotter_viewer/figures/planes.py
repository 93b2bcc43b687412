"""Where things lie in the three standard planes: slices, extents in mm, voxel edges, windows. Pure; draws nothing.

Pixels are in displayed order (see `medotter_viewer.geometry.orientation`): x grows to screen right, y grows down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import BY_NAME, Window, default_limits, limits
from medotter_viewer.errors import UsageError
from medotter_viewer.geometry.orientation import DISPLAY_AXES, display_order

_AGAINST = {"I": "S", "P": "A", "L": "R"}
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Plane:
    """A standard plane: the displayed axis it cuts, those along its rows and columns, its letters.

    `letters` are those at screen left, right, top and bottom.
    """

    name: str
    axis: int
    down: int
    across: int
    letters: str


PLANES = (Plane("axial", 0, 1, 2, "RLAP"), Plane("coronal", 1, 0, 2, "RLSI"), Plane("sagittal", 2, 0, 1, "APSI"))


@dataclass(frozen=True, slots=True)
class Frame:
    """A grid as it is displayed: voxels, mm per step and mm of the first voxel's centre, along I, P, L."""

    shape: tuple[int, ...]
    scale: tuple[float, ...]
    start: tuple[float, ...]

    @classmethod
    def of(cls, grid: Grid) -> Frame:
        """Return the frame of a grid."""
        order = display_order(grid)
        return cls(tuple(grid.shape[a] for a in order.axes), order.scale, order.translate)

    def position_mm(self, axis: int, index: int) -> float:
        """Return the displayed mm of the centre of a slice."""
        return self.start[axis] + index * self.scale[axis]

    def nearest_slice(self, axis: int, position_mm: float) -> int | None:
        """Return the slice whose slab holds a position; None outside the volume."""
        index = math.floor((position_mm - self.start[axis]) / self.scale[axis] + 0.5)
        return index if 0 <= index < self.shape[axis] else None

    def extent(self, plane: Plane) -> Box:
        """Return the mm at the outer voxel edges: left, right, bottom, top of the screen (bottom is larger)."""
        left, top = (self.start[a] - self.scale[a] / 2 for a in (plane.across, plane.down))
        right, bottom = (low + self.shape[a] * self.scale[a] for low, a in ((left, plane.across), (top, plane.down)))
        return left, right, bottom, top

    def to_mm(self, plane: Plane, points_xy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mm of (..., 2) pixel coordinates (x, y), whose centres are whole numbers."""
        axes = [plane.across, plane.down]
        return np.asarray(points_xy * np.take(self.scale, axes) + np.take(self.start, axes))


def cut(array: NDArray[Any], grid: Grid, plane: Plane, index: int) -> NDArray[Any]:
    """Return the (rows, columns) pixels of one slice of an (i, j, k) array, in displayed order; a view."""
    turned = display_order(grid).apply(array)
    return turned[tuple(index if axis == plane.axis else slice(None) for axis in range(3))]


def edge_segments(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return where neighbouring pixels differ, as straight segments along the pixels' edges.

    Parameters
    ----------
    labels : (rows, columns) ndarray of bool or int
        What lies outside is 0.

    Returns
    -------
    (n, 2, 2) ndarray
        Both ends (x, y) of each segment in pixels, centres at whole numbers; touching collinear edges are one segment.

    Examples
    --------
    >>> edge_segments(np.array([[0, 1, 1]])).tolist()[0]
    [[0.5, -0.5], [0.5, 0.5]]
    """
    padded = np.pad(labels, 1)
    upright = _runs((padded[:, 1:] != padded[:, :-1])[1:-1].T)
    level = _runs((padded[1:] != padded[:-1])[:, 1:-1])[..., ::-1]
    return np.concatenate([upright, level]) - 0.5


def window_limits(
    volume: Volume, window: tuple[float, float] | str | None = None, modality: str | None = None
) -> tuple[float, float]:
    """Return the intensities drawn black and white.

    Parameters
    ----------
    volume : Volume
        The whole image: all slices get one window.
    window : (width, level) or str, optional
        A pair, or the name of a CT preset. None takes what the window on screen takes: see
        `medotter_viewer.core.windows.default_limits`.
    modality : str, optional
        What the task says its images are.

    Raises
    ------
    UsageError
        If the name is not known or the width not positive.
    """
    if window is None:
        return default_limits(volume, modality)
    if isinstance(window, str):
        if window not in BY_NAME:
            raise UsageError(f"window: got {window!r}, expected (width, level) or one of {', '.join(BY_NAME)}")
        return limits(BY_NAME[window])
    width, level = window
    if not width > 0:
        raise UsageError(f"window: got width {width}, expected a positive number")
    return limits(Window("", level, width))


def position_text(axis: int, position_mm: float) -> str:
    """Return a displayed position in words, the letter telling the side of the origin.

    Examples
    --------
    >>> position_text(0, -88.0), position_text(2, 12.5)
    ('S 88.0 mm', 'L 12.5 mm')
    """
    letter = DISPLAY_AXES[axis]
    return f"{letter if position_mm >= 0 else _AGAINST[letter]} {abs(position_mm):.1f} mm"


def bar_length_mm(width_mm: float) -> float:
    """Return a round length (1, 2 or 5 times a power of ten) of at most 30 percent of a width."""
    power = 10.0 ** math.floor(math.log10(0.3 * width_mm))
    return max(f * power for f in (1, 2, 5) if f * power <= 0.3 * width_mm)


def turned_deg(grid: Grid, other: Grid) -> float:
    """Return the largest angle in degrees between the displayed axes of two grids."""
    directions = []
    for each in (grid, other):
        order = display_order(each)
        cosines = each.affine[:3, :3] / np.asarray(each.spacing)
        directions.append(cosines[:, list(order.axes)] * np.where(order.flips, -1.0, 1.0))
    cosine = np.clip(np.sum(directions[0] * directions[1], axis=0), -1, 1)
    return float(np.degrees(np.arccos(cosine.min())))


def _runs(edges: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (n, 2, 2) ends (line, from), (line, to) of the runs of True in each line."""
    steps = np.diff(np.pad(edges, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    return np.stack([np.argwhere(steps == 1), np.argwhere(steps == -1)], axis=1).astype(np.float64)
