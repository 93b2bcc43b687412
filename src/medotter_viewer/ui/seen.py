"""Whether the open case has been seen: what is judged must be what was on the screen when the key was pressed.

While a case is put on the screen the window handles no keys; those that were pressed meanwhile, at the picture of the
case before, come right after it. So a case counts as seen a moment later, once the event loop keeps time again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer

CALM_MS = 200
"""Nobody sees a picture, judges it and presses a key within this time."""
_LATE_MS = 50
_LONGEST_MS = 2000  # of a machine that never keeps time


class Seen:
    """Watches cases come up.

    Parameters
    ----------
    clock : callable
        Seconds that go on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.is_seen = True
        self._opened = self._started = clock()
        self._due = QTimer()
        self._due.setSingleShot(True)
        self._due.setInterval(CALM_MS)
        self._due.timeout.connect(self._on_due)

    def case_changed(self, _: Any = None) -> None:
        """Another case is being put on the screen."""
        self.is_seen = False
        self._opened = self._started = self._clock()
        self._due.start()

    def close(self) -> None:
        """Watch no more."""
        self._due.stop()

    def _on_due(self) -> None:
        now = self._clock()
        late = (now - self._started) * 1000 > CALM_MS + _LATE_MS  # it was drawing: keys may have queued up again
        if late and (now - self._opened) * 1000 < _LONGEST_MS:
            self._started = now
            self._due.start()
        else:
            self.is_seen = True
