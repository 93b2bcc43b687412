"""Distances between the surfaces of two masks: the one costly step, from which Hausdorff distances and others follow.

Distances run between voxel centres in mm: of each surface voxel the smallest ``sqrt((d0 s0)**2 + (d1 s1)**2 + ...)``
over all voxels of the other surface, with differences d of array indices and each operation rounded to float64 in this
order. Two engines compute it, the compiled one without a search tree; both give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.counting import Occupied
from medotter_viewer.engine.flat import MAX_LENGTH, flat_labels, lies_fortran
from medotter_viewer.engine.nearest import Directed, directed_distances, metric
from medotter_viewer.engine.surfaces import Lattice, region_surfaces
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.nearest import nearest_by_tree
from medotter_viewer.metrics.surface import check_spacing, surface_index

_Index = NDArray[np.integer[Any]]


class SurfaceDistances:
    """Distance of every surface voxel to the nearest surface voxel of the other mask.

    Parameters
    ----------
    gt, pred : (n, ndim), (m, ndim) ndarray of int, or (voxels, Lattice)
        Surface voxels of each mask: array indices, or the engine's numbers with what they mean.
    gt_to_pred, pred_to_gt : (n,), (m,) ndarray of float64
        mm from each surface voxel to the other surface.
    gt_nearest, pred_nearest : (n,), (m,) ndarray of int
        Row of a nearest voxel in the other index.
    """

    def __init__(
        self,
        gt: _Index | tuple[NDArray[np.int64], Lattice],
        pred: _Index | tuple[NDArray[np.int64], Lattice],
        gt_to_pred: NDArray[np.float64],
        pred_to_gt: NDArray[np.float64],
        gt_nearest: NDArray[np.integer[Any]],
        pred_nearest: NDArray[np.integer[Any]],
    ) -> None:
        self._gt, self._pred = gt, pred
        self.gt_to_pred, self.pred_to_gt = gt_to_pred, pred_to_gt
        self.gt_nearest, self.pred_nearest = gt_nearest, pred_nearest

    @cached_property
    def gt_index(self) -> _Index:
        """(n, ndim) array indices of the surface voxels of ground truth."""
        return _as_index(self._gt)

    @cached_property
    def pred_index(self) -> _Index:
        """(m, ndim) array indices of the surface voxels of the prediction."""
        return _as_index(self._pred)


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
    found = regions_measured(gt, pred, [(1,)], steps)
    if found:
        return found[1,]
    return distances_between(surface_index(gt), surface_index(pred), steps)


def regions_measured(
    gt: NDArray[Any],
    pred: NDArray[Any],
    regions: Sequence[tuple[int, ...]],
    spacing: NDArray[np.float64],
    occupied: Occupied | None = None,
) -> dict[tuple[int, ...], SurfaceDistances] | None:
    """Return the distances of every region that is on both sides, by the kernels; None where these cannot.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape, without negative ids.
    regions : sequence of tuple of int
        Ids of each region; regions may overlap.
    spacing : (ndim,) ndarray of float64
        mm along each axis, as `check_spacing` returns it.
    occupied : Occupied, optional
        Where the two have any id, from counting them.
    """
    compiled = kernels()
    if compiled is None:
        return None
    lattice = Lattice(gt.ndim, lies_fortran(gt))
    flat = [flat_labels(part, is_fortran=lattice.is_fortran) for part in (gt, pred)]
    of_gt, of_pred = (
        None if labels is None else region_surfaces(compiled, labels, regions, occupied, side)
        for side, labels in enumerate(flat, 1)
    )
    if of_gt is None or of_pred is None:
        return None
    both = [(ids, g, p) for ids, g, p in zip(regions, of_gt, of_pred, strict=True) if g.size and p.size]
    measure = metric(gt.shape, tuple(spacing.tolist()), is_fortran=lattice.is_fortran)
    found = directed_distances(compiled, [(g, p) for _, g, p in both], measure)
    return {
        ids: _joined((g, lattice), (p, lattice), *directions, spacing)
        for (ids, g, p), directions in zip(both, found, strict=True)
    }


def distances_between(gt_index: _Index, pred_index: _Index, spacing: NDArray[np.float64]) -> SurfaceDistances:
    """Return the distances between two sets of voxels given by (n, ndim) indices of 0 or more, in C order.

    Raises
    ------
    MetricInputError
        If a set is empty.
    """
    if not len(gt_index) or not len(pred_index):
        side = "gt" if not len(gt_index) else "pred"
        raise MetricInputError(f"{side} is empty: there is no distance to nothing; an empty rule must decide")
    compiled = kernels()
    shape = np.maximum(gt_index.max(axis=0), pred_index.max(axis=0)) + 1
    ndim = len(shape)
    if compiled is None or ndim > 3 or shape.max() >= MAX_LENGTH:
        to_pred, gt_nearest = nearest_by_tree(gt_index, pred_index, spacing)
        to_gt, pred_nearest = nearest_by_tree(pred_index, gt_index, spacing)
        return SurfaceDistances(gt_index, pred_index, to_pred, to_gt, gt_nearest, pred_nearest)
    lattice = Lattice(ndim, is_fortran=False)
    pair = lattice.voxels(gt_index), lattice.voxels(pred_index)
    measure = metric(tuple(shape.tolist()), tuple(spacing.tolist()), is_fortran=False)
    (directions,) = directed_distances(compiled, [pair], measure)
    return _joined(gt_index, pred_index, *directions, spacing)


def _joined(
    gt: _Index | tuple[NDArray[np.int64], Lattice],
    pred: _Index | tuple[NDArray[np.int64], Lattice],
    to_pred: Directed,
    to_gt: Directed,
    spacing: NDArray[np.float64],
) -> SurfaceDistances:
    """Return both directions together, with what the kernels gave up found by a search tree."""
    for found, queries, targets in ((to_pred, gt, pred), (to_gt, pred, gt)):
        if found.n_left:
            rows = np.flatnonzero(found.distances < 0)
            distances, nearest = nearest_by_tree(_as_index(queries)[rows], _as_index(targets), spacing)
            found.distances[rows], found.nearest[rows] = distances, nearest
    return SurfaceDistances(gt, pred, to_pred.distances, to_gt.distances, to_pred.nearest, to_gt.nearest)


def _as_index(surface: _Index | tuple[NDArray[np.int64], Lattice]) -> _Index:
    if isinstance(surface, tuple):
        voxels, lattice = surface
        return lattice.index(voxels)
    return surface
