"""The table of keys: what it binds, says and does when something fails."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel
from napari.layers import Image, Labels, Points, Shapes, Surface
from napari.utils.action_manager import action_manager
from napari.utils.key_bindings import coerce_keybinding
from napari.utils.shortcuts import default_shortcuts

from medotter_viewer.errors import CaseNotFoundError
from medotter_viewer.ui import keys
from medotter_viewer.ui.actions import ACTIONS, GROUPS, MOUSE, SHARED, Action, run_action, shown_key
from medotter_viewer.ui.key_page import keys_page
from medotter_viewer.ui.key_sheet import columns, sections
from medotter_viewer.ui.keys import BY_QT, _bound, bind_keys

LAYERS = {"labels": Labels, "shapes": Shapes, "points": Points, "surface": Surface}


@pytest.fixture
def window() -> Any:
    """A window that notes what it is told."""
    said: list[str] = []
    return SimpleNamespace(viewer=ViewerModel(), said=said, show_message=said.append)


def fail(error: Exception) -> Any:
    def run(_: Any) -> None:
        raise error

    return run


def bound_keys() -> set[Any]:
    """What the table binds in napari."""
    return {coerce_keybinding(action.key) for action in ACTIONS if action.key and action.key not in BY_QT}


def keys_of(kind: type) -> set[Any]:
    """Everything a kind of layer does something with: by itself, and once napari's first window has set it up."""
    fixed = {key for one in kind.__mro__ for key in getattr(one, "class_keymap", {})}
    actions = {name for name, action in action_manager._actions.items() if action.keymapprovider in kind.__mro__}
    return fixed | {key for name in actions for key in default_shortcuts.get(name, ())}


def test_no_key_does_two_things() -> None:
    taken = [a.key if a.key == "?" else coerce_keybinding(a.key) for a in ACTIONS if a.key]
    assert len(set(taken)) == len(taken)
    assert len({action.title for action in ACTIONS}) == len(ACTIONS)


def test_every_action_is_in_a_known_group_and_every_group_stands_together() -> None:
    order = [action.group for action in ACTIONS]
    assert set(order) <= set(GROUPS)
    assert order == sorted(order, key=GROUPS.index)


def test_keys_that_tools_of_layers_have_too_are_said_to_be_shared() -> None:
    for action in ACTIONS:
        if not action.key or action.key in BY_QT:
            continue
        key = coerce_keybinding(action.key)
        having = [name for name, kind in LAYERS.items() if key in keys_of(kind)]
        assert ", ".join(having) == SHARED.get(action.key, ""), f"{action.key}: {action.title}"


def test_what_is_said_to_be_shared_is() -> None:
    assert len(keys_of(Labels)) > 15
    for key, names in SHARED.items():
        for name in names.split(", "):
            assert coerce_keybinding(key) in keys_of(LAYERS[name]), (key, name)


def test_of_the_keys_of_napari_s_viewer_only_those_that_are_known_are_replaced() -> None:
    viewer = {key for name in VIEWER_SHORTCUTS for key in default_shortcuts[name]}
    assert len(viewer) > 15
    assert {str(key) for key in bound_keys() & viewer} <= {"V"}  # visibility of the selected layers


VIEWER_SHORTCUTS = [
    name
    for name in default_shortcuts
    if any(
        word in name
        for word in ("console", "ndisplay", "theme", "view", "layers", "dims", "axes", "grid", "visibility", "layer_")
    )
]


