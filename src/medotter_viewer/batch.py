"""Score many cases, here or on any concurrent.futures executor; the numbers are those of the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Protocol

from medotter_viewer.cache.scores import score_through_cache
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import adapter_of, score_case
from medotter_viewer.sources.loading import load_case


class Progress(Protocol):
    """Told after every case; may be called from the calling thread only."""

    def __call__(self, done: int, total: int, score: CaseScore) -> None:
        """Take how many cases are done, how many there are, and the newest score."""


def score_entries(
    entries: Sequence[CaseEntry],
    spec: EvalSpec,
    options: ScoreOptions,
    *,
    resample_prediction: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    cache: FactCache | None = None,
) -> list[CaseScore]:
    """Return the scores of some cases, in their order.

    Parameters
    ----------
    entries : sequence of CaseEntry
        What to score; files are read one case at a time (by each worker).
    spec, options
        As for `score_case`.
    executor : Executor, optional
        Processes, threads or a cluster; None works here, one case after the other.
    progress : callable, optional
        Told after every case.
    cancelled : callable
        Asked before every case; True stops and returns what is done.
    cache : FactCache, optional
        Where facts about pairs of files are kept from run to run.

    Raises
    ------
    UnsupportedTaskError
        If no adapter handles the task type; before any file is opened.
    """
    adapter_of(spec.task_type)
    scores = []
    for score in _results(entries, spec, options, resample_prediction, executor, cancelled, cache):
        scores.append(score)
        if progress is not None:
            progress(len(scores), len(entries), score)
    return scores


def score_entry(
    entry: CaseEntry,
    spec: EvalSpec,
    options: ScoreOptions,
    resample_prediction: bool,
    cache: FactCache | None = None,
) -> CaseScore:
    """Return the score of one case: from remembered facts where they suffice, else from its files."""
    if cache is not None:
        return score_through_cache(entry, spec, options, cache=cache, resample_prediction=resample_prediction)
    return score_case(load_case(entry, images=False, resample_prediction=resample_prediction), spec, options)


def _results(
    entries: Iterable[CaseEntry],
    spec: EvalSpec,
    options: ScoreOptions,
    resample: bool,
    executor: Executor | None,
    cancelled: Callable[[], bool],
    cache: FactCache | None,
) -> Iterator[CaseScore]:
    if executor is None:
        for entry in entries:
            if cancelled():
                return
            yield score_entry(entry, spec, options, resample, cache)
        return
    futures = [executor.submit(score_entry, entry, spec, options, resample, cache) for entry in entries]
    for future in futures:
        if cancelled():
            for waiting in futures:
                waiting.cancel()
            return
        yield future.result()
