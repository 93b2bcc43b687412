"""Score label maps: dice, iou, hd95 and hd of every region, by the specification's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray
from medotter_viewer.core.reprs import UNEVEN_SLICES
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, LabelError, UsageError
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.metrics.region_surfaces import RegionSurfaces
from medotter_viewer.scoring.empty import empty_value, situation
from medotter_viewer.scoring.options import ScoreOptions

COMMON = ("dice", "iou", "hd95")
"""What is computed and shown of regions where nobody chooses."""
METRICS = (*COMMON, "hd")
DISTANCES = ("hd95", "hd")
NOT_LABELLED = MetricValue(None, "not_labelled")
UNDEFINED = MetricValue(None, "error", UNEVEN_SLICES)
NONE: Mapping[str, str] = MappingProxyType({})


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


Distance = Callable[[str, tuple[int, ...]], float]
"""From ``hd95`` or ``hd`` and the canonical ids of a region that is on both sides to its distance in mm."""


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
        Of status ``scored``.

    Raises
    ------
    LabelError
        If ids are negative or outside the label space, or the files name their structures and the specification's
        regions are others.
    BundleError
        If the specification names no region, or a fixed spacing of the wrong length.
    """
    if case.gt is None or case.pred is None:
        raise ValueError(f"case {case.case_id}: gt and pred are needed")
    _check_names(case, spec)
    grid = case.gt.grid
    table = overlap_table(case.gt.data, case.pred.data)
    distance = surface_distance(case.gt.data, case.pred.data, grid, case.entry, spec, options, table)
    return score_table(table, grid, case.entry, spec, options, distance, unscorable=case.unscorable)


def score_table(
    table: OverlapTable,
    grid: Grid,
    entry: CaseEntry,
    spec: EvalSpec,
    options: ScoreOptions,
    distance: Distance,
    *,
    unscorable: Mapping[str, str] = NONE,
) -> CaseScore:
    """Return the scores that follow from an overlap table in canonical ids: no voxel is read but for `distance`.

    Parameters
    ----------
    table : OverlapTable
        Canonical ground truth against prediction.
    grid : Grid
        Of the ground truth.
    entry : CaseEntry
        Says the remap and names the files.
    spec, options
        As for `score_segmentation`.
    distance : callable
        Gives hd95 or hd of a region; asked only where both sides have it, and not on a grid of uneven slices: there
        they are not defined, unless the specification fixes a spacing.
    unscorable : mapping of str to str
        As `Case.unscorable`: these regions have no value, whatever the table says.
    """
    metrics = chosen_metrics(spec, options)
    if not spec.regions:
        raise BundleError(
            "no regions: neither eval_spec.yaml (eval_regions) nor task.yaml (canonical_labels) names any"
        )
    check_ids(table, spec, entry)
    spacing = spacing_of(grid, spec)
    diagonal_mm = float(np.linalg.norm(np.multiply(grid.shape, spacing)))
    has_distances = not grid.is_uneven or spec.hd95_spacing is not None
    regions = {}
    for name, ids in spec.regions.items():
        if not is_labelled(entry, spec, ids):
            regions[name] = RegionScore(dict.fromkeys(metrics, NOT_LABELLED))
            continue
        overlap = table.region(ids)
        if name in unscorable:
            missing = MetricValue(None, "error", unscorable[name])
            regions[name] = RegionScore(dict.fromkeys(metrics, missing), overlap.gt, overlap.pred, overlap.intersection)
            continue
        empty = situation(overlap.gt, overlap.pred)
        values = {}
        for metric in metrics:
            if empty is not None:
                values[metric] = empty_value(metric, empty, spec.empty_structure, diagonal_mm)
            elif metric in DISTANCES:
                values[metric] = MetricValue(distance(metric, ids)) if has_distances else UNDEFINED
            else:
                values[metric] = MetricValue(overlap.dice if metric == "dice" else overlap.iou)
        regions[name] = RegionScore(values, overlap.gt, overlap.pred, overlap.intersection)
    return CaseScore(
        entry.case_id,
        "scored",
        regions=regions,
        notes=tuple(_notes(table, spec, entry)),
        voxel_volume_mm3=grid.voxel_volume_mm3,
    )


