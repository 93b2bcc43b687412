"""Whether the open case has been seen: what is judged must be what was on the screen when the key was pressed.

While a case is put on the screen the window handles no keys; those that were pressed meanwhile, at the picture of the
case before, come right after it. So a case counts as seen a moment later, once the event loop keeps time again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer

TICK_MS, N_CALM = 40, 5
"""A case is seen after so many ticks in a row that came in time: nobody sees, judges and presses a key within that."""
_LATE_MS = 40
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
        self._opened = self._ticked = clock()
        self._n_calm = 0
        self._due = QTimer()
        self._due.setInterval(TICK_MS)
        self._due.timeout.connect(self._on_tick)

    def case_changed(self, _: Any = None) -> None:
        """Another case is being put on the screen."""
        self.is_seen = False
        self._opened = self._ticked = self._clock()
        self._n_calm = 0
        self._due.start()

    def close(self) -> None:
        """Watch no more."""
        self._due.stop()

    def _on_tick(self) -> None:
        now = self._clock()
        late = (now - self._ticked) * 1000 > TICK_MS + _LATE_MS  # it was drawing: keys may have queued up again
        self._ticked, self._n_calm = now, 0 if late else self._n_calm + 1
        if self._n_calm >= N_CALM or (now - self._opened) * 1000 > _LONGEST_MS:
            self._due.stop()
            self.is_seen = True
