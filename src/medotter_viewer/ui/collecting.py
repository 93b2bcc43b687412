"""Keep what a window loaded out of Python's collections of garbage, in a process that is ours alone.

The collector passes over every object there is whenever many new ones were made: 450,000 of modules, menus and
kernels, of which nothing ever goes, take half a second in which the window stands still. While a review is open they
are set aside; when it is closed they are looked at again, so that nothing of it stays.
"""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import Any

from qtpy.QtCore import QTimer

from medotter_viewer.engine import choice

_LOOK_EVERY_MS = 250
_process: dict[str, bool] = {"is ours": False}


def this_process_is_ours() -> None:
    """Allow that objects are set aside: no user's own program or notebook runs in this process."""
    _process["is ours"] = True


class Collecting:
    """Sets objects aside once a window has loaded what it needs.

    Parameters
    ----------
    window : ReviewWindow
        Whose first case is waited for.
    """

    def __init__(self, window: Any) -> None:
        self._window = weakref.ref(window)
        self.is_set_aside = False
        self._due = QTimer()
        self._due.setInterval(_LOOK_EVERY_MS)
        self._due.timeout.connect(self._look)
        if _process["is ours"]:
            self._due.start()

    def close(self) -> None:
        """Let everything be collected again."""
        with contextlib.suppress(RuntimeError):  # the program ends, and the timer is gone
            self._due.stop()
        if self.is_set_aside:
            self.is_set_aside = False
            gc.unfreeze()

    def _look(self) -> None:
        window = self._window()
        if window is None:
            self._due.stop()
        elif window.session.opened is not None and window.session.is_idle and not choice.is_preparing():
            self._due.stop()
            self.is_set_aside = True
            gc.freeze()
