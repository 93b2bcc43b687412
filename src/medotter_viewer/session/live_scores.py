"""The numbers of the open case as it stands: at once where they follow from a table, the rest in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MetricInputError
from medotter_viewer.live.table import LiveTable, Voxels, can_be_live, count_slices, measure
from medotter_viewer.metrics.slice_tables import SliceTables
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import ADAPTERS, score_case
from medotter_viewer.scoring.slices import slice_profile
from medotter_viewer.session.events import OpenedCase, SessionEvents
from medotter_viewer.session.first_view import has_contours
from medotter_viewer.session.foreseen import Foreseen
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.session.what_if import RemapWhatIf, with_entry
from medotter_viewer.session.working_copy import WorkingCopy


@dataclass(frozen=True, slots=True)
class Arrived:
    """Scores as far as they are known.

    Parameters
    ----------
    score : CaseScore
        Of the open case.
    is_last : bool
        Whether nothing is missing.
    is_of_files : bool
        Whether they are what the files say: no edit, no what-if.
    """

    score: CaseScore
    is_last: bool
    is_of_files: bool


class LiveScores:
    """Scores the open case.

    Parameters
    ----------
    jobs : Jobs
        Works in the background: ``score`` and ``profile``.
    spec, options
        How cases are scored.
    what_if : RemapWhatIf
        Gives the remap in force.
    events : SessionEvents
        Told when the ground truth under another remap is there, and of the profile of slices that was asked for.
    on_scored : callable
        Takes scores as they arrive.
    on_error : callable
        Takes what went wrong.
    """

    def __init__(
        self,
        jobs: Jobs,
        spec: EvalSpec,
        options: ScoreOptions,
        what_if: RemapWhatIf,
        events: SessionEvents,
        on_scored: Callable[[Arrived], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        self._jobs, self._spec, self._options, self._what_if = jobs, spec, options, what_if
        self._events, self._on_scored, self._on_error = events, on_scored, on_error
        self._table: tuple[WorkingCopy, LiveTable] | None = None
        self._foreseen: Foreseen | None = None
        self._tried: tuple[Case, CaseEntry, Case] | None = None  # from the files, entry, and under another remap

    def take_up(self, opened: OpenedCase, working: WorkingCopy) -> bool:
        """Let go of the case that was open, and take what was found ahead of this one; tell whether that is all."""
        self._table = self._tried = None
        self.stop()
        ahead = opened.foreseen if working.predicted is None else None
        table = None if ahead is None else ahead.complete()
        if table is not None:
            self._table, ahead = (working, table), None
        self._foreseen = ahead
        return table is not None

    def stop(self) -> None:
        """Drop what is still being computed."""
        self._jobs.cancel("score")
        self._jobs.cancel("profile")

    def shown(self, working: WorkingCopy) -> Case:
        """Return the case as it is to be shown: its ground truth under the remap that is tried, once it is there."""
        case = working.current()
        if self._tried is None or self._tried[0] is not working.case or not self._what_if.is_on_for(working.case):
            return case
        tried = self._tried[2]
        return replace(case, entry=tried.entry, gt=tried.gt, findings=tried.findings)

    def score(self, working: WorkingCopy) -> None:
        """Score the case as it stands; a newer call overtakes an older one."""
        case, entry = working.frozen(), self._what_if.entry(working.case)
        of_files = not working.is_edited and entry is working.case.entry
        table = self._table_of(working)
        missing: list[tuple[str, tuple[int, ...]]] = []
        self._jobs.cancel("score")
        if table is not None and case.pred is not None:
            table.follow(case.pred.data)
            score, missing = table.score(entry)
            self._on_scored(Arrived(score, not missing, of_files))
        tried = self._tried[2] if self._tried is not None and self._tried[0] is working.case else None
        has_gt = entry is working.case.entry or (tried is not None and tried.entry == entry)
        if table is not None and not missing and has_gt:
            return
        spec, options = self._spec, self._options
        version = 0 if table is None else table.version
        # Once: its table follows strokes from then on.
        ahead, self._foreseen = (self._foreseen if of_files else None), None

        def work(report: Callable[[Callable[[], None]], None], is_stale: Callable[[], bool]) -> None:
            if is_stale():
                return
            under = with_entry(case, entry)
            if not has_gt:
                report(lambda: self._on_tried(working.case, entry, under))
            if table is not None:
                found = measure(under, spec, options, missing)
                report(lambda: self._on_measured(working, entry, found, version, of_files=of_files))
            elif can_be_live(case, spec):
                self._first_time(working, case, under, report, is_stale, ahead, of_files=of_files)
            else:
                self._in_steps(under, report, is_stale, of_files=of_files)

        self._jobs.start("score", work, lambda arrive: arrive(), self._on_error)

    def painted(self, working: WorkingCopy, voxels: Voxels) -> None:
        """Count voxels that may have been painted on, and tell the numbers that follow at once; others come later."""
        table, pred = self._table_of(working), working.pred_data
        if table is None or pred is None or not table.follow(pred, voxels):
            return
        self._jobs.cancel("score")
        score, missing = table.score(self._what_if.entry(working.case))
        self._on_scored(Arrived(score, not missing, False))

    def changed(self, working: WorkingCopy, voxels: Voxels, ids: NDArray[np.int64]) -> LiveTable | None:
        """Return the table of the case with other predicted ids at some voxels; None while there is no table."""
        table = self._table_of(working)
        return None if table is None else table.changed(voxels, ids)

    def in_steps(self, case: Case, is_stale: Callable[[], bool]) -> Iterator[tuple[CaseScore, bool]]:
        """Score a case without a table, what is fast first; yield scores, and whether they are the last."""
        adapter = ADAPTERS.get(self._spec.task_type)
        fast = adapter.fast if adapter else ()
        for metrics, last in [*[(fast, False)] * bool(fast), (self._options.metrics, True)]:
            if is_stale():
                return
            yield score_case(case, self._spec, replace(self._options, metrics=metrics)), last

    def profile(self, working: WorkingCopy | None, region: str | None, axis: int) -> None:
        """Find how wrong each slice along a displayed axis is; there is none where nothing is compared by slices."""
        if working is None or not (self._spec.regions or has_contours(working.case)):
            self._events.profile_changed.emit(None)
            return
        table, entry = self._table_of(working), self._what_if.entry(working.case)
        if table is not None and table.has_slices(axis):
            self._jobs.cancel("profile")
            self._events.profile_changed.emit(table.profile(axis, region, entry))
            return
        case, spec, version = working.frozen(), self._spec, 0 if table is None else table.version

        def work(report: Callable[[Callable[[], None]], None], is_stale: Callable[[], bool]) -> None:
            if is_stale():
                return
            if table is not None:
                try:
                    slices = count_slices(case, axis)
                except MetricInputError:  # too many ids for tables: counted for this profile alone
                    pass
                else:
                    report(lambda: self._on_slices(working, slices, version, region, axis))
                    return
            found = slice_profile(with_entry(case, entry), spec, region=region, axis=axis)
            report(lambda: self._events.profile_changed.emit(found))

        self._jobs.start("profile", work, lambda arrive: arrive(), self._on_error)

    # ---------------------------------------------------------------- in the background

    def _first_time(
        self,
        working: WorkingCopy,
        case: Case,
        under: Case,
        report: Callable[[Callable[[], None]], None],
        is_stale: Callable[[], bool],
        ahead: Foreseen | None,
        *,
        of_files: bool,
    ) -> None:
        """Count the tables of a case, and measure all distances; what was begun ahead is waited for."""
        try:
            table = LiveTable(case, self._spec, self._options) if ahead is None else ahead.table.result()
        except MetricInputError:  # too many ids: the scores say so
            table = None
        if table is None:
            self._in_steps(under, report, is_stale, of_files=of_files)
            return
        counted = table
        _, missing = counted.score(under.entry)
        report(lambda: self._on_table(working, counted, under.entry, of_files=of_files))
        if is_stale() or not missing:
            return
        found = measure(under, self._spec, self._options, missing) if ahead is None else ahead.distances.result()
        report(lambda: self._on_measured(working, under.entry, found, 0, of_files=of_files))

    def _in_steps(
        self, case: Case, report: Callable[[Callable[[], None]], None], is_stale: Callable[[], bool], *, of_files: bool
    ) -> None:
        for score, last in self.in_steps(case, is_stale):
            report(partial(self._on_scored, Arrived(score, last, of_files)))

    # ---------------------------------------------------------------- answers, on the main thread

    def _on_table(self, working: WorkingCopy, table: LiveTable, entry: CaseEntry, *, of_files: bool) -> None:
        if working.pred_data is not None and not of_files:
            table.follow(working.pred_data)  # strokes while it was counted
        self._table = working, table
        score, missing = table.score(entry)
        self._on_scored(Arrived(score, not missing, of_files))

    def _on_measured(
        self,
        working: WorkingCopy,
        entry: CaseEntry,
        found: dict[tuple[str, tuple[int, ...]], float],
        version: int,
        *,
        of_files: bool,
    ) -> None:
        table = self._table_of(working)
        if table is None:
            return
        table.learn(found, entry, version)
        score, missing = table.score(entry)
        self._on_scored(Arrived(score, not missing, of_files and table.version == version))

    def _on_tried(self, from_files: Case, entry: CaseEntry, under: Case) -> None:
        self._tried = from_files, entry, under
        self._events.what_if_changed.emit()

    def _on_slices(
        self, working: WorkingCopy, slices: SliceTables, version: int, region: str | None, axis: int
    ) -> None:
        table = self._table_of(working)
        if table is None:
            return
        if table.take_slices(axis, slices, version):
            self._events.profile_changed.emit(table.profile(axis, region, self._what_if.entry(working.case)))
        else:  # painted on meanwhile
            self.profile(working, region, axis)

    def _table_of(self, working: WorkingCopy) -> LiveTable | None:
        return self._table[1] if self._table is not None and self._table[0] is working else None
