"""Which engine is in force: the compiled kernels where they are loaded, else the plain one; results are the same.

Nothing is ever compiled while somebody waits: a child process does it once, into the user's cache folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Literal

from medotter_viewer.engine import store
from medotter_viewer.errors import MissingDependencyError, UsageError

Engine = Literal["plain", "compiled"]

VARIABLE = "MEDOTTER_VIEWER_ENGINE"
_KERNELS = "medotter_viewer.engine.kernels"
_COMPILER = "medotter_viewer.engine.compile"


class _Process:
    """What this process has loaded; kernels are loaded once, as modules are."""

    def __init__(self) -> None:
        self.loading = threading.Lock()
        self.kernels: ModuleType | None = None
        self.forced: Engine | None = None
        self.preparing: threading.Thread | None = None
        self.failure: str | None = None


_process = _Process()


def kernels() -> ModuleType | None:
    """Return the compiled kernels if they are to be used now; None asks for the plain code.

    Unless ``MEDOTTER_VIEWER_ENGINE=compiled`` says so, nothing is loaded here: see `prepare`.

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
            loaded = importlib.import_module(_KERNELS)
            store.mark_ready()
            _process.kernels = loaded
    return _process.kernels


def prepare(*, wait: bool = False) -> None:
    """Get the kernels ready in the background: compiled by a child process where they are not yet, then loaded.

    Until then, where numba is missing, and where that fails, the plain engine goes on.

    Parameters
    ----------
    wait : bool
        Whether to load kernels that are compiled already before returning (a second or two). Compiling is never
        waited for.
    """
    if _process.kernels is not None or (_process.forced or _asked_for()) == "plain" or not _has_numba():
        return
    if wait and store.is_ready():
        load()
    elif _process.preparing is None:
        _process.preparing = threading.Thread(target=_prepare, name="medotter-viewer kernels", daemon=True)
        _process.preparing.start()


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


@contextmanager
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


def _prepare() -> None:
    """Compile in a child process if need be, then load."""
    if not store.is_ready():
        command = [sys.executable, "-m", _COMPILER]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
        except OSError as error:
            _process.failure = f"kernels could not be compiled: {error}"
            return
        if done.returncode or not store.is_ready():
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            _process.failure = f"kernels could not be compiled: {last[:300]}"
            return
    try:
        load()
    except Exception as error:  # noqa: BLE001 - a library's trouble must not end a review: the plain engine goes on
        _process.failure = f"kernels could not be loaded: {error}"[:300]
