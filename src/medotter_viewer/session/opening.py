"""Opening cases: the one that is asked for, in the background, and the next ones before anybody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

from medotter_viewer.core.case import Case
from medotter_viewer.live.table import can_be_live
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.vertebra_points import with_landmarks
from medotter_viewer.session.events import OpenedCase, SessionEvents
from medotter_viewer.session.first_view import first_view
from medotter_viewer.session.foreseen import Foreseen
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.session.read_ahead import ReadAhead, bytes_in_memory
from medotter_viewer.sources.source import CaseSource


class Opening:
    """Opens the cases of a source.

    Parameters
    ----------
    source : CaseSource
        The cases.
    options : ScoreOptions
        How those that are read ahead are scored.
    events : SessionEvents
        Of the session: told which case is being opened.
    jobs : Jobs
        Works in the background: ``load``.
    executor : Executor
        Threads that read ahead.
    on_opened : callable
        Takes the case.
    on_error : callable
        Takes why there is none.
    most_cases, most_bytes : int
        How many cases are read ahead, and how much memory they may take together.

    Attributes
    ----------
    loading : str or None
        The case that is being opened.
    """

    def __init__(
        self,
        source: CaseSource,
        options: ScoreOptions,
        events: SessionEvents,
        jobs: Jobs,
        executor: Executor,
        on_opened: Callable[[OpenedCase], None],
        on_error: Callable[[BaseException], None],
        *,
        most_cases: int,
        most_bytes: int,
    ) -> None:
        self.loading: str | None = None
        self._source, self._options, self._events, self._jobs = source, options, events, jobs
        self._executor = executor
        self._scoring_ahead: Future[Any] | None = None  # the last, not the case: it may be let go
        self._on_opened, self._on_error = on_opened, on_error
        self._ahead = ReadAhead(
            executor,
            self._load_ahead,
            lambda case_id: bytes_in_memory(source.entry(case_id)),
            most_cases=most_cases,
            most_bytes=most_bytes,
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read or scored ahead."""
        return self._ahead.is_idle and (self._scoring_ahead is None or self._scoring_ahead.done())

    def start(self, case_id: str, region: str | None) -> None:
        """Open a case, framed on a region (None: on the headline's); a newer call overtakes an older one."""
        self.loading = case_id
        self._events.loading_started.emit(case_id)
        ahead = self._ahead.take(case_id)

        def work(report: Callable[[OpenedCase], None], is_stale: Callable[[], bool]) -> None:
            if is_stale():
                return
            opened = None if ahead is None or ahead[0].cancelled() else ahead[0].result()
            if ahead is None or opened is None:
                report(self._load(case_id, region))
            else:
                report(opened if ahead[1] == region else self._framed(opened.case, region, opened.foreseen))

        self._jobs.start("load", work, self._on_loaded, self._on_failed)

    def read_ahead(self, case_ids: Sequence[str], region: str | None) -> None:
        """Read the first few of some cases, see `ReadAhead.start`."""
        self._ahead.start(case_ids, region)

    def forget(self) -> None:
        """Let go of what was read ahead."""
        self._ahead.forget()

    def _load(self, case_id: str, region: str | None) -> OpenedCase:
        return self._framed(self._source.load(case_id), region)

    def _load_ahead(self, case_id: str, region: str | None) -> OpenedCase:
        """Read a case, and leave its numbers to be found after it: whoever goes there meanwhile sees it at once."""
        opened = self._load(case_id, region)
        if not can_be_live(opened.case, self._source.spec):
            return opened
        foreseen = Foreseen(opened.case, self._source.spec, self._options, opened.axis)
        try:
            self._executor.submit(foreseen.run)
        except RuntimeError:  # the review is being closed
            return opened
        self._scoring_ahead = foreseen.slices
        return replace(opened, foreseen=foreseen)

    def _framed(self, case: Case, region: str | None, foreseen: Foreseen | None = None) -> OpenedCase:
        spec = self._source.spec
        if spec.is_vertebrae:
            case = with_landmarks(case)  # here and not where they are drawn: it takes a while
        return OpenedCase(case, *first_view(case, spec, region), foreseen)

    def _on_loaded(self, opened: OpenedCase) -> None:
        self.loading = None
        self._on_opened(opened)

    def _on_failed(self, error: BaseException) -> None:
        self.loading = None
        self._on_error(error)
