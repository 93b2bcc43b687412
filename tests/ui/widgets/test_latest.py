"""Of many requests only the latest is done, and errors are not lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from medotter_viewer.ui.widgets.latest import Latest


class Later:
    """Work that is done when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []

    def __call__(self, work: Callable[[], Any], on_done: Callable[[Any], None]) -> None:
        self.waiting.append((work, on_done))

    def go(self) -> None:
        work, on_done = self.waiting.pop(0)
        on_done(work())


def test_what_is_overtaken_is_never_begun() -> None:
    later, results, begun = Later(), [], []  # type: tuple[Later, list[int], list[int]]
    latest = Latest(later, results.append)

    def asked(number: int) -> Callable[[], Callable[[], int]]:
        def prepare() -> Callable[[], int]:
            begun.append(number)
            return lambda: number

        return prepare

    for number in (1, 2, 3):
        latest.ask(asked(number))
    assert latest.is_busy
    later.go()
    later.go()
    assert results == [1, 3]
    assert begun == [1, 3]
    assert not latest.is_busy
    assert later.waiting == []


def test_an_error_is_raised_where_the_result_is_taken_and_the_next_request_is_done() -> None:
    later, results = Later(), []  # type: tuple[Later, list[str]]
    latest = Latest(later, results.append)
    latest.ask(lambda: lambda: {}["missing"])
    latest.ask(lambda: lambda: "next")
    with pytest.raises(KeyError):
        later.go()
    later.go()
    assert results == ["next"]


def test_a_request_that_cannot_be_prepared_leaves_room_for_others() -> None:
    later = Later()
    latest = Latest(later, lambda _: None)

    def prepare() -> Callable[[], Any]:
        raise KeyError("none")

    with pytest.raises(KeyError):
        latest.ask(prepare)
    latest.ask(lambda: lambda: 1)
    assert len(later.waiting) == 1
