"""A case is judged only once it has been on the screen."""

from __future__ import annotations

import time
from typing import Any

from medotter_viewer.ui.seen import N_CALM, Seen


def test_a_case_is_seen_a_moment_after_it_came_up(qtbot: Any) -> None:
    seen = Seen()
    assert seen.is_seen  # nothing is coming up
    seen.case_changed()
    assert not seen.is_seen
    qtbot.waitUntil(lambda: seen.is_seen, timeout=5000)


def tick(seen: Seen, now: list[float], *gaps: float) -> None:
    for gap in gaps:
        now[0] += gap
        seen._on_tick()


def test_drawing_that_holds_the_window_up_does_not_count_as_looking(qtbot: Any) -> None:
    now = [0.0]
    seen = Seen(lambda: now[0])
    seen.case_changed()
    tick(seen, now, 0.04, 0.04, 0.04, 0.04)
    tick(seen, now, 0.1)  # it was drawn: keys that were pressed meanwhile come now
    tick(seen, now, *[0.04] * (N_CALM - 1))
    assert not seen.is_seen
    tick(seen, now, 0.04)
    assert seen.is_seen


def test_a_machine_that_never_keeps_time_can_be_worked_on(qtbot: Any) -> None:
    now = [0.0]
    seen = Seen(lambda: now[0])
    seen.case_changed()
    tick(seen, now, *[0.5] * 4)
    assert not seen.is_seen
    tick(seen, now, 0.5)
    assert seen.is_seen


def test_keys_pressed_while_a_case_is_drawn_are_refused(qtbot: Any) -> None:
    from qtpy.QtCore import QTimer

    seen, found = Seen(), []
    seen.case_changed()
    time.sleep(0.3)  # the window draws; a key that came meanwhile is handled before any timer
    QTimer.singleShot(0, lambda: found.append(seen.is_seen))
    qtbot.waitUntil(lambda: bool(found) and seen.is_seen, timeout=5000)
    assert found == [False]
