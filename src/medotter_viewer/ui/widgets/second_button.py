"""The button for predictions: it opens those of a first model, lays a second model's beside them, and closes these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import Signal
from qtpy.QtWidgets import QFileDialog, QPushButton

from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opened_as import opened_as
from medotter_viewer.sources.other_predictions import is_predicted
from medotter_viewer.ui.widgets.connections import Connections

_ASK_FIRST, _ASK = "Predictions…", "Second prediction…"
_LONGEST = 18  # letters of a model's name


class SecondButton(QPushButton):
    """Asks for a folder, or closes the second prediction.

    A review without any prediction has none to lay a second beside: the button then asks for the first.

    Parameters
    ----------
    session : ReviewSession
        What is told.
    on_done : callable
        Called afterwards, so that the window can give the keyboard back to the canvas.

    Attributes
    ----------
    first_requested : Signal
        The review has no predictions and is to get some: it must be opened anew.
    """

    first_requested = Signal()

    def __init__(self, session: ReviewSession, on_done: Callable[[], None], parent: Any = None) -> None:
        super().__init__(parent)
        self._session, self._on_done = session, on_done
        source = session.source
        has_first = source.model is not None and any(is_predicted(entry) for entry in source.entries())
        self._lacks_first = not has_first and opened_as(source) is not None
        self._connections = Connections()
        judged = session.verdicts.events
        for signal in (
            session.second.events.chosen,
            session.events.case_changed,
            judged.case_changed,
            judged.all_changed,
        ):
            self._connections.add(signal, self._show_state)
        self.clicked.connect(self._on_clicked)
        self._show_state()

    def close_connections(self) -> None:
        """Stop listening."""
        self._connections.close()

    @property
    def _asks_for_first(self) -> bool:
        return self._lacks_first and not self._session.second.is_on

    def _show_state(self, _: object = None) -> None:
        second = self._session.second
        if second.is_on and self._session.verdicts.hides_open(self._session.case):
            self.setText("Close B")
            self.setToolTip("you are blinded: models are named with your verdict on the case")
            return
        if self._asks_for_first:
            self.setText(_ASK_FIRST)
            self.setToolTip("open the folder of a model's predictions for these cases, in this window")
            return
        name = second.name if len(second.name) <= _LONGEST else f"{second.name[: _LONGEST - 1]}…"
        self.setText(f"Close B: {name}" if second.is_on else _ASK)
        first = self._session.source.model or "no predictions"
        self.setToolTip(
            f"A: {first}\nB: {second.name}\nlook at A alone"
            if second.is_on
            else "lay another model's predictions beside these: both contours (key B), both numbers, cases by B−A"
        )

    def _on_clicked(self) -> None:
        second = self._session.second
        if self._asks_for_first:
            self.first_requested.emit()
            return
        try:
            if second.is_on:
                second.close()
            elif folder := QFileDialog.getExistingDirectory(self.window(), "Folder of the second model's predictions"):
                second.open_folder(folder)
        except MedotterViewerError as error:
            self._session.events.failed.emit(str(error))
        self._on_done()
