"""Score a case from remembered facts where they suffice, else from its files, and remember.

The numbers are those of `score_case`: the same `score_table` is called either way.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.cache.store import FactCache, content_key
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.formats import registry
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case, scored_or_error
from medotter_viewer.scoring.segmentation import Distance, masks_distance, score_table, spacing_of
from medotter_viewer.sources.loading import load_case
from medotter_viewer.sources.segment_files import is_segment_file


class _NotRememberedError(LookupError):
    """A distance that was never computed for this pair of files."""


def score_through_cache(
    entry: CaseEntry, spec: EvalSpec, options: ScoreOptions, *, cache: FactCache, resample_prediction: bool = False
) -> CaseScore:
    """Return the score of a case, reading its label maps only for what is not remembered.

    Parameters
    ----------
    entry, spec, options
        As for `score_case`.
    cache : FactCache
        Where facts are kept.
    resample_prediction : bool
        As for `load_case`.
    """
    key = _key(entry, spec, resample_prediction)
    if key is None:
        return score_case(load_case(entry, images=False, resample_prediction=resample_prediction), spec, options)
    facts = cache.get(key)
    if facts is not None:
        try:
            return _from_facts(entry, spec, options, facts)
        except (_NotRememberedError, KeyError, TypeError, ValueError):
            pass  # something is missing or of another form: computed again
    case = load_case(entry, images=False, resample_prediction=resample_prediction)
    remap = entry.remap
    if case.errors or case.gt_native is None or case.pred is None or remap is None:
        return score_case(case, spec, options)
    return _from_files(case, remap, spec, options, cache, key)


def _key(entry: CaseEntry, spec: EvalSpec, resample: bool) -> str | None:
    """Key of a case's facts; None for a case that has none: another task, a missing file, an error, named structures.

    The ids of named structures are made for the cases at hand, and the voxels of contours depend on the series too.
    """
    gt, pred = entry.gt_path, entry.pred_path
    if spec.task_type != "seg" or gt is None or pred is None or entry.remap is None or errors_of(entry.findings):
        return None
    try:
        if entry.segment_ids is not None or is_segment_file(gt) or is_segment_file(pred):
            return None
        files = [file for path in (gt, pred) for file in registry.files_of(path)]
        # Images say where label maps without a position lie: which files, and whether they were changed, is enough.
        images = [(str(path), _state(path)) for path in entry.channels.values()]
        # What is said of ids without a name depends on the names and the remap; without names nothing does.
        table = None if entry.remap.table is None else dict(entry.remap.table)
        named = {} if entry.label_regions is None else {"names": [dict(entry.label_regions), table]}
        return content_key(*files, resample=resample, images=images, series=entry.series, **named)
    except (OSError, MedotterViewerError):
        return None


def _state(path: Path) -> list[tuple[str, int, int]]:
    """Name, size and time of a file, or of each file of a folder; nothing where there is none."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [(file.name, (at := file.stat()).st_size, at.st_mtime_ns) for file in files if file.is_file()]


def _from_facts(entry: CaseEntry, spec: EvalSpec, options: ScoreOptions, facts: dict[str, Any]) -> CaseScore:
    stored = facts["table"]
    counts = np.array(stored["counts"], dtype=np.int64).reshape(len(stored["gt"]), len(stored["pred"]))
    table = OverlapTable(np.array(stored["gt"], dtype=np.int64), np.array(stored["pred"], dtype=np.int64), counts)
    grid = Grid(
        tuple(facts["shape"]), np.array(facts["affine"]), bool(facts["has_world"]), is_uneven=bool(facts["is_uneven"])
    )
    distances = facts["distances"]

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        name = _distance_name(metric, ids, table, entry.remap, grid, spec, options)
        if name not in distances:
            raise _NotRememberedError(name)
        return float(distances[name])

    findings = (*entry.findings, *(_restored(f, entry) for f in facts["findings"]))
    return _scored(entry, findings, table, grid, spec, options, distance)


def _from_files(
    case: Case, remap: Remap, spec: EvalSpec, options: ScoreOptions, cache: FactCache, key: str
) -> CaseScore:
    if case.gt_native is None or case.pred is None:
        raise ValueError("a case that was read is needed")
    entry, grid, pred = case.entry, case.gt_native.grid, case.pred
    table = overlap_table(case.gt_native.data, pred.data)
    canonical = remap.apply(case.gt_native.data)
    measure = masks_distance(canonical, pred.data, grid, spec, options)
    distances: dict[str, float] = {}

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        value = measure(metric, ids)
        distances[_distance_name(metric, ids, table, remap, grid, spec, options)] = value
        return value

    score = _scored(entry, case.findings, table, grid, spec, options, distance)
    cache.put(
        key,
        {
            "table": {"gt": table.gt_ids.tolist(), "pred": table.pred_ids.tolist(), "counts": table.counts.tolist()},
            "shape": list(grid.shape),
            "affine": grid.affine.tolist(),
            "has_world": grid.has_world,
            "is_uneven": grid.is_uneven,
            "findings": [_stored(f, entry) for f in case.findings[len(entry.findings) :]],
            "distances": distances,
        },
    )
    return score


def _scored(
    entry: CaseEntry,
    findings: tuple[Finding, ...],
    table: OverlapTable,
    grid: Grid,
    spec: EvalSpec,
    options: ScoreOptions,
    distance: Distance,
) -> CaseScore:
    target = entry.remap.target if entry.remap is not None else int
    return scored_or_error(
        entry, findings, lambda: score_table(table.remap_gt(target), grid, entry, spec, options, distance)
    )


def _distance_name(
    metric: str,
    ids: tuple[int, ...],
    table: OverlapTable,
    remap: Remap | None,
    grid: Grid,
    spec: EvalSpec,
    options: ScoreOptions,
) -> str:
    """Name of a distance: it depends on which native and predicted ids make up the region, not on what it is called."""
    wanted = set(ids)
    native = [int(i) for i in table.gt_ids if (remap.target(int(i)) if remap is not None else int(i)) in wanted]
    predicted = [int(i) for i in table.pred_ids if int(i) in wanted]
    which = metric if metric == "hd" else f"{options.hd95} {spec.hd95_percentile!r}"
    return f"{which} {list(spacing_of(grid, spec))!r} {native!r} {predicted!r}"


def _places(entry: CaseEntry) -> list[tuple[str, str]]:
    """Paths that may stand in a finding, and what is stored for them: the same bytes may lie elsewhere next time."""
    named = [("gt", entry.gt_path), ("pred", entry.pred_path), *entry.channels.items()]
    return [(str(path), f"\0{name}\0") for name, path in named if path is not None]


def _stored(finding: Finding, entry: CaseEntry) -> dict[str, str | None]:
    fields = {**finding.to_dict(), "where": None if finding.where == entry.case_id else finding.where}
    for path, mark in _places(entry):
        fields = {k: v.replace(path, mark) if v is not None else None for k, v in fields.items()}
    return fields


def _restored(fields: dict[str, Any], entry: CaseEntry) -> Finding:
    for path, mark in _places(entry):
        fields = {k: v.replace(mark, path) if v is not None else None for k, v in fields.items()}
    finding = Finding(**fields)
    return finding if finding.where is not None else replace(finding, where=entry.case_id)
