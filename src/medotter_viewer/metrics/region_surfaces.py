"""Distances between the surfaces of regions of two label maps: the surfaces of all regions in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.counting import Occupied
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.region_masks import RegionMasks
from medotter_viewer.metrics.surface import check_spacing
from medotter_viewer.metrics.surface_distances import SurfaceDistances, regions_measured, surface_distances
from medotter_viewer.metrics.surfel import surfel_hd

_Ids = tuple[int, ...]
_Spacing = tuple[float, ...]


class RegionSurfaces:
    """Surfaces of regions, found when the first distance is asked for.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape, without negative ids.
    regions : iterable of tuple of int
        Ids of the regions whose distances will be asked for: they are measured together. Others may be asked for, each
        at the cost of a pass of its own.
    occupied : Occupied, optional
        Where the two have any id, from an `OverlapTable` of just these arrays.
    """

    def __init__(
        self,
        gt: NDArray[Any],
        pred: NDArray[Any],
        regions: Iterable[_Ids] = (),
        occupied: Occupied | None = None,
    ) -> None:
        self._occupied = occupied
        self._gt, self._pred = gt, pred
        self._regions = list(dict.fromkeys(regions))
        self._masks: RegionMasks | None = None
        self._found: dict[tuple[_Ids, _Spacing], SurfaceDistances] = {}

    def hd95(self, ids: _Ids, *, spacing: Sequence[float], percentile: float, variant: str) -> float:
        """Return the distance in mm between the two masks of a region that is on both sides."""
        if variant == "surfel":
            return surfel_hd(*self._mask_pair(ids), spacing=spacing, percentile=percentile)
        return hausdorff(self.distances(ids, spacing=spacing), percentile=percentile, variant=variant)

    def hd(self, ids: _Ids, *, spacing: Sequence[float]) -> float:
        """Return the Hausdorff distance in mm: the farthest surface voxel of either side from the other's surface."""
        return hausdorff(self.distances(ids, spacing=spacing), percentile=100.0)

    def distances(self, ids: _Ids, *, spacing: Sequence[float]) -> SurfaceDistances:
        """Return the distances between the surfaces of a region.

        Raises
        ------
        MetricInputError
            If it is empty on a side, or the spacing is not one positive finite number of mm for each axis.
        """
        steps = check_spacing(spacing, self._gt.ndim)
        key = tuple(steps.tolist())
        if (ids, key) not in self._found:
            regions = self._regions if ids in self._regions else [ids]
            found = regions_measured(self._gt, self._pred, regions, steps, self._occupied)
            if found is None or ids not in found:
                # One metric follows the other: the plain engine keeps the region asked for last, and no more.
                self._found.clear()
                found = {ids: surface_distances(*self._mask_pair(ids), spacing=key)}
            self._found |= {(region, key): distances for region, distances in found.items()}
        return self._found[ids, key]

    def _mask_pair(self, ids: _Ids) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        if self._masks is None:
            self._masks = RegionMasks(self._gt, self._pred)
        return self._masks.of(ids)
