"""A volume seen along a curve from head to feet: the sagittal picture of a spine that does not lie in one plane.

Rows follow the curve, 1 mm each. A row runs from anterior to posterior, at a right angle to the curve and to the
patient's left-right axis: the curve's own way to the left or right is taken out, its kyphosis and lordosis too.
Lengths along a row and along the curve are true; away from the curve the picture is stretched or squeezed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray, LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import GridMismatchError, LabelError

Floats = NDArray[np.float64]
LONGEST_MM = 2000.0
"""A curve that is longer is no spine; it bounds the picture."""
_APART_MM = 1e-3  # points that are nearer are one
_FINE = 10  # parts of a mm, in which the length of the curve is measured
_ALONG = 0.1  # sine of the angle to the left-right axis below which no plane across it is defined


@dataclass(frozen=True, slots=True, eq=False)
class SpineCurve:
    """A curve from head to feet with a direction to the front at every mm.

    Parameters
    ----------
    points_world : (n, 3) ndarray
        Points of the curve, 1 mm apart, mm RAS+.
    arc_mm : (n,) ndarray
        Their distance along the curve from the first of the points it was laid through; negative before it.
    tangent, anterior, right : (n, 3) ndarray
        Unit vectors: along the curve, to the front, to the patient's right; at right angles to each other.
    at_mm : (k,) ndarray
        `arc_mm` of the points it was laid through.
    """

    points_world: Floats
    arc_mm: Floats
    tangent: Floats
    anterior: Floats
    right: Floats
    at_mm: Floats

    def local(self, points_world: ArrayLike) -> Floats:
        """Return where points lie against the curve.

        Parameters
        ----------
        points_world : (..., 3) array_like
            mm RAS+.

        Returns
        -------
        (..., 3) ndarray
            mm along the curve, mm behind it (negative in front), mm to the right of the picture's plane; from the
            nearest point of the curve.
        """
        points = np.asarray(points_world, dtype=np.float64)
        flat = points.reshape(-1, 3)
        out = np.empty_like(flat)
        for row, point in enumerate(flat):
            i = int(np.argmin(((self.points_world - point) ** 2).sum(axis=1)))
            offset = point - self.points_world[i]
            out[row] = (self.arc_mm[i] + offset @ self.tangent[i], -offset @ self.anterior[i], offset @ self.right[i])
        return out.reshape(points.shape)

    def grid_world(self, behind_mm: Floats) -> Floats:
        """Return the (n, m, 3) world mm of the picture's pixels, for m distances behind the curve."""
        return np.asarray(self.points_world[:, None] - behind_mm[None, :, None] * self.anterior[:, None])


def spine_curve(points_world: ArrayLike, *, extension_mm: tuple[float, float] = (30.0, 30.0)) -> SpineCurve:
    """Return a smooth curve through points from head to feet.

    Parameters
    ----------
    points_world : (k, 3) array_like
        mm RAS+, in the order of the spine; two that coincide are one.
    extension_mm : (float, float)
        How far the curve goes on, straight, before the first and after the last point.

    Raises
    ------
    LabelError
        If there are fewer than two different points, they span more than 2 m, or the curve runs from left to right.

    Notes
    -----
    A natural cubic spline whose parameter is the length of the chords, sampled evenly by its own length. Through two
    points it is a straight line.

    Examples
    --------
    >>> curve = spine_curve([(0, 0, 10), (0, 0, 0)], extension_mm=(0, 0))
    >>> len(curve.arc_mm), curve.tangent[0].tolist(), (curve.anterior[0] + 0).tolist()
    (11, [0.0, 0.0, -1.0], [0.0, 1.0, 0.0])
    >>> curve.local((3, -4, 8)).tolist()
    [2.0, 4.0, 3.0]
    """
    from scipy.interpolate import CubicSpline

    points = np.asarray(points_world, dtype=np.float64).reshape(-1, 3)
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    kept = np.concatenate([[True], chords > _APART_MM])[: len(points)]
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points[kept], axis=0), axis=1))])
    if len(points) < 2 or kept.sum() < 2:
        raise LabelError(f"a curve along the spine needs two points or more, got {int(kept.sum())}")
    if not knots[-1] <= LONGEST_MM:
        raise LabelError(f"the points span {knots[-1]:.0f} mm from the first to the last, expected {LONGEST_MM:.0f}")
    spline = CubicSpline(knots, points[kept], bc_type="natural")
    fine = np.linspace(0.0, knots[-1], int(np.ceil(knots[-1] * _FINE)) + 1)
    fine = np.unique(np.concatenate([fine, knots]))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(spline(fine), axis=0), axis=1))])
    if not length[-1] <= 2 * LONGEST_MM:
        raise LabelError(f"the curve through the points is {length[-1]:.0f} mm long: they are no spine")
    before, after = extension_mm
    arc = np.arange(-np.floor(before), np.floor(length[-1] + after) + 1)
    inside = np.clip(arc, 0.0, length[-1])
    parameter = np.interp(inside, length, fine)
    tangent = _unit(spline(parameter, 1))
    curve = spline(parameter) + (arc - inside)[:, None] * tangent
    at = np.interp(knots, fine, length)[np.cumsum(kept) - 1]
    right = np.array([1.0, 0.0, 0.0]) - tangent[:, :1] * tangent
    if (np.linalg.norm(right, axis=1) < _ALONG).any():
        raise LabelError("the points run from left to right: there is no sagittal plane along them")
    right = _unit(right)
    return SpineCurve(curve, arc, tangent, _unit(np.cross(right, tangent)), right, at)


def straightened_image(volume: Volume, points_world: Floats) -> NDArray[np.float32]:
    """Return an image at some points, linearly between voxel centres.

    Parameters
    ----------
    volume : Volume
        The image; of colours the mean is taken.
    points_world : (..., 3) ndarray
        mm RAS+.

    Returns
    -------
    (...) ndarray of float32
        NaN outside the image, which ends half a voxel beyond the outer centres.

    Raises
    ------
    GridMismatchError
        If the image does not say where it lies.
    """
    from scipy.ndimage import map_coordinates

    index, inside = _index(volume.grid, points_world)
    data: NDArray[Any] = volume.data
    channels = [data[..., c] for c in range(data.shape[3])] if data.ndim == 4 else [data]
    place = np.moveaxis(index, -1, 0)
    found = [map_coordinates(one, place, order=1, mode="nearest", output=np.float32) for one in channels]
    return np.where(inside, np.mean(found, axis=0, dtype=np.float32), np.float32(np.nan))


def straightened_labels(labels: LabelMap, points_world: Floats) -> IntArray:
    """Return the label of the nearest voxel at some points, 0 outside; parameters as of `straightened_image`.

    Raises
    ------
    GridMismatchError
        If the label map does not say where it lies.
    """
    index, inside = _index(labels.grid, points_world)
    nearest = np.clip(np.floor(index + 0.5).astype(np.intp), 0, np.asarray(labels.grid.shape) - 1)
    found = labels.data[tuple(np.moveaxis(nearest, -1, 0))]
    return np.where(inside, found, np.zeros((), dtype=labels.data.dtype))


def _index(grid: Grid, points_world: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Voxel coordinates of points, and whether they lie in a voxel."""
    if not grid.has_world:
        raise GridMismatchError(
            "the file does not say where it lies (no form codes): nothing can be taken along a curve"
        )
    index = (points_world - grid.affine[:3, 3]) @ np.linalg.inv(grid.affine[:3, :3]).T
    inside = (index >= -0.5) & (index < np.asarray(grid.shape) - 0.5)
    return index, np.asarray(inside.all(axis=-1))


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
