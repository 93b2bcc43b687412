"""What a region's hd95 is made of: how many surface voxels there are, and the percentile of either direction."""

from __future__ import annotations

from dataclasses import dataclass

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.metrics.hausdorff import directed_percentile
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.metrics.region_surfaces import RegionSurfaces
from medotter_viewer.scoring.segmentation import is_labelled, spacing_of


@dataclass(frozen=True, slots=True)
class DistanceFigures:
    """Distances between the surfaces of one region.

    Parameters
    ----------
    gt_voxels, pred_voxels : int
        Surface voxels of ground truth and prediction.
    gt_to_pred_mm, pred_to_gt_mm : float
        The percentile of the distances from the one to the other.
    farthest_mm : float
        The largest distance of either direction.
    percentile : float
        Which one, 0..100.
    spacing : tuple of float
        mm along each axis of the file, as the specification or the file says.
    """

    gt_voxels: int
    pred_voxels: int
    gt_to_pred_mm: float
    pred_to_gt_mm: float
    farthest_mm: float
    percentile: float
    spacing: tuple[float, ...]

    def lines(self) -> list[str]:
        """Return the figures in words."""
        return [
            f"gt → prediction: {self.percentile:g} % of {self.gt_voxels:,} surface voxels within "
            f"{self.gt_to_pred_mm:.2f} mm",
            f"prediction → gt: {self.percentile:g} % of {self.pred_voxels:,} surface voxels within "
            f"{self.pred_to_gt_mm:.2f} mm",
            f"farthest of all: {self.farthest_mm:.2f} mm",
        ]


def distance_figures(case: Case, spec: EvalSpec, region: str) -> DistanceFigures | None:
    """Return the figures behind a region's distances; None where a side is empty or the region is not scored.

    Parameters
    ----------
    case : Case
        With ground truth and prediction on one grid.
    spec : EvalSpec
        Names the region, the percentile and the spacing.
    region : str
        Which region.
    """
    ids = spec.regions.get(region)
    if case.gt is None or case.pred is None or ids is None or not is_labelled(case.entry, spec, ids):
        return None
    if region in case.unscorable or (case.gt.grid.is_uneven and spec.hd95_spacing is None):
        return None
    spacing = spacing_of(case.gt.grid, spec)
    if not all(id_mask(side.data, ids).any() for side in (case.gt, case.pred)):
        return None
    found = RegionSurfaces(case.gt.data, case.pred.data, [ids]).distances(ids, spacing=spacing)
    return DistanceFigures(
        found.gt_to_pred.size,
        found.pred_to_gt.size,
        directed_percentile(found.gt_to_pred, spec.hd95_percentile),
        directed_percentile(found.pred_to_gt, spec.hd95_percentile),
        float(max(found.gt_to_pred.max(), found.pred_to_gt.max())),
        spec.hd95_percentile,
        spacing,
    )
