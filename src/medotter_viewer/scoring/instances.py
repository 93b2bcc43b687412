"""Score instance masks: every object for itself, by the specification's IoU threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.engine.choice import get_ready
from medotter_viewer.errors import BundleError, UsageError
from medotter_viewer.metrics.instances import (
    Detection,
    InstanceOverlap,
    aji,
    aji_plus,
    detections,
    match_instances,
)
from medotter_viewer.scoring.empty import empty_instances, situation
from medotter_viewer.scoring.options import ScoreOptions

RATIOS = ("f1", "dq", "sq", "pq", "aji", "aji_plus")
COUNTS = ("tp", "fp", "fn")
METRICS = (*RATIOS, *COUNTS)
REGION = "instances"
"""Name of the one region where the specification gives none."""


def instance_scores(
    gt: NDArray[np.integer[Any]], pred: NDArray[np.integer[Any]], *, iou_threshold: float = 0.5
) -> Mapping[str, MetricValue]:
    """Return f1, dq, sq, pq, aji, aji_plus, tp, fp and fn of two instance masks.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Instance masks of one shape; 0 is background, every other id one object.
    iou_threshold : float
        IoU from 0 to 1 that a match exceeds.

    Returns
    -------
    mapping of str to MetricValue
        Two empty masks agree: every ratio is 1, ``absent``. One empty mask gives 0.

    Raises
    ------
    MetricInputError
        If the masks cannot be compared or the threshold is not from 0 to 1.

    Examples
    --------
    >>> found = instance_scores(np.array([4, 4, 0, 9]), np.array([1, 1, 0, 0]))
    >>> round(found["f1"].value, 3), found["aji"].value, found["fn"].value
    (0.667, 0.6666666666666666, 1)
    """
    get_ready()
    return _values(match_instances(gt, pred), iou_threshold, {})


def score_instances(case: Case, spec: EvalSpec, options: ScoreOptions) -> CaseScore:
    """Return the scores of one case: one region, of which every metric is given that was not left out on purpose.

    Parameters
    ----------
    case : Case
        With `gt` and `pred` on one grid; see `load_case`. Ids are names of objects: neither a remap nor a label
        space concerns them.
    spec : EvalSpec
        Name of the region, IoU threshold and rules for empty masks.
    options : ScoreOptions
        Metrics; None gives all.

    Raises
    ------
    BundleError, UsageError
        If the specification, or the person who asked, names a metric that is not known, or there are several regions.
    MetricInputError
        If an id is negative.
    """
    metrics = _chosen_metrics(spec, options)
    if case.gt is None or case.pred is None:
        raise ValueError(f"case {case.case_id}: gt and pred are needed")
    overlap = match_instances(case.gt.data, case.pred.data)
    values = _values(overlap, spec.iou_threshold, spec.empty_structure)
    voxels = (int(part.sum()) for part in (overlap.gt_areas, overlap.pred_areas, overlap.intersections))
    region = RegionScore({metric: values[metric] for metric in metrics}, *voxels)
    return CaseScore(
        case.case_id,
        "scored",
        regions={region_of(spec): region},
        voxel_volume_mm3=case.gt.grid.voxel_volume_mm3,
    )


def instance_values(
    overlap: InstanceOverlap,
    found: Detection,
    whole: Mapping[str, float | None],
    table: Mapping[str, Mapping[str, float]],
) -> dict[str, MetricValue]:
    """Return every metric of two instance masks, with the rules for empty ones.

    Parameters
    ----------
    overlap : InstanceOverlap
        Of both masks.
    found : Detection
        At the threshold.
    whole : mapping of str to float or None
        ``aji`` and ``aji_plus``, which have no threshold.
    table : mapping
        The specification's ``empty_structure``.
    """
    empty = situation(overlap.n_gt, overlap.n_pred)
    if empty is not None:
        values = {metric: empty_instances(metric, empty, table) for metric in RATIOS}
    else:
        values = {m: MetricValue(whole[m] if m in whole else getattr(found, m)) for m in RATIOS}
    return {**values, **{metric: MetricValue(getattr(found, metric)) for metric in COUNTS}}


def region_of(spec: EvalSpec) -> str:
    """Return the name of the one region of an instance task.

    Raises
    ------
    BundleError
        If the specification names several.
    """
    if len(spec.regions) > 1:
        raise BundleError(
            f"eval_spec.yaml: eval_regions: got {', '.join(spec.regions)}, expected one region: "
            "instance masks hold one kind of object"
        )
    named = spec.headline.region
    return next(iter(spec.regions), named if named != MACRO else REGION)


def _chosen_metrics(spec: EvalSpec, options: ScoreOptions) -> tuple[str, ...]:
    if unknown := [m for m in options.metrics or spec.metrics if m not in METRICS]:
        message = f"metrics: {', '.join(unknown)} not known for instances, expected {', '.join(METRICS)}"
        raise UsageError(message) if options.metrics else BundleError(f"eval_spec.yaml: {message}")
    return tuple(dict.fromkeys(options.metrics or METRICS))


def _values(
    overlap: InstanceOverlap, threshold: float, table: Mapping[str, Mapping[str, float]]
) -> dict[str, MetricValue]:
    (found,) = detections(overlap, [threshold])
    return instance_values(overlap, found, {"aji": aji(overlap), "aji_plus": aji_plus(overlap)}, table)
