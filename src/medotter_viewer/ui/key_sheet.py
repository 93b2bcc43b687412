"""The table of keys over the window, in two columns of groups; ? or a click takes it away."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from qtpy.QtCore import QEvent, QObject, Qt
from qtpy.QtGui import QKeySequence
from qtpy.QtWidgets import QFrame, QGridLayout, QLabel, QShortcut, QWidget

from medotter_viewer.ui.actions import ACTIONS, GROUPS, MOUSE, SHARED, shown_key, verdict_title

Section = tuple[str, list[tuple[str, str]]]

_HEADING_LINES = 2  # a heading with the gap above it
_MARK = "*"
_STYLE = """
KeySheet { background: #16191e; border: 1px solid #5b6470; border-radius: 6px; }
KeySheet QLabel { background: transparent; color: #f2f4f7; font-size: 13px; }
"""
_HEADING, _KEY, _QUIET = "#8fc1ff", "#ffd67a", "#aab2bd"


def sections(verdicts: Sequence[str] = ()) -> list[Section]:
    """Return what each key and the mouse do, group by group, in the order of the table.

    Parameters
    ----------
    verdicts : sequence of str
        The reader's list, whose words stand for the keys of verdicts.
    """
    found: list[Section] = []
    for group in GROUPS:
        lines = [(_key_text(a.key), verdict_title(a, verdicts)) for a in ACTIONS if a.group == group and a.key]
        lines += [(what, title) for what, title, of in MOUSE if of == group]
        if lines:
            found.append((group, lines))
    return found


def footnote() -> str:
    """Return what is to be said of keys that tools of layers have too; empty without such."""
    if not any(action.key in SHARED for action in ACTIONS):
        return ""
    return f"{_MARK} the tool's own while you paint, or draw contours with napari's tools"


def columns(found: list[Section]) -> tuple[list[Section], list[Section]]:
    """Split groups into two columns of nearly equal height, in order."""
    heights = [_HEADING_LINES + len(lines) for _, lines in found]
    splits = range(1, len(found) + 1)
    best = min(splits, key=lambda n: (max(sum(heights[:n]), sum(heights[n:])), n), default=0)
    return found[:best], found[best:]


class KeySheet(QFrame):
    """The table, in the middle of a window.

    Parameters
    ----------
    window : QWidget
        Over which it lies; it stays as the window is resized.
    verdicts : callable
        Returns the reader's list of verdicts.
    """

    def __init__(self, window: QWidget, verdicts: Callable[[], Sequence[str]] = tuple) -> None:
        super().__init__(window)
        self._verdicts = verdicts
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setStyleSheet(_STYLE)
        layout = QGridLayout(self)
        layout.setContentsMargins(26, 18, 26, 16)
        layout.setHorizontalSpacing(44)
        layout.setVerticalSpacing(14)
        self._columns = [_label(""), _label("")]
        for place, label in enumerate(self._columns):
            layout.addWidget(label, 0, place, Qt.AlignmentFlag.AlignTop)
        self._write()
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), window)  # only while it is shown
        self._escape.setEnabled(False)
        self._escape.activated.connect(self.hide)
        words = " · ".join(filter(None, ["?, Esc or a click closes this", footnote()]))
        layout.addWidget(_label(f"<span style='color:{_QUIET}'>{html.escape(words)}</span>"), 1, 0, 1, 2)
        self.hide()
        window.installEventFilter(self)

    @property
    def is_shown(self) -> bool:
        """Whether it is on the screen."""
        return not self.isHidden()

    def toggle(self) -> None:
        """Show it, or take it away."""
        self._write()  # the list of verdicts may be another
        self.setVisible(not self.is_shown)
        if self.is_shown:
            self._centre()
            self.raise_()

    def mousePressEvent(self, event: Any) -> None:  # noqa: ARG002, N802
        """Go away."""
        self.hide()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: ARG002, N802
        """Stay in the middle."""
        if event is not None and event.type() == QEvent.Type.Resize and self.is_shown:
            self._centre()
        return False

    def showEvent(self, event: Any) -> None:  # noqa: N802
        """Take Esc."""
        super().showEvent(event)
        self._escape.setEnabled(True)

    def hideEvent(self, event: Any) -> None:  # noqa: N802
        """Leave Esc to others."""
        super().hideEvent(event)
        self._escape.setEnabled(False)

    def close_quietly(self) -> None:
        """Leave the window; nothing happens where the window has taken this widget with it already."""
        try:
            self.hide()
            self._escape.deleteLater()
            self.setParent(None)
            self.deleteLater()
        except RuntimeError:
            return

    def _write(self) -> None:
        for label, part in zip(self._columns, columns(sections(self._verdicts())), strict=True):
            label.setText(_table(part))

    def _centre(self) -> None:
        parent = self.parentWidget()
        if parent is not None:
            self.adjustSize()
            self.move(max(0, (parent.width() - self.width()) // 2), max(0, (parent.height() - self.height()) // 2))


def _key_text(key: str) -> str:
    return shown_key(key) + _MARK * (key in SHARED)


def _label(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.RichText)
    return label


def _table(part: Iterable[Section]) -> str:
    """Groups as rows of one table of HTML."""
    rows = []
    for number, (group, lines) in enumerate(part):
        gap = "padding-top:10px;" if number else ""
        rows.append(f"<tr><td colspan='2' style='{gap}color:{_HEADING}'><b>{html.escape(group.upper())}</b></td></tr>")
        rows += [
            f"<tr><td style='color:{_KEY};padding-right:18px'><b>{html.escape(key)}</b></td>"
            f"<td>{html.escape(title)}</td></tr>"
            for key, title in lines
        ]
    return f"<table cellspacing='0' cellpadding='2'>{''.join(rows)}</table>"
