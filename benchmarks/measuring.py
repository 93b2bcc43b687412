"""CPU seconds, wall seconds and memory of a piece of work in this process."""

from __future__ import annotations

import contextlib
import re
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Step = Callable[[], Any]
Steps = Callable[[], Iterable[Step]]
"""Calls that are timed; what is done between them, such as making the mask that a library wants, is not."""

ONCE_S = 3.0  # what takes longer is run once
ENOUGH_S = 1.5  # of repeats of what is quick


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians of some runs.

    Parameters
    ----------
    cpu_s, wall_s : float
        CPU time of all threads of the process, and elapsed time.
    runs : int
        How many.
    """

    cpu_s: float
    wall_s: float
    runs: int


def run(steps: Steps) -> tuple[list[Any], float, float]:
    """Return the results of all steps, and their CPU and wall seconds."""
    results, cpu, wall = [], 0.0, 0.0
    for step in steps():
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        result = step()
        cpu += time.process_time() - cpu_start
        wall += time.perf_counter() - wall_start
        results.append(result)
    return results, cpu, wall


def timed(steps: Steps, *, first: tuple[float, float] | None = None, at_least: int = 5, at_most: int = 51) -> Timing:
    """Return the medians of several runs; `first` is what one run took, which counts where it was long."""
    if first is not None and first[0] > ONCE_S:
        return Timing(*first, 1)
    taken: list[tuple[float, float]] = []
    started = time.perf_counter()
    while len(taken) < at_least or (len(taken) < at_most and time.perf_counter() - started < ENOUGH_S):
        _, cpu, wall = run(steps)
        taken.append((cpu, wall))
    return Timing(*(statistics.median(column) for column in zip(*taken, strict=True)), len(taken))


def forget_high_water() -> None:
    """Make the most memory that was resident what is resident now (Linux)."""
    with contextlib.suppress(OSError):  # not allowed everywhere; then the mark stays what imports made it
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def high_water_mb() -> float:
    """Return the most memory this process has had resident (Linux; getrusage would count the parent's)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return int(found[1]) / 1024 if found else float("nan")
