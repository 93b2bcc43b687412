"""Distances between the surfaces of two masks, and the Hausdorff distances that follow: the plain, exact engine.

One costly step (`surface_distances`) and named reductions. A surface voxel is a mask voxel with at least one face
neighbour outside the mask; outside the array counts as background. Distances run between voxel centres in mm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError

_LONGEST = 1e12  # mm; beyond it, and below its inverse, sums of squares lose their digits


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceDistances:
    """Distance of every surface voxel to the nearest surface voxel of the other mask.

    Parameters
    ----------
    gt_index, pred_index : (n, ndim), (m, ndim) ndarray of int
        Surface voxels of each mask, array indices.
    gt_to_pred, pred_to_gt : (n,), (m,) ndarray of float64
        mm from each surface voxel to the other surface.
    gt_nearest, pred_nearest : (n,), (m,) ndarray of int
        Row of the nearest voxel in the other index.
    """

    gt_index: NDArray[np.intp]
    pred_index: NDArray[np.intp]
    gt_to_pred: NDArray[np.float64]
    pred_to_gt: NDArray[np.float64]
    gt_nearest: NDArray[np.intp]
    pred_nearest: NDArray[np.intp]


class PercentilePair(NamedTuple):
    """A surface voxel, the voxel of the other surface nearest to it (array indices), and which way it was measured."""

    direction: Literal["gt_to_pred", "pred_to_gt"]
    gt_voxel: tuple[int, ...]
    pred_voxel: tuple[int, ...]
    distance_mm: float


def surface_voxels(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of those voxels that have a face neighbour outside the mask.

    Equals ``mask ^ binary_erosion(mask)`` with 6-connectivity (4 in 2-D) and a background border.

    Examples
    --------
    >>> surface_voxels(np.ones((3, 3), dtype=bool)).astype(int)
    array([[1, 1, 1],
           [1, 0, 1],
           [1, 1, 1]])
    """
    inner = mask.copy()
    for axis in range(mask.ndim):
        low: list[Any] = [slice(None)] * mask.ndim
        high: list[Any] = [slice(None)] * mask.ndim
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        inner[tuple(high)] &= mask[tuple(low)]
        inner[tuple(low)] &= mask[tuple(high)]
        for edge in (0, -1):
            border: list[Any] = [slice(None)] * mask.ndim
            border[axis] = edge
            inner[tuple(border)] = False
    return mask & ~inner


def bounding_box(mask: NDArray[np.bool_]) -> tuple[slice, ...] | None:
    """Return the smallest box that holds every True, or None when there is none."""
    box = []
    for axis in range(mask.ndim):
        others = tuple(a for a in range(mask.ndim) if a != axis)
        there = np.flatnonzero(mask.any(axis=others))
        if there.size == 0:
            return None
        box.append(slice(int(there[0]), int(there[-1]) + 1))
    return tuple(box)


