"""Score label maps: dice, iou and hd95 of every region, by the specification's rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import IntArray, LabelMap
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, LabelError, UsageError
from medotter_viewer.metrics.overlap import OverlapTable, id_mask, overlap_table
from medotter_viewer.metrics.surface import bounding_box, hausdorff, surface_distances
from medotter_viewer.metrics.surfel import surfel_hd
from medotter_viewer.scoring.empty import empty_value, situation
from medotter_viewer.scoring.options import ScoreOptions

METRICS = ("dice", "iou", "hd95")
NOT_LABELLED = MetricValue(None, "not_labelled")


def chosen_metrics(spec: EvalSpec, options: ScoreOptions) -> tuple[str, ...]:
    """Return the metrics of this run.

    Raises
    ------
    UsageError, BundleError
        If one that was asked for, or one of the specification's, is not computed for segmentations.
    """
    metrics = options.metrics or spec.metrics
    if unknown := [m for m in metrics if m not in METRICS]:
        message = f"metrics: {', '.join(unknown)} not known for segmentations, expected {', '.join(METRICS)}"
        raise UsageError(message) if options.metrics else BundleError(f"eval_spec.yaml: {message}")
    return tuple(dict.fromkeys(metrics))


def score_segmentation(case: Case, spec: EvalSpec, options: ScoreOptions) -> CaseScore:
    """Return the scores of one case.

    Parameters
    ----------
    case : Case
        With `gt` and `pred` on one grid; see `load_case`.
    spec : EvalSpec
        Regions and rules.
    options : ScoreOptions
        Metrics and hd95 definition.

    Returns
    -------
    CaseScore
        ``error`` with a message when ids are negative or outside the label space.

    Raises
    ------
    BundleError
        If the specification names no region, or a fixed spacing of the wrong length.
    """
    metrics = chosen_metrics(spec, options)
    if case.gt is None or case.pred is None:
        raise ValueError(f"case {case.case_id}: gt and pred are needed")
    if not spec.regions:
        raise BundleError(
            "no regions: neither eval_spec.yaml (eval_regions) nor task.yaml (canonical_labels) names any"
        )
    table = overlap_table(case.gt.data, case.pred.data)
    check_ids(table, spec, case)
    spacing = spacing_of(case.gt, spec)
    diagonal_mm = float(np.linalg.norm(np.multiply(case.gt.data.shape, spacing)))
    crop = _Crop(case.gt.data, case.pred.data)
    regions = {}
    for name, ids in spec.regions.items():
        if not is_labelled(case, spec, ids):
            regions[name] = RegionScore(dict.fromkeys(metrics, NOT_LABELLED))
            continue
        overlap = table.region(ids)
        empty = situation(overlap.gt, overlap.pred)
        values = {}
        for metric in metrics:
            if empty is not None:
                values[metric] = empty_value(metric, empty, spec.empty_structure, diagonal_mm)
            elif metric == "hd95":
                values[metric] = MetricValue(crop.hd95(ids, spacing, spec.hd95_percentile, options.hd95))
            else:
                values[metric] = MetricValue(overlap.dice if metric == "dice" else overlap.iou)
        regions[name] = RegionScore(values, overlap.gt, overlap.pred, overlap.intersection)
    return CaseScore(
        case.case_id,
        "scored",
        regions=regions,
        notes=tuple(_notes(table, spec, case)),
        voxel_volume_mm3=case.gt.grid.voxel_volume_mm3,
    )


def is_labelled(case: Case, spec: EvalSpec, ids: tuple[int, ...]) -> bool:
    """Tell whether the case's dataset annotates a region: all of its ids can come out of the remap."""
    return not spec.partial_label or case.entry.remap is None or case.entry.remap.reaches(ids)


def spacing_of(labels: LabelMap, spec: EvalSpec) -> tuple[float, ...]:
    """Return the spacing in force, mm in file-axis order: the specification's, else the file's.

    Raises
    ------
    BundleError
        If the specification gives another number of axes.
    """
    if spec.hd95_spacing is None:
        return labels.grid.spacing
    if len(spec.hd95_spacing) != labels.data.ndim:
        raise BundleError(f"hd95.spacing: {len(spec.hd95_spacing)} numbers for {labels.data.ndim} axes")
    return spec.hd95_spacing


def check_ids(table: OverlapTable, spec: EvalSpec, case: Case) -> None:
    """Raise LabelError for negative ids, and for predicted ids outside the label space, naming ids and counts."""
    for part, voxels, path in (
        ("ground truth", table.gt_voxels(), case.entry.gt_path),
        ("prediction", table.pred_voxels(), case.entry.pred_path),
    ):
        if negative := {i: n for i, n in voxels.items() if i < 0}:
            raise LabelError(
                f"{part} {path or ''}: negative ids {_listed(negative)}; ids start at 0 (background); "
                "write the label map again"
            )
    if spec.label_space is None:
        return
    outside = {i: n for i, n in table.pred_voxels().items() if i and i not in spec.label_space}
    if outside:
        raise LabelError(
            f"prediction {case.entry.pred_path or ''}: ids outside the label space "
            f"{sorted(spec.label_space)}: {_listed(outside)}; predictions are written in canonical ids"
        )


class _Crop:
    """Both label maps, cut to what is not background in either; whole for a region that holds background."""

    def __init__(self, gt: IntArray, pred: IntArray) -> None:
        box = bounding_box((gt != 0) | (pred != 0)) or (slice(0, 0),) * gt.ndim
        self.whole, self.cut = (gt, pred), (gt[box], pred[box])

    def hd95(self, ids: tuple[int, ...], spacing: Sequence[float], percentile: float, variant: str) -> float:
        gt, pred = (id_mask(labels, ids) for labels in (self.whole if 0 in ids else self.cut))
        if variant == "surfel":
            return surfel_hd(gt, pred, spacing=spacing, percentile=percentile)
        return hausdorff(surface_distances(gt, pred, spacing=spacing), percentile=percentile, variant=variant)


def _listed(voxels: dict[int, int]) -> str:
    return ", ".join(f"{i} ({n} voxels)" for i, n in list(voxels.items())[:10]) + (", ..." if len(voxels) > 10 else "")


def _notes(table: OverlapTable, spec: EvalSpec, case: Case) -> list[Finding]:
    """What the numbers do not show: predicted ids that no region of this case scores."""
    scored = {i for ids in spec.regions.values() if is_labelled(case, spec, ids) for i in ids}
    unscored = {i: n for i, n in table.pred_voxels().items() if i and i not in scored}
    if not unscored:
        return []
    message = f"predicted ids that no scored region of this case contains, ignored: {_listed(unscored)}"
    return [Finding("info", "unscored-ids", message, where=case.case_id)]
