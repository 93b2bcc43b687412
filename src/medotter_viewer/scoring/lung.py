"""Score the contours of one scan: volumes that are right, invented and missed, and the scan's score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ERROR_LENGTH_MM, ContourRules, Overlap
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, MetricInputError, UsageError
from medotter_viewer.metrics.lung import ScanVolumes, SliceAreas, scan_volumes, slice_areas
from medotter_viewer.scoring.options import ScoreOptions

METRICS = ("scan_score", "tp_mm3", "fp_mm3", "fn_mm3")
NO_TARGET = "no_target"
"""Rule of a score that is 0 because the ground truth is empty."""
NO_TRUE_POSITIVE = "no_true_positive"
"""Rule of a score that is 0 because prediction and ground truth do not overlap."""

Rings = Mapping[int, Sequence[ArrayLike]]
"""Slice number to rings in mm."""


@dataclass(frozen=True, slots=True)
class LungScanScore:
    """All numbers of one scan.

    Parameters
    ----------
    volumes : ScanVolumes
        mm3, with T, E and A of the score.
    score : MetricValue
        0 to 1. ``absent`` when ground truth and prediction are empty; rule ``no_target`` or ``no_true_positive``
        where it is 0 for that reason.
    slices : mapping of int to SliceAreas
        mm2 of every slice that has a ring.
    thickness_mm : mapping of int to float
        Of the same slices.
    """

    volumes: ScanVolumes
    score: MetricValue
    slices: Mapping[int, SliceAreas] = field(default_factory=dict)
    thickness_mm: Mapping[int, float] = field(default_factory=dict)

    @property
    def metrics(self) -> dict[str, MetricValue]:
        """Score and volumes by the names of `METRICS`."""
        volumes = (self.volumes.tp_mm3, self.volumes.fp_mm3, self.volumes.fn_mm3)
        return {"scan_score": self.score, **dict(zip(METRICS[1:], map(MetricValue, volumes), strict=True))}


def lung_scan_score(
    gt: Rings,
    pred: Rings,
    *,
    thickness_mm: Mapping[int, float] | float,
    overlap: Overlap = "union",
    error_length_mm: float = ERROR_LENGTH_MM,
) -> LungScanScore:
    """Return the score of one scan and what it is made of.

    Parameters
    ----------
    gt, pred : mapping of int to sequence of (n, 2) array_like
        Slice number to rings x, y in mm. Each ring by the even-odd rule: a hole is a keyhole within one ring.
    thickness_mm : mapping of int to float, or float
        Slice thickness, DICOM's (0018,0050), of every slice that has a ring; a number is that of all.
    overlap : {"union", "sum", "union_if_both"}
        What overlapping rings are worth, see `slice_areas`.
    error_length_mm : float
        L of the score, see `ScanVolumes.score`.

    Returns
    -------
    LungScanScore
        Without ground truth, or without any overlap, the score is 0 and counts; its rule says which.

    Raises
    ------
    MetricInputError
        If a thickness is missing or not positive, a coordinate is not finite, or an option is unknown; the message
        names the slice.

    References
    ----------
    TopCoder, LungTumorTracer 2, problem statement, section "Scoring".

    Examples
    --------
    >>> truth, half = [(0, 0), (20, 0), (20, 10), (0, 10)], [(0, 0), (10, 0), (10, 10), (0, 10)]
    >>> scan = lung_scan_score({7: [truth]}, {7: [half]}, thickness_mm=2.5)
    >>> scan.volumes, round(scan.score.value, 6)
    (ScanVolumes(tp_mm3=250.0, fp_mm3=0.0, fn_mm3=250.0), 0.558745)
    """
    slices: dict[int, SliceAreas] = {}
    thickness: dict[int, float] = {}
    for number in sorted(n for n in {*gt, *pred} if len(gt.get(n, ())) or len(pred.get(n, ()))):
        found = thickness_mm.get(number) if isinstance(thickness_mm, Mapping) else thickness_mm
        if found is None:
            raise MetricInputError(
                f"slice {number}: no slice thickness (0018,0050), so its areas are no volume; add it to its file"
            )
        try:
            slices[number] = slice_areas(gt.get(number, ()), pred.get(number, ()), overlap=overlap)
            scan_volumes([(slices[number], found)])
        except MetricInputError as error:
            raise MetricInputError(f"slice {number}: {error}") from error
        thickness[number] = float(found)
    volumes = scan_volumes((areas, thickness[number]) for number, areas in slices.items())
    return LungScanScore(volumes, _score(volumes, error_length_mm), slices, thickness)


def contours_score(case: Case, rules: ContourRules) -> LungScanScore:
    """Return the numbers of a case's contours; those that are not predicted count as missed.

    Raises
    ------
    MetricInputError
        If there is no ground truth, or what `lung_scan_score` raises.
    """
    if case.gt_contours is None:
        raise MetricInputError("no ground-truth contours to score against")
    return lung_scan_score(
        case.gt_contours.rings,
        {} if case.pred_contours is None else case.pred_contours.rings,
        thickness_mm=case.slice_thickness_mm,
        overlap=rules.overlap,
        error_length_mm=rules.error_length_mm,
    )


def score_lung_contour(case: Case, spec: EvalSpec, options: ScoreOptions) -> CaseScore:
    """Return the scores of one scan; all its numbers are metrics of the case, none of a region.

    Parameters
    ----------
    case : Case
        With `gt_contours`, `pred_contours` and `slice_thickness_mm`. A scan that a submission does not mention has
        contours without rings; None is a model without any submission.
    spec : EvalSpec
        Its `contours` give the rules.
    options : ScoreOptions
        Metrics, and what to do without a prediction.

    Returns
    -------
    CaseScore
        ``missing_prediction`` without predicted contours, unless these are to be taken as empty.

    Raises
    ------
    MetricInputError
        If there is no ground truth, or what `lung_scan_score` raises.
    BundleError, UsageError
        If a metric of the specification, or one that was asked for, is not computed for contours.
    """
    metrics = _chosen_metrics(spec, options)
    if case.gt_contours is not None and case.pred_contours is None and options.missing == "skip":
        message = f"case {case.case_id}: no prediction found"
        return CaseScore.unscored(case.case_id, "missing_prediction", message)
    found = contours_score(case, spec.contours or ContourRules())
    return CaseScore(case.case_id, "scored", case={name: found.metrics[name] for name in metrics})


def _score(volumes: ScanVolumes, error_length_mm: float) -> MetricValue:
    """The score with the reason where it is 0 by definition."""
    value = volumes.score(error_length_mm)
    if volumes.t_mm3 == 0:
        return MetricValue(value, "ok" if volumes.fp_mm3 > 0 else "absent", NO_TARGET)
    return MetricValue(value, "ok", NO_TRUE_POSITIVE if volumes.tp_mm3 == 0 else None)


def _chosen_metrics(spec: EvalSpec, options: ScoreOptions) -> tuple[str, ...]:
    """Those asked for, else all: the volumes say what the score is made of."""
    if unknown := [m for m in options.metrics or spec.metrics if m not in METRICS]:
        message = f"metrics: {', '.join(unknown)} not known for lung contours, expected {', '.join(METRICS)}"
        raise UsageError(message) if options.metrics else BundleError(f"eval_spec.yaml: {message}")
    return tuple(dict.fromkeys(options.metrics or METRICS))
