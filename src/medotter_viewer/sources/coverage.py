"""What a bundle says of its own coverage, for people: shown as it was written, never used."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.core.paths import resolve_inside
from medotter_viewer.errors import ReadError

NAMES = ("coverage_report.md", "coverage_report.json")
_MOST_BYTES = 64 << 10


def coverage_text(bundle: Path) -> str:
    """Return the text of a bundle's coverage report; empty where it has none, cut where it is very long.

    Raises
    ------
    UnsafePathError
        If it is a link out of the bundle.
    ReadError
        If it cannot be read.
    """
    for name in NAMES:
        path = resolve_inside(bundle, name, where=f"{bundle}: coverage report")
        if not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                start = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise ReadError(f"{path}: {error.strerror or error}") from error
        cut = "\n… (the rest is left out)" if len(start) > _MOST_BYTES else ""
        text = start[:_MOST_BYTES].decode("utf-8", errors="replace").replace("\r\n", "\n")
        return f"{name}:\n{text.strip()}{cut}"
    return ""
