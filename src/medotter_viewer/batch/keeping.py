"""What a run remembers while it goes on: looked up before a case is scored, written soon after."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from medotter_viewer.cache.keys import Key, Rules, key_of
from medotter_viewer.cache.scores import Computed, remembered
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore

_AT_ONCE = 128
_LONGEST_S = 0.1
_WRITE_EVERY_S = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One case of a run, and what is known of it.

    Parameters
    ----------
    place : int
        Among the cases of the run.
    entry : CaseEntry
        The case.
    key : Key or None
        Under what it is remembered.
    score : CaseScore or None
        Its score, if that is known.
    is_kept : bool
        Whether that stands in the cache as it is; otherwise it was derived from facts.
    """

    place: int
    entry: CaseEntry
    key: Key | None = None
    score: CaseScore | None = None
    is_kept: bool = False

    @property
    def with_facts(self) -> bool:
        """Whether facts about its label maps are to be remembered."""
        return self.key is not None and self.key.facts is not None


def looked_up(entries: Sequence[CaseEntry], rules: Rules, cache: FactCache | None) -> Iterator[list[Asked]]:
    """Yield the cases of a run, some at a time, with what is known of them."""
    if cache is None:
        yield from ([Asked(place, entry)] for place, entry in enumerate(entries))
        return
    place = 0
    while place < len(entries):
        some: list[Asked] = []
        until = time.monotonic() + _LONGEST_S
        while place < len(entries) and len(some) < _AT_ONCE and (not some or time.monotonic() < until):
            some.append(Asked(place, entries[place], key_of(entries[place], rules)))
            place += 1
        keys = [one.key for one in some if one.key is not None]
        found = cache.get_many(key.score for key in keys)  # facts are larger, and looked at only without a score
        found |= cache.get_many(key.facts for key in keys if key.facts is not None and key.score not in found)
        yield [_with_score(one, rules, found) for one in some]


def _with_score(one: Asked, rules: Rules, found: dict[str, dict[str, Any]]) -> Asked:
    if one.key is None:
        return one
    return replace(one, score=remembered(one.entry, rules, one.key, found), is_kept=one.key.score in found)


class Keeper:
    """Writes what is to be remembered, twice a second: many files would be slower to write than cases to score.

    Parameters
    ----------
    cache : FactCache or None
        Where; None keeps nothing.
    """

    def __init__(self, cache: FactCache | None) -> None:
        self._cache = cache
        self._waiting: dict[str, dict[str, Any]] = {}
        self._written = time.monotonic()

    def add(self, asked: Asked, computed: Computed) -> None:
        """Take what is to be remembered of a case, unless its files were changed while it was scored."""
        if self._cache is None or asked.key is None or asked.is_kept or not asked.key.is_current():
            return
        self._waiting.update(computed.records(asked.key))
        self.write_in_time()

    def write_in_time(self) -> None:
        """Write if the last time is long ago."""
        if self._waiting and time.monotonic() - self._written >= _WRITE_EVERY_S:
            self.write()

    def write(self) -> None:
        """Write all that is waiting."""
        if self._cache is not None:
            self._cache.put_many(self._waiting)
        self._waiting.clear()
        self._written = time.monotonic()
