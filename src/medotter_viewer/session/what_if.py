"""What if the label remap were another: tried on the open case at once, and on all cases with a remembered table.

Nothing of it is saved, exported or kept in the list of cases, whose numbers are those of the files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from medotter_viewer.cache.store import FactCache, default_cache_path
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.engine.remapping import remapped
from medotter_viewer.live.change_text import yaml_text
from medotter_viewer.live.changes import NO_REMAP, Changes, Edits
from medotter_viewer.live.known_tables import known_tables
from medotter_viewer.live.what_if import WhatIf, WhatIfs
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.sources.label_names import unnamed_ids
from medotter_viewer.sources.source import CaseSource


class RemapWhatIf:
    """The changed remaps of a review.

    Parameters
    ----------
    source : CaseSource
        The cases.
    hd95 : str
        Which hd95 the means are of.
    jobs : Jobs
        Computes the means over all cases.
    on_changed : callable
        Called after a remap was changed, or all are as they were.
    on_overall : callable
        Called when `overall` or `is_computing` is another.
    on_error : callable
        Takes what went wrong.

    Attributes
    ----------
    changes : Changes
        What is tried.
    overall : WhatIf or None
        What it does to the means, of all cases with a remembered table; None while it is not known.
    is_computing : bool
        Whether it is being computed.
    """

    def __init__(
        self,
        source: CaseSource,
        hd95: str,
        jobs: Jobs,
        on_changed: Callable[[], None],
        on_overall: Callable[[], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        self.changes = Changes()
        self.overall: WhatIf | None = None
        self.is_computing = False
        self._source, self._jobs = source, jobs
        self._options = ScoreOptions(None, hd95)  # type: ignore[arg-type]
        self._on_changed, self._on_overall, self._on_error = on_changed, on_overall, on_error
        self._trials: WhatIfs | None = None
        self._remaps: dict[str, Remap | None] = {}
        self._ids: tuple[Case, list[int]] | None = None  # of a case whose remap is the identity

    @property
    def is_on(self) -> bool:
        """Whether any remap is changed."""
        return bool(self.changes)

    @property
    def split(self) -> str:
        """Which cases the means are of: those of the test split, or all where it has none."""
        return "test" if self._source.case_ids("test") else "all"

    def can_try(self, case: Case | None) -> bool:
        """Tell whether the remap of a case may be changed: there are native ids, and they name structures."""
        return (
            case is not None
            and case.gt_native is not None
            and case.regions is None
            and not self._source.spec.is_instances
        )

    def edits(self, entry: CaseEntry) -> Edits:
        """Return what is changed in the remap of a case."""
        return self.changes.of(entry)

    def is_on_for(self, case: Case | None) -> bool:
        """Whether the remap of this case is changed."""
        return case is not None and bool(self.changes.of(case.entry))

    def set_target(self, case: Case, native: int, to: int | None) -> None:
        """Let a native id become something else, in all cases with the same remap.

        Parameters
        ----------
        case : Case
            As its files say: one of these cases.
        native : int
            Its id.
        to : int or None
            The canonical id; 0 drops it, None takes it out of the list. What it was before ends the change.
        """
        entry = case.entry
        own = entry.remap is not None and entry.remap.form == "per_case"
        name = case.case_id if own else entry.dataset or ""
        edits = dict(self.changes.of(entry))
        edits.pop(native, None)
        remap = entry.remap
        was = remap.target(native) if remap is not None and remap.is_listed(native) else None
        if to != was:
            edits[native] = to
        kind = "own" if own else "remaps"
        tables = {n: table for n, table in getattr(self.changes, kind).items() if n != name}
        self._remaps[name] = remap
        self._set(replace(self.changes, **{kind: {**tables, name: edits} if edits else tables}))

    def reset(self) -> None:
        """End the what-if."""
        self._set(Changes())

    def entry(self, case: Case) -> CaseEntry:
        """Return the entry of a case with the remap that is tried; the same entry where none is."""
        return self.changes.entry(case.entry, self._written_out(case)) if self.is_on_for(case) else case.entry

    def yaml(self, case: Case | None) -> str:
        """Return the changes as YAML, see `yaml_text`; `case` gives the ids that an identity is written out for."""
        ids = set() if case is None else set(self._written_out(case))
        if case is not None and self._trials is not None:
            ids.update(self._trials.ids_of(case.entry.dataset))
        return yaml_text(self.changes, self._remaps, sorted(ids))

    def request_overall(self) -> None:
        """Compute `overall` in the background; the bytes of all files are hashed for the first one alone."""
        if not self.is_on or self._source.spec.task_type != "seg":
            return
        changes, source, options, trials = self.changes, self._source, self._options, self._trials
        split = self.split

        def work(report: Callable[[tuple[WhatIfs, WhatIf]], None], is_stale: Callable[[], bool]) -> None:
            ready = trials
            if ready is None or ready.known.without_table:  # perhaps scored meanwhile
                known = known_tables(
                    list(source.entries(split)),  # type: ignore[arg-type]
                    source.spec,
                    FactCache(default_cache_path()),
                    resample_prediction=source.resample_prediction,
                    cancelled=is_stale,
                )
                if is_stale():
                    return
                ready = WhatIfs(known, source.spec, options, target=source.target)
            report((ready, ready(changes)))

        self.is_computing = True
        self._on_overall()
        self._jobs.start("what_if", work, self._on_found, self._on_failed)

    def _on_found(self, found: tuple[WhatIfs, WhatIf]) -> None:
        self._trials, self.overall = found
        self.is_computing = False
        self._on_overall()

    def _on_failed(self, error: BaseException) -> None:
        self.is_computing = False
        self._on_overall()
        self._on_error(error)

    def _set(self, changes: Changes) -> None:
        if changes == self.changes:
            return
        self._jobs.cancel("what_if")
        self.changes, self.overall, self.is_computing = changes, None, False
        self._on_changed()

    def _written_out(self, case: Case) -> list[int]:
        """Ids that an identity is written out for."""
        if case.entry.remap is None or not case.entry.remap.is_identity or case.gt_native is None:
            return []
        if self._ids is None or self._ids[0].gt_native is not case.gt_native:
            spec = self._source.spec
            regions = {i for ids in spec.regions.values() for i in ids} | (spec.label_space or set())
            self._ids = case, sorted({*label_voxels(case.gt_native.data), *regions})
        return self._ids[1]


def with_entry(case: Case, entry: CaseEntry) -> Case:
    """Return a case with another remap: its ground truth is made anew. The same case where the entry is its own."""
    if entry is case.entry or case.gt_native is None or entry.remap is None:
        return case
    gt = LabelMap(remapped(entry.remap, case.gt_native.data), case.gt_native.grid)
    kept = (f for f in case.findings if f.code not in (NO_REMAP, "id-without-name"))
    return replace(case, entry=entry, gt=gt, findings=(*kept, *unnamed_ids(gt, entry)))
