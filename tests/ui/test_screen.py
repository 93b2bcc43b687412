"""A window with its frame is no larger than the screen."""

from __future__ import annotations

from typing import Any

from medotter_viewer.ui.screen import fit_screen


def test_a_window_that_is_larger_than_the_screen_is_made_to_fit_and_a_small_one_stays(qtbot: Any) -> None:
    from qtpy.QtWidgets import QMainWindow

    main = QMainWindow()
    qtbot.addWidget(main)
    main.resize(5000, 4000)
    fit_screen(main)
    room, frame = main.screen().availableGeometry(), main.frameGeometry().size() - main.size()
    assert main.width() + frame.width() == room.width()
    assert main.height() + frame.height() == room.height()
    main.resize(300, 200)
    fit_screen(main)
    assert (main.width(), main.height()) == (300, 200)
