"""Waiting for a window, and small cases to show in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

MARKER_SHAPE = (24, 30, 16)


def settle(seconds: float = 0.2) -> None:
    """Process events for a while, deferred deletes included."""
    from qtpy.QtCore import QCoreApplication, QEvent
    from qtpy.QtWidgets import QApplication

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        time.sleep(0.005)


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Process events until something holds."""
    from qtpy.QtWidgets import QApplication

    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"not within {seconds} s: {what}")
        QApplication.processEvents()
        time.sleep(0.005)


def scored(window: Any) -> bool:
    """Whether the open case has all its numbers."""
    score = window.session.score
    if score is None or score.case_id != window.session.current_id:
        return False
    return score.status != "scored" or all("hd95" in r.metrics for r in score.regions.values())


def block_case(seed: int = 0) -> dict[str, Any]:
    """Return gt, image and affine of a small one-sided case in RAS: region one on the patient's right."""
    rng = np.random.default_rng(seed)
    gt = np.zeros(MARKER_SHAPE, dtype=np.uint8)
    gt[15:21, 8:16, 4:10] = 1
    gt[3:8, 12:20, 6:12] = 2
    image = (rng.normal(0, 20, MARKER_SHAPE) + 60 * (gt > 0) - 900 * (gt == 0)).astype(np.int16)
    return {"gt": gt, "image": image, "affine": np.diag([2.0, 1.5, 3.0, 1.0])}
