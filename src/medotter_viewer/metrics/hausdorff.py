"""Numbers that follow from the distances between two surfaces: Hausdorff distances, their average, surface dice."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.surface_distances import SurfaceDistances


class PercentilePair(NamedTuple):
    """A surface voxel, the voxel of the other surface nearest to it (array indices), and which way it was measured."""

    direction: Literal["gt_to_pred", "pred_to_gt"]
    gt_voxel: tuple[int, ...]
    pred_voxel: tuple[int, ...]
    distance_mm: float


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
        return directed_percentile(np.concatenate([distances.gt_to_pred, distances.pred_to_gt]), percentile)
    both = [directed_percentile(d, percentile) for d in (distances.gt_to_pred, distances.pred_to_gt)]
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
    voxels the first in the array's order is taken, and one of those nearest to it.

    Raises
    ------
    MetricInputError
        For a percentile outside 0..100.
    """
    return percentile_pairs(distances, percentile)[0]


def percentile_pairs(distances: SurfaceDistances, percentile: float = 95.0) -> tuple[PercentilePair, PercentilePair]:
    """Return what `percentile_pair` does, and the same of the other direction, whose percentile is no larger.

    Raises
    ------
    MetricInputError
        For a percentile outside 0..100.
    """
    largest = hausdorff(distances, percentile=percentile)
    from_gt = directed_percentile(distances.gt_to_pred, percentile) == largest
    return (
        _pair(distances, percentile, from_gt=from_gt),
        _pair(distances, percentile, from_gt=not from_gt),
    )


def _pair(distances: SurfaceDistances, percentile: float, *, from_gt: bool) -> PercentilePair:
    """The pair at the upper rank of one direction."""
    way, here = (distances.gt_to_pred, distances.gt_index) if from_gt else (distances.pred_to_gt, distances.pred_index)
    nearest, there = (
        (distances.gt_nearest, distances.pred_index) if from_gt else (distances.pred_nearest, distances.gt_index)
    )
    rank = int(np.ceil(percentile / 100 * (way.size - 1) * (1 - 1e-12)))  # rounding must not lift a whole rank
    rows = np.flatnonzero(way == np.partition(way, rank)[rank])
    row = rows[np.lexsort(here[rows].T[::-1])[0]]  # surfaces may be listed in another order than the array's
    voxel, partner = (tuple(index.tolist()) for index in (here[row], there[nearest[row]]))
    pair = (voxel, partner) if from_gt else (partner, voxel)
    return PercentilePair("gt_to_pred" if from_gt else "pred_to_gt", *pair, float(way[row]))


def directed_percentile(distances: NDArray[np.float64], percentile: float) -> float:
    """Return a percentile of distances, interpolated linearly between ranks; the unit is theirs.

    To the last bit what ``np.percentile`` gives, in half the time: distances are many and never NaN.

    Parameters
    ----------
    distances : (n,) ndarray of float64
        At least one.
    percentile : float
        0..100.

    Examples
    --------
    >>> directed_percentile(np.array([0.0, 1.0, 2.0]), 95.0)
    1.9
    """
    place = (distances.size - 1) * (percentile / 100)
    low = math.floor(place)
    high = min(low + 1, distances.size - 1)
    ordered = np.partition(distances, [low, high])
    below, above = float(ordered[low]), float(ordered[high])
    share = place - low
    step = above - below
    return below + step * share if share < 0.5 else above - step * (1 - share)
