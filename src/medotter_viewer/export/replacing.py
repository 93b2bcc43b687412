"""Files that take their names when they are whole: written beside them, and replaced at the end or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unfinished(paths: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Give names beside the files, to be written first; what is left of them at the end is removed.

    Parameters
    ----------
    paths : mapping of str to Path
        What to call a file here, and where it will be.
    """
    parts = {name: path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}") for name, path in paths.items()}
    for part in parts.values():
        part.unlink(missing_ok=True)  # of a process of the same number that was killed
    try:
        yield parts
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
