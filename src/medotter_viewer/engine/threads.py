"""How many threads the engine uses, and the pool it uses them from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

from medotter_viewer.errors import UsageError

VARIABLE = "MEDOTTER_VIEWER_THREADS"
_MOST = 8  # beyond, memory is what is waited for
_MOST_ASKED_FOR = 256
_SMALL = 1 << 20  # voxels

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """Return the number of threads: that of the variable ``MEDOTTER_VIEWER_THREADS``, else one for each core, up to 8.

    Raises
    ------
    UsageError
        If the variable is not a whole number from 1 to 256.
    """
    if named := os.environ.get(VARIABLE):
        if not named.isascii() or not named.isdigit() or not 0 < int(named) <= _MOST_ASKED_FOR:
            raise UsageError(f"{VARIABLE}: got {named!r}, expected a whole number from 1 to {_MOST_ASKED_FOR}")
        return int(named)
    return min(core_count(), _MOST)


def core_count() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares(count: int, voxels: int) -> list[tuple[int, int]]:
    """Return start and stop of about equal shares of `count` rows or voxels: one for each thread.

    There is one share where `voxels`, which are worked on in all, are too few to be worth a second thread.
    """
    n = min(count, thread_count()) if voxels > _SMALL else 1
    edges = [count * i // n for i in range(n + 1)]
    return list(pairwise(edges))


def in_threads(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the results of some work, in the order of the items.

    The work must release the interpreter's lock to gain anything, and must not call this itself.
    """
    wanted = list(items)
    count = thread_count()
    if count == 1 or len(wanted) <= 1:
        return [work(item) for item in wanted]
    return list(_pool(count).map(work, wanted))


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    """Threads are kept: starting them takes longer than a small case."""
    return ThreadPoolExecutor(count, thread_name_prefix="metric engine")
