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
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.errors import ReadError, UsageError
from medotter_viewer.formats.registry import stem
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.scoring.instances import METRICS as INSTANCE_METRICS
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.sources.inferred_spec import read_label_names, regions_spec
from medotter_viewer.sources.label_names import check_names, ids_never_seen
from medotter_viewer.sources.loading import load_case
from medotter_viewer.sources.user_remap import load_user_remap

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
    score = replace(score, notes=(*score.notes, *noticed))
    content = score.to_dict()
    write_json(options.json, {key: content[key] for key in ("status", "message", "notes", "regions", "case")})
    if options.json != "-":
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


def _spec(regions: Mapping[str, tuple[int, ...]] | None, case: Case) -> EvalSpec:
    """One region for each name, or for each id that occurs."""
    if regions is None:
        found = {i for part in (case.gt, case.pred) if part is not None for i in label_voxels(part.data) if i > 0}
        regions = {str(i): (i,) for i in sorted(found) or [1]}
    return regions_spec(regions)
