"""What the numbers of many cases would be after a remap or a region was changed: algebra on remembered tables.

Scores come from `score_table` and means from `roll_up`, as those of `score` do. A distance is taken only where it was
measured for the very ids that make up the region after the change; else it is `NOT_REMEMBERED`, on both sides, so that
means before and after are over the same cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import is_not

from medotter_viewer.cache.facts import Facts
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.evaluation.aggregate import Aggregate, headline_value, roll_up
from medotter_viewer.evaluation.remap_audit import RemapAudit, audit_counts
from medotter_viewer.live.changes import Changes
from medotter_viewer.live.known_scores import missing_of, score_known, without_values
from medotter_viewer.live.known_tables import KnownTables, check_task
from medotter_viewer.live.moved_ids import MovedId, moved_ids
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.segmentation import is_labelled
from medotter_viewer.sources.label_names import unnamed_of


@dataclass(frozen=True, slots=True, eq=False)
class WhatIf:
    """Numbers before and after a change.

    Parameters
    ----------
    changes : Changes
        What was tried.
    spec : EvalSpec
        After the change.
    before, after : Aggregate
        Means over the same cases.
    cases : mapping of str to (CaseScore, CaseScore)
        Scores of each of these cases before and after, in order.
    apart : mapping of str to (CaseScore, CaseScore)
        Cases with a table that are not scored on one side or on both: in neither mean.
    unknown : mapping of str to str
        Cases without a table, and why: in neither mean.
    moved : tuple of MovedId
        Native ids that become something else, with what they amount to in the cases with a table.
    audit : RemapAudit
        What the remap does after the change to the ids that occur, with its findings.
    new_findings : tuple of Finding
        Those of the audit, and of names of ids, that were not there before.
    withheld : mapping of str to mapping of str to int
        Region to metric to the number of cases left out of both means for want of a remembered distance.
    """

    changes: Changes
    spec: EvalSpec
    before: Aggregate
    after: Aggregate
    cases: Mapping[str, tuple[CaseScore, CaseScore]]
    apart: Mapping[str, tuple[CaseScore, CaseScore]]
    unknown: Mapping[str, str]
    moved: tuple[MovedId, ...]
    audit: RemapAudit
    new_findings: tuple[Finding, ...]
    withheld: Mapping[str, Mapping[str, int]]

    def headlines(self) -> dict[str, tuple[float | None, float | None]]:
        """Return the headline's value of each case before and after; None where it has none."""
        metric = self.spec.headline.metric
        return {
            case_id: (headline_value(before, self.spec, metric), headline_value(after, self.spec, metric))
            for case_id, (before, after) in self.cases.items()
        }

    @property
    def withheld_from_headline(self) -> int:
        """In how many cases the headline's metric is left out of some region that it is about."""
        head = self.spec.headline
        regions = self.withheld if head.region == MACRO else {head.region: self.withheld.get(head.region, {})}
        return max((counts.get(head.metric, 0) for counts in regions.values()), default=0)

    def most_changed(self, n: int | None = None) -> list[tuple[str, float, float]]:
        """Return id and headline before and after of the cases that change, the largest change first."""
        pairs = [(i, a, b) for i, (a, b) in self.headlines().items() if a is not None and b is not None and a != b]
        return sorted(pairs, key=lambda one: -abs(one[2] - one[1]))[:n]


