"""The dock that says what is looked at, by which rules, from which files and with which versions."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer
from qtpy.QtGui import QGuiApplication, QTextOption
from qtpy.QtWidgets import QHBoxLayout, QLabel, QPushButton, QTextBrowser, QVBoxLayout

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.about_facts import Section, about, as_text
from medotter_viewer.ui.widgets.dock import Panel
from medotter_viewer.ui.widgets.layout import dense
from medotter_viewer.ui.widgets.theme import tone_color

_PAUSE_MS = 400  # many cases that are scored are counted together


class AboutDock(Panel):
    """Task, definitions, coverage, files, versions; everything can be selected.

    What it says is gathered when it is seen, not while cases are stepped through behind other tabs.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    on_done : callable
        Called after a click, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    text : QTextBrowser
        What is said.
    copy : QPushButton
        Puts it on the clipboard as plain text.
    """

    def __init__(self, session: ReviewSession, on_done: Callable[[], None] = lambda: None, parent: Any = None) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        self._is_stale = True
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_PAUSE_MS)
        self._soon.timeout.connect(self.refresh)
        self.sections: list[Section] = []
        self.text = QTextBrowser()
        self.text.setOpenLinks(False)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)  # long paths
        self.copy, self.said = QPushButton("Copy as text"), QLabel()
        self.copy.setToolTip("all of it on the clipboard, for a report of a fault")
        self.copy.clicked.connect(self._on_copy_clicked)
        row = QHBoxLayout()
        row.addWidget(self.copy)
        row.addWidget(self.said, 1)
        layout = dense(QVBoxLayout(self))
        layout.addWidget(self.text, 1)
        layout.addLayout(row)
        events = session.events
        for signal in (events.case_changed, events.prediction_changed, events.rows_changed, events.row_changed):
            self._connections.add(signal, self._on_changed)

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Gather what is new."""
        super().showEvent(event)
        self.refresh()

    def changeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() in (event.Type.PaletteChange, event.Type.StyleChange):
            self._on_changed()

    def refresh(self) -> None:
        """Say what is so now, if anything may have changed."""
        if not self._is_stale:
            return
        self._is_stale = False
        self.sections = about(self._session)
        bar = self.text.verticalScrollBar()
        place = 0 if bar is None else bar.value()
        self.text.setHtml(_page(self.sections, self.palette()))
        if bar is not None:
            bar.setValue(place)

    def plain_text(self) -> str:
        """Return what is said as plain text."""
        self._is_stale = True  # the engine may be another by now
        self.refresh()
        return as_text(self.sections)

    def _on_changed(self, *_: object) -> None:
        self._is_stale = True
        if self.isVisible():
            self._soon.start()

    def _on_copy_clicked(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(self.plain_text())
            self.said.setText("copied")
        self._on_done()


def _page(sections: list[Section], palette: Any) -> str:
    """Sections as HTML, in the colours of the theme."""
    plain, quiet = (tone_color(palette, tone).name() for tone in ("plain", "quiet"))
    parts = []
    for section in sections:
        rows = "".join(
            f"<tr><td style='color:{quiet};padding-right:8px'>{html.escape(name)}</td>"
            f"<td style='color:{plain}'>{html.escape(value)}</td></tr>"
            for name, value in section.rows
        )
        text = f"<pre style='white-space:pre-wrap;color:{quiet}'>{html.escape(section.text)}</pre>" * bool(section.text)
        parts.append(
            f"<p style='color:{plain};margin-top:10px;margin-bottom:2px'><b>{html.escape(section.title)}</b></p>"
            f"<table cellspacing='0' cellpadding='1'>{rows}</table>{text}"
        )
    return "".join(parts)
