"""Signals of a session that a widget listens to, dropped together when the widget goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Connections:
    """Connections of one widget or model.

    Examples
    --------
    >>> from psygnal import SignalInstance
    >>> said = SignalInstance((str,))
    >>> heard, connections = [], Connections()
    >>> connections.add(said, heard.append)
    >>> said.emit("before"); connections.close(); said.emit("after")
    >>> heard
    ['before']
    """

    def __init__(self) -> None:
        self._made: list[tuple[Any, Callable[..., Any]]] = []

    def add(self, signal: Any, slot: Callable[..., Any]) -> None:
        """Connect a signal."""
        signal.connect(slot)
        self._made.append((signal, slot))

    def close(self, *_: Any) -> None:
        """Disconnect all; a second call does nothing."""
        while self._made:
            signal, slot = self._made.pop()
            signal.disconnect(slot, missing_ok=True)
