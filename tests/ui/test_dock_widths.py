"""The picture keeps its room in a narrow window."""

from __future__ import annotations

from typing import Any

import pytest
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QDockWidget, QLabel, QMainWindow

from medotter_viewer.ui.dock_widths import LEAST, LEAST_CANVAS, DockWidths, shared
from medotter_viewer.ui.widgets.dock import Panel


@pytest.mark.parametrize(
    ("room", "widths"),
    [
        (1260, [350, 460]),  # 450 are left for the picture
        (1116, [311, 355]),  # 144 are lacking, half of what the two can spare: 78 and 210
        (972, [272, 250]),
        (600, [272, 250]),  # the picture gives way in the end
    ],
)
def test_what_is_lacking_is_shared(room: int, widths: list[int]) -> None:
    assert shared(room, [350, 460]) == widths


def test_docks_that_are_narrow_already_stay(qapp: Any) -> None:
    assert shared(600, [200, 200]) == [200, 200]


@pytest.fixture
def main(qtbot: Any) -> Any:
    """A window with a panel left and right, behind the left one a guest that wants to be wide."""
    main = QMainWindow()
    qtbot.addWidget(main)
    main.setCentralWidget(QLabel("picture"))
    docks = [QDockWidget(name, main) for name in ("Cases", "Scores", "controls")]
    for dock, panel in zip(docks, (Panel(), Panel(), QLabel("w" * 90)), strict=True):
        dock.setWidget(panel)
    areas = Qt.DockWidgetArea
    for dock, area in zip(
        docks, (areas.LeftDockWidgetArea, areas.RightDockWidgetArea, areas.LeftDockWidgetArea), strict=True
    ):
        main.addDockWidget(area, dock)
    main.tabifyDockWidget(docks[0], docks[2])
    docks[0].raise_()
    return main, docks


def test_a_narrow_window_narrows_the_panels_and_a_wide_one_gives_them_back(main: Any, qtbot: Any) -> None:
    window, (left, right, guest) = main
    window.resize(1400, 600)
    window.show()
    widths = DockWidths(window, (left, right), (350, 460), [guest.widget()])
    qtbot.waitUntil(lambda: (left.width(), right.width()) == (350, 460))
    qtbot.wait(100)
    window.resize(1024, 600)
    qtbot.waitUntil(lambda: window.centralWidget().width() >= LEAST_CANVAS)
    assert left.width() >= LEAST[0]
    assert right.width() >= LEAST[1]
    qtbot.wait(100)
    window.resize(1400, 600)
    qtbot.waitUntil(lambda: (left.width(), right.width()) == (350, 460))
    qtbot.wait(100)
    window.resizeDocks([right], [500], Qt.Orientation.Horizontal)  # as somebody who drags its edge
    qtbot.waitUntil(lambda: right.width() == 500)
    window.resize(1390, 600)
    qtbot.wait(150)
    assert right.width() == 500
    widths.close()
    assert guest.widget().minimumWidth() == 0
