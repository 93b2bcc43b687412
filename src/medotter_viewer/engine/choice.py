"""Which engine is in force: the compiled kernels where they are loaded, else the plain one; results are the same.

Nothing is compiled while somebody waits: a process of its own does it once, into the user's cache folder.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Literal

from medotter_viewer.engine import store
from medotter_viewer.errors import MissingDependencyError, UsageError

Engine = Literal["plain", "compiled"]

VARIABLE = "MEDOTTER_VIEWER_ENGINE"
_KERNELS = "medotter_viewer.engine.kernels"
_COMPILE = (sys.executable, "-m", "medotter_viewer.engine.compile")


class _Process:
    """What this process has loaded; kernels are loaded once, as modules are."""

    def __init__(self) -> None:
        self.loading = threading.Lock()
        self.kernels: ModuleType | None = None
        self.forced: Engine | None = None
        self.preparing: threading.Thread | None = None
        self.failure: str | None = None
        self.has_started_compiling = False
        self.compiling: subprocess.Popen[bytes] | None = None
        self.ending = threading.Lock()
        self.has_ended = False


_process = _Process()


def kernels() -> ModuleType | None:
    """Return the compiled kernels if they are to be used now; None asks for the plain code.

    Unless ``MEDOTTER_VIEWER_ENGINE=compiled`` says so, nothing is loaded here: see `prepare` and `load_if_compiled`.

    Raises
    ------
    UsageError
        If the variable holds another word than ``plain`` or ``compiled``.
    MissingDependencyError
        If it asks for compiled kernels and numba is not installed.
    """
    chosen = _process.forced or _asked_for()
    if chosen == "plain":
        return None
    if chosen == "compiled" and _process.kernels is None:
        return load()
    return _process.kernels


def load() -> ModuleType:
    """Load the kernels, compiling in this process what is not compiled yet (about a minute the first time).

    Raises
    ------
    MissingDependencyError
        If numba is not installed, or made to do nothing (``NUMBA_DISABLE_JIT``).
    """
    with _process.loading:
        if _process.kernels is None:
            if not _has_numba():
                raise MissingDependencyError(
                    "the compiled engine needs numba: pip install 'medotter-viewer[fast]' (and NUMBA_DISABLE_JIT "
                    f"not set), or {VARIABLE}=plain"
                )
            with _no_collection():
                loaded = _imported()
            store.mark_ready()
            _process.kernels = loaded
    return _process.kernels


def _imported() -> ModuleType:
    """Import the kernels; what was kept of them and cannot be read is thrown away and compiled anew."""
    try:
        return importlib.import_module(_KERNELS)
    except (ImportError, MemoryError):
        raise
    except Exception:
        if not store.is_ready():
            raise
        store.forget()
        for name in [name for name in sys.modules if name.startswith(_KERNELS)]:
            del sys.modules[name]
        return importlib.import_module(_KERNELS)


def prepare() -> None:
    """Get the kernels ready in the background: compiled by a child process where they are not yet, then loaded.

    For a window. Until then, where numba is missing, and where that fails, the plain engine goes on.
    """
    if _may_load() and _process.preparing is None:
        _process.preparing = threading.Thread(target=_prepare, name="kernels", daemon=True)
        _process.preparing.start()
        atexit.register(_end)


def is_preparing() -> bool:
    """Whether kernels are being made ready in the background."""
    return _process.preparing is not None and _process.preparing.is_alive()


def load_if_compiled() -> None:
    """Load the kernels if they are compiled already: a second or two, which is worth it where much is to be computed.

    For commands, notebooks and workers. Where they are not compiled, nothing is waited for; see `start_compiling`.
    """
    if _may_load() and store.is_ready():
        load()


def start_compiling() -> None:
    """Let a process of its own compile what is not compiled yet; it outlives this one, whose next start profits."""
    if _may_load() and not store.is_ready() and not _process.has_started_compiling:
        _process.has_started_compiling = True
        with contextlib.suppress(OSError):
            _process.compiling = subprocess.Popen(  # noqa: S603 - kept: one that is let go warns that it still runs
                _COMPILE,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )


def leave_compiling_to_others() -> None:
    """Never start compiling in this process: it is one of many workers, and who asked them has it done."""
    _process.has_started_compiling = True


def get_ready() -> None:
    """Do what is best for somebody who computes now: load what is compiled, or have it compiled for the next time."""
    load_if_compiled()
    start_compiling()


def status() -> str:
    """Return in words which engine works and why."""
    if (_process.forced or _asked_for()) == "plain":
        return f"plain ({VARIABLE})"
    if _process.kernels is not None:
        return "compiled"
    if not _has_numba():
        return "plain (numba is not installed)"
    if _process.failure is not None:
        return f"plain ({_process.failure})"
    if _process.preparing is not None:
        return "plain (compiled kernels are being made ready)"
    return "plain (compiled kernels are not loaded)"


@contextlib.contextmanager
def using(engine: Engine) -> Iterator[None]:
    """Force an engine for a while, in the whole process; for tests and benchmarks.

    Raises
    ------
    MissingDependencyError
        If it is the compiled one and numba is not installed.
    """
    before = _process.forced
    if engine == "compiled":
        load()
    _process.forced = engine
    try:
        yield
    finally:
        _process.forced = before


def _asked_for() -> Engine | None:
    match os.environ.get(VARIABLE, ""):
        case "":
            return None
        case "plain":
            return "plain"
        case "compiled":
            return "compiled"
        case other:
            raise UsageError(f"{VARIABLE}: got {other!r}, expected plain or compiled")


def _has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the collector of garbage from stopping all threads while many small objects are made that all stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _may_load() -> bool:
    return _process.kernels is None and (_process.forced or _asked_for()) != "plain" and _has_numba()


def _prepare() -> None:
    """Compile in a child process if need be, then load."""
    try:
        if not store.is_ready():
            child = subprocess.Popen(  # noqa: S603
                _COMPILE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            _, said = child.communicate()
            if child.returncode or not store.is_ready():
                last = (said.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
                _process.failure = f"kernels could not be compiled: {last[:300]}"
                return
        with _process.ending:
            if not _process.has_ended:
                load()
    except Exception as error:  # noqa: BLE001 - a library's trouble must not end a review: the plain engine goes on
        _process.failure = f"kernels could not be loaded: {error}"[:300]


def _end() -> None:
    """Let loading come to its end before the interpreter goes; what is compiled is for the next start."""
    with _process.ending:
        _process.has_ended = True
