"""How a source was opened, so that a saved review or a link can open it again."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from medotter_viewer.sources.source import CaseSource

_OPENED: WeakKeyDictionary[CaseSource, Mapping[str, Any]] = WeakKeyDictionary()


def note_opened(source: CaseSource, options: Mapping[str, Any]) -> None:
    """Keep the options of `open_source` that a source comes from, for as long as it is there."""
    told = {key: value for key, value in options.items() if value is not None and value is not False}
    _OPENED[source] = MappingProxyType(told)


def opened_as(source: CaseSource) -> Mapping[str, Any] | None:
    """Return the options of `open_source` that open a source again; None where it was made in another way."""
    return _OPENED.get(source)