def _check_names(case: Case, spec: EvalSpec) -> None:
    """Refuse ids of a specification that mean something else in files which name their structures."""
    if case.regions is None:
        return
    others = [name for name, ids in spec.regions.items() if case.regions.get(name) != ids]
    if others:
        raise LabelError(
            f"the files name their structures ({', '.join(case.regions)[:200]}), the specification has the regions "
            f"{', '.join(others)[:200]} by id: nothing says which is which; give the files by --gt and --pred"
        )


def is_labelled(entry: CaseEntry, spec: EvalSpec, ids: tuple[int, ...]) -> bool:
    """Tell whether the case's dataset annotates a region: all of its ids can come out of the remap."""
    return not spec.partial_label or entry.remap is None or entry.remap.reaches(ids)


def spacing_of(grid: Grid, spec: EvalSpec) -> tuple[float, ...]:
    """Return the spacing in force, mm in file-axis order: the specification's, else the file's.

    Raises
    ------
    BundleError
        If the specification gives another number of axes.
    """
    if spec.hd95_spacing is None:
        return grid.spacing
    if len(spec.hd95_spacing) != len(grid.shape):
        raise BundleError(f"hd95.spacing: {len(spec.hd95_spacing)} numbers for {len(grid.shape)} axes")
    return spec.hd95_spacing


def check_ids(table: OverlapTable, spec: EvalSpec, entry: CaseEntry) -> None:
    """Raise LabelError for negative ids, and for predicted ids outside the label space, naming ids and counts."""
    for part, voxels, path in (
        ("ground truth", table.gt_voxels(), entry.gt_path),
        ("prediction", table.pred_voxels(), entry.pred_path),
    ):
        if negative := {i: n for i, n in voxels.items() if i < 0}:
            raise LabelError(
                f"{part} {path or ''}: negative ids {_listed(negative)}; ids start at 0 (background); "
                "write the label map again"
            )
    if spec.label_space is None or spec.is_instances:
        return
    outside = {i: n for i, n in table.pred_voxels().items() if i and i not in spec.label_space}
    if outside:
        raise LabelError(
            f"prediction {entry.pred_path or ''}: ids outside the label space "
            f"{sorted(spec.label_space)}: {_listed(outside)}; predictions are written in canonical ids"
        )


def surface_distance(
    gt: IntArray,
    pred: IntArray,
    grid: Grid,
    entry: CaseEntry,
    spec: EvalSpec,
    options: ScoreOptions,
    table: OverlapTable | None = None,
) -> Distance:
    """Return a function that gives hd95 or hd of a region of two label maps in canonical ids, by a specification.

    The surfaces of all regions of the case are found together, when the first distance is asked for. ``hd`` has one
    definition, whichever hd95 is chosen: the largest distance between surface voxels. A `table` that was counted of
    these very arrays makes it faster.
    """
    labelled = (ids for ids in spec.regions.values() if is_labelled(entry, spec, ids))
    surfaces = RegionSurfaces(gt, pred, labelled, None if table is None else table.occupied)

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        spacing = spacing_of(grid, spec)
        if metric == "hd":
            return surfaces.hd(ids, spacing=spacing)
        return surfaces.hd95(ids, spacing=spacing, percentile=spec.hd95_percentile, variant=options.hd95)

    return distance


def _listed(voxels: dict[int, int]) -> str:
    return ", ".join(f"{i} ({n} voxels)" for i, n in list(voxels.items())[:10]) + (", ..." if len(voxels) > 10 else "")


def _notes(table: OverlapTable, spec: EvalSpec, entry: CaseEntry) -> list[Finding]:
    """What the numbers do not show: predicted ids that no region of this case scores."""
    scored = {i for ids in spec.regions.values() if is_labelled(entry, spec, ids) for i in ids}
    unscored = {i: n for i, n in table.pred_voxels().items() if i and i not in scored}
    if not unscored:
        return []
    message = f"predicted ids that no scored region of this case contains, ignored: {_listed(unscored)}"
    return [Finding("info", "unscored-ids", message, where=entry.case_id)]
