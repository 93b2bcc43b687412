"""Margins and sizes that all docks share."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import Qt
from qtpy.QtWidgets import QLabel

MIN_WIDTH = 220
"""Of a panel: a label or table that wants more is elided or scrolls, and does not widen the window."""


def dense(layout: Any) -> Any:
    """Return a layout after its margins were made small."""
    layout.setContentsMargins(4, 4, 4, 4)
    layout.setSpacing(4)
    return layout


def remark() -> Any:
    """Return an empty label for a line or two of plain words, which can be selected and copied."""
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
