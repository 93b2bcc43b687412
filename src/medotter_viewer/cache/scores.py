"""Score a case from what is remembered where that suffices, else from its files, and remember.

The numbers are those of `score_case`: of label maps the same `score_table` is called either way, of other cases the
score itself is remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medotter_viewer.cache.facts import distance_names, parse_facts, restored, stored
from medotter_viewer.cache.keys import Key, Rules, key_of
from medotter_viewer.cache.records import is_settled, parse_record, to_record
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.engine.remapping import remapped
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case, scored_or_error
from medotter_viewer.scoring.segmentation import Distance, score_table, surface_distance
from medotter_viewer.sources.loading import load_case


class _NotRememberedError(LookupError):
    """A distance that was never computed for this pair of files."""


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """The score of a case that was computed from its files.

    Parameters
    ----------
    score : CaseScore
        Its numbers.
    facts : dict or None
        What is to be remembered of its label maps.
    """

    score: CaseScore
    facts: dict[str, Any] | None = None

    def records(self, key: Key) -> dict[str, dict[str, Any]]:
        """Return what is to be remembered of the case, by key; nothing of what may be another the next time."""
        found = {}
        if self.score.status == "scored" and is_settled(self.score.notes):
            found[key.score] = to_record(self.score)
        if self.facts is not None and key.facts is not None:
            found[key.facts] = self.facts
        return found


def score_through_cache(
    entry: CaseEntry, spec: EvalSpec, options: ScoreOptions, *, cache: FactCache, resample_prediction: bool = False
) -> CaseScore:
    """Return the score of a case, reading its label maps only for what is not remembered.

    Parameters
    ----------
    entry, spec, options
        As for `score_case`.
    cache : FactCache
        Where facts and scores are kept.
    resample_prediction : bool
        As for `load_case`.
    """
    rules = Rules(spec, options, resample_prediction)
    key = key_of(entry, rules)
    if key is not None:
        known = remembered(entry, rules, key, cache.get_many(key.names))
        if known is not None:
            return known
    found = compute(entry, rules, with_facts=key is not None and key.facts is not None)
    if key is not None and key.is_current():
        cache.put_many(found.records(key))
    return found.score


def remembered(
    entry: CaseEntry, rules: Rules, key: Key, stored_facts: Mapping[str, dict[str, Any]]
) -> CaseScore | None:
    """Return the score of a case from what is stored under its keys; None where that does not suffice.

    Parameters
    ----------
    entry : CaseEntry
        The case.
    rules : Rules
        By which it is scored.
    key : Key
        Of the case.
    stored_facts : mapping of str to dict
        What is stored, by key.
    """
    try:
        if key.score in stored_facts:
            return parse_record(stored_facts[key.score], entry.case_id)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass  # of another form
    if key.facts is None or key.facts not in stored_facts:
        return None
    try:
        return _from_facts(entry, rules.spec, rules.options, stored_facts[key.facts])
    except (_NotRememberedError, KeyError, TypeError, ValueError):
        return None  # something is missing or of another form: computed again


def compute(entry: CaseEntry, rules: Rules, with_facts: bool = False) -> Computed:
    """Return the score of a case from its files, and the facts about its label maps if they are asked for.

    Raises
    ------
    UnsupportedTaskError, BundleError, UsageError
        As `score_case`.
    """
    case = load_case(entry, images=False, resample_prediction=rules.resample_prediction)
    is_pair = not case.errors and case.gt_native is not None and case.pred is not None
    if with_facts and is_pair and entry.remap is not None:
        return _from_files(case, entry.remap, rules.spec, rules.options)
    return Computed(score_case(case, rules.spec, rules.options))


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


def _from_files(case: Case, remap: Remap, spec: EvalSpec, options: ScoreOptions) -> Computed:
    if case.gt_native is None or case.pred is None:
        raise ValueError("a case that was read is needed")
    entry, grid, pred = case.entry, case.gt_native.grid, case.pred
    table = overlap_table(case.gt_native.data, pred.data)
    canonical = remapped(remap, case.gt_native.data)
    measure = surface_distance(canonical, pred.data, grid, entry, spec, options)
    distances: dict[str, float] = {}
    name_of = distance_names(table, remap, grid, spec, options)

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        value = measure(metric, ids)
        distances[name_of(metric, ids)] = value
        return value

    score = _scored(entry, case.findings, table, grid, spec, options, distance)
    facts = {
        "table": {"gt": table.gt_ids.tolist(), "pred": table.pred_ids.tolist(), "counts": table.counts.tolist()},
        "shape": list(grid.shape),
        "affine": grid.affine.tolist(),
        "has_world": grid.has_world,
        "is_uneven": grid.is_uneven,
        "findings": [stored(f, entry) for f in case.findings[len(entry.findings) :]],
        "distances": distances,
    }
    return Computed(score, facts if is_settled(case.findings) else None)


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
