"""A line that must not be overlooked is seen in both themes."""

from __future__ import annotations

from typing import Any

from qtpy.QtGui import QColor, QPalette
from qtpy.QtWidgets import QVBoxLayout, QWidget

from medotter_viewer.ui.widgets.alarm import Alarm


def test_it_is_hidden_without_words_and_takes_the_colour_of_the_theme(qtbot: Any) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    alarm = Alarm(around)
    QVBoxLayout(around).addWidget(alarm)
    around.show()
    assert not alarm.isVisible()
    for text, ground in (("#f0f1f2", "#262930"), ("#3b3a39", "#efebe9")):
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(text))
        palette.setColor(QPalette.ColorRole.Window, QColor(ground))
        around.setPalette(palette)
        alarm.say("")
        alarm.say("one seed lies outside")
        assert alarm.isVisible()
        assert ("#ff8f85" if text == "#f0f1f2" else "#b3261e") in alarm.styleSheet()
