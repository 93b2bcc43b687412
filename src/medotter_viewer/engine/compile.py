"""``python -m medotter_viewer.engine.compile``: compile every kernel into the user's cache folder.

The window starts this as a child process at its first start; an administrator may run it once after installing.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from medotter_viewer.engine import choice, store
from medotter_viewer.errors import MedotterViewerError


def main() -> int:
    """Compile, unless that was done before; say where and how long it took."""
    if store.is_ready():
        sys.stdout.write(f"kernels are compiled already, in {store.folder()}\n")
        return 0
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)  # somebody is working meanwhile
    started = time.monotonic()
    try:
        choice.load()
    except MedotterViewerError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if not store.is_ready():
        sys.stderr.write(f"error: {store.folder()} cannot be written\n")
        return 1
    sys.stdout.write(f"kernels compiled in {time.monotonic() - started:.0f} s, into {store.folder()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
