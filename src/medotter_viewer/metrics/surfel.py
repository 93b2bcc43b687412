"""Robust Hausdorff distance between surfaces built of area-weighted elements (the HD95 variant ``surfel``).

The definition is that of DeepMind's surface-distance package (``compute_surface_distances`` and
``compute_robust_hausdorff``), which the BraTS challenges use since 2023. The implementation is this package's own.

Surface elements sit on the corners between voxels: a corner is part of the surface when the 2x2 (2x2x2) voxels
around it are neither all background nor all mask. Voxels beyond the image count as background. The weight of an
element is the length (area) of the marching-squares (marching-cubes) piece between the centres of those voxels.
The pieces follow from four rules, which `_pieces` carries out for every neighbourhood:

1. Of mask and background, the side with fewer voxels is cut off; neighbourhoods and their complements agree.
2. Voxels of that side which touch only by an edge or a corner are cut off separately, each connected group by a
   line or a polygon of its own.
3. Vertices are the midpoints of the links between a voxel of the group and a neighbour outside it.
4. A polygon is split into the flattest fan of triangles: the one that lies in the fewest planes. (Polygons of five
   and six vertices need not be flat.) Where several fans tie, the areas of their triangles are the same, whatever
   the spacing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.corners import surface_corners
from medotter_viewer.engine.flat import flat_labels, lies_fortran
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.surface import bounding_box, check_spacing
from medotter_viewer.metrics.surface_distances import distances_between

_Point = tuple[int, ...]


def surface_elements(mask: NDArray[np.bool_], spacing: Sequence[float]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return where the surface elements of a mask are and how large each is.

    Parameters
    ----------
    mask : ndarray of bool, shape (n0, n1) or (n0, n1, n2)
        The structure, in any axis order.
    spacing : sequence of float
        Distance in mm between voxel centres, one per axis of `mask`, in the same order.

    Returns
    -------
    corners : ndarray of intp, shape (n, ndim)
        Indices on the corner grid, in C order and in the axis order of `mask`. Each axis has one corner more than
        voxels: corner ``k`` lies between the voxels ``k - 1`` and ``k``, at ``k - 0.5`` voxels.
    areas : ndarray of float64, shape (n,)
        Size of each element: mm in 2-D, mm² in 3-D. Always positive.

        Both are empty, shapes (0, ndim) and (0,), where the mask is.

    Raises
    ------
    MetricInputError
        If the mask is not boolean or not 2-D or 3-D, or the spacing is not one positive finite number per axis.

    Examples
    --------
    >>> corners, lengths = surface_elements(np.ones((1, 2), dtype=bool), (3.0, 4.0))
    >>> corners.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    >>> lengths.tolist()
    [2.5, 4.0, 2.5, 2.5, 4.0, 2.5]
    """
    mask = np.asarray(mask)
    if mask.dtype != np.bool_ or mask.ndim not in (2, 3):
        raise MetricInputError(f"got {mask.dtype} with {mask.ndim} axes, expected a boolean mask with 2 or 3")
    ndim, steps = mask.ndim, check_spacing(spacing, mask.ndim)
    compiled = kernels()
    if compiled is not None and (mask.flags.c_contiguous or mask.flags.f_contiguous):
        flat = flat_labels(mask, is_fortran=lies_fortran(mask))
        if flat is not None:
            found, of_corners = surface_corners(compiled, flat)
            return found, _area_of_code(steps)[of_corners]
    box = bounding_box(mask)
    if box is None:
        return np.empty((0, ndim), dtype=np.intp), np.empty(0)
    padded = np.pad(mask[box], 1).astype(np.uint8)
    codes = np.zeros([n - 1 for n in padded.shape], dtype=np.uint8)
    for bit, offset in enumerate(itertools.product((0, 1), repeat=ndim)):
        codes |= padded[tuple(slice(o, o + n) for o, n in zip(offset, codes.shape, strict=True))] << bit
    # Code 0 is all background; the highest code of a neighbourhood is all mask.
    corners = np.argwhere((codes != 0) & (codes != 2 ** (2**ndim) - 1))
    areas = _area_of_code(steps)[codes[tuple(corners.T)]]
    return corners + np.array([s.start for s in box], dtype=np.intp), areas


