"""Bring answers from worker threads to the main thread, and show our errors there; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QObject, Qt, Signal, Slot

from medotter_viewer.errors import MedotterViewerError


class MainThread(QObject):
    """Runs callables on the thread it was made in.

    Parameters
    ----------
    on_error : callable
        Takes the message of an error of ours; any other exception surfaces.
    """

    _requested = Signal(object)

    def __init__(self, on_error: Callable[[str], None]) -> None:
        super().__init__()
        self._on_error = on_error
        self._closed = False
        self._requested.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def deliver(self, call: Callable[[], None]) -> None:
        """Run a callable on the main thread, soon; callable from any thread."""
        if not self._closed:
            self._requested.emit(call)

    def close(self) -> None:
        """Drop what has not run yet."""
        self._closed = True

    @Slot(object)
    def _run(self, call: Any) -> None:
        if self._closed:
            return
        try:
            call()
        except MedotterViewerError as error:
            self._on_error(str(error))
        except Exception as error:
            if isinstance(error.__cause__, MedotterViewerError):  # psygnal wraps what a listener raises
                self._on_error(str(error.__cause__))
                return
            raise
