"""Closing a window with edits that are in no file: nothing is lost without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QEvent, QObject
from qtpy.QtWidgets import QMessageBox, QPushButton

_MOST_NAMED = 8


class ClosingGuard(QObject):
    """Asks before a window closes whose review holds edits that no file does.

    A window that a program closes (``viewer.close()``) is closed without a question.

    Parameters
    ----------
    viewer : napari.Viewer
        Whose window.
    unwritten : callable
        Returns the ids of cases whose edits are in no file.
    save : callable
        Asks where to save the open case's prediction.
    """

    def __init__(self, viewer: Any, unwritten: Callable[[], list[str]], save: Callable[[], None]) -> None:
        window = viewer.window._qt_window
        super().__init__(window)  # not kept besides: napari counts on its end with the viewer's close
        self._viewer, self._unwritten, self._save = viewer, unwritten, save
        window.installEventFilter(self)

    def close(self) -> None:
        """Ask no more; nothing happens where the window has gone."""
        try:
            if (window := self.parent()) is not None:
                window.removeEventFilter(self)
            self.deleteLater()
        except RuntimeError:
            return

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Keep the window open unless edits may go."""
        if event is None or event.type() != QEvent.Type.Close or watched is not self.parent():
            return False
        is_seen = self._viewer.window._qt_viewer.isVisible()  # a program that closes takes it away first
        if is_seen and (ids := self._unwritten()) and not self._may_go(ids):
            event.ignore()
            return True
        return False

    def _may_go(self, ids: list[str]) -> bool:
        box = QMessageBox(self.parent())
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Edits are in no file")
        more = f"\n    and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
        named = "".join(f"\n    {one}" for one in ids[:_MOST_NAMED])
        box.setText(f"Edits of these predictions are in no file:{named}{more}")
        stay: QPushButton | None = box.addButton("Go on reviewing", QMessageBox.ButtonRole.RejectRole)
        save = box.addButton("Save the open case as…", QMessageBox.ButtonRole.ActionRole)
        leave = box.addButton("Close and lose them", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.exec()
        if box.clickedButton() is save:
            self._save()
        return box.clickedButton() is leave
