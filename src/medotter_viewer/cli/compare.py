"""``compare``: score one prediction against one ground truth."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from medotter_viewer.cli.output import fail, write_json
from medotter_viewer.cli.score import print_case
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.errors import ReadError, UsageError
from medotter_viewer.evaluation.report import HD95_MEANING
from medotter_viewer.formats.registry import stem
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.scoring.instances import METRICS as INSTANCE_METRICS
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.sources.inferred_spec import read_label_names, regions_spec, spec_of_found
from medotter_viewer.sources.label_names import check_names, ids_never_seen
from medotter_viewer.sources.loading import load_case
from medotter_viewer.sources.user_remap import load_user_remap

_MANY = 50  # regions
_INSTANCES = EvalSpec("instance_seg_3d", {"instances": (1,)}, INSTANCE_METRICS, Headline("instances", "pq"))


def run(options: argparse.Namespace) -> int:
    """Print the scores of the two files and return 1 when they cannot be compared."""
    for path in (options.gt, options.pred, options.image):
        if path is not None and not path.exists():
            raise ReadError(f"{path}: no such file")
    if options.instances and (options.labels or options.remap):
        raise UsageError("--instances: ids name single objects; leave --labels and --remap out")
    remap = Remap(None, "none")
    if options.remap is not None:
        chosen = load_user_remap(options.remap).for_all
        if chosen is None:
            raise UsageError(f"{options.remap}: names datasets; 'compare' needs native: canonical")
        remap = chosen
    labels = read_label_names(options.labels) if options.labels else None
    entry = CaseEntry(
        stem(options.gt),
        channels={"image": options.image} if options.image else {},
        gt_path=options.gt,
        pred_path=options.pred,
        remap=remap,
        label_regions=labels,
        series=options.series,
    )
    case = load_case(entry, images=False, resample_prediction=options.resample_prediction)
    if options.instances and case.regions is not None:
        raise UsageError("--instances needs ids of single objects; the files name their structures")
    noticed = _on_names(case, labels, options.labels) if labels is not None and case.regions is None else []
    spec = _INSTANCES if options.instances else _spec(case.regions or labels, case)
    score = score_case(case, spec, ScoreOptions(spec.metrics, options.hd95))
    if labels is None and case.regions is None and not options.instances:
        noticed += _on_ids(case, score)
    score = replace(score, notes=(*score.notes, *noticed))
    content = score.to_dict()
    write_json(options.json, {key: content[key] for key in ("status", "message", "notes", "regions", "case")})
    if options.json != "-":
        if any("hd95" in region.metrics for region in score.regions.values()):
            unit = "mm" if case.gt is None else case.gt.grid.unit
            print(f"hd95 in {unit}: {options.hd95}, {HD95_MEANING[options.hd95]}")
        print_case(score)
    if score.status != "scored":
        fail(score.message or score.status)
        return 1
    if not any(value.counts for region in score.regions.values() for value in region.metrics.values()):
        fail("no region could be scored: see the warnings")
        return 1
    return 0


def _on_names(case: Case, names: Mapping[str, tuple[int, ...]], file: Path) -> list[Finding]:
    """What is to be said of names that were given; an error where they are those of other label maps."""
    gt, pred = (set() if part is None else set(label_voxels(part.data)) for part in (case.gt, case.pred))
    check_names(names, gt, file)
    return [] if case.gt is None or case.pred is None else list(ids_never_seen(names, gt | pred, "either file"))


def _on_ids(case: Case, score: CaseScore) -> list[Finding]:
    """What makes plain ids score 0 although nothing may be wrong with the masks."""
    if case.gt is None or case.pred is None:
        return []
    gt, pred = ({i: n for i, n in label_voxels(part.data).items() if i > 0} for part in (case.gt, case.pred))
    if len(gt) == len(pred) == 1 and gt.keys() != pred.keys():
        ((a, n_a),), ((b, n_b),) = gt.items(), pred.items()
        message = (
            f"the ground truth has the one id {a} ({n_a} voxels), the prediction the one id {b} ({n_b} voxels): ids "
            "are compared as they are, so that nothing agrees; if both mean the same, give --remap FILE with "
            f"{{{a}: {b}}}, or --labels FILE with {{{a}: name, {b}: name}}"
        )
        return [Finding("warning", "no-common-id", message, where=case.case_id)]
    dice = [region.metrics["dice"].value for region in score.regions.values()]
    if len(dice) > _MANY and not any(dice):
        message = (
            f"{len(dice)} ids, none of which agrees anywhere: a file may be an image instead of a label map, or its "
            "ids are names of single objects (--instances)"
        )
        return [Finding("warning", "no-structures", message, where=case.case_id)]
    return []


def _spec(regions: Mapping[str, tuple[int, ...]] | None, case: Case) -> EvalSpec:
    """One region for each name, or for each id that occurs."""
    if regions is None:
        found = {i for part in (case.gt, case.pred) if part is not None for i in label_voxels(part.data) if i > 0}
        return spec_of_found(sorted(found))
    return regions_spec(regions)
