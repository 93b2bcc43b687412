"""Read keys of one parsed mapping, and name file and key when a value cannot be used."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from medotter_viewer.errors import BundleError

_MAX_DIGITS = 1000


def to_id(value: Any, where: str) -> int:
    """Return a label id from what a parser gave: an int, a whole float, or a string of digits.

    Raises
    ------
    BundleError
        For anything else, booleans included.
    """
    found = -1
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < _MAX_DIGITS:
        found = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        found = value
    elif isinstance(value, float) and value.is_integer():
        found = int(value)
    if not 0 <= found < 1 << 63:
        raise BundleError(f"{where}: got {value!r}, expected a whole number of 0 or more that fits 64 bits")
    return found


def is_number(value: Any) -> bool:
    """Tell whether a parsed value is a finite number; whole ones beyond any float are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


class KeyReader:
    """Reads keys of one parsed mapping and names them when they are wrong."""

    def __init__(self, raw: Any, where: str) -> None:
        if not isinstance(raw, Mapping):
            raise BundleError(f"{where}: got {type(raw).__name__}, expected keys and values")
        self.raw, self.where = raw, where

    def fail(self, key: str, expected: str) -> BundleError:
        """Return the error for a key: where, what was got, what was expected."""
        return BundleError(f"{self.where}: {key}: got {self.raw.get(key)!r}, expected {expected}")

    def mapping(self, key: str) -> Mapping[str, Any]:
        """Return the keys and values under a key; none where it is absent or null."""
        value = self.raw.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.fail(key, "keys and values")
        return value

    def word(self, key: str, default: str) -> str:
        """Return a text."""
        value = self.raw.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.fail(key, "a word")
        return value

    def words(self, key: str) -> list[str]:
        """Return a list of texts."""
        value = self.raw.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.fail(key, "a list of words")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false where it is absent or null."""
        value = self.raw.get(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise self.fail(key, "true or false")
        return value

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        """Return a finite number within bounds."""
        value = self.raw.get(key)
        if value is None:
            return default
        if not is_number(value) or not low <= value <= high:
            raise self.fail(key, f"a number from {low:g} to {high:g}")
        return float(value)

    def ids(self, key: str) -> tuple[int, ...]:
        """Return a list of label ids."""
        value = self.raw.get(key)
        if not isinstance(value, list):
            raise self.fail(key, "a list of ids")
        return tuple(to_id(v, f"{self.where}: {key}") for v in value)

    def regions(self, key: str) -> dict[str, tuple[int, ...]]:
        """Return regions by name, each with one label id or more."""
        table = self.mapping(key)
        found = {}
        for name, ids in table.items():
            listed = ids if isinstance(ids, list) else [ids]
            if str(name) in found:
                raise BundleError(f"{self.where}: {key}: region {str(name)!r} is named twice; keep one")
            found[str(name)] = tuple(to_id(i, f"{self.where}: {key}.{name}") for i in listed)
            if not listed:
                raise BundleError(f"{self.where}: {key}.{name}: got no ids, expected at least one")
        return found

    def spacing(self, key: str) -> tuple[float, ...] | None:
        """Return mm per file axis; None for ``from_header``."""
        value = self.raw.get(key)
        if value is None or value == "from_header":
            return None
        good = isinstance(value, list) and all(is_number(v) and 1e-6 <= v <= 1e6 for v in value)
        if not good or len(value) not in (2, 3):
            raise self.fail(key, "from_header, or mm per file axis as positive numbers")
        return tuple(float(v) for v in value)

    def check_choices(self, allowed: Mapping[str, Sequence[Any]]) -> None:
        """Raise BundleError for a key that is told and holds none of its choices."""
        for key, choices in allowed.items():
            if self.raw.get(key) is not None and self.raw[key] not in choices:
                raise self.fail(key, " or ".join(choices))

    def names(self, *keys: str) -> dict[str, str]:
        """Return those of some keys that are told; each must be a text that is not empty."""
        told = {key: self.raw[key] for key in keys if self.raw.get(key) is not None}
        for key, value in told.items():
            if not isinstance(value, str) or not value:
                raise self.fail(key, "a word")
        return told

    def length_mm(self, key: str, default: float, *, longest: float) -> float:
        """Return a positive length."""
        value = self.raw.get(key)
        if value is None:
            return default
        if not is_number(value) or not 0 < value <= longest:
            raise self.fail(key, "a positive number of mm")
        return float(value)
