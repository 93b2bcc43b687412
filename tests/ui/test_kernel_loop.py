"""A kernel gets its turn while a window is open."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from medotter_viewer.ui.kernel_loop import INTERVAL_MS, keep_kernel_awake


def test_outside_a_kernel_nothing_is_started(qapp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert keep_kernel_awake() is None


def test_qts_loop_is_left_again_and_again_by_one_timer(qapp: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []
    loop = SimpleNamespace(_schedule_exit=left.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object())))
    monkeypatch.setitem(sys.modules, "ipykernel.eventloops", SimpleNamespace(loop_qt=loop))
    timer = keep_kernel_awake()
    try:
        assert keep_kernel_awake() is timer
        qtbot.waitUntil(lambda: len(left) >= 2, timeout=40 * INTERVAL_MS)
        assert set(left) == {0}
        del loop._schedule_exit  # the kernel is in no loop of Qt's yet
        timer.timeout.emit()
    finally:
        timer.stop()
        timer.setParent(None)
