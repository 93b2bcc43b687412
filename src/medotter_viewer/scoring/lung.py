"""Score the contours of one scan: volumes that are right, invented and missed, and the scan's score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ERROR_LENGTH_MM, ContourRules, Origin, Overlap, ScanContours
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, GridMismatchError, LabelError, MetricInputError, UsageError
from medotter_viewer.geometry.axial_slices import stack_slices
from medotter_viewer.geometry.traced_rings import traced_rings
from medotter_viewer.metrics.lung import ScanVolumes, SliceAreas, scan_volumes, slice_areas
from medotter_viewer.metrics.overlap import id_mask, label_voxels
from medotter_viewer.scoring.options import ScoreOptions

METRICS = ("scan_score", "tp_mm3", "fp_mm3", "fn_mm3")
NO_TARGET = "no_target"
"""Rule of a score that is 0 because the ground truth is empty."""
NO_TRUE_POSITIVE = "no_true_positive"
"""Rule of a score that is 0 because prediction and ground truth do not overlap."""

MODEL: Origin = "model"
"""Who made the rings of a label map that was traced."""
_LISTED = 10  # ids in a message

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
    known: Mapping[int, SliceAreas] | None = None,
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
    known : mapping of int to SliceAreas, optional
        Areas of slices on which no ring has changed since they were computed by the same rule.

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
            areas = None if known is None else known.get(number)
            slices[number] = areas or slice_areas(gt.get(number, ()), pred.get(number, ()), overlap=overlap)
            scan_volumes([(slices[number], found)])
        except MetricInputError as error:
            raise MetricInputError(f"slice {number}: {error}") from error
        thickness[number] = float(found)
    volumes = scan_volumes((areas, thickness[number]) for number, areas in slices.items())
    return LungScanScore(volumes, _score(volumes, error_length_mm), slices, thickness)


def predicted_contours(case: Case, spec: EvalSpec) -> ScanContours | None:
    """Return the predicted rings of a scan, whichever way they are predicted: the only place that decides it.

    Parameters
    ----------
    case : Case
        A scan, with `pred_contours`, or with `pred` on the grid of its `stack`.
    spec : EvalSpec
        Says which id of a label map the target has.

    Returns
    -------
    ScanContours or None
        Polygons as they are; else a label map traced along the edges of its pixels, by a ``model``. None without a
        prediction.

    Raises
    ------
    LabelError
        If the label map holds ids that mean nothing here.
    GridMismatchError
        If it does not lie on slices with numbers.
    """
    if case.pred_contours is not None or case.pred is None:
        return case.pred_contours
    _check_ids(case, spec, label_voxels(case.pred.data))
    if case.stack is None:
        raise GridMismatchError(
            f"the predicted label map {case.entry.pred_path or ''} cannot be tied to slices: the scan's files do not "
            "say where these lie; give a submission of polygons instead"
        )
    slices = stack_slices(case.pred.grid, case.stack)
    rings, _ = traced_rings(id_mask(case.pred.data, target_ids(spec)), slices)
    return ScanContours(rings, {number: [MODEL] * len(found) for number, found in rings.items()})


def target_ids(spec: EvalSpec) -> tuple[int, ...]:
    """Return the ids of the target in a predicted label map: of the region named as it, of the only one, else 1."""
    regions = spec.regions
    target = (spec.contours or ContourRules()).target
    return regions.get(target) or (next(iter(regions.values())) if len(regions) == 1 else (1,))


def contours_score(case: Case, spec: EvalSpec, *, known: Mapping[int, SliceAreas] | None = None) -> LungScanScore:
    """Return the numbers of a case's contours; those that are not predicted count as missed.

    Parameters
    ----------
    case : Case
        With ground-truth contours.
    spec : EvalSpec
        Its rules.
    known : mapping of int to SliceAreas, optional
        As for `lung_scan_score`.

    Raises
    ------
    MetricInputError
        If there is no ground truth, a label map lies on no slices, or what `lung_scan_score` raises.
    LabelError
        As `predicted_contours`.
    """
    if case.gt_contours is None:
        raise MetricInputError("no ground-truth contours to score against")
    rules = spec.contours or ContourRules()
    try:
        pred = predicted_contours(case, spec)
    except GridMismatchError as error:
        raise MetricInputError(str(error)) from error
    return lung_scan_score(
        case.gt_contours.rings,
        {} if pred is None else pred.rings,
        thickness_mm=case.slice_thickness_mm,
        overlap=rules.overlap,
        error_length_mm=rules.error_length_mm,
        known=known,
    )


def score_lung_contour(case: Case, spec: EvalSpec, options: ScoreOptions) -> CaseScore:
    """Return the scores of one scan; all its numbers are metrics of the case, none of a region.

    Parameters
    ----------
    case : Case
        With `gt_contours`, `pred_contours` or `pred`, and `slice_thickness_mm`. A scan that a submission does not
        mention has contours without rings; neither is a model without a prediction.
    spec : EvalSpec
        Its `contours` give the rules.
    options : ScoreOptions
        Metrics, and what to do without a prediction.

    Returns
    -------
    CaseScore
        ``missing_prediction`` without a prediction, unless these are to be taken as empty.

    Raises
    ------
    MetricInputError, LabelError
        As `contours_score`.
    BundleError, UsageError
        If a metric of the specification, or one that was asked for, is not computed for contours.
    """
    metrics = _chosen_metrics(spec, options)
    if case.gt_contours is not None and case.pred_contours is None and case.pred is None and options.missing == "skip":
        sought = case.entry.pred_sought
        message = f"case {case.case_id}: no prediction found" + (f", looked for {sought}" if sought else "")
        return CaseScore.unscored(case.case_id, "missing_prediction", message)
    found = contours_score(case, spec)
    return CaseScore(case.case_id, "scored", case={name: found.metrics[name] for name in metrics})


def _check_ids(case: Case, spec: EvalSpec, voxels: Mapping[int, int]) -> None:
    """Refuse ids that neither the label space nor a region names."""
    known = spec.label_space or {i for ids in spec.regions.values() for i in ids} or {1}
    if unknown := {i: n for i, n in voxels.items() if i and i not in known}:
        listed = ", ".join(f"{i} ({n} voxels)" for i, n in list(unknown.items())[:_LISTED])
        more = ", ..." if len(unknown) > _LISTED else ""
        raise LabelError(
            f"prediction {case.entry.pred_path or ''}: ids outside the label space {sorted(known)}: {listed}{more}; "
            f"the target has id {', '.join(map(str, target_ids(spec)))}, all else is 0"
        )


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
