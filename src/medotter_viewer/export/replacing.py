"""Files that take their names when they are whole: written beside them, and replaced at the end or not at all."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from pathlib import Path

_LONG_S = 86400.0  # no export takes a day


@contextmanager
def unfinished(paths: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Give names beside the files, to be written first; what is left of them at the end is removed.

    Parameters
    ----------
    paths : mapping of str to Path
        What to call a file here, and where it will be.
    """
    token = secrets.token_hex(4)  # two exports to one name at once keep apart; the later one wins as a whole
    parts = {name: path.with_name(f".{stem(path)}.{token}.part{_suffix(path)}") for name, path in paths.items()}
    for path in paths.values():
        _sweep(path)
    try:
        yield parts
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def stem(path: Path) -> str:
    """Return a file's name without its suffix; ``.nii.gz`` is one suffix.

    Examples
    --------
    >>> stem(Path("a/b.c.nii.gz")), stem(Path("b.csv"))
    ('b.c', 'b')
    """
    return path.stem[:-4] if path.name.lower().endswith(".nii.gz") else path.stem


def _suffix(path: Path) -> str:
    return path.name[len(stem(path)) :]


def _sweep(path: Path) -> None:
    """Remove what an export to this name left that was killed long ago."""
    for part in path.parent.glob(f".{escape(stem(path))}.*.part{escape(_suffix(path))}"):
        try:
            if time.time() - part.stat().st_mtime > _LONG_S:
                part.unlink()
        except OSError:  # another export has just removed it, or it is not ours to remove
            continue
