"""Bind the keys of the table in a viewer, and give them back.

In napari the selected layer has its keys first, then the viewer. Here too, with two exceptions, as in most reviews an
image or the prediction is selected: images leave the keys of the table alone, and so do label maps as long as nothing
is painted on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from medotter_viewer.ui.actions import ACTIONS, VERDICT_KEYS, Action, run_action
from medotter_viewer.ui.strokes import BRUSHES
from medotter_viewer.ui.taking_back import take_back

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow

BY_QT = frozenset({"Tab", "?", *VERDICT_KEYS})
"""Keys that never reach napari: Tab moves the focus, where ? is differs between keyboards, and verdicts."""
UNDO = "Control-Z"
TOOLS = frozenset(f"activate_labels_{tool}_mode" for tool in BRUSHES)
"""What napari calls taking up a tool that changes a label layer; a person may have given it other keys."""
SETTINGS_OF_BRUSHES = frozenset({"B", "X"})
"""Keys of label layers that mean nothing until something is painted."""
_IDLE = ("pan_zoom", "transform")

Call = Callable[[Any], Iterator[None] | None]


def bind_keys(window: ReviewWindow) -> Callable[[], None]:
    """Bind every key of the table in a window's viewer, replacing what napari does with it.

    Returns
    -------
    callable
        Gives all of them back to napari.
    """
    viewer = window.viewer
    bound = {a.key: _bound(window, a) for a in ACTIONS if a.key and a.key not in BY_QT}
    for key, call in bound.items():
        viewer.bind_key(key, call, overwrite=True)
    taken: list[tuple[Any, Any]] = []

    def take(layer: Any) -> None:
        for key, call in {**_on_layer(layer, bound), **_tools_of(window, layer)}.items():
            layer.bind_key(key, call, overwrite=True)
            taken.append((layer, key))

    def on_inserted(event: Any) -> None:
        take(event.value)

    def on_removed(event: Any) -> None:
        taken[:] = [(layer, key) for layer, key in taken if layer is not event.value]

    def unbind() -> None:
        viewer.layers.events.inserted.disconnect(on_inserted)
        viewer.layers.events.removed.disconnect(on_removed)
        for layer, key in taken:
            layer.bind_key(key, None)
        taken.clear()
        for key in bound:
            viewer.bind_key(key, None)

    for layer in viewer.layers:
        take(layer)
    viewer.layers.events.inserted.connect(on_inserted)
    viewer.layers.events.removed.connect(on_removed)
    return unbind


def bind_shortcuts(window: ReviewWindow, canvas: Any, main_window: Any) -> list[Any]:
    """Bind and return the keys that never reach napari, see `BY_QT`."""
    from qtpy.QtCore import Qt
    from qtpy.QtGui import QKeySequence
    from qtpy.QtWidgets import QShortcut

    shortcuts = []
    for key, parent, context in (
        ("Tab", canvas, Qt.ShortcutContext.WidgetShortcut),
        *((key, main_window, Qt.ShortcutContext.WindowShortcut) for key in ("?", *VERDICT_KEYS)),
    ):
        action = next(a for a in ACTIONS if a.key == key)
        shortcut = QShortcut(QKeySequence(key), parent)
        shortcut.setContext(context)
        shortcut.activated.connect(lambda action=action: run_action(window, action.run))
        shortcuts.append(shortcut)
    return shortcuts


def _on_layer(layer: Any, bound: dict[str, Call]) -> dict[str, Call]:
    """What is to be bound on a layer itself, as its kind would have the key otherwise."""
    from napari.layers import Image, Labels

    found: dict[str, Call] = {}
    for key, call in bound.items():
        own = _of_kind(layer, key)
        if own is None:
            continue
        if isinstance(layer, Image):
            found[key] = call
        elif isinstance(layer, Labels) and key in SETTINGS_OF_BRUSHES:
            found[key] = _unless_painting(call, own)
    return found


def _tools_of(window: ReviewWindow, layer: Any) -> dict[Any, Call]:
    """What is to be bound on a label layer for its own tools: they say why they do nothing, and are taken back."""
    from napari.layers import Labels

    if not isinstance(layer, Labels):
        return {}
    tools = {key: call for key, call in Labels.class_keymap.items() if getattr(call, "__name__", "") in TOOLS}
    found: dict[Any, Call] = {key: _or_why(window, call) for key, call in tools.items()}
    if (undo := _of_kind(layer, UNDO)) is not None:
        found[UNDO] = _taken_back(window, undo)
    return found


def _or_why(window: ReviewWindow, theirs: Call) -> Call:
    """Take up a tool, or say why nothing can be painted: napari would say nothing."""

    def press(layer: Any) -> Any:
        if (why := window.editing.why_not(layer)) is None:
            return theirs(layer)
        window.show_message(why, hold=True)
        return None

    return press


def _taken_back(window: ReviewWindow, theirs: Call) -> Call:
    """Take back what was done last: of a label map of somebody's own, its strokes."""

    def press(layer: Any) -> Any:
        is_theirs = layer is not window.looking.display.layer("pred")
        if is_theirs and len(getattr(layer, "_undo_history", [])):
            return theirs(layer)
        run_action(window, take_back)
        return None

    return press


def _of_kind(layer: Any, key: str) -> Call | None:
    """What a kind of layer does with a key."""
    from napari.utils.key_bindings import coerce_keybinding

    wanted = coerce_keybinding(key)
    kinds = (getattr(kind, "class_keymap", {}) for kind in type(layer).__mro__)
    return next((keymap[wanted] for keymap in kinds if wanted in keymap), None)


def _unless_painting(ours: Call, theirs: Call) -> Call:
    """Do what the table says, or while something is painted what the layer does."""

    def press(layer: Any) -> Any:
        mode = str(getattr(layer.mode, "value", layer.mode))
        return (ours if mode in _IDLE else theirs)(layer)

    return press


def _bound(window: ReviewWindow, action: Action) -> Call:
    if action.release is None:

        def press(_: Any) -> None:
            run_action(window, action.run)

        return press

    release = action.release

    def hold(_: Any) -> Iterator[None]:
        run_action(window, action.run)
        yield
        run_action(window, release)

    return hold
