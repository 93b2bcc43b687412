"""Keys of what is remembered of a case: its score, and facts about its label maps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.cache.dependencies import Dependencies, State
from medotter_viewer.cache.facts import facts_key
from medotter_viewer.cache.looks import Looks
from medotter_viewer.cache.store import ENGINE_VERSION
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import errors_of
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.options import ScoreOptions

_UNUSED = ("raw",)  # of a specification: what its other fields were read from


@dataclass(frozen=True)
class Rules:
    """By which rules cases are scored.

    Parameters
    ----------
    spec, options
        As for `score_case`.
    resample_prediction : bool
        As for `load_case`.
    """

    spec: EvalSpec
    options: ScoreOptions
    resample_prediction: bool = False

    @cached_property
    def text(self) -> str:
        """All of it in one form; the same in every process."""
        return json.dumps([_plain(self.spec), _plain(self.options), self.resample_prediction])


@dataclass(frozen=True, slots=True)
class Key:
    """Under what something is remembered of a case.

    Parameters
    ----------
    score : str
        The key of its score: of its files, the rules and all that its entry says.
    facts : str or None
        The key of the facts about its label maps, from which scores by other rules follow; see `facts_key`.
    files : Dependencies
        Files on which it depends.
    states : tuple of State
        These as they were when their bytes were read.
    """

    score: str
    facts: str | None
    files: Dependencies
    states: tuple[State, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every key under which something may be stored."""
        return (self.score,) if self.facts is None else (self.score, self.facts)

    def is_current(self) -> bool:
        """Whether no file was changed since: what was read meanwhile belongs to this key."""
        try:
            return self.files.states() == self.states
        except OSError:
            return False


def key_of(entry: CaseEntry, rules: Rules) -> Key | None:
    """Return the key of a case; the bytes of its files are read for it.

    Returns
    -------
    Key or None
        None where nothing is remembered: a case with an error, without anything to score, or whose files cannot be
        read.
    """
    if errors_of(entry.findings) or (entry.scan is None and not _has_truth(entry)):
        return None
    try:
        looks = Looks()
        files = Dependencies.of(entry, looks)
        states = files.states(looks)
        facts = facts_key(entry, rules.spec, rules.resample_prediction, files.whole, looks)
        content = files.digest() if facts is None else facts
        parts = [ENGINE_VERSION, "score", rules.text, json.dumps(_plain(entry)), content]
    except (OSError, TypeError):  # TypeError: a value without a form of its own
        return None
    return Key(hashlib.sha256("\0".join(parts).encode()).hexdigest(), facts, files, states)


def _has_truth(entry: CaseEntry) -> bool:
    return entry.gt_path is not None or entry.gt_landmarks_path is not None


def _plain(value: Any) -> Any:
    """A value as JSON can write it, the same in every process; TypeError for what is not known to have such a form."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.ndarray):
        return [value.dtype.str, list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, frozenset | set):
        return sorted((_plain(one) for one in value), key=json.dumps)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *(_plain(getattr(value, name)) for name in _names(type(value)))]
    raise TypeError(f"{type(value).__name__} has no form of its own")


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Names of the fields that count; a thousand cases are of one kind."""
    return tuple(f.name for f in fields(kind) if f.name not in _UNUSED)
