"""What a command that scores many cases shows while it does, and who works for it."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from medotter_viewer.batch.workers import Workers
from medotter_viewer.cli.output import fail
from medotter_viewer.core.scores import CaseScore

_LOOKED_BACK = 64  # cases, for the pace


class ScoringLine:
    """A line on stderr that counts cases and estimates the time that is left, on a terminal only.

    Attributes
    ----------
    done : int
        Cases that are done.
    """

    def __init__(self) -> None:
        self.done = 0
        self._is_shown = sys.stderr.isatty()
        self._times: deque[float] = deque(maxlen=_LOOKED_BACK)
        self._longest = 0

    def __call__(self, done: int, total: int, score: CaseScore) -> None:  # noqa: ARG002
        """Show how far the run is."""
        self.done = done
        self._times.append(time.monotonic())
        if not self._is_shown:
            return
        line = f"scored {done}/{total}{self._left_text(total - done)}"
        self._longest = max(self._longest, len(line))
        end = "\n" if done == total else ""
        print(f"\r{line:<{self._longest}}", end=end, file=sys.stderr, flush=True)

    def leave(self) -> None:
        """End the line, for others to write below it."""
        if self._is_shown and self.done:
            print(file=sys.stderr)

    def say(self, text: str) -> None:
        """Say something that is not about progress."""
        self.leave()
        fail(text)

    def _left_text(self, n_left: int) -> str:
        """By the pace of the newest cases."""
        if n_left == 0 or len(self._times) < 2:
            return ""
        return f", {time_text(n_left * (self._times[-1] - self._times[0]) / (len(self._times) - 1))} left"


def time_text(seconds: float) -> str:
    """Return about how long something takes.

    Examples
    --------
    >>> [time_text(s) for s in (3.4, 59.9, 250, 4000, 90000)]
    ['about 4 s', 'about 1 min', 'about 5 min', 'about 1 h 7 min', 'about 25 h']
    """
    if seconds < 59:
        return f"about {int(seconds) + 1} s"
    minutes = max(1, -int(-seconds // 60))
    if minutes < 60:
        return f"about {minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"about {hours} h" + (f" {rest} min" if rest and hours < 10 else "")


@contextmanager
def workers_for(options: argparse.Namespace) -> Iterator[Workers | None]:
    """Give those whom the options name; None is this process."""
    if options.scheduler is not None:
        from medotter_viewer.batch.cluster import cluster_workers

        with cluster_workers(options.scheduler) as cluster:
            yield cluster
    elif options.workers:
        from medotter_viewer.batch.memory import memory_for_cases
        from medotter_viewer.batch.processes import ProcessWorkers

        with ProcessWorkers(options.workers, memory_bytes=memory_for_cases()) as processes:
            yield processes
    else:
        yield None


def say_interrupted(done: int, total: int, *, is_kept: bool) -> None:
    """Say what a run that was stopped by Ctrl+C leaves behind."""
    if is_kept:
        fail(f"interrupted: {done} of {total} cases are done and remembered; the same command goes on from there")
    else:
        fail(f"interrupted: {done} of {total} cases were done; nothing is remembered, the same command begins anew")