def surfel_hd(
    gt: NDArray[np.bool_], pred: NDArray[np.bool_], *, spacing: Sequence[float], percentile: float = 95.0
) -> float:
    """Return the area-weighted percentile of surface distances, the larger of both directions.

    Per direction, every surface element has its distance to the nearest element of the other mask. In order of
    distance, the value is that of the first element at which the accumulated share of the total area reaches
    ``percentile / 100``. There is no interpolation; 100 gives the greatest distance between surface elements.

    Parameters
    ----------
    gt, pred : ndarray of bool, shape (n0, n1) or (n0, n1, n2)
        Masks of one shape, both with at least one voxel.
    spacing : sequence of float
        Distance in mm between voxel centres, one per axis of the masks, in the same order.
    percentile : float
        From 0 to 100.

    Returns
    -------
    float
        Distance in mm; 0 for equal masks. The order of `gt` and `pred` does not matter.

    Raises
    ------
    MetricInputError
        If a mask is empty (an empty rule must decide), not boolean, or not 2-D or 3-D; if the shapes differ; if
        the spacing is not one positive finite number per axis; if `percentile` is not from 0 to 100.

    References
    ----------
    https://github.com/google-deepmind/surface-distance, ``surface_distance/metrics.py``.
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    if gt.shape != pred.shape:
        raise MetricInputError(f"shapes differ: gt {gt.shape}, pred {pred.shape}; nothing is broadcast")
    if not 0 <= percentile <= 100:
        raise MetricInputError(f"percentile: got {percentile}, expected 0 to 100")
    gt_at, gt_areas = surface_elements(gt, spacing)
    pred_at, pred_areas = surface_elements(pred, spacing)
    steps = check_spacing(spacing, gt.ndim)
    nearest = distances_between(gt_at, pred_at, steps)
    return max(
        _weighted_percentile(nearest.gt_to_pred, gt_areas, percentile),
        _weighted_percentile(nearest.pred_to_gt, pred_areas, percentile),
    )


def _weighted_percentile(distances: NDArray[np.float64], areas: NDArray[np.float64], percentile: float) -> float:
    """Return the first distance, of shape (n,) and n > 0, at which the share of area reaches the percentile."""
    order = np.lexsort((areas, distances))
    sorted_areas = areas[order]
    share = np.cumsum(sorted_areas) / np.sum(sorted_areas)
    index = min(int(np.searchsorted(share, percentile / 100.0)), len(order) - 1)
    return float(distances[order[index]])


def _area_of_code(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the size of the surface element of every neighbourhood code at a spacing: mm in 2-D, mm² in 3-D.

    Bit b of a code is the b-th voxel of the neighbourhood in C order. Shape (16,) or (256,).
    """
    ndim = len(steps)
    codes, normals = _pieces(ndim)
    # A piece's extent across axis i grows with the spacing of the other axes.
    across = np.array([np.prod(np.delete(steps, i)) for i in range(ndim)])
    sizes = np.sqrt(((normals * across) ** 2).sum(axis=1))
    # Added largest first: mirrored neighbourhoods agree to the last bit; at equal spacings so does the reference.
    order = np.lexsort((-sizes, codes))
    areas = np.zeros(2 ** (2**ndim))
    np.add.at(areas, codes[order], sizes[order])
    return areas


@cache
def _pieces(ndim: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the lines (2-D) or triangles (3-D) of every neighbourhood by the rules of the module docstring.

    Returns
    -------
    codes : ndarray of intp, shape (n,)
        Neighbourhood each piece belongs to.
    normals : ndarray of float64, shape (n, ndim)
        Normal of each piece, as long as the piece is large at unit spacing; the sign has no meaning.
    """
    voxels = list(itertools.product((0, 2), repeat=ndim))  # doubled, so that midpoints are integers too
    codes: list[int] = []
    normals: list[NDArray[np.float64]] = []
    for code in range(1, 2 ** len(voxels) - 1):
        side = {voxel for bit, voxel in enumerate(voxels) if code >> bit & 1}
        if 2 * len(side) > len(voxels):
            side = set(voxels) - side
        while side:
            group = _pop_group(side)
            links = ((v, w) for v in group for w in voxels if w not in group and _linked(v, w))
            middles = [tuple((a + b) // 2 for a, b in zip(v, w, strict=True)) for v, w in links]
            pieces = _split(middles)
            codes += [code] * len(pieces)
            normals.extend(pieces)
    return np.array(codes, dtype=np.intp), np.array(normals)


def _linked(v: _Point, w: _Point) -> bool:
    """Return whether two voxels of a neighbourhood share a face (in 2-D: an edge)."""
    return sum(a != b for a, b in zip(v, w, strict=True)) == 1


def _pop_group(side: set[_Point]) -> set[_Point]:
    """Remove one group of face-connected voxels from `side`, which is not empty, and return it."""
    group = {side.pop()}
    while more := {w for w in side if any(_linked(v, w) for v in group)}:
        group |= more
        side -= more
    return group


def _split(middles: list[_Point]) -> list[NDArray[np.float64]]:
    """Return the normals of the line between two midpoints, or of the flattest fan of triangles over more."""
    if len(middles[0]) == 2:
        (a, b), (c, d) = middles
        return [np.array([d - b, a - c]) / 2]
    # Neighbours in the polygon lie on one side of the cube, where both have the same coordinate 0 or 2.
    rest = list(middles[1:])
    ring = [middles[0]]
    while rest:
        ring.append(next(p for p in rest if any(a == b != 1 for a, b in zip(ring[-1], p, strict=True))))
        rest.remove(ring[-1])
    points = np.array(ring)
    fans = []
    for apex in range(len(points)):
        spokes = np.roll(points, -apex, axis=0)[1:] - points[apex]
        fans.append(np.cross(spokes[:-1], spokes[1:]))
    return list(min(fans, key=_plane_count) / 8)


def _plane_count(normals: NDArray[np.int_]) -> int:
    """Return the number of directions among the normals (n, 3) of triangles in a fan."""
    shortest = normals // np.gcd.reduce(normals, axis=1, keepdims=True)
    return len({tuple(normal) for normal in shortest.tolist()})
