"""What all panels share."""

from __future__ import annotations

from typing import Any

from qtpy.QtWidgets import QWidget

from medotter_viewer.ui.widgets.connections import Connections
from medotter_viewer.ui.widgets.layout import MIN_WIDTH


class Panel(QWidget):
    """A widget that listens to a session, through `_connections`, until it is closed."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.setMinimumWidth(MIN_WIDTH)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # behind another tab it is hidden: its width is not given away
        self.setSizePolicy(policy)
        self._connections = Connections()

    def close_connections(self) -> None:
        """Stop listening to the session."""
        self._connections.close()

    def closeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Stop listening."""
        self.close_connections()
        super().closeEvent(event)
