"""Cases read before they are asked for: the next few of the list, one after the other, within a bound of memory."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from math import prod
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.formats import registry
from medotter_viewer.session.events import OpenedCase

Load = Callable[[str, str | None], OpenedCase]
Read = Future[OpenedCase | None]
"""None: the case would have taken more memory than there is for it."""
CASES, MEGABYTES = 1, 2048
"""How many cases are read ahead unless somebody says otherwise, and how much memory they may take."""
_IMAGE_BYTES, _LABEL_BYTES, _TIMES_PACKED = 4, 2, 4
_SIDES = 2  # ground truth is there in native and in canonical ids, the prediction with the copy that is painted on


class ReadAhead:
    """Cases that are being read, or were, while another one is looked at.

    Parameters
    ----------
    executor : Executor
        Threads that read; one of them at a time.
    load : callable
        Reads a case, and frames it on a region (None: on the headline's).
    bytes_of : callable, optional
        Returns about how much memory a case takes; without it none is too large.
    most_cases, most_bytes : int
        How many, and how much memory they may take together.
    """

    def __init__(
        self,
        executor: Executor,
        load: Load,
        bytes_of: Callable[[str], int] | None = None,
        *,
        most_cases: int = CASES,
        most_bytes: int = MEGABYTES << 20,
    ) -> None:
        self._executor, self._load, self._bytes_of = executor, load, bytes_of
        self._most_cases, self._most_bytes = most_cases, most_bytes
        self._read: dict[str, tuple[Read, str | None]] = {}
        self._bytes: dict[str, int] = {}
        self._waiting: deque[tuple[str, str | None]] = deque()
        self._wanted: set[str] = set()
        self._lock = threading.RLock()  # the end of one reading begins the next, in the thread that read

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read."""
        with self._lock:
            return not self._waiting and all(future.done() for future, _ in self._read.values())

    def start(self, case_ids: Sequence[str], region: str | None) -> None:
        """Read the first few of some cases, instead of any others; those that are there already are not read again."""
        wanted = list(case_ids)[: self._most_cases]
        with self._lock:
            self._wanted = set(wanted)
            for case_id in [one for one in self._read if one not in wanted]:
                self._drop(case_id)
            self._waiting = deque((case_id, region) for case_id in wanted if case_id not in self._read)
        self._go_on()

    def take(self, case_id: str) -> tuple[Read, str | None] | None:
        """Return the reading of a case with the region it is framed on, and forget it; None where there is none.

        Where there is none all others are let go, too: somebody went elsewhere.
        """
        with self._lock:
            found = self._read.pop(case_id, None)
            self._wanted.discard(case_id)
            self._bytes.pop(case_id, None)
            if found is None:
                self.forget()
            return found

    def forget(self) -> None:
        """Let go of what was read, and do not begin what has not begun."""
        with self._lock:
            self._waiting.clear()
            self._wanted.clear()
            for case_id in list(self._read):
                self._drop(case_id)

    def _drop(self, case_id: str) -> None:
        future, _ = self._read.pop(case_id)
        self._bytes.pop(case_id, None)
        future.cancel()

    def _go_on(self) -> None:
        """Begin to read the next case, unless one is being read."""
        with self._lock:
            if not self._waiting or any(not future.done() for future, _ in self._read.values()):
                return
            case_id, region = self._waiting.popleft()
            future: Read = self._executor.submit(self._within_bounds, case_id, region)
            self._read[case_id] = future, region
        future.add_done_callback(self._on_done)

    def _on_done(self, future: Read) -> None:
        if not future.cancelled() and future.exception() is None and future.result() is None and self._is_held(future):
            with self._lock:
                self._waiting.clear()  # the next ones have no room either
        self._go_on()

    def _is_held(self, future: Read) -> bool:
        with self._lock:
            return any(held is future for held, _ in self._read.values())

    def _within_bounds(self, case_id: str, region: str | None) -> OpenedCase | None:
        if self._bytes_of is not None:
            needed = self._bytes_of(case_id)
            with self._lock:
                if case_id not in self._wanted or needed + sum(self._bytes.values()) > self._most_bytes:
                    return None
                self._bytes[case_id] = needed
        return self._load(case_id, region)


def bytes_in_memory(entry: CaseEntry) -> int:
    """Return about how much memory a case takes that is open: by the headers of its files, a folder by their sizes."""
    images = sum(_bytes_of(path, _IMAGE_BYTES) for path in entry.channels.values())
    labels = sum(_bytes_of(path, _LABEL_BYTES) for path in (entry.gt_path, entry.pred_path) if path is not None)
    return images + _SIDES * labels


def _bytes_of(path: Path, bytes_per_voxel: int) -> int:
    try:
        if path.is_dir():
            return _TIMES_PACKED * sum(file.stat().st_size for file in path.iterdir() if file.is_file())
        try:
            return bytes_per_voxel * prod(registry.read_grid(path)[0].shape)
        except MedotterViewerError:
            return _TIMES_PACKED * path.stat().st_size
    except OSError:
        return 0
