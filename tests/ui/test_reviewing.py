"""Judging cases in a real window: keys from anywhere, comments, blinding, and what a closed window leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import block_case, settle, wait_for

from medotter_viewer.review.reading import read_reviews

pytestmark = pytest.mark.window
SPEC = {"eval_regions": {"one": [1], "two": [2]}, "metrics": ["dice", "hd95"], "main_region": "one"}


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; the reader is anna."""
    monkeypatch.setenv("MEDOTTER_VIEWER_REVIEWS", str(tmp_path / "own"))
    monkeypatch.setenv("MEDOTTER_VIEWER_READER", "anna")
    return tmp_path / "own"


@pytest.fixture
def window(tmp_path: Path, write_bundle: Any, open_review: Any) -> Any:
    cases = {f"A/{i}": {"dataset": "A", **block_case(i)} for i in range(3)}
    identity = {"label_remap": {"A": {1: 1, 2: 2}}, "canonical_labels": {"one": [1], "two": [2]}}
    pred = np.roll(block_case()["gt"], 2, axis=2)
    tiny = write_bundle(
        tmp_path / "tiny", cases, {"task": {"id": "tiny"}, **identity}, SPEC, dict.fromkeys(cases, pred)
    )
    return open_review(tiny.bundle, tiny.predictions)


def canvas(window: Any) -> Any:
    return window.viewer.window._qt_viewer.canvas.native


def press(qtbot: Any, widget: Any, key: Any, modifier: Any = None) -> None:
    from qtpy.QtCore import Qt

    widget.window().activateWindow()
    qtbot.waitUntil(widget.window().isActiveWindow)
    qtbot.keyClick(widget, key, modifier or Qt.KeyboardModifier.NoModifier)
    settle(0.05)


def test_keys_judge_comment_take_back_and_go_on(window: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    verdicts, panel = window.session.verdicts, window.docks.review
    window.focus_canvas()
    settle(0.1)

    press(qtbot, canvas(window), Qt.Key.Key_F2)
    assert verdicts.verdict("A/0") == "gt error"
    assert window.docks._line.text() == "A/0: gt error"

    for widget, key, word in (
        (window.docks.cases.table, Qt.Key.Key_F1, "model error"),
        (window.docks.cases.filter, Qt.Key.Key_F3, "remap error"),
        (panel.comment, Qt.Key.Key_F7, "fine"),
    ):
        widget.setFocus()
        press(qtbot, widget, key)
        assert verdicts.verdict("A/0") == word
    assert len(verdicts.standing("A/0").said) == 4  # each key once
    window.focus_canvas()

    place = window.looking.placed.grid.voxel_to_world((18, 10, 6))
    window.display.frame(_displayed(window, (18, 10, 6)))
    press(qtbot, canvas(window), Qt.Key.Key_Q)
    assert panel.comment.hasFocus()
    assert not panel.visibleRegion().isEmpty()
    qtbot.keyClicks(panel.comment, "u leaks, 9 q")  # letters of keys are letters here
    press(qtbot, panel.comment, Qt.Key.Key_Return)
    assert canvas(window).hasFocus()
    (comment,) = verdicts.standing("A/0").comments
    assert comment.text == "u leaks, 9 q"
    assert comment.place.position_world == pytest.approx(tuple(place), abs=1e-3)
    assert (comment.place.plane, comment.place.slice_number) == ("axial", 16 - 6)

    panel.table.setFocus()
    press(qtbot, panel.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert verdicts.standing("A/0").comments == ()
    assert verdicts.verdict("A/0") == "fine"

    window.focus_canvas()
    press(qtbot, canvas(window), Qt.Key.Key_U)
    wait_for(lambda: window.session.case.case_id == "A/1", "next unreviewed")
    press(qtbot, canvas(window), Qt.Key.Key_F4)
    assert verdicts.verdict("A/1") == "geometry"
    press(qtbot, canvas(window), Qt.Key.Key_U)
    wait_for(lambda: window.session.case.case_id == "A/2", "next unreviewed")
    press(qtbot, canvas(window), Qt.Key.Key_U)
    assert "no other" in window.docks._line.text()
    press(qtbot, canvas(window), Qt.Key.Key_F5)
    wait_for(lambda: "3 of 3 reviewed" in window.docks.cases.footer.text(), "the count, which follows a pause")

    window.close()
    found = read_reviews(verdicts.path)
    assert found.findings == ()
    assert [r.kind for r in found.records] == [*["verdict"] * 4, "comment", "undo", "verdict", "verdict"]


def _displayed(window: Any, voxel: tuple[int, int, int]) -> Any:
    from medotter_viewer.geometry.orientation import display_order

    grid = window.looking.placed.grid
    return display_order(grid).displayed_index(voxel, grid.shape)


def test_a_line_of_the_panel_goes_to_its_place_and_a_blinded_reader_sees_no_numbers(window: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    verdicts, panel, dims = window.session.verdicts, window.docks.review, window.viewer.dims
    window.display.frame(_displayed(window, (18, 10, 6)))
    window.reviewing.judge("fine")
    there = tuple(dims.point)
    window.display.frame(_displayed(window, (4, 15, 12)))
    assert tuple(dims.point) != there
    window.docks.show("Review")
    settle(0.1)
    place = panel.table.visualRect(panel.model.index(0, 1)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert tuple(dims.point) == pytest.approx(there)
    assert tuple(window.viewer.scene.camera.center)[-2:] == pytest.approx(there[1:])

    verdicts.choose(blinded=True)
    settle(0.1)
    assert _shown(window, "Scores")
    window.session.go_to("A/1")
    wait_for(lambda: window.session.case.case_id == "A/1", "another case")
    settle(0.2)
    assert not _shown(window, "Scores")
    assert not _shown(window, "Remap")
    assert _shown(window, "Review")
    window.tell_why()
    assert "you are blinded" in window.docks._line.text()
    press(qtbot, canvas(window), Qt.Key.Key_F7)
    settle(0.1)
    assert _shown(window, "Scores")
    assert _shown(window, "Remap")
    assert not panel.visibleRegion().isEmpty()  # judging goes on here
    verdicts.choose(blinded=False)


def _shown(window: Any, name: str) -> bool:
    """Whether there is a panel, in front or as a tab."""
    (dock,) = [dock for dock in window.docks._docks if dock.name == name]
    return not dock.isHidden()


def test_while_another_case_is_opened_nothing_is_recorded(window: Any) -> None:
    session = window.session
    session._opening.loading = "A/1"
    window.reviewing.judge("fine")
    assert "A/1 is being opened: nothing recorded" in window.docks._line.text()
    window.reviewing.comment("typed")
    assert window.docks.review.comment.text() == "typed"
    session._opening.loading = None
    assert session.verdicts.standing("A/0").said == ()
