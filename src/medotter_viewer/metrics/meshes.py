"""Surfaces of two masks as triangles, and how far one lies from the other: what is looked at in three dimensions.

A picture, not a measure: vertices lie half a step outside the voxels' centres, and large masks are halved first.
Hausdorff distances run between surface voxels, see `surface_distances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError, MissingDependencyError
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.surface import bounding_box, check_spacing
from medotter_viewer.metrics.surface_distances import surface_distances

MOST_VOXELS = 2_000_000
"""Of a box that is drawn as it is; a larger one is halved until it has no more."""
_LEVEL = 0.499  # of halved masks: a sheet one voxel thick has means of exactly a half

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A surface of triangles.

    Parameters
    ----------
    vertices : (n, 3) ndarray of float64
        Array indices of the mask; voxel centres are at whole numbers.
    faces : (m, 3) ndarray of int64
        Rows of `vertices`.
    """

    vertices: Floats
    faces: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SurfacePair:
    """The surfaces of a region in ground truth and prediction.

    Parameters
    ----------
    gt, pred : Mesh or None
        None where the mask is empty.
    distances_mm : (n,) ndarray of float64, or None
        Of every vertex of `pred` to the nearest vertex of `gt`; None where either is missing. Of labels that were put
        together: to the nearest of the same label, infinite where ground truth lacks that.
    top_mm : float
        Where a scale of distances ends: the hd95, of several labels the largest.
    halvings : int
        How often the masks were halved along each axis before.
    """

    gt: Mesh | None
    pred: Mesh | None
    distances_mm: Floats | None
    top_mm: float
    halvings: int


