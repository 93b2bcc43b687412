"""What must hold for every input of every reader, and a way to hold one input against it.

A reader returns a value or raises one of our errors that names the file. It says nothing on standard error, neither by
`warnings` nor by `logging` nor from C, and costs bounded time and memory.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import MedotterViewerError

MAX_INPUT = 64 << 10
"""Bytes; the limits below are for inputs up to this size."""
MAX_SECONDS = 2.0
MAX_MIB = 200
MAX_MESSAGE = 1500
"""Letters of a message beside the paths in it: people read it in a terminal."""


_FILES = ("eval_spec.yaml", "task.yaml", "manifest_test.json", "task_type ")  # what stands for its file


class ContractError(AssertionError):
    """An input for which a reader does not keep what it promises."""


class _Kept(logging.Handler):
    """Keeps what would be shown."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.name}: {record.getMessage()}"[:300])


def hold(read: Callable[[bytes], Iterable[object]], data: bytes, folder: Path, *, silent: bool = True) -> str:
    """Read one input; return ``"read"``, or the class of the error of ours.

    Parameters
    ----------
    read : callable
        Puts the bytes into a file and reads it; what it returns may hold findings.
    data : bytes
        The input.
    folder : Path
        Where the file lies: every message must name something in it.
    silent : bool
        Whether a word on standard output or standard error is a fault; a C library may leave no other way.

    Raises
    ------
    ContractError
        If the reader prints, warns, logs, takes too long or too much, or raises an error that does not name the file.
    Exception
        Whatever else comes out of the reader.
    """
    before = _rss_mib(reset=True)
    start = time.process_time()
    with _silence(strictly=silent), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = list(read(data))
            outcome = "read"
        except MedotterViewerError as error:
            values = []
            outcome = type(error).__name__
            _judge(str(error), folder, must_name=True)
    seconds = time.process_time() - start
    if seconds > MAX_SECONDS:
        raise ContractError(f"{seconds:.1f} s for {len(data)} bytes ({outcome})")
    if (used := _rss_mib() - before) > MAX_MIB:
        raise ContractError(f"{used:.0f} MiB for {len(data)} bytes ({outcome})")
    for value in values:
        if isinstance(value, Finding):
            json.dumps(value.to_dict(), allow_nan=False)
            _judge(value.message, folder)
        elif isinstance(value, MedotterViewerError):
            _judge(str(value), folder, must_name=True)
    return outcome


def _judge(message: str, folder: Path, *, must_name: bool = False) -> None:
    if must_name and not any(name in message for name in (str(folder), *_FILES)):
        raise ContractError(f"a message that does not name the file: {message[:300]!r}")
    if len(message.replace(str(folder), "")) > MAX_MESSAGE:
        raise ContractError(f"a message of {len(message)} letters: {message[:300]!r}...")


@contextmanager
def _silence(*, strictly: bool) -> Iterator[None]:
    """Fail if anything is logged or written to standard output or standard error, from C too."""
    kept, root = _Kept(), logging.getLogger()
    handlers, root.handlers = root.handlers, []
    last, logging.lastResort = logging.lastResort, kept  # what nobody handles is printed
    sys.stdout.flush()
    sys.stderr.flush()
    sink = _sink()
    os.ftruncate(sink, 0)
    saved = [(fd, os.dup(fd)) for fd in (1, 2)]
    for fd, _ in saved:
        os.dup2(sink, fd)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for fd, copy in saved:
            os.dup2(copy, fd)
            os.close(copy)
        root.handlers, logging.lastResort = handlers, last
    if strictly and (printed := os.pread(sink, 500, 0)):
        raise ContractError(f"printed: {printed!r}")
    if kept.messages:
        raise ContractError(f"logged: {kept.messages[:3]}")


@cache
def _sink() -> int:
    """A file descriptor that appends, for what is printed."""
    handle, name = tempfile.mkstemp()
    os.close(handle)
    opened = os.open(name, os.O_RDWR | os.O_APPEND)
    Path(name).unlink()
    return opened


def _rss_mib(*, reset: bool = False) -> float:
    """Peak of the resident memory since the last reset, on Linux; elsewhere 0."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
