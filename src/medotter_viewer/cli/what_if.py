"""``remap-audit --what-if``: what the headline and the means would be after a change, without reading a voxel."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from medotter_viewer.cache.scores import score_through_cache
from medotter_viewer.cache.store import FactCache, default_cache_path
from medotter_viewer.cli.output import ProgressLine, fail, print_findings, print_table, write_all, write_csv, write_json
from medotter_viewer.cli.source import source_of
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.reprs import number_text
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import BundleError, CaseNotFoundError, UsageError
from medotter_viewer.evaluation.aggregate import Mean
from medotter_viewer.evaluation.report import cases_of
from medotter_viewer.live.change_text import load_changes, yaml_text
from medotter_viewer.live.changes import Changes
from medotter_viewer.live.known_scores import missing_of
from medotter_viewer.live.known_tables import NO_TABLE, KnownTables, known_tables
from medotter_viewer.live.moved_ids import MovedId
from medotter_viewer.live.what_if import WhatIf, WhatIfs
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.source import CaseSource, Split

_LISTED = 10


def run(options: argparse.Namespace) -> int:
    """Print the what-if; return 1 when a case is left out that could have been scored, or means have gaps."""
    if options.predictions is None:
        raise UsageError("--what-if is about scores: give the model's predictions by --predictions DIR")
    changes = load_changes(options.what_if)
    source = source_of(options)
    split: Split = "all" if options.all else options.split or "test"
    ids = [options.case] if options.case else cases_of(source, split)
    entries = [source.entry(case_id) for case_id in ids]
    _check_names(changes, entries)
    chosen = ScoreOptions(None, options.hd95)
    cache = FactCache(default_cache_path())
    known = known_tables(entries, source.spec, cache, resample_prediction=source.resample_prediction)
    if options.compute:
        known = _computed(known, source, chosen, changes, cache)
    found = WhatIfs(known, source.spec, chosen, target=source.target)(changes)
    content = to_dict(found, source, split)
    written = write_all(
        lambda: _print(found, source, split, known) if options.json != "-" else None,
        lambda: write_csv(options.csv, _csv_rows(found)),
        lambda: write_json(options.json, content),
    )
    for case_id, why in found.unknown.items():
        if why != NO_TABLE:
            fail(f"{case_id}: left out: {why}")
    for case_id, (before, after) in found.apart.items():
        fail(f"{case_id}: left out: {_apart_text(before, after)}")
    if untold := known.without_table:
        more = f", ... ({len(untold)} in all)" if len(untold) > _LISTED else ""
        fail(
            f"left out, no remembered table: {', '.join(untold[:_LISTED])}{more}; tables are remembered when cases are "
            "scored: run 'medotter-viewer score' with the same files first, or add --compute"
        )
    gaps = found.withheld_from_headline
    if gaps:
        metric = found.spec.headline.metric
        fail(f"headline {metric}: not computed after the change in {gaps} cases, left out on both sides; add --compute")
    return 0 if not found.unknown and not found.apart and not gaps and written else 1


def _check_names(changes: Changes, entries: Iterable[CaseEntry]) -> None:
    """Raise for a dataset or case that no case is of: a what-if about nothing would look like no effect."""
    datasets = {e.dataset for e in entries if e.dataset is not None}
    if unknown := sorted(set(changes.remaps) - datasets):
        raise BundleError(f"--what-if names dataset {unknown[0]!r}; the cases are of {', '.join(sorted(datasets))}")
    of_case = {e.case_id: e for e in entries}
    for case_id in changes.own:
        if case_id not in of_case:
            raise CaseNotFoundError(f"--what-if names case {case_id!r}, which is none of the chosen ones")
        remap = of_case[case_id].remap
        if remap is None or remap.form != "per_case":
            raise BundleError(f"--what-if: case {case_id} has no remap of its own; change that of its dataset")


def _computed(
    known: KnownTables, source: CaseSource, options: ScoreOptions, changes: Changes, cache: FactCache
) -> KnownTables:
    """Score what is not remembered, before and after the change, and return the tables then."""
    spec, resample = source.spec, source.resample_prediction
    scoring = [(known.entries[i], spec) for i in known.without_table]
    progress = ProgressLine("scored")
    for done, (entry, rules) in enumerate(scoring, 1):
        score_through_cache(entry, rules, options, cache=cache, resample_prediction=resample)
        progress(done, len(scoring))
    if scoring:
        known = known_tables(list(known.entries.values()), spec, cache, resample_prediction=resample)
    trial = WhatIfs(known, spec, options, target=source.target)
    found = trial(changes)
    if not found.withheld:
        return known
    gaps = [case_id for case_id, pair in found.cases.items() if any(missing_of(score) for score in pair)]
    progress = ProgressLine("measured")
    for done, case_id in enumerate(gaps, 1):
        entry = known.entries[case_id]
        changed = changes.entry(entry, trial.ids_of(entry.dataset) if changes.of(entry) else ())
        for one, rules in ((entry, spec), (changed, found.spec)):
            score_through_cache(one, rules, options, cache=cache, resample_prediction=resample)
        progress(done, len(gaps))
    return known_tables(list(known.entries.values()), spec, cache, resample_prediction=resample)


def to_dict(found: WhatIf, source: CaseSource, split: str) -> dict[str, Any]:
    """Return the JSON form; see docs/what_if.md."""
    metrics = {m for means in (found.before.macro, found.after.macro) for m in means}
    head = found.after
    return {
        "target": source.target,
        "model": source.model,
        "split": split,
        "changes": {
            "remaps": {name: {str(k): v for k, v in edits.items()} for name, edits in found.changes.remaps.items()},
            "own": {name: {str(k): v for k, v in edits.items()} for name, edits in found.changes.own.items()},
            "regions": {name: list(ids) for name, ids in found.changes.regions.items()},
        },
        "headline": {
            "region": head.headline_region,
            "metric": head.headline_metric,
            "before": found.before.headline.to_dict(),
            "after": found.after.headline.to_dict(),
        },
        "by_region": {name: _both(found.before.by_region[name], means) for name, means in head.by_region.items()},
        "macro": {m: _pair(found.before.macro.get(m), found.after.macro.get(m)) for m in sorted(metrics)},
        "cases": {
            case_id: {"before": before, "after": after} for case_id, (before, after) in found.headlines().items()
        },
        "left_out": {
            **found.unknown,
            **{case_id: _apart_text(*pair) for case_id, pair in found.apart.items()},
        },
        "not_remembered": [case_id for case_id, why in found.unknown.items() if why == NO_TABLE],
        "not_computed": {name: dict(counts) for name, counts in found.withheld.items()},
        "moved": [
            {
                "dataset": m.dataset,
                "native": m.native,
                "before": m.before,
                "after": m.after,
                "cases": m.cases,
                "voxels": m.voxels,
                "volume_mm3": m.volume_mm3,
            }
            for m in found.moved
        ],
        "datasets": found.audit.to_dict()["datasets"],
        "findings": [f.to_dict() for f in found.audit.findings],
        "new_findings": [f.to_dict() for f in found.new_findings],
    }


def _pair(before: Mean | None, after: Mean | None) -> dict[str, Any]:
    nothing = Mean(None, 0)
    return {"before": (before or nothing).to_dict(), "after": (after or nothing).to_dict()}


def _both(before: Mapping[str, Mean], after: Mapping[str, Mean]) -> dict[str, Any]:
    return {metric: _pair(before.get(metric), after.get(metric)) for metric in dict.fromkeys([*before, *after])}


def _print(found: WhatIf, source: CaseSource, split: str, known: KnownTables) -> None:
    metric, region = found.spec.headline.metric, found.after.headline_region
    print(f"what if, nothing is saved: {source.target}  model {source.model}  split {split}")
    remaps = {e.dataset or "": e.remap for e in known.entries.values() if e.remap is None or e.remap.form != "per_case"}
    remaps |= {e.case_id: e.remap for e in known.entries.values() if e.remap is not None and e.remap.form == "per_case"}
    ids = sorted({i for audit in found.audit.datasets.values() for i in audit.voxels})
    print()
    for line in yaml_text(found.changes, remaps, ids).splitlines():
        print(line)
    if found.moved:
        print()
        print_table(
            ("dataset", "native", "was", "becomes", "cases", "voxels", "volume [mm3]"),
            [_moved_row(moved) for moved in found.moved],
        )
    of_all = f"{len(found.cases)} of {len(known.entries)} cases"
    if not found.cases:
        print(f"\nno numbers: from {of_all}")
        return
    print(f"\nmeans over {'patients' if found.spec.unit == 'patient' else 'cases'}, before -> after, from {of_all}")
    metrics = list(found.before.macro)
    rows = [*((name, found.before.by_region[name], means) for name, means in found.after.by_region.items())]
    rows.append(("macro (over regions)", found.before.macro, found.after.macro))
    print_table(
        ("region", *metrics, "n"),
        [
            (name, *(_arrow(m, b.get(m), a.get(m)) + _mark(found, name, m) for m in metrics), _n(b, a))
            for name, b, a in rows
        ],
    )
    for name, counts in found.withheld.items():
        for one, n in counts.items():
            print(f"* {name} {one}: not computed in {n} cases (no remembered distance), left out on both sides")
    worst = found.most_changed(_LISTED)
    if worst:
        print(f"\ncases by change of {metric} of {region}")
        print_table(
            ("case", "before", "after", "change"),
            [
                (case_id, number_text(metric, before), number_text(metric, after), _signed(metric, after - before))
                for case_id, before, after in worst
            ],
        )
        if (more := len(found.most_changed()) - len(worst)) > 0:
            print(f"and {more} more")
    before, after = found.before.headline, found.after.headline
    change = ""
    if before.value is not None and after.value is not None:
        change = f" ({_signed(metric, after.value - before.value)})"
    texts = " -> ".join(number_text(metric, mean.value) for mean in (before, after))
    whole = "" if len(found.cases) == len(known.entries) else f"  INCOMPLETE: from {of_all}"
    print(f"\nheadline {metric} of {region}: {texts}{change}{whole}")
    if found.new_findings:
        print("\nnew findings")
        print_findings(found.new_findings)


def _moved_row(moved: MovedId) -> tuple[str, ...]:
    def word(canonical: int | None) -> str:
        return "not listed" if canonical is None else "dropped" if canonical == 0 else str(canonical)

    fates = word(moved.before), word(moved.after)
    return moved.dataset, str(moved.native), *fates, str(moved.cases), str(moved.voxels), f"{moved.volume_mm3:.1f}"


def _arrow(metric: str, before: Mean | None, after: Mean | None) -> str:
    first, second = (number_text(metric, None if mean is None else mean.value) for mean in (before, after))
    return first if first == second else f"{first} -> {second}"


def _mark(found: WhatIf, region: str, metric: str) -> str:
    """Mark a mean from which cases are left out."""
    counts = found.withheld.values() if region not in found.spec.regions else [found.withheld.get(region, {})]
    return " *" if any(one.get(metric) for one in counts) else ""


def _n(before: Mapping[str, Mean], after: Mapping[str, Mean]) -> str:
    counts = [max((mean.n for mean in means.values()), default=0) for means in (before, after)]
    return str(counts[0]) if counts[0] == counts[1] else f"{counts[0]} -> {counts[1]}"


def _signed(metric: str, change: float) -> str:
    text = number_text(metric, abs(change))
    return text if not float(text) else f"{'-' if change < 0 else '+'}{text}"


def _apart_text(before: CaseScore, after: CaseScore) -> str:
    sides = ((before, "before"), (after, "after"))
    if before.status == after.status:
        return after.message or after.status
    texts = [f"{score.status} {when}" + f" ({score.message})" * bool(score.message) for score, when in sides]
    return ", ".join(texts)


def _csv_rows(found: WhatIf) -> list[dict[str, object]]:
    return [
        {"case": case_id, "before": before, "after": after} for case_id, (before, after) in found.headlines().items()
    ]
