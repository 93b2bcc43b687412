"""The table of keys over a real window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from review_windows import block_case, settle

from medotter_viewer.ui.actions import ACTIONS, VERDICT_KEYS

pytestmark = [pytest.mark.window, pytest.mark.timeout(120)]


@pytest.fixture
def window(open_review: Any, tmp_path: Path, write_bundle: Any) -> Any:
    tiny = write_bundle(tmp_path / "bundle", {"D/0": block_case()}, predictions={"D/0": block_case()["gt"]})
    return open_review(tiny.bundle, tiny.predictions)


def it_fits_into_a_window_of_1400_by_840_and_names_every_key(window: Any) -> None:
    from qtpy.QtWidgets import QLabel

    window.toggle_help()
    settle(0.1)
    sheet, main = window.key_sheet, window.viewer.window._qt_window
    assert (main.width(), main.height()) == (1400, 840)
    assert sheet.is_shown
    assert main.rect().contains(sheet.geometry())
    text = " ".join(label.text() for label in sheet.findChildren(QLabel))
    others = [action for action in ACTIONS if action.key and action.key not in VERDICT_KEYS]
    assert all(action.title.replace("&", "&amp;") in text for action in others)
    assert all(f"verdict: {word}<" in text for word in window.session.verdicts.words)
    for label in sheet.findChildren(QLabel):  # nothing is cut off
        assert label.width() >= label.sizeHint().width()
        assert label.height() >= label.sizeHint().height()


def the_key_and_a_click_take_it_away(window: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    shortcut = next(s for s in window._shortcuts if s.key().toString() == "?")
    for shown in (True, False, True):
        shortcut.activated.emit()
        assert window.key_sheet.is_shown is shown
    qtbot.mouseClick(window.key_sheet, Qt.MouseButton.LeftButton)
    assert not window.key_sheet.is_shown
    window.toggle_help()
    assert window.key_sheet._escape.isEnabled()
    window.key_sheet._escape.activated.emit()
    assert not window.key_sheet.is_shown
    assert not window.key_sheet._escape.isEnabled()


def keys_go_on_reaching_the_canvas_under_it(window: Any) -> None:
    window.focus_canvas()
    settle(0.1)
    window.toggle_help()
    settle(0.1)
    main = window.viewer.window._qt_window
    assert main.focusWidget() is window.viewer.window._qt_viewer.canvas.native


def test_the_table_of_keys_over_a_window(window: Any, qtbot: Any) -> None:
    it_fits_into_a_window_of_1400_by_840_and_names_every_key(window)
    window.toggle_help()
    the_key_and_a_click_take_it_away(window, qtbot)
    keys_go_on_reaching_the_canvas_under_it(window)