class WhatIfs:
    """What-ifs over the same cases, one after the other; what holds before the change is computed once.

    Parameters
    ----------
    known : KnownTables
        The cases and their tables.
    spec, options
        How they are scored.
    target : str
        What they are cases of, for findings.
    """

    def __init__(self, known: KnownTables, spec: EvalSpec, options: ScoreOptions, *, target: str = "") -> None:
        check_task(spec)
        self.known, self.spec, self.options, self.target = known, spec, options, target
        self._before = {i: score_known(known.entries[i], facts, spec, options) for i, facts in known.facts.items()}
        self._last: tuple[list[CaseScore], Aggregate] | None = None
        self._voxels = {i: facts.table.gt_voxels() for i, facts in known.facts.items()}
        self._findings = frozenset(self._said({i: known.entries[i] for i in known.facts})[1])
        # An identity is written out for what occurs in a dataset, and for what a region may be made of.
        self._ids: dict[str | None, set[int]] = {}
        for case_id, voxels in self._voxels.items():
            self._ids.setdefault(known.entries[case_id].dataset, set()).update(voxels)
        self._region_ids = {i for ids in spec.regions.values() for i in ids} | (spec.label_space or set())

    def ids_of(self, dataset: str | None) -> list[int]:
        """Return the ids that an identity is written out for in a dataset, ascending."""
        return sorted(self._ids.get(dataset, set()) | self._region_ids)

    def __call__(self, changes: Changes) -> WhatIf:
        """Return the numbers before and after a change.

        Raises
        ------
        RegionNotFoundError
            If a changed region is none of the specification's.
        """
        spec = changes.spec(self.spec)
        entries, after = {}, {}
        for case_id, facts in self.known.facts.items():
            entry = self.known.entries[case_id]
            changed = changes.entry(entry, self.ids_of(entry.dataset) if changes.of(entry) else ())
            entries[case_id] = changed
            after[case_id] = self._after(entry, changed, facts, spec)
        audit, findings = self._said(entries)
        cases, apart, withheld = self._compared(after)
        first, second = ([pair[side] for pair in cases.values()] for side in (0, 1))
        remaps = {case_id: (self.known.entries[case_id].remap, e.remap) for case_id, e in entries.items()}
        return WhatIf(
            changes,
            spec,
            self._means_before(first),
            roll_up(second, spec, groups=False),
            cases,
            apart,
            self.known.unknown,
            moved_ids(self.known, remaps, self._voxels),
            audit,
            tuple(f for f in findings if f not in self._findings),
            withheld,
        )

    def _means_before(self, scores: list[CaseScore]) -> Aggregate:
        """Means before the change; computed again only where other values are left out than the last time."""
        if self._last is None or len(self._last[0]) != len(scores) or any(map(is_not, self._last[0], scores)):
            self._last = scores, roll_up(scores, self.spec, groups=False)
        return self._last[1]

    def _after(self, entry: CaseEntry, changed: CaseEntry, facts: Facts, spec: EvalSpec) -> CaseScore:
        """Score after the change; regions that are made of the same ids as before keep what they had."""
        before = self._before[entry.case_id]
        if changed is entry and spec is self.spec:
            return before
        if before.status != "scored" or entry.remap is None or changed.remap is None:
            return score_known(changed, facts, spec, self.options)
        then, now = (_made_of(facts, e, r, spec) for e, r in ((entry, entry.remap), (changed, changed.remap)))
        as_labelled = all(then[name][0] == now[name][0] for name in now)
        if spec is not self.spec or entry.label_regions is not None or not as_labelled:  # remarks may be others, too
            return score_known(changed, facts, spec, self.options)
        others = {name: ids for name, ids in spec.regions.items() if then[name] != now[name]}
        if not others:
            return before
        found = score_known(changed, facts, replace(spec, regions=others), self.options)
        if found.status != "scored":
            return found
        return replace(before, regions={name: found.regions.get(name, old) for name, old in before.regions.items()})

    def _compared(
        self, after: Mapping[str, CaseScore]
    ) -> tuple[
        dict[str, tuple[CaseScore, CaseScore]], dict[str, tuple[CaseScore, CaseScore]], dict[str, dict[str, int]]
    ]:
        cases, apart = {}, {}
        withheld: dict[str, dict[str, int]] = {}
        for case_id, second in after.items():
            first = self._before[case_id]
            if first.status != "scored" or second.status != "scored":
                apart[case_id] = first, second
                continue
            if first is second:
                missing = missing_of(first)
            else:
                missing = [*missing_of(first), *(pair for pair in missing_of(second) if pair not in missing_of(first))]
            for region, metric in missing:
                count = withheld.setdefault(region, {})
                count[metric] = count.get(metric, 0) + 1
            cases[case_id] = without_values(first, missing), without_values(second, missing)
        return cases, apart, withheld

    def _said(self, entries: Mapping[str, CaseEntry]) -> tuple[RemapAudit, list[Finding]]:
        """What the audit, and the loader of ids with names, say of remaps."""
        counted = ((entry, errors_of(entry.findings), self._voxels[case_id]) for case_id, entry in entries.items())
        audit = audit_counts(counted, self.spec, target=self.target)
        unnamed = []
        for case_id, entry in entries.items():
            if entry.label_regions is not None and entry.remap is not None:
                unnamed += unnamed_of(self.known.facts[case_id].table.remap_gt(entry.remap.target).gt_voxels(), entry)
        return audit, [*audit.findings, *unnamed]


def _made_of(facts: Facts, entry: CaseEntry, remap: Remap, spec: EvalSpec) -> dict[str, tuple[bool, tuple[int, ...]]]:
    """What the numbers of each region follow from: is it labelled, and which native ids is it made of."""
    targets = [(native, remap.target(native)) for native in facts.table.gt_ids.tolist()]
    return {
        name: (is_labelled(entry, spec, ids), tuple(native for native, to in targets if to in ids))
        for name, ids in spec.regions.items()
    }
