"""Results never take the place of what a command reads, nor of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medotter_viewer.errors import UsageError

_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "json": (".json",),
    "csv": (".csv", ".tsv", ".txt"),
    "screenshot": (".png",),
}
"""Options that name a result, and what a file is called that it may replace."""
_OUT = "out"


def check_outputs(options: Mapping[str, Any]) -> None:
    """Refuse results that would replace an input, another result, or a file of another kind.

    Parameters
    ----------
    options : mapping of str to object
        Options of a command by name, as parsed.

    Raises
    ------
    UsageError
        Naming option and file.
    """
    results = {name: Path(options[name]) for name in _SUFFIXES if options.get(name) not in (None, "-")}
    taken = {path.resolve(): "is read by this command" for path in _inputs(options)}
    if options.get(_OUT) is not None:
        out = Path(options[_OUT])
        for path in (out, out.with_suffix(".scores.csv"), out.with_suffix(".zip")):
            taken[path.resolve()] = f"is written by --{_OUT}"
    for name, path in results.items():
        if (why := taken.get(path.resolve())) is not None:
            raise UsageError(f"--{name} {path}: {why}; choose another name")
        if path.is_file() and path.suffix.lower() not in _SUFFIXES[name]:
            kind = f"{_SUFFIXES[name][0]} file"
            raise UsageError(f"--{name} {path}: is there already and is no {kind}; choose another name, or remove it")
        taken[path.resolve()] = f"is written by --{name}"


def _inputs(options: Mapping[str, Any]) -> Iterator[Path]:
    """Every path that is given to be read."""
    for name, value in options.items():
        if name in _SUFFIXES or name == _OUT:
            continue
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Path):
                yield one
