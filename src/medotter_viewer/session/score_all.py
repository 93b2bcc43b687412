"""Score the listed cases of a review in the background: the first second's worth here, the rest in processes.

Processes leave the window its interpreter, so that it never stutters, but each takes about a second to start: a handful
of small cases is done by then in a thread. Large cases go to processes from the first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from medotter_viewer.batch import score_entries
from medotter_viewer.batch.memory import PROCESS_BYTES, estimated_bytes, memory_for_cases
from medotter_viewer.batch.processes import ProcessWorkers
from medotter_viewer.cache.store import FactCache, default_cache_path
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.engine.threads import core_count
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.session.events import SessionEvents
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.sources.source import CaseSource

_HERE_S = 1.0
_SMALL_BYTES = 100 << 20  # about 8 million voxels, which take less than a second

Report = Callable[[tuple[CaseScore | None, int]], None]


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
        total = len(entries)

        def work(report: Report, is_stale: Callable[[], bool]) -> None:
            self._score(entries, options, report, is_stale)
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

    def _score(
        self, entries: Sequence[CaseEntry], options: ScoreOptions, report: Report, is_stale: Callable[[], bool]
    ) -> None:
        """In the background: score some cases in this thread, the others in processes that end with it."""
        spec, resample = self._source.spec, self._source.resample_prediction
        cache = FactCache(default_cache_path())
        n_before = 0

        def progress(done: int, total: int, score: CaseScore) -> None:  # noqa: ARG001
            report((score, n_before + done))

        until = time.monotonic() + _HERE_S
        here = 0
        for entry in entries:
            if is_stale() or time.monotonic() > until or estimated_bytes(entry) > PROCESS_BYTES + _SMALL_BYTES:
                break
            score_entries(
                [entry], spec, options, resample_prediction=resample, progress=progress, cancelled=is_stale, cache=cache
            )
            here += 1
            n_before = here
        if here == len(entries) or is_stale():
            return
        with ProcessWorkers(max(1, core_count() - 1), memory_bytes=memory_for_cases()) as workers:
            score_entries(
                entries[here:],
                spec,
                options,
                resample_prediction=resample,
                executor=workers,
                progress=progress,
                cancelled=is_stale,
                cache=cache,
            )

    def _finish(self) -> None:
        self._on_end()
        self._events.progress_changed.emit(0, 0)
