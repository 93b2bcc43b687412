"""Why a number is what it is: the formula with this case's figures, or the rule that set it."""

from __future__ import annotations

from medotter_viewer.core.reprs import IMAGE_DIAGONAL, NO_OUTLINE, NO_PIXEL, NOT_PLACED, UNEVEN_SLICES
from medotter_viewer.core.scores import MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec

_HD95 = {
    "directed_max": "larger of the two directed {p:g} % distances between surface voxels",
    "pooled": "{p:g} % of the distances of both surfaces taken together",
    "mean": "mean of the two directed {p:g} % distances between surface voxels",
    "surfel": "larger of the two directed {p:g} % distances, surface elements weighted by area",
}
_SITUATION = {
    "both_empty": "empty in ground truth and prediction",
    "gt_nonempty_pred_empty": "in the ground truth, empty in the prediction",
    "gt_empty_pred_nonempty": "not in the ground truth, predicted",
}
_SURFACE = "6-neighbour surface"


def hd95_name(spec: EvalSpec, variant: str) -> str:
    """Return the definition in force, short.

    Examples
    --------
    >>> from medotter_viewer.core.spec import EvalSpec, Headline
    >>> hd95_name(EvalSpec("seg", {}, ("dice",), Headline("macro_avg", "dice")), "directed_max")
    'directed max, 95 %, 6-neighbour surface'
    """
    surface = "area-weighted surface elements" if variant == "surfel" else _SURFACE
    return f"{variant.replace('_', ' ')}, {spec.hd95_percentile:g} %, {surface}"


def hd95_definition(spec: EvalSpec, variant: str) -> str:
    """Return the definition in force as a sentence."""
    spacing = (
        "from the file's header" if spec.hd95_spacing is None else f"{spec.hd95_spacing} mm, set by eval_spec.yaml"
    )
    surface = "" if variant == "surfel" else f" ({_SURFACE})"
    return f"{_HD95[variant].format(p=spec.hd95_percentile)}{surface};\nspacing {spacing}"


def empty_side(region: RegionScore) -> str:
    """Return which side of a region is empty, or nothing; what is drawn without a voxel is not empty."""
    if any(value.rule in (NOT_PLACED, NO_PIXEL, NO_OUTLINE) for value in region.metrics.values()):
        return ""
    if region.gt_voxels is None or region.pred_voxels is None or (region.gt_voxels and region.pred_voxels):
        return ""
    return "empty pred" if region.gt_voxels else "not in gt" if region.pred_voxels else "absent in both"


def why(metric: str, region: RegionScore, spec: EvalSpec, variant: str) -> str:
    """Return where a value comes from."""
    value = region.metrics[metric]
    if value.status == "not_labelled":
        return "this dataset does not annotate the region: it is not scored and enters no mean"
    if value.rule == UNEVEN_SLICES:
        return f"{metric} is not defined: the distances between the slices differ, and a distance needs one spacing"
    if value.rule == NOT_PLACED:
        return "the region is drawn, but none of its contours lies on the image: it is not empty, and enters no mean"
    if value.rule == NO_PIXEL:
        return "the region's contours hold no pixel centre: it is not empty, but has no mask, and enters no mean"
    if value.rule == NO_OUTLINE:
        return "the region is points or open lines alone: it has no mask, and enters no mean"
    if value.status == "error":
        return f"{metric} could not be computed"
    if value.status in ("cap", "absent"):
        return _rule(metric, value, region)
    if metric == "hd95":
        return f"hd95 = {value.value:.2f} mm\n{hd95_definition(spec, variant)}"
    if metric == "hd":
        return f"hd = {value.value:.2f} mm\nlargest distance of a surface voxel from the other surface ({_SURFACE})"
    return _formula(metric, value, region)


def _formula(metric: str, value: MetricValue, region: RegionScore) -> str:
    gt, pred, both = region.gt_voxels, region.pred_voxels, region.intersection
    if None in (gt, pred, both) or value.value is None:
        return ""
    if metric == "dice":
        return f"dice = 2·{both} / ({gt} + {pred}) = {value.value:.3f}\nvoxels: TP, gt, pred"
    if metric == "iou":
        return f"iou = {both} / ({gt} + {pred} − {both}) = {value.value:.3f}\nvoxels: TP, gt, pred"
    return f"{metric} = {value.value:.3f}"


def _rule(metric: str, value: MetricValue, region: RegionScore) -> str:
    side = {"empty pred": "gt_nonempty_pred_empty", "not in gt": "gt_empty_pred_nonempty"}
    situation = side.get(empty_side(region), "both_empty")
    reason = f"{_SITUATION[situation]}: no {metric} can be computed"
    if value.rule == IMAGE_DIAGONAL:
        return (
            f"{reason}\neval_spec.yaml has no empty_structure.{metric}.{situation}: the image's diagonal, "
            f"{value.value:.2f} mm, is taken (rule {value.rule})"
        )
    return f"{reason}\nrule: eval_spec.yaml, empty_structure.{metric}.{value.rule} = {value.value:g}"
