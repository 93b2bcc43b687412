"""The file that records are appended to: one write for each, on the disk before the next key is pressed.

Nothing in it is ever rewritten. What cannot be written stays in memory and is tried again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from medotter_viewer.review.records import Record

_PATIENCE_S = 0.5  # for another window that is writing
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


class ReviewLog:
    """Appends records to a file.

    Parameters
    ----------
    path : Path
        The file; made with its folder when the first record is written.
    there : iterable of Record
        What was read from it: where the file is removed or shortened meanwhile, it is written again.

    Attributes
    ----------
    path : Path
        The file.
    error : str or None
        Why the last try failed; None after a good one.
    n_again : int
        How many records the last writing has put back into a file that had lost them.
    """

    def __init__(self, path: Path, there: Iterable[Record] = ()) -> None:
        self.path = path
        self.error: str | None = None
        self.n_again = 0
        self._waiting: list[Record] = []
        self._there = list(there)
        self._size = _size(path) if self._there else 0  # of the file, when it was last seen

    @property
    def unwritten(self) -> tuple[Record, ...]:
        """Records that are in no file yet, oldest first."""
        return tuple(self._waiting)

    def append(self, record: Record) -> bool:
        """Write a record, after those that wait; tell whether all are on the disk. It never raises."""
        self._waiting.append(record)
        return self.flush()

    def flush(self) -> bool:
        """Write what waits; tell whether all is on the disk."""
        self.n_again = 0
        if not self._waiting:
            return True
        try:
            self._write_waiting()
        except OSError as error:
            self.error, self.n_again = error.strerror or str(error), 0
            return False
        self.error = None
        return True

    def move_to(self, path: Path) -> bool:
        """Write from now on to another file, what waits too; what is written stays where it is."""
        self.path, self._there, self._size = path, [], 0
        return self.flush()

    def _write_waiting(self) -> None:
        is_new = not self.path.exists()
        if is_new:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(self.path) as descriptor, _locked(descriptor):
            if os.fstat(descriptor).st_size < self._size:
                self.n_again, self._size = len(self._there), 0
                self._waiting[:0], self._there = self._there, []
            while self._waiting:
                line = self._waiting[0].to_line()
                if not _ends_a_line(descriptor):  # a record before was cut short: this one begins a line of its own
                    line = b"\n" + line
                if os.write(descriptor, line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # its start is there; it will be repeated
                os.fsync(descriptor)
                self._there.append(self._waiting.pop(0))
                self._size = os.fstat(descriptor).st_size
        if is_new:
            _sync_folder(self.path.parent)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A descriptor that appends. A link is not followed: a folder of predictions may come from anybody."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0), 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is no file")
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Keep other windows from writing at the same time, where the system and the disk know locks."""
    try:
        import fcntl
    except ImportError:  # Windows: one write to a file that is opened for appending must do
        yield
        return
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if error.errno in _NO_LOCKS:
                break
            if time.monotonic() > end:
                raise OSError(error.errno, "another program keeps the file locked") from error
            time.sleep(0.01)
    yield  # closing the descriptor gives the lock back


def _ends_a_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    if size == 0:
        return True
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # not there yet
        return 0


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk, too; not every system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
