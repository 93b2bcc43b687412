"""Where the numbers of an instance task come from: formula, this case's counts, threshold and rule."""

from __future__ import annotations

from collections.abc import Mapping

from medotter_viewer.core.reprs import number_text
from medotter_viewer.core.scores import RegionScore
from medotter_viewer.core.spec import EMPTY_SITUATIONS, EvalSpec
from medotter_viewer.scoring.instance_matches import InstanceMatches
from medotter_viewer.ui.widgets.reasons import rule_source

_COUNTS: Mapping[str, str] = {
    "tp": "TP: matches, each of one object of the ground truth and one of the prediction",
    "fp": "FP: predicted objects without a match",
    "fn": "FN: objects of the ground truth without a match",
}
_FORMULAS: Mapping[str, str] = {
    "f1": "TP / (TP + FP/2 + FN/2)",
    "dq": "TP / (TP + FP/2 + FN/2)",
    "sq": "sum of the matches' IoU / TP",
    "pq": "sum of the matches' IoU / (TP + FP/2 + FN/2) = sq · dq",
    "aji": "shared voxels / united voxels of each ground-truth object and the prediction that fits it best; objects "
    "left over are added below",
    "aji_plus": "as aji, but no prediction is taken twice: pairs are chosen for the largest sum of IoU",
}
_WHOLE = ("aji", "aji_plus")
_SIDES = dict(
    zip(
        EMPTY_SITUATIONS,
        (
            "no object in ground truth or prediction",
            "objects in the ground truth, none predicted",
            "no object in the ground truth, some predicted",
        ),
        strict=True,
    )
)


def objects_why(metric: str, region: RegionScore, spec: EvalSpec, found: InstanceMatches | None = None) -> str:
    """Return where a number of objects comes from.

    Parameters
    ----------
    metric : str
        One of `scoring.instances.METRICS`.
    region : RegionScore
        All numbers of the case.
    spec : EvalSpec
        Its threshold and rules.
    found : InstanceMatches, optional
        The matches, which know what aji is made of.
    """
    value = region.metrics.get(metric)
    if value is None or value.value is None:
        return f"{metric} was not computed"
    listed = "iou_threshold" in spec.raw
    where = "eval_spec.yaml, iou_threshold" if listed else "the default, no iou_threshold in eval_spec.yaml"
    match = f"a match: IoU above {spec.iou_threshold:g} ({where})"
    if metric in _COUNTS:
        return f"{metric} = {value.value:.0f}\n{_COUNTS[metric]}\n{match}"
    if value.status in ("cap", "absent"):
        situation = value.rule if value.rule in _SIDES else EMPTY_SITUATIONS[0]
        return f"{_SIDES[situation]}\n{rule_source(metric, value, situation, spec)}"
    lines = [f"{metric} = {_FORMULAS.get(metric, metric)}", _figures(metric, region, found)]
    return "\n".join(line for line in (*lines, "" if metric in _WHOLE else match) if line)


def _figures(metric: str, region: RegionScore, found: InstanceMatches | None) -> str:
    """The formula with the figures of the case; the number alone where they are not known."""
    text = number_text(metric, region.metrics[metric].value)
    if metric in _WHOLE:
        if metric == "aji" and found is not None and found.matcher.losses.union:
            losses = found.matcher.losses
            shared = losses.union - int(losses.gt.sum()) - int(losses.pred.sum())
            if number_text(metric, shared / losses.union) == text:  # else they are of an older stroke
                return f"= {shared} / {losses.union} voxels = {text}"
        return f"= {text}"
    counts = [region.metrics[m].value if m in region.metrics else None for m in ("tp", "fp", "fn")]
    if None in counts:
        return f"= {text}"
    tp, fp, fn = (int(n or 0) for n in counts)
    below = f"({tp} + {fp}/2 + {fn}/2)"
    if metric in ("f1", "dq"):
        return f"= {tp} / {below} = {text}\nTP {tp}, FP {fp}, FN {fn}"
    sq = region.metrics.get("sq")
    if sq is None or sq.value is None:
        return f"= {text}"
    total = f"{sq.value * tp:.3f}"
    if metric == "sq":
        return f"= {total} / {tp} = {text}" if tp else "= 0: no object matches"
    dq = tp / (tp + fp / 2 + fn / 2) if tp + fp + fn else 0.0
    return f"= {total} / {below} = {text}\nsq · dq = {sq.value:.3f} · {dq:.3f}; TP {tp}, FP {fp}, FN {fn}"
