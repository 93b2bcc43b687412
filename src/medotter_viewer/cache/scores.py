"""Score a case from remembered facts where they suffice, else from its files, and remember.

The numbers are those of `score_case`: the same `score_table` is called either way.
"""

from __future__ import annotations

from typing import Any

from medotter_viewer.cache.facts import distance_names, facts_key, parse_facts, restored, stored
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case, scored_or_error
from medotter_viewer.scoring.segmentation import Distance, score_table, surface_distance
from medotter_viewer.sources.loading import load_case


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
    key = facts_key(entry, spec, resample_prediction)
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


def _from_facts(entry: CaseEntry, spec: EvalSpec, options: ScoreOptions, facts: dict[str, Any]) -> CaseScore:
    known = parse_facts(facts)
    table, grid, distances = known.table, known.grid, known.distances

    name_of = distance_names(table, entry.remap, grid, spec, options)

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        name = name_of(metric, ids)
        if name not in distances:
            raise _NotRememberedError(name)
        return float(distances[name])

    findings = (*entry.findings, *(restored(f, entry) for f in known.findings))
    return _scored(entry, findings, table, grid, spec, options, distance)


def _from_files(
    case: Case, remap: Remap, spec: EvalSpec, options: ScoreOptions, cache: FactCache, key: str
) -> CaseScore:
    if case.gt_native is None or case.pred is None:
        raise ValueError("a case that was read is needed")
    entry, grid, pred = case.entry, case.gt_native.grid, case.pred
    table = overlap_table(case.gt_native.data, pred.data)
    canonical = remap.apply(case.gt_native.data)
    measure = surface_distance(canonical, pred.data, grid, entry, spec, options)
    distances: dict[str, float] = {}
    name_of = distance_names(table, remap, grid, spec, options)

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        value = measure(metric, ids)
        distances[name_of(metric, ids)] = value
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
            "findings": [stored(f, entry) for f in case.findings[len(entry.findings) :]],
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
