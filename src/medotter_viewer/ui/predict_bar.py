"""The button that has a model predict the open case, at the bottom of the window: what it does, and for how long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from medotter_viewer.session.predicting import Predicting
from medotter_viewer.ui.widgets.connections import Connections

_TICK_MS = 500


class PredictBar(QWidget):
    """A button and a line of words.

    Parameters
    ----------
    predicting : Predicting
        What runs the model.
    on_asked : callable
        Starts a prediction of the open case, or cancels the one that runs.
    say : callable
        Says something in the status line.
    """

    def __init__(
        self, predicting: Predicting, on_asked: Callable[[], None], say: Callable[[str], None], parent: Any = None
    ) -> None:
        super().__init__(parent)
        self._predicting, self._say = predicting, say
        self._began, self._step = 0.0, ""
        self.button, self.words = QPushButton(), QLabel()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.words)
        layout.addWidget(self.button)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show)
        self.button.clicked.connect(on_asked)
        self._connections = Connections()
        self._connections.add(predicting.events.started, self._on_started)
        self._connections.add(predicting.events.step_changed, self._on_step_changed)
        self._connections.add(predicting.events.ended, self._on_ended)
        self._show()

    def close_connections(self) -> None:
        """Listen no more."""
        self._tick.stop()
        self._connections.close()

    def _on_started(self, _: str) -> None:
        self._began, self._step = time.monotonic(), ""
        self._tick.start()
        self._show()

    def _on_step_changed(self, words: str) -> None:
        self._step = words
        self._show()

    def _on_ended(self, words: str) -> None:
        self._tick.stop()
        self._show()
        if words:
            self._say(words)

    def _show(self) -> None:
        running = self._predicting.is_running
        self.button.setText("Cancel" if running else "Predict this case")
        hint = "drop what it gives" if running else f"run {self._predicting.name} on the open case; nothing is written"
        self.button.setToolTip(f"{hint} (Shift+P)")
        seconds = f" · {time.monotonic() - self._began:.0f} s"
        self.words.setText(f"{self._step}{seconds}" if running and self._step else "")
