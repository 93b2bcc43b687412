"""From one case to the next in a real window, and closing it: what is seen, hidden, asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtGui import QCloseEvent
from qtpy.QtWidgets import QMessageBox
from review_windows import block_case, scored, settle, wait_for

pytestmark = [pytest.mark.window, pytest.mark.timeout(120)]


@pytest.fixture
def window(open_review: Any, tmp_path: Path, write_bundle: Any) -> Any:
    """A small case, and one that is three times as large and lies a metre away; each lacks its last slices."""
    small, large = block_case(0), block_case(1)
    away = np.diag([6.0, 4.5, 9.0, 1.0])
    away[:3, 3] = -1000.0, 700.0, 900.0
    cases = {"D/small": small, "D/large": {**large, "affine": away}}
    cut = {case_id: case["gt"].copy() for case_id, case in cases.items()}
    cut["D/small"][..., 9:] = 0
    cut["D/large"][..., 11:] = 0
    tiny = write_bundle(tmp_path / "b", cases, predictions=cut)
    return open_review(tiny.bundle, tiny.predictions)


def the_whole_of_a_case_is_seen_on_its_worst_slice(window: Any) -> None:
    session, viewer = window.session, window.viewer
    for _ in range(3):
        low, high = np.asarray(viewer.layers.extent.world)
        camera = viewer.scene.camera
        np.testing.assert_allclose(camera.center[1:], ((low + high) / 2)[1:], atol=1.0)
        height, width = viewer.canvas.size
        assert 0.8 < max((high - low)[1] * camera.zoom / height, (high - low)[2] * camera.zoom / width) < 1.0
        assert window.looking.go.slice_place(0)[0] == session.opened.worst_slice
        other = "D/large" if session.current_id == "D/small" else "D/small"
        camera.zoom *= 5  # as after a look at an error
        session.go_to(other)
        wait_for(lambda: session.case.case_id == other and scored(window), "the other case")  # noqa: B023
        settle(0.1)


def a_blinded_reader_is_led_to_errors_without_numbers(window: Any) -> None:
    said = window.docks._line
    window.session.verdicts.choose(blinded=True)
    window.walking.toggle_hd95()
    assert said.text() == "you are blinded: numbers come with your verdict on the case"
    assert window.session.hd95_pair.pairs is None
    window.session.errors.step(1)
    wait_for(lambda: said.text().startswith("error 1;"), "the first error")
    assert "mm" not in said.text()
    window.walking.toggle_without()
    assert window.session.errors.without is None
    window.session.verdicts.choose(blinded=False)


def panels_are_hidden_and_brought_back_by_the_menu_and_never_destroyed(window: Any) -> None:
    parts = {action.text(): action.menu() for action in window.menu.menu.actions() if action.menu() is not None}
    actions = {action.text(): action for action in parts["Panels"].actions()}
    assert {"Cases", "Scores", "Review"} <= set(actions)
    cases = window.docks.panels[0]
    assert not hasattr(cases.titleBarWidget(), "close_button")
    for hidden in (True, False):
        actions["Cases"].trigger()
        assert cases.isHidden() is hidden


def closing_asks_while_edits_are_in_no_file(window: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = ["Go on reviewing", "Close and lose them"]

    def answer(box: QMessageBox) -> int:
        asked.append(box.text())
        next(button for button in box.buttons() if button.text() == answers[len(asked) - 1]).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", answer)
    main = window.viewer.window._qt_window
    window.session.pred_data[:3, :3, 0] = 1
    window.session.edits.note_painted()
    main.close()
    assert (main.isVisible(), len(asked)) == (True, 1)
    assert asked == [f"Edits of these predictions are in no file:\n    {window.session.current_id}"]
    assert window._closing.eventFilter(main, QCloseEvent()) is False  # let through
    assert len(asked) == 2


def an_error_in_a_thread_of_the_window_is_seen(window: Any, qtbot: Any) -> None:
    with qtbot.captureExceptions() as raised:
        window._run_in_background(lambda: 1 / 0, pytest.fail)
        wait_for(lambda: bool(raised), "the error", 5)
    assert [kind for kind, _, _ in raised] == [ZeroDivisionError]


def test_from_case_to_case_until_the_window_closes(window: Any, monkeypatch: pytest.MonkeyPatch, qtbot: Any) -> None:
    the_whole_of_a_case_is_seen_on_its_worst_slice(window)
    a_blinded_reader_is_led_to_errors_without_numbers(window)
    panels_are_hidden_and_brought_back_by_the_menu_and_never_destroyed(window)
    assert tuple(window.viewer.canvas.background_color[:3]) == (0, 0, 0)
    an_error_in_a_thread_of_the_window_is_seen(window, qtbot)
    closing_asks_while_edits_are_in_no_file(window, monkeypatch)
