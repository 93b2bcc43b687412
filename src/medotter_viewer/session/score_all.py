"""Score the listed cases of a review one after the other in the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from medotter_viewer.batch import score_entry
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.session.events import SessionEvents
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.sources.source import CaseSource


class ScoreAll:
    """Scoring of many cases.

    Parameters
    ----------
    jobs : Jobs
        Runs it.
    source : CaseSource
        Gives the specification, and whether predictions are resampled.
    events : SessionEvents
        Told how far it is.
    store : callable
        Takes each score.
    on_end : callable
        Called when all are done, and when it is cancelled: rows may move then.
    on_error : callable
        Takes what stopped it.
    """

    def __init__(
        self,
        jobs: Jobs,
        source: CaseSource,
        events: SessionEvents,
        store: Callable[[CaseScore], None],
        on_end: Callable[[], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        self._jobs, self._source, self._events = jobs, source, events
        self._store, self._on_end, self._on_error = store, on_end, on_error

    def start(self, entries: Sequence[CaseEntry], options: ScoreOptions) -> None:
        """Score cases; nothing happens without any."""
        total, spec, resample = len(entries), self._source.spec, self._source.resample_prediction

        def work(report: Callable[[tuple[CaseScore | None, int]], None], is_stale: Callable[[], bool]) -> None:
            for done, entry in enumerate(entries, 1):
                if is_stale():
                    return
                report((score_entry(entry, spec, options, resample), done))
            report((None, total))

        def on_result(answer: tuple[CaseScore | None, int]) -> None:
            score, done = answer
            if score is None:
                self._finish()
                return
            self._store(score)
            self._events.progress_changed.emit(done, total)

        if entries:
            self._events.progress_changed.emit(0, total)
            self._jobs.start("batch", work, on_result, self._on_error)

    def cancel(self) -> None:
        """Stop; what is done stays."""
        self._jobs.cancel("batch")
        self._finish()

    def _finish(self) -> None:
        self._on_end()
        self._events.progress_changed.emit(0, 0)
