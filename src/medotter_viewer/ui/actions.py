"""The one table of keys: it binds them, documents them and tests them.

Also the place where our errors are caught when an action fails, and shown in the status line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medotter_viewer.errors import MedotterViewerError

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow


Run = Callable[["ReviewWindow"], object]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a key does.

    Parameters
    ----------
    key : str
        As napari writes it.
    title : str
        What it does, for the overlay of keys and the menu.
    run : callable
        Takes the window.
    release : callable, optional
        For a key that is held: takes the window when it is let go.
    """

    key: str
    title: str
    run: Run
    release: Run | None = None


ACTIONS: tuple[Action, ...] = (
    Action(",", "previous case", lambda w: w.session.step(-1)),
    Action(".", "next case", lambda w: w.session.step(1)),
    Action("PageUp", "slice towards the head", lambda w: w.step_slice(-1)),
    Action("PageDown", "slice towards the feet", lambda w: w.step_slice(1)),
    Action("8", "worst slice", lambda w: w.looking.go.to_worst_slice()),
    Action("G", "contours / fill / errors / off", lambda w: w.cycle_mode()),
    Action("H", "hide all overlays while held", lambda w: w.looking.hide(True), lambda w: w.looking.hide(False)),
    Action("Tab", "blink ground truth / prediction / both", lambda w: w.blink()),
    Action("W", "next window preset", lambda w: w.looking.next_window()),
    Action("K", "next image channel", lambda w: w.looking.next_channel()),
    Action("Shift-N", "native / canonical ground truth", lambda w: w.session.show_native(not w.session.native_shown)),
    Action("Shift-O", "contours of structures that are not scored", lambda w: w.toggle_others()),
    Action("Shift-E", "edit predicted contours or points / end it", lambda w: w.editing.toggle()),
    Action("Control-Z", "take back a change of contours or points", lambda w: w.editing.undo()),
    Action("Control-Shift-Z", "do it again", lambda w: w.editing.redo()),
    Action("0", "whole image", lambda w: w.display.fit()),
    Action("?", "show or hide the keys", lambda w: w.toggle_help()),
)


def bind_keys(window: ReviewWindow) -> None:
    """Bind every action of the table in a window's viewer, replacing what napari does with these keys."""
    for action in ACTIONS:
        if action.key not in ("Tab", "?"):  # Qt keeps these for itself: see `bind_shortcuts`
            window.viewer.bind_key(action.key, _bound(window, action), overwrite=True)


def unbind_keys(viewer: Any) -> None:
    """Give every key of the table back to napari."""
    for action in ACTIONS:
        if action.key not in ("Tab", "?"):
            viewer.bind_key(action.key, None)


def bind_shortcuts(window: ReviewWindow, canvas: Any, main_window: Any) -> list[Any]:
    """Bind and return the keys that never reach napari: Tab (moves the focus) and ? (differs between keyboards)."""
    from qtpy.QtCore import Qt
    from qtpy.QtGui import QKeySequence
    from qtpy.QtWidgets import QShortcut

    shortcuts = []
    for key, parent, context in (
        ("Tab", canvas, Qt.ShortcutContext.WidgetShortcut),
        ("?", main_window, Qt.ShortcutContext.WindowShortcut),
    ):
        action = next(a for a in ACTIONS if a.key == key)
        shortcut = QShortcut(QKeySequence(key), parent)
        shortcut.setContext(context)
        shortcut.activated.connect(lambda action=action: run_action(window, action.run))
        shortcuts.append(shortcut)
    return shortcuts


def run_action(window: ReviewWindow, run: Run) -> None:
    """Run what an action does; an error of ours is shown, any other surfaces."""
    try:
        run(window)
    except MedotterViewerError as error:
        window.show_message(str(error))


def help_text() -> str:
    """Return the table of keys, one line each."""
    keys = [(action.key, action.title) for action in ACTIONS]
    keys += [("wheel", "scroll slices"), ("Ctrl+wheel", "zoom")]
    width = max(len(key) for key, _ in keys)
    return "\n".join(f"{key:<{width}}  {title}" for key, title in keys)


def _bound(window: ReviewWindow, action: Action) -> Callable[[Any], Iterator[None] | None]:
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
