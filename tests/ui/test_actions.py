"""The table of keys: what it binds, says and does when something fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from napari.components import ViewerModel
from napari.utils.key_bindings import coerce_keybinding
from napari.utils.shortcuts import default_shortcuts

from medotter_viewer.errors import CaseNotFoundError
from medotter_viewer.ui.actions import ACTIONS, Action, _bound, bind_keys, help_text, run_action


@pytest.fixture
def window() -> Any:
    """A window that notes what it is told."""
    said: list[str] = []
    return SimpleNamespace(viewer=ViewerModel(), said=said, show_message=said.append)


def fail(error: Exception) -> Any:
    def run(_: Any) -> None:
        raise error

    return run


def test_no_key_does_two_things() -> None:
    assert len({coerce_keybinding(action.key) for action in ACTIONS if action.key != "?"} | {"?"}) == len(ACTIONS)
    assert len({action.title for action in ACTIONS}) == len(ACTIONS)


def test_no_key_is_taken_from_the_tools_of_shapes_points_and_labels() -> None:
    layers = ("shape", "vertex", "ellipse", "line", "path", "polygon", "direct", "select", "points", "label", "brush")
    taken = {key for name, keys in default_shortcuts.items() if any(word in name for word in layers) for key in keys}
    ours = {coerce_keybinding(action.key) for action in ACTIONS if action.key not in ("Tab", "?")}
    assert len(taken) > 30
    assert not ours & taken


def test_the_help_lists_every_key_with_what_it_does_and_the_wheel() -> None:
    lines = [line.split(maxsplit=1) for line in help_text().split("\n")]
    assert lines[:-2] == [[action.key, action.title] for action in ACTIONS]
    assert lines[-2:] == [["wheel", "scroll slices"], ["Ctrl+wheel", "zoom"]]


def test_the_titles_stand_in_one_column() -> None:
    lines = help_text().split("\n")
    titles = [*(action.title for action in ACTIONS), "scroll slices", "zoom"]
    assert {line.index(title) for line, title in zip(lines, titles, strict=True)} == {
        max(len(key) for key in [*(action.key for action in ACTIONS), "Ctrl+wheel"]) + 2
    }


def test_an_error_of_ours_becomes_a_message_and_any_other_surfaces(window: Any) -> None:
    run_action(window, fail(CaseNotFoundError("no case 'A/9'")))
    assert window.said == ["no case 'A/9'"]
    with pytest.raises(ZeroDivisionError):
        run_action(window, fail(ZeroDivisionError()))
    assert window.said == ["no case 'A/9'"]


def test_every_key_that_reaches_napari_is_bound_in_place_of_what_napari_does_with_it(window: Any) -> None:
    for key in ("G", ","):
        window.viewer.bind_key(key, lambda _: pytest.fail("the former binding"))
    bind_keys(window)
    bound = set(window.viewer.keymap)
    assert {coerce_keybinding(a.key) for a in ACTIONS if a.key not in ("Tab", "?")} <= bound
    assert coerce_keybinding("Tab") not in bound
    asked: list[int] = []
    window.session = SimpleNamespace(step=asked.append)
    window.cycle_mode = lambda: asked.append(0)
    for key in (",", ".", "G"):
        window.viewer.keymap[coerce_keybinding(key)](window.viewer)
    assert asked == [-1, 1, 0]


def test_a_held_key_ends_what_it_began_when_it_is_let_go(window: Any) -> None:
    done: list[str] = []
    held = Action("H", "held", lambda _: done.append("down"), lambda _: done.append("up"))
    steps = _bound(window, held)(None)
    assert steps is not None
    next(steps)
    assert done == ["down"]
    assert next(steps, "over") == "over"
    assert done == ["down", "up"]


def test_a_held_key_that_fails_is_a_message_too(window: Any) -> None:
    steps = _bound(window, Action("H", "held", fail(CaseNotFoundError("gone")), lambda _: None))(None)
    assert steps is not None
    assert list(steps) == [None]
    assert window.said == ["gone"]
