"""Judging cases in a real window: keys from anywhere, comments, blinding, and what a closed window leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import block_case, settle, wait_for

from medotter_viewer.review.reading import read_reviews

pytestmark = pytest.mark.window
SPEC = {"eval_regions": {"one": [1], "two": [2], "both": [1, 2]}, "metrics": ["dice", "hd95"], "main_region": "one"}


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
    assert window.docks._line.text() == "A/0: gt error, by anna"

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
    window.reviewing.judge_by_key(3)  # a key that was pressed while the picture of the case before was there
    assert verdicts.verdict("A/1") == ""
    assert "A/1 had only just come up: nothing recorded, press again" in window.docks._line.text()
    wait_for(lambda: window.reviewing.seen.is_seen, "it has been seen")
    press(qtbot, canvas(window), Qt.Key.Key_F4)
    assert verdicts.verdict("A/1") == "geometry"
    press(qtbot, canvas(window), Qt.Key.Key_U)
    wait_for(lambda: window.session.case.case_id == "A/2" and window.reviewing.seen.is_seen, "next unreviewed")
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
    wait_for(lambda: window.session.case.case_id == "A/1" and window.reviewing.seen.is_seen, "another case")
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
    assert "A/1 was still being opened: nothing recorded" in window.docks._line.text()
    window.show_message("painting ended", hold=True)  # both are to be read
    assert line(window) == "painting ended · A/1 was still being opened: nothing recorded, press again"
    window.docks.mention("what is under the pointer")
    assert "nothing recorded" in window.docks._line.text()  # for a while: it must be read
    window.docks._held.timeout.emit()
    assert window.docks._line.text() == "what is under the pointer"
    window.reviewing.comment("typed")
    assert window.docks.review.comment.text() == "typed"
    session._opening.loading = None
    assert session.verdicts.standing("A/0").said == ()


def line(window: Any) -> str:
    return str(window.docks._line.text())


def go(window: Any, case_id: str) -> None:
    window.session.go_to(case_id)
    wait_for(lambda: window.session.case.case_id == case_id, case_id)
    settle(0.1)


def paint(window: Any, index: tuple[int, int, int]) -> None:
    """One stroke of one voxel, as napari makes it."""
    layer = window.display.layer("pred")
    layer.brush_size = 1
    layer.paint(index, 2)


def test_control_z_on_the_picture_takes_back_the_last_thing_done_and_only_that(window: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    verdicts, layer = window.session.verdicts, window.display.layer("pred")
    before = np.array(layer.data)

    def undo() -> None:
        window.focus_canvas()
        press(qtbot, canvas(window), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        settle(0.3)

    def is_painted() -> bool:
        return not np.array_equal(before, np.asarray(layer.data))

    undo()
    assert line(window) == "nothing to take back on this case"

    paint(window, (3, 3, 3))
    settle(0.3)
    window.reviewing.judge("fine")
    undo()
    assert (verdicts.verdict("A/0"), is_painted()) == ("", True)
    assert line(window) == "A/0: verdict fine taken back; verdict: none"
    undo()
    assert (verdicts.verdict("A/0"), is_painted()) == ("", False)
    assert line(window).startswith("a stroke was taken back")

    window.reviewing.judge("fine")
    paint(window, (3, 3, 3))
    settle(0.3)
    undo()
    assert (verdicts.verdict("A/0"), is_painted()) == ("fine", False)
    undo()  # the verdict was not the last thing done: the line says how
    assert verdicts.verdict("A/0") == "fine"
    assert line(window).endswith("Q, then Ctrl+Z in the empty field, takes back the verdict fine on A/0")

    go(window, "A/1")
    undo()
    assert verdicts.verdict("A/0") == "fine"
    window.reviewing.begin_comment()
    press(qtbot, window.docks.review.comment, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert verdicts.verdict("A/0") == ""


def test_the_brush_is_put_down_with_its_case_and_says_why_it_cannot_be_taken_up(window: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    layer = window.display.layer("pred")
    window.editing.toggle()
    assert layer.mode == "paint"
    go(window, "A/1")
    assert window.display.layer("pred").mode == "pan_zoom"
    assert line(window) == "painting ended with the case, Shift+E begins again"
    window.show_message("")
    go(window, "A/2")
    assert "painting ended" not in line(window)

    window.session.select_region("both")
    settle(0.1)
    window.focus_canvas()
    for key in (Qt.Key.Key_2, Qt.Key.Key_P):
        window.show_message("")
        press(qtbot, canvas(window), key)
        assert line(window) == "all regions must be shown to paint: click the row 'all'"
    window.session.select_region(None)
    settle(0.1)
    press(qtbot, canvas(window), Qt.Key.Key_2)
    assert window.display.layer("pred").mode == "paint"


def test_the_menu_and_the_palette_name_the_verdicts_of_the_list(window: Any) -> None:
    from napari._app_model import get_app_model

    def names() -> tuple[list[str], list[str]]:
        menu = [added.text() for action, added in window.menu._added if action.key in ("F1", "F2")]
        commands = get_app_model().commands
        keys = [f"medotter-viewer.review.verdict_{place}_of_the_list" for place in (1, 2)]
        return menu, [commands[key].title for key in keys]

    assert names() == (
        ["Verdict: model error\tF1", "Verdict: gt error\tF2"],
        ["Verdict: model error  (F1)", "Verdict: gt error  (F2)"],
    )
    window.session.verdicts.choose(verdicts=("good",), keep=False)
    assert names() == (
        ["Verdict: good\tF1", "Verdict 2 of the list\tF2"],
        ["Verdict: good  (F1)", "Verdict 2 of the list  (F2)"],
    )
