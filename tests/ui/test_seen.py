"""A case is judged only once it has been on the screen."""

from __future__ import annotations

import time
from typing import Any

from medotter_viewer.ui.seen import CALM_MS, Seen


def test_a_case_is_seen_a_moment_after_it_came_up(qtbot: Any) -> None:
    seen = Seen()
    assert seen.is_seen  # nothing is coming up
    seen.case_changed()
    assert not seen.is_seen
    qtbot.waitUntil(lambda: seen.is_seen, timeout=5000)


def test_drawing_that_holds_the_window_up_does_not_count_as_looking(qtbot: Any) -> None:
    now = [0.0]
    seen = Seen(lambda: now[0])
    seen.case_changed()
    now[0] = 0.6  # it was drawn for 600 ms: keys that were pressed meanwhile come now
    seen._on_due()
    assert not seen.is_seen
    now[0] = 0.6 + CALM_MS / 1000
    seen._on_due()
    assert seen.is_seen
    seen.close()


def test_a_machine_that_never_keeps_time_can_be_worked_on(qtbot: Any) -> None:
    now = [0.0]
    seen = Seen(lambda: now[0])
    seen.case_changed()
    for _ in range(4):
        now[0] += 0.6
        seen._on_due()
    assert now[0] > 2.0
    assert seen.is_seen
    seen.close()


def test_keys_pressed_while_a_case_is_drawn_are_refused(qtbot: Any) -> None:
    from qtpy.QtCore import QTimer

    seen, found = Seen(), []
    seen.case_changed()
    time.sleep(0.3)  # the window draws; a key that came meanwhile is handled before any timer
    QTimer.singleShot(0, lambda: found.append(seen.is_seen))
    qtbot.waitUntil(lambda: bool(found) and seen.is_seen, timeout=5000)
    assert found == [False]
