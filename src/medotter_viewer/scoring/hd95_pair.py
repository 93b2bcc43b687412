"""The two voxels between which the hd95 of a region runs, in both directions, and why there are none."""

from __future__ import annotations

from dataclasses import dataclass

from medotter_viewer.core.case import Case
from medotter_viewer.core.reprs import metric_text
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.metrics.hausdorff import PercentilePair, hausdorff, percentile_pairs
from medotter_viewer.metrics.reach import region_surface
from medotter_viewer.metrics.region_masks import boxes_of_ids
from medotter_viewer.metrics.surface import check_spacing
from medotter_viewer.metrics.surface_distances import distances_between
from medotter_viewer.scoring.segmentation import spacing_of

STILL_COMING = "hd95 is still being computed"


@dataclass(frozen=True, slots=True)
class Hd95Pairs:
    """Where the ``directed_max`` hd95 of a region comes from.

    Parameters
    ----------
    region : str
        Which region.
    deciding, other : PercentilePair
        Of the direction whose percentile is larger, and of the other one; indices are those of the file's array.
    hd95_mm : float
        The percentile itself, interpolated between ranks: `deciding.distance_mm`, at the upper rank, is never below.
    percentile : float
        Usually 95.
    """

    region: str
    deciding: PercentilePair
    other: PercentilePair
    hd95_mm: float
    percentile: float


def pair_region(score: CaseScore | None, spec: EvalSpec, region: str | None) -> tuple[str | None, str]:
    """Return the region whose hd95 is to be shown.

    Parameters
    ----------
    score : CaseScore or None
        Of the case, as far as it is known.
    spec : EvalSpec
        Names the headline region.
    region : str or None
        The selected region: it is the one. Without, the headline's; for ``macro_avg`` the one with the largest hd95.

    Returns
    -------
    region : str or None
        None where there is no pair of voxels to be shown.
    why : str
        Why not; empty with a region.
    """
    if score is None:
        return None, "no scores: no hd95"
    if score.status != "scored":
        return None, f"no hd95: {score.message or 'the case is not scored'}"
    wanted = region if region is not None and region != MACRO else spec.headline.region
    if wanted == MACRO:
        return _worst(score)
    found = score.regions.get(wanted)
    if found is None:
        return None, f"{wanted}: no hd95"
    value = found.metrics.get("hd95")
    if value is None:
        return (wanted, "") if found.gt_voxels and found.pred_voxels else (None, f"{wanted}: {STILL_COMING}")
    if value.status == "ok":
        return wanted, ""
    reason = {
        "cap": f"hd95 is a {metric_text('hd95', value)}: one side is empty, there are no two voxels to show",
        "absent": "absent in both: no hd95 to show",
        "not_labelled": "not labelled by this dataset: no hd95",
    }
    return None, f"{wanted}: {reason.get(value.status, 'hd95 ' + metric_text('hd95', value))}"


def hd95_pairs(case: Case, spec: EvalSpec, region: str) -> Hd95Pairs:
    """Return where the hd95 of a region comes from.

    Parameters
    ----------
    case : Case
        With both label maps.
    spec : EvalSpec
        Ids, percentile and spacing.
    region : str
        One that is on both sides.

    Raises
    ------
    ValueError
        If a side is missing.
    MetricInputError
        If the region is empty on a side.
    """
    if case.gt is None or case.pred is None:
        raise ValueError(f"case {case.case_id}: gt and pred are needed")
    ids = tuple(i for i in spec.regions[region] if i != 0)
    # From whole arrays: their indices are wanted, not those of a part.
    gt, pred = (region_surface(side.data, ids, boxes_of_ids(side.data)) for side in (case.gt, case.pred))
    spacing = check_spacing(spacing_of(case.gt.grid, spec), 3)
    distances = distances_between(gt, pred, spacing)
    deciding, other = percentile_pairs(distances, spec.hd95_percentile)
    value = hausdorff(distances, percentile=spec.hd95_percentile)
    return Hd95Pairs(region, deciding, other, value, spec.hd95_percentile)


def _worst(score: CaseScore) -> tuple[str | None, str]:
    """The region with the largest hd95 that is a distance; values that a rule set are none."""
    known = {name: r.metrics["hd95"] for name, r in score.regions.items() if "hd95" in r.metrics}
    coming = [name for name, r in score.regions.items() if r.metrics and "hd95" not in r.metrics]
    if coming and all("dice" in score.regions[name].metrics for name in coming):
        return None, STILL_COMING
    computed = {name: v.value for name, v in known.items() if v.status == "ok" and v.value is not None}
    if not computed:
        return None, "no hd95 was computed in this case: every region is empty on a side, or not labelled"
    return max(computed, key=lambda name: computed[name]), ""
