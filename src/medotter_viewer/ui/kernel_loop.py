"""Let a Jupyter kernel take the next cell while a window is open.

In a cell napari runs Qt's event loop inside the kernel's, and ipykernel leaves it when a message arrives. One that
arrives just before the loop is entered (ipykernel 7 hands it to a task that then waits) rings no bell: the notebook
would stand still. So Qt's loop is left a few times a second, for a millisecond each.
"""

from __future__ import annotations

import sys
from typing import Any

from qtpy.QtCore import QCoreApplication, QTimer

INTERVAL_MS = 250
_NAME = "medotter_viewer_kernel_loop"


def keep_kernel_awake() -> Any:
    """Start the timer of this process's kernel, once, and return it; None outside a kernel or without Qt."""
    app = QCoreApplication.instance()
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if app is None or getattr(shell, "kernel", None) is None:
        return None
    timer = app.findChild(QTimer, _NAME)
    if timer is None:
        timer = QTimer(app)  # outlives the window: the loop does
        timer.setObjectName(_NAME)
        timer.timeout.connect(_leave_loop)
        timer.start(INTERVAL_MS)
    return timer


def _leave_loop() -> None:
    """Return to the kernel's own loop, which enters Qt's again; nothing where Qt's is not entered by ipykernel."""
    loop = getattr(sys.modules.get("ipykernel.eventloops"), "loop_qt", None)
    leave = getattr(loop, "_schedule_exit", None)
    if leave is not None:
        leave(0)
