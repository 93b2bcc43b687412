"""Work in the background whose answers come back in order, or not at all.

Every kind of work has a generation number; an answer that a newer request has overtaken is dropped. Where and how
answers come back to the main thread is injected: a window marshals them, a test runs them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

T = TypeVar("T")
Deliver = Callable[[Callable[[], None]], None]
"""Runs a callable on the main thread, soon."""


class Jobs:
    """Background work of one session.

    Parameters
    ----------
    executor : Executor
        Where work runs.
    deliver : callable
        Takes a callable and runs it on the main thread.
    """

    def __init__(self, executor: Executor, deliver: Deliver) -> None:
        self._executor, self._deliver = executor, deliver
        self._generation: dict[str, int] = {}
        self._waiting: set[Future[Any]] = set()
        self._closed = False

    def start(
        self,
        kind: str,
        work: Callable[[Callable[[T], None], Callable[[], bool]], None],
        on_result: Callable[[T], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        """Start work of a kind; what older work of that kind still reports is dropped.

        Parameters
        ----------
        kind : str
            Work of one kind replaces the older.
        work : callable
            Called in the background with ``report`` (takes a result; may be called several times) and ``is_stale``
            (True once nobody waits for the answer).
        on_result, on_error : callable
            Called on the main thread.
        """
        generation = self.cancel(kind)

        def is_stale() -> bool:
            return self._closed or self._generation.get(kind) != generation

        def hand_over(call: Callable[[Any], None], value: Any) -> None:
            def arrive() -> None:
                if not is_stale():
                    call(value)

            if not is_stale():
                self._deliver(arrive)

        def run() -> None:
            try:
                work(lambda value: hand_over(on_result, value), is_stale)
            except Exception as error:  # noqa: BLE001 - handed to the caller, who decides what is ours
                hand_over(on_error, error)

        future = self._executor.submit(run)
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being worked on; answers may still be on their way to the main thread."""
        return not self._waiting

    def cancel(self, kind: str) -> int:
        """Drop the answers of a kind that are still to come; return the new generation."""
        self._generation[kind] = self._generation.get(kind, 0) + 1
        return self._generation[kind]

    def close(self) -> None:
        """Drop everything that is still to come and wait for what runs."""
        self._closed = True
        for future in list(self._waiting):
            future.cancel()
        self._executor.shutdown(wait=True, cancel_futures=True)
