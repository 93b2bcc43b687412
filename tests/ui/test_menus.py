"""The menu of a review and the commands of the palette, in real windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from review_windows import block_case, settle, wait_for

from medotter_viewer.ui.actions import ACTIONS, shown_key, verdict_title
from medotter_viewer.ui.focus import is_for_writing
from medotter_viewer.ui.menus import capitalised, command_id

pytestmark = [pytest.mark.window, pytest.mark.timeout(120)]


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    cases = {"D/0": block_case(0), "D/1": block_case(1)}
    return write_bundle(tmp_path / "bundle", cases, predictions={name: case["gt"] for name, case in cases.items()})


@pytest.fixture
def window(open_review: Any, tiny: Any) -> Any:
    found = open_review(tiny.bundle, tiny.predictions)
    found.viewer.window._qt_window.activateWindow()
    settle(0.1)
    return found


def entries(menu: Any) -> dict[str, Any]:
    """Actions of a menu and of the menus in it, by the id of their command."""
    found = {}
    for action in menu.actions():
        if action.menu() is not None and action.text() != "Panels":  # no commands: they show and hide
            found.update(entries(action.menu()))
        elif action.menu() is None and not action.isSeparator():
            found[action.objectName()] = action
    return found


def palette(viewer: Any, text: str = "medotter-viewer") -> dict[str, bool]:
    """Commands that the palette of a viewer lists for some words, and whether they can be chosen."""
    main = viewer.window._qt_window
    main._command_palette.update_context(main)
    listing = main._command_palette._list
    from napari._qt.widgets.qt_command_palette import _enabled

    return {c.id: _enabled(c, listing._app_model_context) for c in listing.iter_top_hits(text)}


def commands() -> set[str]:
    return {command_id(action) for action in ACTIONS}


def every_action_is_in_the_menu_with_its_key_shown_and_not_bound(window: Any) -> None:
    found = entries(window.menu.menu)
    assert set(found) == commands()
    (panels,) = (action.menu() for action in window.menu.menu.actions() if action.text() == "Panels")
    assert [action.text() for action in panels.actions()] == [dock.name for dock in window.docks.panels]
    for action in ACTIONS:
        title, _, key = found[command_id(action)].text().partition("\t")
        words = window.session.verdicts.words
        assert title.replace("&&", "&") == capitalised(verdict_title(action, words))
        assert key == shown_key(action.key)
        assert found[command_id(action)].shortcut().isEmpty()  # the canvas listens to it


def the_menu_stands_before_help_in_the_window_s_own_bar(window: Any) -> None:
    titles = [action.text().replace("&", "") for action in window.viewer.window.main_menu.actions()]
    assert titles.index("Review") == titles.index("Help") - 1


def an_entry_does_what_its_key_does(window: Any) -> None:
    entries(window.menu.menu)["medotter-viewer.review.next_case"].trigger()
    wait_for(lambda: window.session.case.case_id == "D/1", "next case")
    assert window.viewer.window._qt_viewer.canvas.native.hasFocus()


def an_entry_of_a_held_key_begins_and_ends_by_turns(window: Any) -> None:
    entry = entries(window.menu.menu)["medotter-viewer.review.hide_all_overlays_while_held"]
    assert window.display.layer("gt").visible
    entry.trigger()
    assert not window.display.layer("gt").visible
    entry.trigger()
    assert window.display.layer("gt").visible


def every_action_is_in_the_palette_and_acts_on_the_review(window: Any) -> None:
    from napari._app_model import get_app_model

    found = palette(window.viewer)
    assert commands() <= set(found)
    assert all(found[name] for name in commands())
    get_app_model().commands.execute_command("medotter-viewer.review.next_case").result()
    wait_for(lambda: window.session.case.case_id == "D/1", "next case")


def test_menu_and_palette_of_one_window(window: Any) -> None:
    every_action_is_in_the_menu_with_its_key_shown_and_not_bound(window)
    the_menu_stands_before_help_in_the_window_s_own_bar(window)
    an_entry_of_a_held_key_begins_and_ends_by_turns(window)
    an_entry_does_what_its_key_does(window)
    window.session.go_to("D/0")
    wait_for(lambda: window.session.case.case_id == "D/0", "the first case again")
    every_action_is_in_the_palette_and_acts_on_the_review(window)


def test_a_command_acts_on_the_review_of_the_viewer_in_front(open_review: Any, tiny: Any) -> None:
    from napari._app_model import get_app_model
    from napari._qt.qt_main_window import _QtMainWindow

    first, second = (open_review(tiny.bundle, tiny.predictions) for _ in range(2))
    run = get_app_model().commands.execute_command

    def to_front(window: Any) -> None:
        main = window.viewer.window._qt_window
        main.activateWindow()
        main.raise_()
        settle(0.2)
        if _QtMainWindow.current() is not main:  # without a window manager nobody is told
            _QtMainWindow._instances.append(_QtMainWindow._instances.pop(_QtMainWindow._instances.index(main)))

    to_front(second)
    run("medotter-viewer.review.next_case").result()
    wait_for(lambda: second.session.case.case_id == "D/1", "next case of the second")
    assert first.session.case.case_id == "D/0"
    to_front(first)
    run("medotter-viewer.review.next_case").result()
    wait_for(lambda: first.session.case.case_id == "D/1", "next case of the first")


def test_with_the_last_review_all_of_it_goes(open_review: Any, tiny: Any) -> None:
    from napari._app_model import get_app_model

    first, second = (open_review(tiny.bundle, tiny.predictions) for _ in range(2))
    commands_there = get_app_model().commands
    second.close()
    settle(0.1)
    titles = [action.text() for action in second.viewer.window.main_menu.actions()]
    assert "&Review" not in titles
    assert not any(palette(second.viewer).get(name) for name in commands())  # there, but not to be chosen
    assert all(palette(first.viewer)[name] for name in commands())
    first.close()
    settle(0.1)
    assert not commands() & set(palette(first.viewer))
    assert not any(name in commands_there for name in commands())


def test_a_review_that_takes_the_place_of_another_has_one_menu(window: Any, tiny: Any) -> None:
    from medotter_viewer import open_source
    from medotter_viewer.ui.window import open_window

    again = open_window(open_source(tiny.bundle), viewer=window.viewer)
    settle(0.2)
    titles = [action.text() for action in window.viewer.window.main_menu.actions()]
    assert titles.count("&Review") == 1
    assert commands() <= set(palette(window.viewer))
    again.close()


class TestTheKeyboard:
    """After a click in a panel it is the canvas's again, unless something is written there."""

    def test_comes_back_after_every_button_of_every_panel(self, window: Any, qtbot: Any, monkeypatch: Any) -> None:
        from qtpy.QtCore import Qt
        from qtpy.QtWidgets import QAbstractButton, QApplication, QFileDialog

        for name in ("getOpenFileName", "getSaveFileName"):
            monkeypatch.setattr(QFileDialog, name, lambda *_, **__: ("", ""))
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_, **__: "")
        monkeypatch.setattr(QFileDialog, "exec", lambda *_: 0)
        canvas = window.viewer.window._qt_viewer.canvas.native
        clicked = 0
        for dock in list(window.docks._docks):
            dock.raise_()
            settle(0.1)
            for button in dock.findChildren(QAbstractButton):
                if not (button.isVisible() and button.isEnabled()) or button.objectName().startswith("QTitleBar"):
                    continue
                if not button.window() or button.parent() is dock.titleBarWidget():
                    continue
                clicked += 1
                button.setFocus(Qt.FocusReason.MouseFocusReason)
                qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
                settle(0.15)
                writing = QApplication.focusWidget()
                assert canvas.hasFocus() or is_for_writing(writing), (dock.name, button.text())
        assert clicked >= 4

    def test_comes_back_after_a_row_and_stays_where_something_is_written(self, window: Any, qtbot: Any) -> None:
        from qtpy.QtCore import Qt
        from qtpy.QtWidgets import QLineEdit

        table = window.docks.scores.table
        place = table.visualRect(table.model().index(0, 0)).center()
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        settle(0.2)
        assert window.viewer.window._qt_viewer.canvas.native.hasFocus()

        field = window.docks.cases.findChildren(QLineEdit)[0]
        qtbot.mouseClick(field, Qt.MouseButton.LeftButton)
        settle(0.2)
        assert field.hasFocus()
        assert field.text() == ""
