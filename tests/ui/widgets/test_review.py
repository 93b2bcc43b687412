"""The Review panel: what it shows of a case, and what clicks and keys in it do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QFileDialog

from medotter_viewer.review.reading import read_reviews
from medotter_viewer.review.records import Place, Record, Subject
from medotter_viewer.review.standing import Standing, standings
from medotter_viewer.ui.widgets.cases import CasesDock
from medotter_viewer.ui.widgets.cases_model import CasesModel
from medotter_viewer.ui.widgets.cell_table import fitted
from medotter_viewer.ui.widgets.review import ReviewDock
from medotter_viewer.ui.widgets.review_rows import local_time, place_text, said_lines, slice_text

PLACE = Place((12.0, -33.5, 88.0), (1.0, 2.0, 3.0), "axial", 4, "liver")


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; the reader is anna."""
    monkeypatch.setenv("MEDOTTER_VIEWER_REVIEWS", str(tmp_path / "own"))
    monkeypatch.setenv("MEDOTTER_VIEWER_READER", "anna")
    return tmp_path / "own"


@pytest.fixture
def done():
    return []


@pytest.fixture
def dock(own, session, qtbot, done):
    """A panel whose signals do what the window does with them."""
    session.go_to("A/one")
    dock = ReviewDock(session, on_done=lambda: done.append(1))
    verdicts = session.verdicts
    dock.place_of = lambda: PLACE
    dock.verdict_chosen.connect(lambda word: verdicts.record(session.case.case_id, word, PLACE))
    dock.comment_given.connect(lambda text: verdicts.comment(session.case.case_id, text, PLACE))
    dock.undo_requested.connect(verdicts.undo)
    qtbot.addWidget(dock)
    dock.show()
    yield dock
    dock.close_connections()


def texts(dock):
    return [[cell.text for cell in dock.model.cells(row)][1:] for row in range(dock.model.rowCount())]


def click(qtbot, widget):
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def pressed(dock):
    return [word for word, button in dock.verdicts.buttons.items() if button.isChecked()]


def test_there_is_a_button_for_each_verdict_with_its_key(dock):
    assert [b.text() for b in dock.verdicts.buttons.values()] == [
        "F1   model error",
        "F2   gt error",
        "F3   remap error",
        "F4   geometry",
        "F5   artefact",
        "F6   ambiguous",
        "F7   fine",
    ]
    assert pressed(dock) == []
    assert dock.header.text() == "A/one: no verdict yet"
    assert dock.count.text() == "0 of 3 reviewed"


def test_a_click_records_is_shown_and_gives_the_keyboard_back(dock, session, qtbot, done):
    click(qtbot, dock.verdicts.buttons["geometry"])
    assert session.verdicts.verdict("A/one") == "geometry"
    assert pressed(dock) == ["geometry"]
    assert dock.header.text() == "A/one: geometry"
    assert texts(dock) == [["geometry", "ax 4"]]
    assert dock.count.text() == "1 of 3 reviewed"
    assert done == [1]
    click(qtbot, dock.verdicts.buttons["geometry"])  # once more: still pressed
    assert pressed(dock) == ["geometry"]


def test_return_records_the_comment_and_empties_the_field(dock, session, qtbot, done):
    dock.begin_comment()
    qtbot.keyClicks(dock.comment, "leaks")
    qtbot.keyClick(dock.comment, Qt.Key.Key_Return)
    assert [r.text for r in session.verdicts.standing("A/one").comments] == ["leaks"]
    assert dock.comment.text() == ""
    assert texts(dock) == [["leaks", "ax 4"]]
    assert done == [1]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_return_on_nothing_and_escape_only_leave(dock, session, qtbot, done, key):
    qtbot.keyClick(dock.comment, key)
    assert done == [1]
    assert session.verdicts.standing("A/one").said == ()


def test_escape_keeps_what_is_typed(dock, qtbot):
    qtbot.keyClicks(dock.comment, "half a")
    qtbot.keyClick(dock.comment, Qt.Key.Key_Escape)
    assert dock.comment.text() == "half a"


def type_and_record(qtbot, dock, text):
    qtbot.keyClicks(dock.comment, text)
    qtbot.keyClick(dock.comment, Qt.Key.Key_Return)


