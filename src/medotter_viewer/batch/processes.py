"""Worker processes on this machine, each on its own: one that dies takes its own case with it and nothing else.

They are new interpreters that import this package alone, not the program that started them: a script without
``if __name__ == "__main__"`` is not run again, and nothing of a window is copied.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, BinaryIO, cast

from medotter_viewer.batch.frames import read_frame, write_frame
from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed, compute
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import WorkersError

_START = "import sys; sys.path[:] = sys.argv[1:]; from medotter_viewer.batch.worker import main; main()"
_STARTS = 3  # in a row that may fail

_Task = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class WorkerDiedError(Exception):
    """The process ended while it was at a case."""


class ProcessWorkers(Executor):
    """An executor of processes that are replaced when they die; a context that leaves none behind.

    Parameters
    ----------
    count : int
        How many; each starts when there is something to do for it.
    memory_bytes : int, optional
        What the cases that are being scored may take together.
    """

    def __init__(self, count: int, *, memory_bytes: int | None = None) -> None:
        self.memory_bytes = memory_bytes
        self._count = count
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False

    def count(self) -> int:
        """Return how many cases can be scored at a time."""
        return self._count

    def check(self, entries: Sequence[CaseEntry]) -> None:
        """Raise nothing: they are on this machine."""

    def check_alive(self) -> None:
        """Raise nothing: who dies is replaced."""

    def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
        """Hand over one case."""
        return self.submit(compute, entry, rules, with_facts)

    def has_died(self, error: BaseException) -> bool:
        """Whether the process ended."""
        return isinstance(error, WorkerDiedError)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand over a function of a module and its arguments, without keywords.

        Raises
        ------
        RuntimeError
            After the end.
        """
        if self._is_closed:
            raise RuntimeError("these workers were dismissed")
        if kwargs:
            raise TypeError("worker processes take no keyword arguments")
        future: Future[Any] = Future()
        self._tasks.put((future, fn, args))
        if len(self._threads) < self._count:
            thread = threading.Thread(target=self._serve, name="medotter-viewer worker", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End after what was handed over; without `wait` at once, as `kill`."""
        if not wait or cancel_futures:
            self.kill()
            return
        self._is_closed = True
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def kill(self) -> None:
        """End all processes now, in the midst of their cases, and wait until they are gone."""
        with self._lock:
            self._is_closed = True
            for process in self._running:
                process.kill()
        while not self._tasks.empty():
            if (task := self._tasks.get()) is not None:
                task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes: what is still wanted has been waited for."""
        self.kill()

    def _serve(self) -> None:
        """Hand tasks to one process after the other; its thread waits for the answers."""
        process: subprocess.Popen[bytes] | None = None
        while (task := self._tasks.get()) is not None:
            future, function, arguments = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                process = process or self._started()
            except WorkersError as error:
                future.set_exception(error)
                continue
            try:
                write_frame(cast(BinaryIO, process.stdin), (function, arguments))
                went_well, result = read_frame(cast(BinaryIO, process.stdout))
            except (EOFError, OSError):
                status, process = self._ended(process), None
                future.set_exception(WorkerDiedError(f"a worker process ended with status {status}"))
                continue
            except Exception as error:  # noqa: BLE001 - what cannot be sent is the asker's affair
                future.set_exception(error)
                continue
            if went_well:
                future.set_result(result)
            else:
                future.set_exception(result)
        if process is not None:
            self._ended(process)

    def _started(self) -> subprocess.Popen[bytes]:
        """A process that says that it is ready."""
        status: int | None = None
        for _ in range(_STARTS):
            with self._lock:
                if self._is_closed:
                    break
                process = _new_process()
                self._running.add(process)
            try:
                read_frame(cast(BinaryIO, process.stdout))
            except EOFError:
                status = self._ended(process)
            else:
                return process
        raise WorkersError(
            f"a worker process could not be started: it ended with status {status} {_STARTS} times, what it said is "
            "above; score without --workers"
        )

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """Let a process go, and return its exit status; below 0 the signal that ended it."""
        for stream in (process.stdin, process.stdout):  # it ends with its input
            with contextlib.suppress(OSError):
                cast(BinaryIO, stream).close()
        process.wait()
        with self._lock:
            self._running.discard(process)
        return process.returncode


def _new_process() -> subprocess.Popen[bytes]:
    """An interpreter in a session of its own, which Ctrl+C on the terminal does not reach."""
    command = [sys.executable, "-c", _START, *(path or os.getcwd() for path in sys.path)]  # noqa: PTH109
    new_group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            creationflags=new_group,
        )
    except OSError as error:
        raise WorkersError(f"a worker process could not be started: {error.strerror or error}") from error
