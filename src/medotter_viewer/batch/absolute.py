"""Cases for workers that stand in another folder: paths are made absolute, and called as before in what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from medotter_viewer.cache.dependencies import named_paths
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore

_WITH_PATHS = {
    *("channels", "gt_path", "pred_path", "gt_landmarks_path", "pred_landmarks_path"),
    *("scan", "folder", "prediction"),
}


def with_absolute_paths(entry: CaseEntry) -> tuple[CaseEntry, list[tuple[str, str]]]:
    """Return a case with absolute paths, and what to replace by what in words about it."""
    relative = {path for path in named_paths(entry) if not path.is_absolute()}
    if not relative:
        return entry, []
    names = sorted(((str(p.absolute()), str(p)) for p in relative), key=lambda pair: -len(pair[0]))
    return _absolute(entry), names


def _absolute(value: Any) -> Any:
    if isinstance(value, Path):
        return value.absolute()
    if isinstance(value, dict):
        return {key: _absolute(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        paths = {n: _absolute(v) for n, v in changed.items() if n in _WITH_PATHS}
        return replace(value, **paths)
    return value


def called_as_before(value: Any, names: Sequence[tuple[str, str]]) -> Any:
    """Return a score, finding or text with paths called as they were.

    Parameters
    ----------
    value : object
        Text, or something that holds texts.
    names : sequence of (str, str)
        From `with_absolute_paths`.
    """
    if isinstance(value, str):
        for there, here in names:
            value = value.replace(there, here)
        return value
    if isinstance(value, dict):
        return {key: called_as_before(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(called_as_before(one, names) for one in value)
    if isinstance(value, CaseScore):
        return replace(
            value, message=called_as_before(value.message, names), notes=called_as_before(value.notes, names)
        )
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: called_as_before(getattr(value, f.name), names) for f in fields(value)})
    return value
