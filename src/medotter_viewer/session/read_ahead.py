"""One case read before it is asked for; one and no more, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future

from medotter_viewer.session.events import OpenedCase

Load = Callable[[str, str | None], OpenedCase]


class ReadAhead:
    """The case that is being read, or was, while another one is looked at.

    Parameters
    ----------
    executor : Executor
        Threads that read.
    load : callable
        Reads a case, and frames it on a region (None: on the headline's).
    """

    def __init__(self, executor: Executor, load: Load) -> None:
        self._executor = executor
        self._load = load
        self._case_id: str | None = None
        self._region: str | None = None
        self._future: Future[OpenedCase] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read."""
        return self._future is None or self._future.done()

    def start(self, case_id: str, region: str | None) -> None:
        """Read a case, instead of any other; one that is there already is not read again."""
        if case_id != self._case_id:
            self.forget()
            self._case_id, self._region = case_id, region
            self._future = self._executor.submit(self._load, case_id, region)

    def take(self, case_id: str) -> tuple[Future[OpenedCase], str | None] | None:
        """Return the reading of a case with the region it is framed on, and forget it; None where there is none."""
        found = (self._future, self._region) if case_id == self._case_id and self._future is not None else None
        if found is None:
            self.forget()
            return None
        self._case_id = self._region = self._future = None
        return found

    def forget(self) -> None:
        """Let go of what was read, and do not begin what has not begun."""
        if self._future is not None:
            self._future.cancel()
        self._case_id = self._region = self._future = None