def test_control_z_never_brings_back_what_was_written_before(dock, session, qtbot):
    type_and_record(qtbot, dock, "of one")
    assert not dock.comment.isUndoAvailable()
    session.go_to("A/two")
    click(qtbot, dock.verdicts.buttons["fine"])
    qtbot.keyClick(dock.comment, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert dock.comment.text() == ""
    assert session.verdicts.verdict("A/two") == ""
    assert [r.text for r in session.verdicts.standing("A/one").comments] == ["of one"]


def test_what_is_not_recorded_stays_with_its_case_and_comes_back_with_it(dock, session, qtbot):
    said = []
    dock.said.connect(said.append)
    qtbot.keyClicks(dock.comment, "half a")
    session.go_to("A/two")
    assert dock.comment.text() == ""
    assert said == ["A/one: your comment is not recorded; it comes back with the case"]
    qtbot.keyClick(dock.comment, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert dock.comment.text() == ""
    type_and_record(qtbot, dock, "of two")
    session.go_to("A/one")
    assert dock.comment.text() == "half a"
    assert dock.place.text() == "" or "not recorded" in dock.place.text()
    qtbot.waitUntil(lambda: dock.place.text().startswith("not recorded: Return records it at axial slice 4"))
    type_and_record(qtbot, dock, " word")
    said_of = {i: [r.text for r in session.verdicts.standing(i).comments] for i in ("A/one", "A/two")}
    assert said_of == {"A/one": ["half a word"], "A/two": ["of two"]}
    session.go_to("A/two")
    session.go_to("A/one")
    assert dock.comment.text() == ""


def test_the_place_follows_the_picture_while_nothing_is_written(dock, session, qtbot):
    qtbot.waitUntil(lambda: dock.place.text().startswith("at axial slice 4"))
    dock.place_of = lambda: Place((0.0, 0.0, 0.0), (1.0, 2.0, 3.0), "axial", 7)
    dock.show_place_soon()
    qtbot.waitUntil(lambda: dock.place.text().startswith("at axial slice 7"))
    dock.place_of = lambda: PLACE
    session.go_to("A/two")
    qtbot.waitUntil(lambda: dock.place.text().startswith("at axial slice 4"))


def test_a_reader_whom_the_environment_names_is_said_to_be_for_this_window(dock, session):
    assert dock.reader.text() == "anna"
    assert dock.reader_note.text() == "anna is named by MEDOTTER_VIEWER_READER: for this window alone"
    session.verdicts.choose(reader="bert")
    assert dock.reader_note.isHidden()


def test_what_a_comment_is_bound_to_is_shown_while_it_is_written(dock, qtbot, qapp):
    dock.activateWindow()
    qtbot.waitUntil(dock.isActiveWindow)
    dock.begin_comment()
    assert dock.comment.hasFocus()
    assert dock.place.text() == "at axial slice 4 · LPS -12.0 33.5 88.0 mm · liver"


def test_control_z_takes_back_typing_first_and_then_what_was_recorded(dock, session, qtbot):
    click(qtbot, dock.verdicts.buttons["fine"])
    qtbot.keyClicks(dock.comment, "x")
    qtbot.keyClick(dock.comment, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert dock.comment.text() == ""
    assert session.verdicts.verdict("A/one") == "fine"
    qtbot.keyClick(dock.comment, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.verdicts.verdict("A/one") == ""


@pytest.mark.parametrize("name", ["table", "verdicts", "undo"])
def test_control_z_anywhere_in_the_panel_takes_back(dock, session, qtbot, name):
    click(qtbot, dock.verdicts.buttons["fine"])
    qtbot.keyClick(getattr(dock, name), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.verdicts.verdict("A/one") == ""
    assert texts(dock) == [["fine", "ax 4"]]
    assert dock.model.cells(0)[1].tone == "quiet"
    assert dock.model.cells(0)[1].italic


def test_other_keys_are_left_to_the_window(dock, qtbot):
    heard = []
    around = ReviewDock.__mro__[1](None)  # a plain panel in place of the window
    around.keyPressEvent = lambda event: heard.append(event.text())
    dock.setParent(around)
    for key in ",uG":
        qtbot.keyClick(dock.table, key)
    dock.setParent(None)
    assert heard == [",", "u", "G"]


def test_the_undo_button_does_the_same(dock, session, qtbot):
    click(qtbot, dock.verdicts.buttons["fine"])
    click(qtbot, dock.undo)
    assert session.verdicts.verdict("A/one") == ""
    assert pressed(dock) == []


def test_the_usual_verdicts_are_whole_in_a_list_that_is_too_narrow(session, qtbot):
    session.verdicts.record("A/one", "remap error")
    columns = CasesModel(session).columns
    place = [column.header for column in columns].index("verdict")
    widths = [60] * len(columns)
    widths[place] = 90  # of the longest usual word
    assert fitted(widths, columns, 200)[place] == 90


def test_the_next_case_shows_its_own(dock, session, qtbot):
    click(qtbot, dock.verdicts.buttons["fine"])
    session.go_to("A/two")
    assert dock.header.text() == "A/two: no verdict yet"
    assert (texts(dock), pressed(dock)) == ([], [])
    assert dock.next.isEnabled()


def test_a_click_on_a_line_goes_where_it_was_said(dock, qtbot, done):
    click(qtbot, dock.verdicts.buttons["fine"])
    asked = []
    dock.place_requested.connect(asked.append)
    place = dock.table.visualRect(dock.model.index(0, 1)).center()
    qtbot.mouseClick(dock.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked == [PLACE]
    assert done == [1, 1]


def test_the_list_is_edited_in_place(dock, session, qtbot):
    assert dock.editor.isHidden()
    click(qtbot, dock.edit_list)
    assert dock.editor.text.toPlainText().splitlines() == list(session.verdicts.words)
    dock.editor.text.setPlainText("Good\nbad\n\ngood")
    click(qtbot, dock.editor.use)
    assert dock.editor.isHidden()
    assert [b.text() for b in dock.verdicts.buttons.values()] == ["F1   good", "F2   bad"]
    click(qtbot, dock.edit_list)
    dock.editor.text.setPlainText("nothing of this")
    click(qtbot, dock.editor.cancel)
    assert session.verdicts.words == ("good", "bad")


def test_the_eighth_verdict_has_a_button_and_no_key(dock, session):
    session.verdicts.choose(verdicts=tuple("abcdefgh"))
    assert [b.text() for b in dock.verdicts.buttons.values()][6:] == ["F7   g", "h"]


def test_the_place_of_the_file_is_shown_and_can_be_changed(dock, session, qtbot, tmp_path, monkeypatch):
    assert dock.file.text() == "tiny-abc.fast.anna.reviews.jsonl\nbeside the predictions"
    assert dock.file.toolTip() == str(session.verdicts.path)
    chosen = tmp_path / "mine.reviews.jsonl"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **o: (str(chosen), ""))
    click(qtbot, dock.change_file)
    assert session.verdicts.path == chosen
    assert dock.file.text() == "mine.reviews.jsonl\nwhere you said"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **o: ("", ""))
    click(qtbot, dock.change_file)
    assert session.verdicts.path == chosen


def test_unwritten_records_are_counted_until_they_are_written(dock, session, qtbot, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        click(qtbot, dock.verdicts.buttons["fine"])
        assert dock.alarm.text().startswith(f"NOT WRITTEN to {session.verdicts.path}")
        assert "1 record is kept in memory" in dock.alarm.text()
        assert not dock.alarm.isHidden()
        click(qtbot, dock.verdicts.buttons["geometry"])
        assert "2 records are" in dock.alarm.text()
    click(qtbot, dock.verdicts.buttons["fine"])
    assert dock.alarm.isHidden()
    assert len(read_reviews(session.verdicts.path).records) == 3


def test_damaged_lines_of_the_file_are_said(session, qtbot):
    session.verdicts.record("A/one", "fine")
    with session.verdicts.path.open("ab") as file:
        file.write(b"{half")
    session.verdicts.choose(reader="bert")
    session.verdicts.choose(reader="anna")
    dock = ReviewDock(session)
    qtbot.addWidget(dock)
    assert "line 2: cut short" in dock.findings.text()
    dock.close_connections()


def test_another_name_is_another_reader(dock, session, qtbot, done):
    click(qtbot, dock.verdicts.buttons["fine"])
    dock.reader.setText(" Bert ")
    qtbot.keyClick(dock.reader, Qt.Key.Key_Return)
    assert session.verdicts.reader == "Bert"
    assert dock.reader.text() == "Bert"
    assert dock.header.text() == "A/one: no verdict yet"
    assert texts(dock) == [["anna: fine", "ax 4"]]
    assert done[-1] == 1


def test_blinded_hides_the_file_that_names_the_model_others_and_numbers(dock, session, qtbot):
    session.verdicts.choose(reader="bert")
    session.verdicts.record("A/one", "geometry")
    session.verdicts.choose(reader="anna")
    session.score_all()
    cases = CasesModel(session)
    assert [column.header for column in cases.columns][:3] == ["", "case", "dice\nliver"]
    assert cases.cells(0)[2].text == "0.857"
    assert texts(dock) == [["bert: geometry", ""]]
    click(qtbot, dock.blinded)
    assert session.verdicts.blinded
    assert texts(dock) == []
    assert "fast" not in dock.file.text() + dock.file.toolTip()
    hidden = cases.cells(0)
    assert [cell.text for cell in hidden[2:4]] == ["·", "·"]
    assert "hidden until you have judged the case" in hidden[2].why
    click(qtbot, dock.verdicts.buttons["fine"])
    cases.refresh()
    assert [column.header for column in cases.columns][:4] == ["", "case", "verdict", "dice\nliver"]
    assert [cell.text for cell in cases.cells(0)[2:4]] == ["fine", "0.857"]
    assert [cell.text for cell in cases.cells(1)[2:4]] == ["", "·"]
    assert cases.metric_of(3) == "dice"
    assert [(row, column) for row, column, _ in cases.spans()] == [(2, 3)]
    assert "fast" in dock.file.text()
    assert texts(dock) == [["bert: geometry", ""], ["fine", "ax 4"]]
    click(qtbot, dock.blinded)
    assert cases.cells(1)[3].text != "·"
    cases.close_connections()


def test_without_a_case_there_is_nothing_to_judge(session, qtbot):
    dock = ReviewDock(session)
    qtbot.addWidget(dock)
    assert dock.header.text() == "no case is open"
    assert not dock.verdicts.isEnabled()
    assert not dock.comment.isEnabled()
    dock.close_connections()


def test_the_case_list_counts_what_is_reviewed_and_finds_it(session, qtbot):
    dock = CasesDock(session)
    qtbot.addWidget(dock)
    assert "reviewed" not in dock.footer.text()
    session.verdicts.record("A/two", "fine")
    qtbot.waitUntil(lambda: dock.footer.text().startswith("1 of 3 reviewed · "))
    dock.filter.setText("reviewed:no")
    assert [dock.model.case_id(row) for row in range(dock.model.rowCount())] == ["A/one", "B/three"]
    dock.filter.setText("verdict:fine")
    assert [dock.model.case_id(row) for row in range(dock.model.rowCount())] == ["A/two"]
    dock.close_connections()


class TestLines:
    def test_verdicts_that_hold_are_loud(self):
        subject = Subject("t")
        first, second = (Record("verdict", "anna", subject, "1", verdict=word) for word in ("fine", "geometry"))
        own = standings([first, second])["1"]
        one, two = (line.cells()[1] for line in said_lines(own, {}))
        assert (one.text, one.bold, one.italic, one.tone) == ("fine", False, True, "quiet")
        assert "followed by another verdict" in one.why
        assert (two.text, two.bold, two.italic, two.tone) == ("geometry", True, False, "plain")

    def test_others_stand_by_time_with_their_names(self):
        subject = Subject("t")
        mine = Record("verdict", "anna", subject, "1", verdict="fine", time="2026-01-02T10:00:00.000Z")
        theirs = Record("comment", "bert", subject, "1", text="odd", time="2026-01-01T10:00:00.000Z")
        lines = said_lines(standings([mine])["1"], {"bert": standings([theirs])["1"]})
        assert [line.cells()[1].text for line in lines] == ["bert: odd", "fine"]
        assert said_lines(Standing(), {}) == []

    def test_words_of_a_place(self):
        assert place_text(PLACE) == "axial slice 4 · LPS -12.0 33.5 88.0 mm · liver"
        assert place_text(Place(None, (1.0, 2.4, 0.0))) == "voxel 1 2 0"
        assert place_text(Place()) == ""
        assert (slice_text(PLACE), slice_text(Place())) == ("ax 4", "")

    def test_a_time_that_is_none_is_shown_as_it_stands(self):
        assert local_time("yesterday at noon") == "yesterday at"
        assert ":" in local_time("2026-01-02T10:00:00.000Z")
