"""What a window loaded is kept out of collections of garbage while a review is open, where the process is ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from medotter_viewer.ui import collecting
from medotter_viewer.ui.collecting import Collecting, this_process_is_ours


class Window:
    """A window as far as it is asked."""

    def __init__(self) -> None:
        self.session = SimpleNamespace(opened=None, is_idle=True)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the collector was told; nothing of it happens."""
    said: list[str] = []
    told = SimpleNamespace(freeze=lambda: said.append("freeze"), unfreeze=lambda: said.append("unfreeze"))
    monkeypatch.setattr(collecting, "gc", told)
    monkeypatch.setitem(collecting._process, "is ours", False)
    return said


def test_a_program_of_somebody_else_keeps_its_collector_as_it_is(qtbot: Any, done: list[str]) -> None:
    window = Window()
    window.session.opened = object()
    one = Collecting(window)
    qtbot.wait(400)
    one.close()
    assert done == []


def test_what_is_loaded_is_set_aside_once_a_case_is_there_until_the_review_ends(qtbot: Any, done: list[str]) -> None:
    this_process_is_ours()
    window = Window()
    one = Collecting(window)
    qtbot.wait(400)
    assert done == []  # no case yet
    window.session.opened = object()
    qtbot.waitUntil(lambda: done == ["freeze"])
    qtbot.wait(400)
    one.close()
    one.close()
    assert done == ["freeze", "unfreeze"]


def test_a_review_that_ends_before_its_first_case_changes_nothing(qtbot: Any, done: list[str]) -> None:
    this_process_is_ours()
    window = Window()
    one = Collecting(window)
    one.close()
    window.session.opened = object()
    qtbot.wait(400)
    assert done == []
