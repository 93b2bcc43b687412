"""Score vertebrae: label maps region by region, and points by identification rate and distance.

A vertebra counts when the ground truth's file has a point for it: those that the image cuts off have none, so that a
prediction there is extra, which no rate counts. Points are VerSe labels in the file already; no remap is applied to
them. A side with a mask and no file of points gets points from the mask; every number that rests on them says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import MAX_DISTANCE_MM, Candidates, LandmarkRules, Landmarks, Point
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.errors import BundleError, UsageError
from medotter_viewer.metrics.vertebrae import VertebraComparison, compare_vertebrae
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.segmentation import METRICS as REGION_METRICS
from medotter_viewer.scoring.segmentation import score_segmentation
from medotter_viewer.scoring.vertebra_points import FROM_MASK, derived_notes, landmarks_of

CASE_METRICS = ("id_rate", "id_rate_official", "id_rate_all_gt", "d_mean", "n_missing", "n_extra")
METRICS = (*REGION_METRICS, *CASE_METRICS)

NO_GT, NO_PRED, NO_COMMON = "no_gt_points", "no_predicted_points", "no_common_label"
"""Rules of a value that is undefined."""


def score_vertebrae(case: Case, spec: EvalSpec, options: ScoreOptions) -> CaseScore:
    """Return the scores of one case.

    Parameters
    ----------
    case : Case
        With label maps, points or both; see `load_case`.
    spec : EvalSpec
        Regions, rules and the block ``landmarks``.
    options : ScoreOptions
        Any of the points' metrics that is asked for brings all of them.

    Returns
    -------
    CaseScore
        Without a predicted mask there are no regions, with neither points nor a mask no rates (None with a rule); a
        note says so, and says whose points were taken from a mask.
        ``missing_prediction`` when both are missing and that is not to be scored as empty.

    Raises
    ------
    UsageError, BundleError
        If a metric is not known.
    """
    metrics = options.metrics or spec.metrics
    if unknown := [m for m in metrics if m not in METRICS]:
        message = f"metrics: {', '.join(unknown)} not known for vertebrae, expected {', '.join(METRICS)}"
        raise UsageError(message) if options.metrics else BundleError(f"eval_spec.yaml: {message}")
    if case.pred is None and case.pred_landmarks is None:
        if options.missing == "skip":
            sought = f", looked for {case.entry.pred_sought}" if case.entry.pred_sought else ""
            message = f"case {case.case_id}: no prediction found, neither a mask nor points{sought}"
            return CaseScore.unscored(case.case_id, "missing_prediction", message)
        pred = None if case.gt is None else LabelMap(np.zeros_like(case.gt.data), case.gt.grid)
        case = replace(case, pred=pred, pred_landmarks=Landmarks({}, "missing: scored as empty"))
    score, notes = CaseScore(case.case_id, "scored"), []
    of_regions = tuple(m for m in metrics if m in REGION_METRICS)
    if of_regions and case.gt is not None and case.pred is not None:
        score = score_segmentation(case, spec, replace(options, metrics=of_regions))
    elif of_regions:
        side = "predicted" if case.pred is None else "ground-truth"
        notes.append(_note("no-mask", f"no {side} mask: only the points are scored", case))
    if any(m in CASE_METRICS for m in metrics):
        values, more = _points(case, spec.landmarks or LandmarkRules())
        score = replace(score, case=values)
        notes += more
    return replace(score, notes=(*score.notes, *notes))


def landmark_scores(
    gt: Landmarks | Mapping[int, Point],
    pred: Landmarks | Mapping[int, Point],
    *,
    max_distance_mm: float = MAX_DISTANCE_MM,
    candidates: Candidates = "all_gt",
) -> Mapping[str, MetricValue]:
    """Return the metrics of a scan's points.

    Parameters
    ----------
    gt, pred : Landmarks or mapping of int to (3,) sequence of float
        Label to position in mm, both in one world.
    max_distance_mm : float
        Largest distance of a hit.
    candidates : {"all_gt", "common"}
        Rule that ``id_rate`` follows; see `metrics.vertebrae`.

    Returns
    -------
    mapping of str to MetricValue
        ``id_rate`` and both rules by name (0..1; None without a ground-truth point), ``d_mean`` in mm (None without
        a common label), ``n_missing``, ``n_extra``. The rule of a rate is its candidates; where a side's points were
        derived from a mask, the rule of every number is ``points_from_mask``.

    Raises
    ------
    MetricInputError
        If the distance is not positive.

    Examples
    --------
    >>> gt, pred = Landmarks({20: (0, 0, 0), 21: (0, 30, 0)}), Landmarks({20: (3, 4, 0)})
    >>> {name: v.value for name, v in landmark_scores(gt, pred).items() if name in ("id_rate", "d_mean", "n_missing")}
    {'id_rate': 0.5, 'd_mean': 5.0, 'n_missing': 1}
    """
    first, second = (p if isinstance(p, Landmarks) else Landmarks(p) for p in (gt, pred))
    found = compare_vertebrae(first.points_world, second.points_world, max_distance_mm=max_distance_mm)
    return comparison_scores(found, candidates, derived=first.derived or second.derived)


def comparison_scores(
    found: VertebraComparison, candidates: Candidates, *, derived: bool = False
) -> dict[str, MetricValue]:
    """Return the metrics of points that have been compared, on one side derived or not; see `landmark_scores`."""
    from_mask = FROM_MASK if derived else None

    def rate(rule: Candidates) -> MetricValue:
        value = found.id_rate(rule)
        return MetricValue(None, "not_labelled", NO_GT) if value is None else MetricValue(value, rule=from_mask or rule)

    d_mean = found.d_mean
    undefined = MetricValue(None, "not_labelled", NO_GT) if not found.n_gt else MetricValue(None, "error", NO_COMMON)
    return {
        "id_rate": rate(candidates),
        "id_rate_official": rate("common"),
        "id_rate_all_gt": rate("all_gt"),
        "d_mean": undefined if d_mean is None else MetricValue(d_mean, rule=from_mask),
        "n_missing": MetricValue(len(found.missing), rule=from_mask),
        "n_extra": MetricValue(len(found.extra), rule=from_mask),
    }


def comparison_notes(found: VertebraComparison, where: str | None = None) -> list[Finding]:
    """Return in words what the numbers do not show: which are missed, extra, swapped, shifted, not scored."""
    notes = []

    def note(severity: str, code: str, message: str) -> None:
        notes.append(Finding(severity, code, message, where=where))  # type: ignore[arg-type]

    if found.level_shift:
        levels = f"{abs(found.level_shift)} level{'s' * (abs(found.level_shift) > 1)}"
        towards = "head" if found.level_shift > 0 else "feet"
        note("warning", "level-shift", f"predicted labels are shifted by {levels} towards the {towards}")
    for one, other in found.swapped:
        message = f"{vertebra_name(one)} and {vertebra_name(other)} are swapped: each is predicted where the other is"
        note("warning", "swapped-vertebrae", message)
    if found.missing:
        note("info", "missed-vertebrae", f"not predicted: {_listed(found.missing)}")
    if found.extra:
        note("info", "extra-vertebrae", f"predicted but not in the ground truth, not counted: {_listed(found.extra)}")
    if found.not_scored:
        note("info", "unscored-points", f"points that VerSe does not score, left out: {_listed(found.not_scored)}")
    if not found.n_gt:
        note("info", "no-gt-points", "the ground truth has no vertebra: the identification rate is undefined")
    return notes


def _points(case: Case, rules: LandmarkRules) -> tuple[dict[str, MetricValue], list[Finding]]:
    """Metrics of the points, and what is to be said of them."""
    gt, pred = landmarks_of(case)
    if gt is None or pred is None:
        side, why = ("ground-truth", NO_GT) if gt is None else ("predicted", NO_PRED)
        undefined = MetricValue(None, "not_labelled" if gt is None else "error", why)
        message = f"no {side} points, and no mask to take them from: identification rate and distance are undefined"
        return dict.fromkeys(CASE_METRICS, undefined), [_note("no-points", message, case)]
    found = compare_vertebrae(gt.points_world, pred.points_world, max_distance_mm=rules.max_distance_mm)
    values = comparison_scores(found, rules.candidates, derived=gt.derived or pred.derived)
    return values, [*derived_notes(gt, pred, case.case_id), *comparison_notes(found, case.case_id)]


def _note(code: str, message: str, case: Case) -> Finding:
    return Finding("info", code, message, where=case.case_id)


def _listed(labels: Iterable[int]) -> str:
    return ", ".join(f"{vertebra_name(label)} ({label})" for label in labels)
