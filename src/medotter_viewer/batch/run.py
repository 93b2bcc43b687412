"""A run over many cases: what is remembered is not computed, the rest is scored here or by workers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from typing import Protocol

from medotter_viewer.batch.flights import scored_by, unscored
from medotter_viewer.batch.keeping import Asked, Keeper, looked_up
from medotter_viewer.batch.workers import Workers, workers_of
from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed, compute
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import adapter_of


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
    executor: Executor | Workers | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    cache: FactCache | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> list[CaseScore]:
    """Return the scores of some cases, in their order.

    Parameters
    ----------
    entries : sequence of CaseEntry
        What to score; files are read one case at a time (by each worker).
    spec, options
        As for `score_case`.
    executor : Executor or Workers, optional
        `ProcessWorkers` of this machine, those of a cluster (`cluster_workers`), or any executor; None works here, one
        case after the other.
    progress : callable, optional
        Told after every case, in the order in which they are done.
    cancelled : callable
        Asked before every case, and while workers are waited for; True stops and returns what is done.
    cache : FactCache, optional
        Where facts about pairs of files, and scores, are kept from run to run. It is written here, never by workers.
    notice : callable
        Takes what a person should know of the run: that memory does not suffice for all workers.

    Raises
    ------
    UnsupportedTaskError
        If no adapter handles the task type; before any file is opened.
    WorkersError
        If nobody can score the cases, or nobody is left who could.

    Notes
    -----
    What is done is remembered when an error, Ctrl+C or even the end of the process stops a run, up to the last half
    second. A case that ends its worker is tried once more when nothing else runs; the second time it has the status
    ``error``. An error that is a defect of this package is raised once all other cases are done.
    """
    adapter_of(spec.task_type)
    entries = list(entries)
    rules = Rules(spec, options, resample_prediction)
    keeper = Keeper(cache)
    asked = looked_up(entries, rules, cache)
    scores: dict[int, CaseScore] = {}
    if executor is None:
        found = _scored_here(asked, rules, cancelled)
    else:
        found = scored_by(workers_of(executor), entries, asked, rules, cancelled, keeper.write_in_time, notice)
    try:
        for one, computed in found:
            scores[one.place] = computed.score
            keeper.add(one, computed)
            if progress is not None:
                progress(len(scores), len(entries), computed.score)
    finally:
        keeper.write()
        found.close()
    return [scores[place] for place in sorted(scores)]


def _scored_here(
    asked: Iterator[list[Asked]], rules: Rules, cancelled: Callable[[], bool]
) -> Generator[tuple[Asked, Computed], None, None]:
    """The cases one after the other, in this thread."""
    for some in asked:
        for one in some:
            if cancelled():
                return
            if one.score is not None:
                yield one, Computed(one.score)
                continue
            try:
                computed = compute(one.entry, rules, one.with_facts)
            except MemoryError:
                computed = Computed(unscored(one.entry, "it needs more memory than there is"))
            yield one, computed
