"""Score a case from what is remembered of its files, under a remap that may be another than when it was remembered."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from medotter_viewer.cache.facts import Facts, distance_names, restored
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import errors_of
from medotter_viewer.core.reprs import NOT_REMEMBERED
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import scored_or_error
from medotter_viewer.scoring.segmentation import DISTANCES, score_table
from medotter_viewer.sources.label_names import unnamed_of

NOT_KNOWN = MetricValue(None, "error", NOT_REMEMBERED)


def score_known(entry: CaseEntry, facts: Facts, spec: EvalSpec, options: ScoreOptions) -> CaseScore:
    """Return the score of a case from what is remembered of its files.

    Parameters
    ----------
    entry : CaseEntry
        With the remap in force, which need not be the one its facts were found with.
    facts : Facts
        What is remembered.
    spec, options
        As for `score_case`.

    Returns
    -------
    CaseScore
        As `score_case` gives it, but for distances that were never measured: their value is None, their status
        ``error``, their rule ``not_remembered``.
    """
    if entry.remap is None:
        message = "; ".join(f.message for f in errors_of(entry.findings)) or f"case {entry.case_id}: no label remap"
        return CaseScore.unscored(entry.case_id, "error", message)
    remap, table = entry.remap, facts.table
    unnamed = "id-without-name"  # said of the remap that is in force, not of the one that was

    name_of = distance_names(table, remap, facts.grid, spec, options)

    def distance(metric: str, ids: tuple[int, ...]) -> float:
        return float(facts.distances.get(name_of(metric, ids), math.nan))

    canonical = table.remap_gt(remap.target)
    found = [restored(f, entry) for f in facts.findings]
    findings = (*entry.findings, *(f for f in found if f.code != unnamed), *unnamed_of(canonical.gt_voxels(), entry))
    score = scored_or_error(entry, findings, lambda: score_table(canonical, facts.grid, entry, spec, options, distance))
    lost = [
        (name, metric)
        for name, region in score.regions.items()
        for metric in DISTANCES
        if (value := region.metrics.get(metric)) is not None and value.value is not None and math.isnan(value.value)
    ]
    return without_values(score, lost)


def missing_of(score: CaseScore) -> list[tuple[str, str]]:
    """Region and metric of every distance that is not remembered."""
    return [
        (n, m) for n, region in score.regions.items() for m, v in region.metrics.items() if v.rule == NOT_REMEMBERED
    ]


def without_values(score: CaseScore, missing: Iterable[tuple[str, str]]) -> CaseScore:
    """Return the same score without some of its values; those that have none by a rule keep it."""
    regions: dict[str, RegionScore] = {}
    for name, metric in missing:
        region = regions.get(name, score.regions[name])
        if region.metrics[metric].counts:
            regions[name] = replace(region, metrics={**region.metrics, metric: NOT_KNOWN})
    return replace(score, regions={**score.regions, **regions}) if regions else score