def surface_index(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the (n, ndim) array indices of a mask's surface voxels; only the mask's bounding box is worked on."""
    box = bounding_box(mask)
    if box is None:
        return np.zeros((0, mask.ndim), dtype=np.intp)
    # Outside the box there is no mask, so the box's border is background just as the array's is.
    return np.argwhere(surface_voxels(mask[box])) + np.array([s.start for s in box], dtype=np.intp)


def surface_distances(gt: NDArray[np.bool_], pred: NDArray[np.bool_], *, spacing: Sequence[float]) -> SurfaceDistances:
    """Return the distances between the surfaces of two masks.

    Parameters
    ----------
    gt, pred : ndarray of bool
        Masks of one shape, both with at least one voxel.
    spacing : sequence of float
        mm per step along each array axis, in axis order.

    Raises
    ------
    MetricInputError
        If the shapes differ, a mask is empty (there is no distance to nothing), or a spacing is not positive and
        finite.
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    steps = check_spacing(spacing, gt.ndim)
    if gt.shape != pred.shape:
        raise MetricInputError(f"shapes differ: gt {gt.shape}, pred {pred.shape}; nothing is broadcast")
    if gt.dtype != np.bool_ or pred.dtype != np.bool_:
        raise MetricInputError(f"got {gt.dtype} and {pred.dtype}, expected boolean masks")
    return distances_between(surface_index(gt), surface_index(pred), steps)


def distances_between(
    gt_index: NDArray[np.intp], pred_index: NDArray[np.intp], spacing: NDArray[np.float64]
) -> SurfaceDistances:
    """Return the distances between two sets of voxels given by (n, ndim) indices.

    Raises
    ------
    MetricInputError
        If a set is empty.
    """
    from scipy.spatial import cKDTree

    if not len(gt_index) or not len(pred_index):
        side = "gt" if not len(gt_index) else "pred"
        raise MetricInputError(f"{side} is empty: there is no distance to nothing; an empty rule must decide")
    # From one corner of both, so that no bit depends on where in the array they lie.
    corner = np.minimum(gt_index.min(axis=0), pred_index.min(axis=0))
    gt_mm, pred_mm = (gt_index - corner) * spacing, (pred_index - corner) * spacing
    options = {"balanced_tree": False, "compact_nodes": False}
    gt_to_pred, gt_nearest = cKDTree(pred_mm, **options).query(gt_mm, workers=-1)
    pred_to_gt, pred_nearest = cKDTree(gt_mm, **options).query(pred_mm, workers=-1)
    return SurfaceDistances(gt_index, pred_index, gt_to_pred, pred_to_gt, gt_nearest, pred_nearest)


def hausdorff(distances: SurfaceDistances, *, percentile: float = 95.0, variant: str = "directed_max") -> float:
    """Return a percentile Hausdorff distance in mm.

    Parameters
    ----------
    distances : SurfaceDistances
        Of one region.
    percentile : float
        0..100, with linear interpolation between ranks; 100 is the Hausdorff distance.
    variant : {"directed_max", "pooled", "mean"}
        The larger of the percentiles of both directions; the percentile of both directions' distances together; the
        mean of the two percentiles.

    Raises
    ------
    MetricInputError
        For another name or a percentile outside 0..100.

    Notes
    -----
    With a far false positive that holds less than 5 % of the pooled but more than 5 % of the directed distances,
    ``pooled`` is small where ``directed_max`` is large: a number without its variant's name says little.

    References
    ----------
    directed_max: Maier-Hein et al., Metrics reloaded, Nature Methods 21 (2024); MONAI. pooled: MedPy, nnU-Net,
    BraTS 2020. mean: Plastimatch, SlicerRT.
    """
    if not 0 <= percentile <= 100:
        raise MetricInputError(f"percentile: got {percentile}, expected 0 to 100")
    if variant == "pooled":
        return float(np.percentile(np.concatenate([distances.gt_to_pred, distances.pred_to_gt]), percentile))
    both = [float(np.percentile(d, percentile)) for d in (distances.gt_to_pred, distances.pred_to_gt)]
    if variant == "directed_max":
        return max(both)
    if variant == "mean":
        return (both[0] + both[1]) / 2
    raise MetricInputError(f"hd95 variant: got {variant!r}, expected directed_max, pooled or mean")


def assd(distances: SurfaceDistances, *, variant: str = "pooled") -> float:
    """Return the average symmetric surface distance in mm.

    ``pooled`` is the mean of the distances of both directions together (Metrics Reloaded's ASSD, MONAI, MedPy 0.5),
    ``mean`` the mean of the two directions' means (Metrics Reloaded's MASD; assd in MedPy up to 0.4). They differ where
    one surface has more voxels than the other.

    Raises
    ------
    MetricInputError
        For another variant.
    """
    both = (distances.gt_to_pred, distances.pred_to_gt)
    if variant == "pooled":
        return float(np.concatenate(both).mean())
    if variant == "mean":
        return float((both[0].mean() + both[1].mean()) / 2)
    raise MetricInputError(f"assd variant: got {variant!r}, expected pooled or mean")


def nsd(distances: SurfaceDistances, tolerance_mm: float) -> float:
    """Return the share of both surfaces' voxels that lie within a tolerance of the other surface, 0..1.

    Normalised surface dice (Nikolov et al., J Med Internet Res 23, 2021), with surface voxels counted as in MONAI
    (Seidlitz et al., Med Image Anal 80, 2022) where the original weights surface elements by area. A distance equal to
    the tolerance is within.

    Raises
    ------
    MetricInputError
        If the tolerance is negative or not a number.
    """
    if not tolerance_mm >= 0:
        raise MetricInputError(f"tolerance_mm: got {tolerance_mm}, expected 0 or more")
    pooled = np.concatenate([distances.gt_to_pred, distances.pred_to_gt])
    return float(np.count_nonzero(pooled <= tolerance_mm) / pooled.size)


def percentile_pair(distances: SurfaceDistances, percentile: float = 95.0) -> PercentilePair:
    """Return the two voxels at which the ``directed_max`` percentile is attained.

    The direction is the one with the larger percentile, gt to pred where they are equal. Of the two ranks between which
    a percentile is interpolated it is the upper one: `distance_mm` is never below the percentile. Of equally distant
    voxels the first in the array's order is taken.

    Raises
    ------
    MetricInputError
        For a percentile outside 0..100.
    """
    largest = hausdorff(distances, percentile=percentile)
    from_gt = float(np.percentile(distances.gt_to_pred, percentile)) == largest
    way = distances.gt_to_pred if from_gt else distances.pred_to_gt
    nearest = distances.gt_nearest if from_gt else distances.pred_nearest
    rank = int(np.ceil(percentile / 100 * (way.size - 1) * (1 - 1e-12)))  # rounding must not lift a whole rank
    row = int(np.argmax(way == np.partition(way, rank)[rank]))
    rows = (row, int(nearest[row])) if from_gt else (int(nearest[row]), row)
    gt_voxel, pred_voxel = tuple(distances.gt_index[rows[0]].tolist()), tuple(distances.pred_index[rows[1]].tolist())
    return PercentilePair("gt_to_pred" if from_gt else "pred_to_gt", gt_voxel, pred_voxel, float(way[row]))


def check_spacing(spacing: Sequence[float], ndim: int) -> NDArray[np.float64]:
    """Return the spacing as an array, or raise MetricInputError unless it is `ndim` positive finite numbers."""
    try:
        steps = np.asarray(spacing, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MetricInputError(f"spacing: got {spacing!r}, expected {ndim} numbers of mm in axis order") from error
    if steps.shape != (ndim,) or not ((steps >= 1 / _LONGEST) & (steps <= _LONGEST)).all():
        raise MetricInputError(f"spacing: got {steps.tolist()}, expected {ndim} positive numbers of mm in axis order")
    return steps
