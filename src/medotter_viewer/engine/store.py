"""Where compiled kernels are kept: a folder of the user's cache for this code, these libraries and this processor."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER_VARIABLE = "MEDOTTER_VIEWER_KERNELS"
_READY = "ready"


@cache
def folder() -> Path:
    """Return the folder: below that of the variable ``MEDOTTER_VIEWER_KERNELS``, else below the user's cache folder.

    Its name changes with anything that compiled code depends on, so that what is in it can be used as it is.
    """
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named) / _identity()
    from platformdirs import user_cache_path

    return user_cache_path("medotter_viewer") / "kernels" / _identity()


def is_ready() -> bool:
    """Tell whether every kernel was compiled here before."""
    return (folder() / _READY).is_file()


def mark_ready() -> None:
    """Remember that every kernel is compiled; nothing happens where the folder cannot be written."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        (folder() / _READY).touch()
    except OSError:
        pass


def forget() -> None:
    """Remove what is kept for this code."""
    shutil.rmtree(folder(), ignore_errors=True)


def _identity() -> str:
    """Digest of the kernels' source, the libraries, the interpreter and the processor."""
    parts = [sys.version, platform.machine(), _processor()]
    for name in ("numba", "llvmlite", "numpy"):
        try:
            parts.append(version(name))
        except PackageNotFoundError:
            parts.append("none")
    digest = hashlib.sha256("\0".join(parts).encode())
    for source in sorted((Path(__file__).parent / "kernels").glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """What processor this is, as far as it tells: a home folder may be shared by several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor()
    return "".join(sorted(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))))
