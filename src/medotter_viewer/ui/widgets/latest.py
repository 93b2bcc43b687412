"""Work in the background of which only the latest request matters: one at a time, what is overtaken is never begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Background = Callable[[Callable[[], Any], Callable[[Any], None]], None]
"""Takes work without arguments, and a callable for its result that is called on the main thread."""
Prepare = Callable[[], Callable[[], Any]]
"""Called on the main thread just before the work begins; returns the work."""


class Latest:
    """Runs the latest of many requests.

    Parameters
    ----------
    run_in_background : callable
        Does the work.
    on_result : callable
        Takes a result, on the main thread. An error of the work is raised there.

    Examples
    --------
    >>> latest = Latest(lambda work, on_done: on_done(work()), print)
    >>> latest.ask(lambda: lambda: "done")
    done
    """

    def __init__(self, run_in_background: Background, on_result: Callable[[Any], None]) -> None:
        self._run, self._on_result = run_in_background, on_result
        self._next: Prepare | None = None
        self._busy = False

    @property
    def is_busy(self) -> bool:
        """Whether a result is still to come."""
        return self._busy

    def ask(self, prepare: Prepare) -> None:
        """Do some work as soon as what runs is done; a later request takes its place."""
        self._next = prepare
        if not self._busy:
            self._start()

    def _start(self) -> None:
        if self._next is None:
            return
        prepare, self._next, self._busy = self._next, None, True
        try:
            work = prepare()
        except BaseException:
            self._busy = False
            raise
        self._run(lambda: _outcome(work), self._on_done)

    def _on_done(self, outcome: tuple[Any, Exception | None]) -> None:
        self._busy = False
        result, error = outcome
        try:
            if error is not None:
                raise error
            self._on_result(result)
        finally:
            self._start()


def _outcome(work: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return work(), None
    except Exception as error:  # noqa: BLE001 - raised on the main thread
        return None, error
