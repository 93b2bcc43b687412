"""Boxes, centroids and middle voxels of pieces that are given by runs of voxels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Index = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class PieceShapes:
    """Where pieces lie, (n, ndim) each, in the order of the array's axes.

    Parameters
    ----------
    low, high : ndarray of int
        First index and one past the last.
    centroid : ndarray of float64
        Mean index; of a bent piece it may lie outside.
    voxel : ndarray of int
        The voxel of the piece that lies nearest, in mm, to its centroid; of equals the first in C order.
    """

    low: _Index
    high: _Index
    centroid: NDArray[np.float64]
    voxel: _Index


def piece_shapes(starts: _Index, ends: _Index, bounds: NDArray[np.int64], spacing: NDArray[np.float64]) -> PieceShapes:
    """Return the shapes of pieces whose runs stand one after the other.

    Parameters
    ----------
    starts, ends : (m, ndim) ndarray of int
        First and last voxel of each run: they differ along one axis at most.
    bounds : (n + 1,) ndarray of int64
        Piece ``i`` has the runs from ``bounds[i]`` on; each has one at least.
    spacing : (ndim,) ndarray of float64
        mm along each axis.

    Examples
    --------
    >>> shapes = piece_shapes(np.array([[0, 0], [1, 0]]), np.array([[0, 2], [1, 0]]), np.array([0, 2]), np.ones(2))
    >>> shapes.centroid.tolist(), shapes.voxel.tolist(), shapes.high.tolist()
    ([[0.25, 0.75]], [[0, 1]], [[2, 3]])
    """
    first = bounds[:-1]
    weights = ((ends - starts).sum(axis=1, keepdims=True) + 1).astype(np.float64)
    total = np.add.reduceat((starts + ends) * weights / 2, first, axis=0)
    centroid = total / np.add.reduceat(weights, first, axis=0)
    piece = np.repeat(np.arange(first.size), np.diff(bounds))
    # Of each run the voxel nearest to the centroid of its piece, then the nearest of these.
    nearest = np.clip(np.ceil(centroid[piece] - 0.5).astype(np.intp), starts, ends)
    away = np.square((nearest - centroid[piece]) * spacing).sum(axis=1)
    best = np.lexsort((*nearest.T[::-1], away, piece))[first]
    return PieceShapes(
        np.minimum.reduceat(starts, first, axis=0),
        np.maximum.reduceat(ends, first, axis=0) + 1,
        centroid,
        nearest[best],
    )
