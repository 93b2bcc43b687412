"""Why a number is what it is: the formula with this case's figures, or the rule that set it."""

from __future__ import annotations

from medotter_viewer.core.reprs import IMAGE_DIAGONAL, NO_OUTLINE, NO_PIXEL, NOT_PLACED, UNEVEN_SLICES
from medotter_viewer.core.scores import OTHER_OVERLAP, MetricValue, RegionScore
from medotter_viewer.core.spec import EMPTY_SITUATIONS, EvalSpec
from medotter_viewer.scoring.segmentation import DISTANCES

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
_OVERLAPS = {"dice": "2·TP / (gt + pred)", "iou": "TP / (gt + pred − TP)"}
_BOTH = EMPTY_SITUATIONS[0]


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
    value = region.shown(metric)
    if value is None:
        return f"{metric} was not computed"
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
        return _rule(metric, value, region, spec)
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


def _rule(metric: str, value: MetricValue, region: RegionScore, spec: EvalSpec) -> str:
    """What a value is that the formula does not give, and who says so."""
    situation = empty_situation(region)
    zero = "0 / 0" if situation == _BOTH else "0"
    found = f"{_OVERLAPS[metric]} = {zero}" if metric in _OVERLAPS else "there is no distance to measure"
    return f"{_SITUATION[situation]}: {found}\n{rule_source(metric, value, situation, spec)}"


def empty_situation(region: RegionScore) -> str:
    """Return the key of ``empty_structure`` that fits a region with an empty side."""
    side = {"empty pred": EMPTY_SITUATIONS[1], "not in gt": EMPTY_SITUATIONS[2]}
    return side.get(empty_side(region), _BOTH)


def rule_source(metric: str, value: MetricValue, situation: str, spec: EvalSpec) -> str:
    """Return what an empty structure counts as, and where that is written.

    Examples
    --------
    >>> from medotter_viewer.core.spec import Headline
    >>> spec = EvalSpec("seg", {}, ("dice",), Headline("macro_avg", "dice"))
    >>> rule_source("dice", MetricValue(1.0, "absent", "both_empty"), "both_empty", spec)
    'counts as 1 by default (no empty_structure.dice.both_empty in eval_spec.yaml)'
    """
    unit, key = " mm" * (metric in DISTANCES), f"empty_structure.{metric}.{situation}"
    if value.value is None:
        return ""
    if value.rule == IMAGE_DIAGONAL:
        others = [
            f"{other} has a rule of its own, {spec.empty_structure[other][situation]:g} mm"
            for other in DISTANCES
            if other != metric and situation in spec.empty_structure.get(other, {})
        ]
        cap = f"counts as {value.value:.2f} mm, the image's diagonal (no {key} in eval_spec.yaml; rule {value.rule})"
        return "; ".join([cap, *others])
    counts = f"counts as {value.value:g}{unit}"
    for name in (metric, OTHER_OVERLAP.get(metric, metric)):
        listed = spec.empty_structure.get(name, {}).get(situation)
        if listed is not None and (name == metric or situation != _BOTH):
            as_other = "" if name == metric else f", as {name} does,"
            return f"{counts}{as_other} by rule: eval_spec.yaml, empty_structure.{name}.{situation} = {listed:g}"
    return f"{counts} by default (no {key} in eval_spec.yaml)"
