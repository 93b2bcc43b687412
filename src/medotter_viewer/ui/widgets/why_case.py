"""Where the numbers of a case as a whole come from: a scan's score and volumes, rates and distances of vertebrae."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.landmarks import Candidates, LandmarkRules
from medotter_viewer.core.reprs import number_text
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.metrics.lung import ScanVolumes
from medotter_viewer.metrics.vertebrae import VertebraComparison
from medotter_viewer.scoring.lung import METRICS as SCAN_METRICS
from medotter_viewer.scoring.lung import NO_TARGET, NO_TRUE_POSITIVE
from medotter_viewer.scoring.vertebra_points import FROM_MASK
from medotter_viewer.scoring.vertebrae import CASE_METRICS as VERTEBRA_METRICS
from medotter_viewer.scoring.vertebrae import NO_COMMON, NO_GT, NO_PRED

_SHORT_RULES: Mapping[str, str] = {
    NO_GT: "no ground-truth points",
    NO_PRED: "no predicted points",
    NO_COMMON: "no vertebra on both sides",
    NO_TARGET: "the ground truth is empty",
    NO_TRUE_POSITIVE: "no overlap",
    "all_gt": "nearest of all gt points",
    "common": "nearest of points on both sides",
    FROM_MASK: "points from a mask",
}
_OWN_RULES: Mapping[str, str] = {
    "scan_score": "exp(−(E/T + E/(L·A)) / 2)",
    "tp_mm3": "area in both × thickness",
    "fp_mm3": "area predicted only × thickness",
    "fn_mm3": "area missed × thickness",
    "d_mean": "vertebrae on both sides",
    "n_missing": "in gt, not predicted",
    "n_extra": "predicted, not in gt",
}
_WORDS: Mapping[str, str] = {
    "tp_mm3": "volume in both",
    "fp_mm3": "volume predicted only",
    "fn_mm3": "volume missed",
    "n_missing": "vertebrae of the ground truth that are not predicted",
    "n_extra": "predicted vertebrae that the ground truth does not have; no rate counts them",
}
_CANDIDATES: Mapping[Candidates, str] = {
    "all_gt": "of all points of the ground truth its own is the nearest, and less than {mm} mm away (task text)",
    "common": "of the points of vertebrae on both sides its own is nearest, and at most {mm} mm away (official code)",
}
_LISTED = 12


def short_rule(metric: str, rule: str | None) -> str:
    """Return what set a number of a case, as the table's column has it.

    Examples
    --------
    >>> short_rule("id_rate", "all_gt"), short_rule("scan_score", None)
    ('nearest of all gt points', 'exp(−(E/T + E/(L·A)) / 2)')
    """
    return _SHORT_RULES.get(rule, rule.replace("_", " ")) if rule else _OWN_RULES.get(metric, "")


def is_of_points(metric: str) -> bool:
    """Tell whether a number follows from labelled points, which must be compared to tell its figures."""
    return metric in VERTEBRA_METRICS


def case_why(metric: str, score: CaseScore, spec: EvalSpec, found: VertebraComparison | None = None) -> str:
    """Return where a number of a case as a whole comes from.

    Parameters
    ----------
    metric : str
        A key of `score.case`.
    score : CaseScore
        All numbers of the case.
    spec : EvalSpec
        Its rules.
    found : VertebraComparison, optional
        The points, compared: without them a rate is told without its figures.
    """
    if metric in SCAN_METRICS:
        return _scan_why(metric, score, spec)
    return _points_why(metric, score, spec, found) if is_of_points(metric) else metric


# ---------------------------------------------------------------- scans


def _scan_why(metric: str, score: CaseScore, spec: EvalSpec) -> str:
    rules, block = spec.contours or ContourRules(), "lung_contour"
    value = score.case[metric].value
    rings = {
        "union": "rings of a slice are united",
        "sum": "areas of rings of a slice are added",
        "union_if_both": "rings of a slice are united where both sides have some, else their areas are added",
    }[rules.overlap]
    areas = (
        f"areas: {rings} ({_source(spec, block, 'overlap', rules.overlap)}), times slice thickness; structure "
        f"{rules.target} ({_source(spec, block, 'target')})"
    )
    if value is None:
        return f"{metric} could not be computed"
    if metric != "scan_score":
        return f"{_WORDS[metric]} = {value:,.1f} mm³\n{areas}"
    length = f"L = {rules.error_length_mm:g} mm ({_source(spec, block, 'error_length_mm')})"
    lines = [f"scan_score = exp(−(E/T + E/(L·A)) / 2) = {value:.3f}"]
    if zero := {NO_TARGET: "the ground truth is empty", NO_TRUE_POSITIVE: "nothing overlaps"}.get(
        score.case[metric].rule or ""
    ):
        lines[0] = f"scan_score = {value:g} by definition: {zero} (TP = 0)"
    elif (volumes := _volumes(score)) is not None and volumes.e_mm3 is not None:
        tp, fp, fn = volumes.tp_mm3, volumes.fp_mm3, volumes.fn_mm3
        lines += [
            f"T = TP + FN = {tp:,.0f} + {fn:,.0f} = {volumes.t_mm3:,.0f} mm³, the ground truth",
            f"E = FN·T/TP + FP = {volumes.e_mm3:,.0f} mm³ (FP {fp:,.0f}), the error",
            f"A = (36π·T²)^(1/3) = {volumes.a_mm2:,.0f} mm², a sphere of volume T",
        ]
    headline = f"the headline is {spec.scale:,.0f} × the mean over all scans ({_source(spec, 'aggregation', 'scale')})"
    return "\n".join([*lines, length, areas, *[headline] * (spec.scale != 1)])


def _volumes(score: CaseScore) -> ScanVolumes | None:
    """The volumes of a scan; None where they were left out on purpose."""
    found = [score.case[name].value for name in SCAN_METRICS[1:] if name in score.case]
    return ScanVolumes(*found) if len(found) == 3 and None not in found else None  # type: ignore[arg-type]


# ---------------------------------------------------------------- vertebrae


def _points_why(metric: str, score: CaseScore, spec: EvalSpec, found: VertebraComparison | None) -> str:
    value, rules = score.case[metric], spec.landmarks or LandmarkRules()
    if value.value is None:
        return f"{metric} is not defined: {short_rule(metric, value.rule) or 'it could not be computed'}"
    mask = ["points from a mask: centres of mass, about 12 mm from the centres of the vertebral bodies"]
    mask *= value.rule == FROM_MASK
    if metric == "d_mean":
        lines = [f"d_mean = mean distance of the two points, vertebrae on both sides = {value.value:.2f} mm"]
        if found is not None:
            distances = [m.distance_mm for m in found.matches.values() if m.distance_mm is not None]
            if len(distances) <= _LISTED:
                lines.append(f"({' + '.join(f'{d:.2f}' for d in distances)}) / {len(distances)} mm")
            lines += [f"{len(found.missing)} missed: no distance, and not in it"] * bool(found.missing)
        return "\n".join([*lines, *mask])
    if metric in ("n_missing", "n_extra"):
        labels = () if found is None else found.missing if metric == "n_missing" else found.extra
        named = f": {', '.join(map(vertebra_name, labels))}" if labels else ""
        return "\n".join([f"{metric} = {value.value:.0f}{named}\n{_WORDS[metric]}", *mask])
    own: dict[str, Candidates] = {"id_rate_official": "common", "id_rate_all_gt": "all_gt"}
    candidates = own.get(metric, rules.candidates)
    lines = [f"{metric} = identified / vertebrae of the ground truth"]
    if found is None:
        lines.append(f"= {number_text(metric, value.value)}")
    else:
        hits = found.hits(candidates)
        lines.append(f"= {len(hits)} / {found.n_gt} = {number_text(metric, value.value)}")
        missed = [
            f"{vertebra_name(label)} ({match.why_not(candidates)})"
            for label, match in found.matches.items()
            if match.gt is not None and label not in hits
        ]
        lines += [f"not identified: {', '.join(missed)}"] * bool(missed)
    mm = f"{rules.max_distance_mm:g}"
    lines.append(f"identified: {_CANDIDATES[candidates].format(mm=mm)}")
    if metric == "id_rate":
        lines.append(f"which rule: {_source(spec, 'landmarks', 'candidates', rules.candidates)}")
    lines.append(f"how far: {_source(spec, 'landmarks', 'max_distance_mm', mm)}")
    return "\n".join([*lines, *mask])


def _source(spec: EvalSpec, block: str, key: str, value: Any = None) -> str:
    """Where a rule is written: in the specification, or nowhere."""
    table = spec.raw.get(block)
    said = "" if value is None else f": {value}"
    if isinstance(table, Mapping) and table.get(key) is not None:
        return f"eval_spec.yaml, {block}.{key}{said}"
    return f"default{said}, no {block}.{key} in eval_spec.yaml"
