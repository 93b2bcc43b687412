"""Run as a program: open a window whose kernels are not compiled yet and print the longest pauses of its event loop."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QApplication

from medotter_viewer.engine import choice
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui import window as window_module
from medotter_viewer.ui.app import wait_until_scored

TICK_MS = 5


def main(bundle: Path, predictions: Path, patience_s: float) -> None:
    """Print ``{"paused_ms": [longest first], "status": ..., "seconds": ..., "asked_by_window": ...}``."""
    asked: list[bool] = []
    prepare = window_module.prepare
    window_module.prepare = lambda: asked.append(True)  # its own call is made once the window stands still
    window: Any = window_module.open_window(open_source(bundle, predictions=predictions))
    wait_until_scored(window)
    begun = time.monotonic()
    last, pauses = begun, []

    def tick() -> None:
        nonlocal last
        now = time.monotonic()
        pauses.append((now - last) * 1000 - TICK_MS)
        last = now

    timer = QTimer()
    timer.timeout.connect(tick)
    timer.start(TICK_MS)
    prepare()
    while "being made ready" in choice.status() and time.monotonic() < begun + patience_s:
        QApplication.processEvents()
        time.sleep(0.001)
    took = time.monotonic() - begun
    timer.stop()
    longest = sorted((round(pause) for pause in pauses), reverse=True)[:10]
    answer = {"paused_ms": longest, "status": choice.status(), "seconds": round(took, 1), "asked_by_window": any(asked)}
    sys.stdout.write(f"{json.dumps(answer)}\n")
    window.close()
    window.viewer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