def test_images_and_labels_that_are_not_painted_on_leave_the_table_its_keys(
    window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    key = coerce_keybinding("X")
    for kind in (Image, Labels):  # as the first window does
        monkeypatch.setitem(kind.class_keymap, key, lambda _: done.append("the layer's"))
    monkeypatch.setattr(keys, "ACTIONS", (Action("X", "cross", "looking", lambda _: done.append("cross")),))
    before = window.viewer.add_image(np.zeros((4, 4, 4)))
    unbind = bind_keys(window)
    after, labels = window.viewer.add_image(np.zeros((4, 4, 4))), window.viewer.add_labels(np.zeros((4, 4, 4), int))
    for layer in (before, after, labels):
        layer.keymap[key](layer)
    assert done == ["cross"] * 3
    labels.mode = "paint"
    labels.keymap[key](labels)
    assert done[3:] == ["the layer's"]
    labels.mode = "pan_zoom"
    unbind()
    assert [key in layer.keymap for layer in (before, after, labels)] == [False] * 3
    assert key not in window.viewer.keymap
    assert key not in window.viewer.add_image(np.zeros((4, 4, 4))).keymap


def test_the_sheet_lists_every_key_in_its_group_with_what_it_does_and_the_mouse() -> None:
    found = dict(sections())
    assert list(found) == [group for group in GROUPS if any(a.group == group for a in ACTIONS)]
    listed = [(key.rstrip("*"), title) for lines in found.values() for key, title in lines]
    wanted = [(shown_key(action.key), action.title) for action in ACTIONS if action.key]
    wanted += [(what, title) for what, title, _ in MOUSE]
    assert sorted(listed) == sorted(wanted)


def test_keys_that_are_shared_are_marked() -> None:
    marked = {key for _, lines in sections() for key, _ in lines if key.endswith("*")}
    assert marked == {shown_key(action.key) + "*" for action in ACTIONS if action.key in SHARED}


def test_columns_are_as_equal_as_groups_allow() -> None:
    line = ("K", "does")
    found = [("a", [line] * 2), ("b", [line] * 10), ("c", [line] * 3), ("d", [line] * 4)]
    # heights with two lines for a heading: 4, 12, 5, 6; 16 and 11 is the nearest split
    left, right = columns(found)
    assert ([name for name, _ in left], [name for name, _ in right]) == (["a", "b"], ["c", "d"])
    assert columns([]) == ([], [])
    assert columns(found[:1]) == (found[:1], [])


def test_an_error_of_ours_becomes_a_message_and_any_other_surfaces(window: Any) -> None:
    run_action(window, fail(CaseNotFoundError("no case 'A/9'")))
    assert window.said == ["no case 'A/9'"]
    with pytest.raises(ZeroDivisionError):
        run_action(window, fail(ZeroDivisionError()))
    assert window.said == ["no case 'A/9'"]


def test_every_key_that_reaches_napari_is_bound_in_place_of_what_napari_does_with_it(window: Any) -> None:
    for key in ("G", ","):
        window.viewer.bind_key(key, lambda _: pytest.fail("the former binding"))
    unbind = bind_keys(window)
    assert bound_keys() <= set(window.viewer.keymap)
    assert coerce_keybinding("Tab") not in window.viewer.keymap
    asked: list[int] = []
    window.session = SimpleNamespace(step=asked.append)
    window.cycle_mode = lambda: asked.append(0)
    for key in (",", ".", "G"):
        window.viewer.keymap[coerce_keybinding(key)](window.viewer)
    assert asked == [-1, 1, 0]
    unbind()
    assert not bound_keys() & set(window.viewer.keymap)


def test_a_held_key_ends_what_it_began_when_it_is_let_go(window: Any) -> None:
    done: list[str] = []
    held = Action("H", "held", "looking", lambda _: done.append("down"), lambda _: done.append("up"))
    steps = _bound(window, held)(None)
    assert steps is not None
    next(steps)
    assert done == ["down"]
    assert next(steps, "over") == "over"
    assert done == ["down", "up"]


def test_a_held_key_that_fails_is_a_message_too(window: Any) -> None:
    steps = _bound(window, Action("H", "held", "looking", fail(CaseNotFoundError("gone")), lambda _: None))(None)
    assert steps is not None
    assert list(steps) == [None]
    assert window.said == ["gone"]


def test_the_page_of_keys_is_that_of_the_table() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == keys_page(), "run: python scripts/write_keys_page.py"