def surface_pair(
    gt: NDArray[np.bool_],
    pred: NDArray[np.bool_],
    *,
    spacing: Sequence[float],
    hd95_mm: float | None = None,
    most_voxels: int = MOST_VOXELS,
) -> SurfacePair:
    """Return the surfaces of two masks, and how far the prediction's lies from that of ground truth.

    Parameters
    ----------
    gt, pred : (i, j, k) ndarray of bool
        Masks of one shape; either may be empty.
    spacing : sequence of float
        mm per step along each array axis, in axis order.
    hd95_mm : float, optional
        Where the scale ends; measured (the larger of both directions) where it is not given and both masks are there.
    most_voxels : int
        Of the box around both; a larger one is halved, also more than once.

    Raises
    ------
    MetricInputError
        If the masks are not three-dimensional masks of one shape, or a spacing is not positive and finite.
    MissingDependencyError
        If scikit-image is not there; it comes with napari.

    Examples
    --------
    >>> cube = np.zeros((9, 9, 9), dtype=bool); cube[2:5, 2:5, 2:5] = True
    >>> pair = surface_pair(cube, np.roll(cube, 2, axis=0), spacing=(1.5, 1, 1))
    >>> float(pair.distances_mm.max()), pair.top_mm
    (3.0, 3.0)
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    if gt.shape != pred.shape or gt.ndim != 3 or gt.dtype != np.bool_ or pred.dtype != np.bool_:
        raise MetricInputError(
            f"got masks of {gt.shape} {gt.dtype} and {pred.shape} {pred.dtype}, expected two boolean masks (i, j, k)"
        )
    steps = check_spacing(spacing, 3)
    boxes = [box for box in map(bounding_box, (gt, pred)) if box is not None]
    if not boxes:
        return SurfacePair(None, None, None, 0.0, 0)
    box = tuple(slice(min(b[a].start for b in boxes), max(b[a].stop for b in boxes)) for a in range(3))
    start = np.array([s.start for s in box], dtype=np.float64)
    cut = gt[box], pred[box]
    halvings = 0
    while cut[0].size / 8**halvings > most_voxels:
        halvings += 1
    of_gt, of_pred = (_placed(mask_mesh(mask, halvings=halvings), start) for mask in cut)
    distances = None
    if of_gt is not None and of_pred is not None:
        distances = _nearest(of_pred.vertices * steps, of_gt.vertices * steps)
        if hd95_mm is None:
            hd95_mm = hausdorff(surface_distances(*cut, spacing=steps.tolist()))
    return SurfacePair(of_gt, of_pred, distances, float(hd95_mm or 0.0), halvings)


def together(pairs: Iterable[SurfacePair]) -> SurfacePair:
    """Return the surfaces of several labels as one pair; each part of the prediction keeps its own distances.

    Examples
    --------
    >>> left = np.zeros((9, 9, 9), dtype=bool); left[2:4, 4, 4] = True
    >>> pair = surface_pair(left, left[::-1], spacing=(1, 1, 1))
    >>> none = np.zeros_like(left)
    >>> both = together([pair, surface_pair(none, left, spacing=(1, 1, 1))])
    >>> float(both.distances_mm.min()), float(both.distances_mm.max())
    (1.0, inf)
    """
    found = list(pairs)
    distances = [
        np.full(len(pair.pred.vertices), np.inf) if pair.distances_mm is None else pair.distances_mm
        for pair in found
        if pair.pred is not None
    ]
    gt, pred = _joined(pair.gt for pair in found), _joined(pair.pred for pair in found)
    return SurfacePair(
        gt,
        pred,
        None if gt is None or pred is None else np.concatenate(distances),
        max((pair.top_mm for pair in found), default=0.0),
        max((pair.halvings for pair in found), default=0),
    )


def _joined(meshes: Iterable[Mesh | None]) -> Mesh | None:
    """Several surfaces as one; None where there is none."""
    there = [mesh for mesh in meshes if mesh is not None]
    if not there:
        return None
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in there[:-1])])
    faces = [mesh.faces + start for mesh, start in zip(there, starts, strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in there]), np.concatenate(faces))


def mask_mesh(mask: NDArray[np.bool_], *, halvings: int = 0) -> Mesh | None:
    """Return the surface of a mask by marching cubes; None where it is empty, or nothing is left of it when halved.

    Parameters
    ----------
    mask : (i, j, k) ndarray of bool
        Outside the array is background: the surface is closed.
    halvings : int
        How often every two voxels along each axis are made one, which holds the mean of the eight.

    Raises
    ------
    MissingDependencyError
        If scikit-image is not there.
    """
    if not mask.any():
        return None
    try:
        from skimage.measure import marching_cubes as marching
    except ImportError as error:
        raise MissingDependencyError("surfaces need scikit-image: pip install 'medotter-viewer[gui]'") from error
    amount: NDArray[np.float32] = mask.astype(np.float32)
    for _ in range(halvings):
        amount = _halved(amount)
    if amount.max() <= _LEVEL:
        return None
    level = _LEVEL if halvings else 0.5
    marching_cubes: Any = marching  # it has no types
    found = marching_cubes(np.pad(amount, 1), level, allow_degenerate=False)
    size = 2**halvings
    vertices = (found[0].astype(np.float64) - 1) * size + (size - 1) / 2
    return Mesh(vertices, found[1].astype(np.int64))


def _halved(amount: NDArray[np.float32]) -> NDArray[np.float32]:
    """Means of two voxels along each axis; what is missing at an end is background."""
    even = np.pad(amount, [(0, n % 2) for n in amount.shape])
    i, j, k = (n // 2 for n in even.shape)
    return np.asarray(even.reshape(i, 2, j, 2, k, 2).mean(axis=(1, 3, 5), dtype=np.float32))


def _placed(mesh: Mesh | None, start: Floats) -> Mesh | None:
    return None if mesh is None else Mesh(mesh.vertices + start, mesh.faces)


def _nearest(points: Floats, targets: Floats) -> Floats:
    """Distances to the nearest of some points."""
    from scipy.spatial import cKDTree

    tree = cKDTree(targets, balanced_tree=False, compact_nodes=False)
    return np.asarray(tree.query(points)[0])
