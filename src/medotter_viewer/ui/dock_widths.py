"""How wide the panels left and right are: the picture comes first where the window is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qtpy.QtCore import QEvent, QObject, Qt, QTimer

LEAST_CANVAS = 450
LEAST = (272, 250)
"""Pixels that the panels at the left and at the right keep; what does not fit scrolls or is elided."""
_SETTLE_MS = 50


class DockWidths(QObject):
    """Narrows the panels of a window that is narrow, and gives them their width back with a wider one.

    Widths that somebody dragged are the wanted ones from then on.

    Parameters
    ----------
    main : QMainWindow
        Whose size is followed.
    docks : sequence of QDockWidget
        One at the left and one at the right.
    wanted : sequence of int
        Their widths where there is room.
    guests : sequence of QWidget
        Contents of other docks behind the left one: they would keep it wide.
    """

    def __init__(self, main: Any, docks: Sequence[Any], wanted: Sequence[int], guests: Sequence[Any] = ()) -> None:
        super().__init__(main)
        self._main: Any = main
        self._docks, self._wanted, self._guests = list(docks), list(wanted), list(guests)
        self._given: list[int] = []
        for guest in self._guests:
            guest.setMinimumWidth(LEAST[0])
        self._due = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._due.timeout.connect(self.fit)
        main.resizeDocks(self._docks, self._wanted, Qt.Orientation.Horizontal)
        main.installEventFilter(self)
        self._due.start()

    def close(self) -> None:
        """Follow no more, and let the guests be as wide as they want."""
        try:
            self._due.stop()
            self._main.removeEventFilter(self)
            for guest in self._guests:
                guest.setMinimumWidth(0)
        except RuntimeError:  # they have gone with the window
            pass
        # What is kept of a window keeps its command palette, which napari would go on telling of new commands.
        self._main, self._docks, self._guests = None, [], []

    def eventFilter(self, _watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Fit once the window has its new size."""
        if event is not None and event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._due.start()
        return False

    def fit(self) -> None:
        """Give the picture its room."""
        if self._main is None or any(
            dock.isFloating() or not dock.isVisible() or not dock.width() for dock in self._docks
        ):
            return
        now = [dock.width() for dock in self._docks]
        if self._given and now != self._given:
            self._wanted = now
        room = sum(now) + self._main.centralWidget().width()
        self._main.resizeDocks(self._docks, shared(room, self._wanted), Qt.Orientation.Horizontal)
        QTimer.singleShot(0, self._note)

    def _note(self) -> None:
        try:
            self._given = [dock.width() for dock in self._docks]
        except RuntimeError:  # they were closed meanwhile
            self._given = []


def shared(room: int, wanted: Sequence[int]) -> list[int]:
    """Return how wide the two docks may be beside a picture of `LEAST_CANVAS`, each at least `LEAST`.

    Examples
    --------
    >>> shared(1400, [350, 460]), shared(1000, [350, 460]), shared(700, [350, 460])
    ([350, 460], [280, 270], [272, 250])
    """
    spare = [max(w - least, 0) for w, least in zip(wanted, LEAST, strict=True)]
    lacking = sum(wanted) + LEAST_CANVAS - room
    share = min(1.0, max(lacking, 0) / sum(spare)) if sum(spare) else 0.0
    return [w - round(share * s) for w, s in zip(wanted, spare, strict=True)]
