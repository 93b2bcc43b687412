"""Run as a program: open a window and press verdict keys in it, a line for each that has returned."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from qtpy.QtCore import Qt
from qtpy.QtTest import QTest
from qtpy.QtWidgets import QApplication

from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.app import wait_until_scored
from medotter_viewer.ui.window import open_window


def main(bundle: Path, predictions: Path, n_keys: int) -> None:
    """Press F1, F2, F3 in turn: each says something else than the one before, and is a record."""
    window: Any = open_window(open_source(bundle, predictions=predictions))
    wait_until_scored(window)
    canvas = window.viewer.window._qt_viewer.canvas.native
    canvas.window().activateWindow()
    while not canvas.window().isActiveWindow():  # keys are shortcuts of the window that is active
        QApplication.processEvents()
    canvas.setFocus()
    keys = (Qt.Key.Key_F1, Qt.Key.Key_F2, Qt.Key.Key_F3)
    for n in range(n_keys):
        QTest.keyClick(canvas, keys[n % len(keys)])
        sys.stdout.write(f"{n}\n")
        sys.stdout.flush()
        QApplication.processEvents()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
