"""The line in which the list of cases is filtered."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import Qt, Signal
from qtpy.QtWidgets import QLineEdit

from medotter_viewer.session.case_list import FILTER_FIELDS

_FIELDS = " ".join(f"{name}:" for name in FILTER_FIELDS if name != "reviewed")


class FilterField(QLineEdit):
    """Words that cases must have.

    Attributes
    ----------
    left : Signal()
        Return or Escape was pressed: the filter stays, the keyboard goes elsewhere.
    """

    left = Signal()

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText("filter, e.g. dataset:BTCV status:error")
        self.setToolTip(
            f"words that must all be found; {_FIELDS} look in one field\n"
            "reviewed:yes and reviewed:no tell cases with a verdict of yours from those without\n"
            "Return or Esc gives the keyboard back to the picture"
        )
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Leave, or write."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            self.left.emit()
        else:
            super().keyPressEvent(event)
