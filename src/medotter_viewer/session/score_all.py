"""Score the listed cases of a review in the background: the first second's worth here, the rest in processes.

What is remembered costs neither, and is brought to the window many at a time: a window that draws, and a thread that
reads, wait for each other. Processes leave the window its interpreter, so that it never stutters, but each takes
about a second to start: a handful of small cases is done by then in a thread. Large cases go to processes from the
first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from medotter_viewer.batch import score_entries
from medotter_viewer.batch.memory import PROCESS_BYTES, estimated_bytes, memory_for_cases
from medotter_viewer.batch.processes import ProcessWorkers
from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed, compute
from medotter_viewer.cache.store import FactCache, default_cache_path
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.engine.threads import core_count
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.session.events import SessionEvents
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.sources.source import CaseSource

_HERE_S = 1.0
_TOGETHER_S = 0.05  # scores that are found within this are told together
_SMALL_BYTES = 100 << 20  # about 8 million voxels, which take less than a second


@dataclass(frozen=True, slots=True)
class Round:
    """Cases of one model, and what takes their scores on the main thread."""

    entries: Sequence[CaseEntry]
    store: Callable[[CaseScore], None]


Answer = tuple[Callable[[CaseScore], None], CaseScore, int]
Report = Callable[[list[Answer]], None]


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
        on_end: Callable[[], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        self._jobs, self._source, self._events = jobs, source, events
        self._on_end, self._on_error = on_end, on_error
        self._run: object = None  # the one whose answers are wanted

    def start(self, rounds: Sequence[Round], options: ScoreOptions) -> None:
        """Score cases, one model after the other; nothing happens without any."""
        total = sum(len(one.entries) for one in rounds)
        run = object()

        def work(report: Report, is_stale: Callable[[], bool]) -> None:
            together = _Together(report)
            self._score(rounds, options, together, is_stale)
            together.tell()
            report([])

        def on_result(answers: list[Answer]) -> None:
            if not answers:
                self._finish()
            for store, score, done in answers:
                if self._run is not run:  # a listener cancelled
                    return
                store(score)
                self._events.progress_changed.emit(done, total)

        if total:
            self._run = run
            self._events.progress_changed.emit(0, total)
            self._jobs.start("batch", work, on_result, self._on_error)

    def cancel(self) -> None:
        """Stop; what is done stays."""
        self._jobs.cancel("batch")
        self._finish()

    def _score(
        self, rounds: Sequence[Round], options: ScoreOptions, together: _Together, is_stale: Callable[[], bool]
    ) -> None:
        """In the background: processes end with it, and none starts for what is remembered."""

        def cancelled() -> bool:
            together.tell_in_time()  # what is done waits for nothing that takes long
            return is_stale()

        cache = FactCache(default_cache_path())
        n_before = 0
        with _HereFirst(max(1, core_count() - 1), memory_bytes=memory_for_cases()) as workers:
            for one in rounds:
                if is_stale():
                    return

                def progress(done: int, total: int, score: CaseScore) -> None:  # noqa: ARG001
                    together.add((one.store, score, n_before + done))  # noqa: B023 - called before the next round begins

                score_entries(
                    one.entries,
                    self._source.spec,
                    options,
                    resample_prediction=self._source.resample_prediction,
                    executor=workers,
                    progress=progress,
                    cancelled=cancelled,
                    cache=cache,
                )
                n_before += len(one.entries)

    def _finish(self) -> None:
        self._run = None
        self._on_end()
        self._events.progress_changed.emit(0, 0)


class _Together:
    """Answers that come one close after the other, told at once."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._waiting: list[Answer] = []
        self._told = 0.0

    def add(self, answer: Answer) -> None:
        """Take an answer."""
        self._waiting.append(answer)
        self.tell_in_time()

    def tell_in_time(self) -> None:
        """Tell what is there unless something was told a moment ago."""
        if self._waiting and time.monotonic() - self._told >= _TOGETHER_S:
            self.tell()

    def tell(self) -> None:
        """Tell what is there."""
        if self._waiting:
            self._report(self._waiting)
        self._waiting, self._told = [], time.monotonic()


class _HereFirst(ProcessWorkers):
    """Processes, but what is small is scored in the asking thread as long as a process would take to start."""

    _until: float | None = None

    def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
        """Score one case here, or hand it over."""
        if self._until is None:
            self._until = time.monotonic() + _HERE_S
        if time.monotonic() > self._until or estimated_bytes(entry) > PROCESS_BYTES + _SMALL_BYTES:
            return super().start(entry, rules, with_facts)
        future: Future[Computed] = Future()
        try:
            future.set_result(compute(entry, rules, with_facts))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)
        return future
