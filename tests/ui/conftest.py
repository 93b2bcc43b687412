"""Real windows for tests of what a person does."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from case_source import Cases
from review_windows import scored, settle, wait_for
from scan_phantoms import SCAN_SPEC

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec


@pytest.fixture
def new_viewer(qapp: Any) -> Iterator[Callable[[], Any]]:
    """Make viewers that are shown; they are closed at the end.

    Not napari's `make_napari_viewer`: that forgets which plugins are known, and the next window finds them twice.
    """
    import napari

    made: list[Any] = []

    def make() -> Any:
        made.append(napari.Viewer())
        return made[-1]

    yield make
    for viewer in made:
        viewer.close()
    settle(0.1)


def close_all(opened: list[Any]) -> None:
    """Close windows and forget them."""
    for window in opened:
        window.close()
        window.viewer.close()
    settle(0.1)
    window = None
    opened.clear()
    keep_what_is_loaded()


@cache
def keep_what_is_loaded() -> None:
    """Keep what the first window loaded out of collections of garbage: each viewer that closes sets off full ones."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def open_review(qapp: Any) -> Iterator[Callable[..., Any]]:
    """Open reviews in real windows; they are closed at the end."""
    from medotter_viewer import open_source
    from medotter_viewer.ui.window import open_window

    opened = []

    def open_(target: Path, predictions: Path | None = None, *, wait: bool = True, **options: Any) -> Any:
        window = open_window(open_source(target, predictions=predictions), **options)
        opened.append(window)
        if wait:
            wait_for(lambda: window.session.opened is not None, "first case open")
            wait_for(lambda: scored(window) and window.reviewing.seen.is_seen, "first case scored, and seen")
            settle()
        return window

    yield open_
    close_all(opened)


@pytest.fixture
def open_cases(qapp: Any) -> Iterator[Callable[..., Any]]:
    """Open cases that are there already in real windows; they are closed at the end."""
    from medotter_viewer.ui.window import open_window

    opened = []

    def open_(cases: Sequence[Case], spec: EvalSpec = SCAN_SPEC) -> Any:
        window = open_window(Cases(cases, spec))
        opened.append(window)
        wait_for(lambda: window.session.opened is not None and scored(window), "first case scored")
        settle()
        return window

    yield open_
    close_all(opened)
