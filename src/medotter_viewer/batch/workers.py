"""What a run asks of those who score its cases, and how any executor answers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Protocol, runtime_checkable

from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed, compute
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.engine.threads import core_count


@runtime_checkable
class Workers(Protocol):
    """Those who score cases.

    Attributes
    ----------
    memory_bytes : int or None
        What the cases that are being scored may take together; None where that is not ours to bound.
    """

    memory_bytes: int | None

    def count(self) -> int:
        """Return how many cases can be scored at a time."""

    def check(self, entries: Sequence[CaseEntry]) -> None:
        """Raise WorkersError where these cases cannot be scored at all."""

    def check_alive(self) -> None:
        """Raise WorkersError where nobody is left who could answer."""

    def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
        """Hand over one case; see `compute`."""

    def has_died(self, error: BaseException) -> bool:
        """Whether an error means that a worker ended while it was at a case, so that the case may be tried again."""


class AnyExecutor:
    """An executor of which nothing is known.

    Parameters
    ----------
    executor : Executor
        Threads, for example. A process pool breaks as a whole with one process: see `ProcessWorkers`.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.memory_bytes: int | None = None

    def count(self) -> int:
        """Return the number of cores: an executor does not say how many it has."""
        return core_count()

    def check(self, entries: Sequence[CaseEntry]) -> None:
        """Raise nothing."""

    def check_alive(self) -> None:
        """Raise nothing."""

    def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
        """Hand over one case."""
        return self._executor.submit(compute, entry, rules, with_facts)

    def has_died(self, error: BaseException) -> bool:  # noqa: ARG002
        """Return False: what breaks is not replaced here."""
        return False


def workers_of(executor: Executor | Workers) -> Workers:
    """Return workers as they are, or those of an executor."""
    return executor if isinstance(executor, Workers) else AnyExecutor(executor)
