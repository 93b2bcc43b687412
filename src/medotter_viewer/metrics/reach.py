"""How far voxels are from the surfaces of label maps: of some ids taken as one mask, on either side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.flat import MAX_LENGTH, flat_labels, lies_fortran
from medotter_viewer.engine.nearest import distances_to, metric
from medotter_viewer.engine.surfaces import Lattice, region_surfaces
from medotter_viewer.metrics.nearest import nearest_by_tree
from medotter_viewer.metrics.overlap import id_mask, is_fortran_like
from medotter_viewer.metrics.region_masks import boxes_of_ids
from medotter_viewer.metrics.surface import surface_index

Side = Literal["gt", "pred"]
Surface = tuple[Side, tuple[int, ...]]
"""Of which side, and of which ids taken as one mask."""

_Index = NDArray[np.integer[Any]]


class Reach:
    """Distances from voxels to surfaces.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape.
    spacing : (ndim,) ndarray of float64
        mm along each axis, as `check_spacing` returns it.
    surfaces : iterable of (side, ids)
        Those that will be asked for; they are found at once.
    """

    def __init__(
        self, gt: NDArray[Any], pred: NDArray[Any], spacing: NDArray[np.float64], surfaces: Iterable[Surface]
    ) -> None:
        self._spacing, self._shape = spacing, gt.shape
        self._lattice = Lattice(gt.ndim, lies_fortran(gt))
        self._found: dict[Surface, NDArray[Any]] = {}  # numbers of voxels on the lattice; of the plain engine indices
        self._compiled = kernels() if gt.ndim <= 3 and max(gt.shape, default=0) < MAX_LENGTH else None
        wanted = list(dict.fromkeys(surfaces))
        sides: Mapping[Side, NDArray[Any]] = {"gt": gt, "pred": pred}
        for side, labels in sides.items():
            self._find(side, labels, [ids for one, ids in wanted if one == side])

    def distances(self, surface: Surface, index: _Index) -> NDArray[np.float64] | None:
        """Return the distance in mm of each of the (n, ndim) voxels of `index`; None where the surface is empty.

        From outside a mask its surface is as near as the mask.
        """
        found = self._found[surface]
        if not len(found):
            return None
        if not len(index):
            return np.zeros(0)
        if self._compiled is None:
            return nearest_by_tree(index, found, self._spacing, balanced=True)[0]
        measure = metric(self._shape, tuple(self._spacing.tolist()), is_fortran=self._lattice.is_fortran)
        away = distances_to(self._compiled, self._lattice.voxels(index), found, measure)
        if away.n_left:
            rows = np.flatnonzero(away.distances < 0)
            there = self._lattice.index(found)
            away.distances[rows] = nearest_by_tree(index[rows], there, self._spacing, balanced=True)[0]
        return away.distances

    def _find(self, side: Side, labels: NDArray[Any], regions: list[tuple[int, ...]]) -> None:
        if not regions:
            return
        if self._compiled is not None:
            flat = flat_labels(labels, is_fortran=self._lattice.is_fortran)
            found = None if flat is None else region_surfaces(self._compiled, flat, regions)
            if found is not None:
                self._found.update({(side, ids): one for ids, one in zip(regions, found, strict=True)})
                return
            self._compiled = None  # both sides are found the same way
        boxes = boxes_of_ids(labels)
        for ids in regions:
            self._found[side, ids] = region_surface(labels, ids, boxes)


def region_surface(
    labels: NDArray[Any], ids: tuple[int, ...], boxes: Mapping[int, tuple[slice, ...]] | None
) -> NDArray[np.intp]:
    """Return the (n, ndim) array indices, in C order, of the surface voxels of some ids taken as one mask.

    Parameters
    ----------
    labels : ndarray of int or bool
        The label map.
    ids : tuple of int
        Ids of the mask, without 0.
    boxes : mapping of int to tuple of slice, or None
        From `boxes_of_ids`: only where the ids occur is looked at. None looks everywhere.
    """
    box = _box(ids, boxes, labels.ndim)
    if box is None:
        return np.zeros((0, labels.ndim), dtype=np.intp)
    # In the order of memory: against it a large box takes many times as long.
    is_turned = is_fortran_like(labels)
    mask = id_mask(labels[box], ids)
    index = surface_index(mask.T)[:, ::-1] if is_turned else surface_index(mask)
    index = index + np.array([s.start or 0 for s in box], dtype=np.intp)
    return index[np.lexsort(index.T[::-1])] if is_turned else index


def _box(ids: tuple[int, ...], boxes: Mapping[int, tuple[slice, ...]] | None, ndim: int) -> tuple[slice, ...] | None:
    """Where some ids occur; None where they do not."""
    if boxes is None:
        return (slice(None),) * ndim
    there = [boxes[i] for i in ids if i in boxes]
    if not there:
        return None
    return tuple(slice(min(s.start for s in axis), max(s.stop for s in axis)) for axis in zip(*there, strict=True))
