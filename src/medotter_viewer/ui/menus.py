"""Every action of the table in a menu of the window, and in napari's command palette.

The menu belongs to one window and goes with its review. The palette is one for all windows: its commands are there as
long as any review is open, and act on that of the window in front.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from qtpy.QtWidgets import QMenu

from medotter_viewer.ui.actions import ACTIONS, GROUPS, Action, run_action, shown_key, verdict_title

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow

TITLE = "&Review"
PREFIX = "medotter-viewer.review."
CONTEXT_KEY = "medotter_viewer_review"
"""True in the context of viewers with a review: elsewhere the commands of the palette are disabled."""

_REGISTERED: WeakKeyDictionary[Any, tuple[Callable[[], None], tuple[str, ...]]] = WeakKeyDictionary()
"""Of napari's application: what takes the commands out again, and the verdicts that they name."""


class ReviewMenu:
    """The menu of one window, and its part of the palette.

    Parameters
    ----------
    window : ReviewWindow
        On which actions of the menu act.

    Attributes
    ----------
    menu : QMenu
        With a menu for each group.
    """

    def __init__(self, window: ReviewWindow) -> None:
        self._window = window
        self._held: set[str] = set()
        self._added: list[tuple[Action, Any]] = []
        bar = window.viewer.window.main_menu
        self.menu = QMenu(TITLE, bar)
        self.menu.setToolTipsVisible(True)
        for group in GROUPS:
            if actions := [action for action in ACTIONS if action.group == group]:
                part = self.menu.addMenu(group.capitalize())
                for action in actions:
                    self._add(part, action)
        panels = self.menu.addMenu("Panels")
        for dock in window.docks.panels:
            panels.addAction(dock.toggleViewAction())
        bar.insertMenu(window.viewer.window.help_menu.menuAction(), self.menu)
        _context(window.viewer)[CONTEXT_KEY] = True
        self._choices_changed = window.session.verdicts.events.choices_changed
        self._choices_changed.connect(self._name_verdicts)
        self._name_verdicts()

    def run(self, action: Action) -> None:
        """Do what an action does; one that is held by its key begins, and ends when it is asked for again."""
        run = action.run
        if action.release is not None:
            if action.title in self._held:
                self._held.discard(action.title)
                run = action.release
            else:
                self._held.add(action.title)
        run_action(self._window, run)
        self._window.focus_canvas()

    def close(self) -> None:
        """Take the menu out of its window."""
        self._choices_changed.disconnect(self._name_verdicts, missing_ok=True)
        try:
            _context(self._window.viewer)[CONTEXT_KEY] = False
            self.menu.menuAction().setVisible(False)
            self._window.viewer.window.main_menu.removeAction(self.menu.menuAction())
            self.menu.deleteLater()
        except (AttributeError, RuntimeError):  # the window has gone, and taken it along
            return

    def _name_verdicts(self) -> None:
        """Write what actions do, by the words of the reader's list of verdicts, here and in the palette."""
        words = self._window.session.verdicts.words
        for action, added in self._added:
            title = capitalised(verdict_title(action, words)).replace("&", "&&")
            # Behind a tab Qt writes a key and does not listen to it: the canvas does.
            added.setText(f"{title}\t{shown_key(action.key)}" if action.key else title)
        _register(words)

    def _add(self, part: QMenu, action: Action) -> None:
        added = part.addAction("")
        added.setObjectName(command_id(action))
        self._added.append((action, added))
        added.triggered.connect(lambda _=False, action=action: self.run(action))


def command_id(action: Action) -> str:
    """Return the id of an action among napari's commands; the palette shows what stands before its last dot.

    Examples
    --------
    >>> command_id(Action(".", "next case", "cases", print))
    'medotter-viewer.review.next_case'
    """
    return PREFIX + re.sub(r"[^a-z0-9]+", "_", action.title.lower()).strip("_")


def capitalised(title: str) -> str:
    """Return a title as menus have it."""
    return title[:1].upper() + title[1:]


def unregister() -> None:
    """Take the commands out of the palette."""
    from napari._app_model import get_app_model

    app = get_app_model()
    found = _REGISTERED.pop(app, None)
    if found is not None:
        with _one_change(app):
            found[0]()


def _register(verdicts: Sequence[str]) -> None:
    """Put all actions into the palette, once for all windows, with the verdicts of the one that chose last."""
    from app_model.expressions import parse_expression
    from app_model.types import Action as Command
    from napari._app_model import get_app_model

    app = get_app_model()
    before = _REGISTERED.get(app)
    if before is not None and before[1] == tuple(verdicts):
        return
    commands = [
        Command(
            id=command_id(action),
            title=capitalised(verdict_title(action, verdicts)) + (f"  ({shown_key(action.key)})" if action.key else ""),
            callback=_in_front(action),
            enablement=parse_expression(CONTEXT_KEY),
        )
        for action in ACTIONS
    ]
    with _one_change(app):
        if before is not None:
            before[0]()
        _REGISTERED[app] = app.register_actions(commands), tuple(verdicts)


def _in_front(action: Action) -> Callable[[], None]:
    """What a command of the palette does."""

    def run() -> None:
        import napari

        from medotter_viewer.ui.window import window_of  # it makes the menu

        viewer = napari.current_viewer()
        window = None if viewer is None else window_of(viewer)
        if window is not None:
            window.menu.run(action)

    return run


def _context(viewer: Any) -> Any:
    """What napari knows of a viewer when it decides which commands there are."""
    from app_model.expressions import get_context

    found = get_context(viewer.layers)
    return {} if found is None else found


def _one_change(app: Any) -> Any:
    """Tell palettes of all changes at once: each of them looks through all commands."""
    from contextlib import contextmanager

    @contextmanager
    def quietly() -> Any:
        with app.menus.menus_changed.blocked():
            yield
        app.menus.menus_changed.emit({app.menus.COMMAND_PALETTE_ID})

    return quietly()
