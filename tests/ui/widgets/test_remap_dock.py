"""The remap table: its words, and what clicks do."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
import yaml
from qtpy.QtCore import Qt, qInstallMessageHandler
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QComboBox

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.labels import Remap
from medotter_viewer.evaluation.remap_audit import NativeRow
from medotter_viewer.live.change_text import parse_changes
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.ui.widgets.remap import RemapDock
from medotter_viewer.ui.widgets.remap_rows import canonical_text, remap_cells, remap_header, status_text
from medotter_viewer.ui.widgets.scores import header_text
from medotter_viewer.ui.widgets.volumes import MM3
from medotter_viewer.ui.widgets.what_if_rows import DROP, UNLIST


@pytest.fixture
def dock(session, qtbot):
    dock = RemapDock(session)
    qtbot.addWidget(dock)
    dock.show()
    yield dock
    dock.close_connections()


def rows(dock):
    return [[cell.text for cell in dock.model.cells(row)] for row in range(dock.model.rowCount())]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (NativeRow(5, 10, 4, "mapped", ("liver",)), "mapped"),
        (NativeRow(5, 10, 4, "mapped", ("liver",), (6, 7)), "mapped, shares its target with ids 6, 7"),
        (NativeRow(5, 10, 0, "dropped"), "dropped (listed as 0)"),
        (NativeRow(5, 10, 0, "not_listed"), "not listed: dropped"),
        (NativeRow(5, 0, 4, "not_seen", ("liver",)), "listed, not in this case"),
        (NativeRow(-1, 3, 0, "not_listed"), "negative id: ids start at 0"),
    ],
)
def test_the_fate_of_an_id_is_told_in_words(row, text):
    assert status_text(row) == text


def test_a_dropped_id_is_marked_by_more_than_a_colour():
    cells = remap_cells(NativeRow(24, 1200, 0, "not_listed"), MM3, 2.0)
    assert [cell.text for cell in cells] == ["24", "1,200", "2,400", "✕ background", "not listed: dropped"]
    assert all(cell.italic for cell in cells)


def test_a_canonical_id_is_named_by_its_regions():
    assert canonical_text(NativeRow(3, 10, 2, "mapped", ("kidney_right", "kidneys"))) == "2  kidney_right, kidneys"
    assert canonical_text(NativeRow(3, 10, 99, "mapped")) == "99  (in no region)"


@pytest.mark.parametrize(
    ("remap", "text"),
    [
        (Remap({1: 1}, "dict"), "A · dict in task.yaml"),
        (Remap(None, "list"), "A · documentary list: identity"),
        (Remap(None, "none"), "A · no label_remap: identity"),
        (Remap({1: 1}, "per_case"), "A · this case's own"),
        (Remap({1: 1}, "user", "mine.yaml"), "A · given by the user: mine.yaml"),
    ],
)
def test_the_header_says_where_the_remap_comes_from(remap, text):
    assert remap_header(CaseEntry("A/x", dataset="A", remap=remap)) == text


def test_an_unknown_remap_is_said_and_what_to_do():
    text = remap_header(CaseEntry("A/x", dataset="A"))
    assert "the label remap is unknown" in text
    assert "--remap" in text


def test_the_ids_of_the_open_case_are_listed_without_background(session, dock):
    session.go_to("A/one")
    assert rows(dock) == [
        ["5", "36", "216", "1  liver", "mapped, shares its target with id 6"],
        ["6", "12", "72", "1  liver", "mapped, shares its target with id 5"],
        ["9", "4", "24", "2  spleen", "mapped"],
        ["11", "1", "6", "✕ background", "dropped (listed as 0)"],
        ["12", "–", "–", "3  gland", "listed, not in this case"],
        ["40", "2", "12", "✕ background", "not listed: dropped"],
    ]
    assert dock.footer.text() == "2 of 5 ids dropped: 18 mm³, 5.45 % of the labelled volume"


def test_regions_that_a_dataset_does_not_label_are_named(session, dock):
    session.go_to("B/three")
    assert dock.footer.text().endswith("regions not labelled by this dataset: gland")


def test_nothing_is_counted_while_the_dock_is_hidden(session, qtbot):
    dock = RemapDock(session)
    qtbot.addWidget(dock)
    session.go_to("A/one")
    assert dock.model.rowCount() == 0
    dock.show()
    assert dock.model.rowCount() == 6
    dock.close()


def test_an_answer_for_a_case_that_is_no_longer_open_is_dropped(session, qtbot):
    waiting = []
    dock = RemapDock(session, lambda work, on_done: waiting.append((work, on_done)))
    qtbot.addWidget(dock)
    dock.show()
    session.go_to("A/one")
    session.go_to("B/three")
    for work, on_done in waiting:
        on_done(work())
    assert [row[0] for row in rows(dock)] == ["1", "2"]
    dock.close()


def test_the_button_and_the_session_agree_on_native_labels(session, dock, qtbot):
    session.go_to("A/one")
    qtbot.mouseClick(dock.show_native, Qt.MouseButton.LeftButton)
    assert session.native_shown
    session.show_native(False)
    assert not dock.show_native.isChecked()


def test_a_row_click_names_its_native_id(session, dock, qtbot):
    session.go_to("A/one")
    with qtbot.waitSignal(dock.native_activated) as told:
        place = dock.table.visualRect(dock.model.index(2, 0)).center()
        qtbot.mouseClick(dock.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert told.args == [9]


# ---------------------------------------------------------------- what if


@pytest.fixture
def remembered(monkeypatch, tmp_path, bundle):
    """Remember the tables of the bundle's cases in a cache of the test's own."""
    from medotter_viewer import open_source
    from medotter_viewer.cache.scores import score_through_cache
    from medotter_viewer.cache.store import CACHE_VARIABLE, FactCache
    from medotter_viewer.scoring.options import ScoreOptions

    path = tmp_path / "cache" / "scores.sqlite"
    monkeypatch.setenv(CACHE_VARIABLE, str(path))
    source = open_source(bundle, predictions=bundle / "predictions/fast", data_root=bundle / "data")
    for entry in source.entries("test"):
        score_through_cache(entry, source.spec, ScoreOptions(), cache=FactCache(path))
    return path


@contextmanager
def warned():
    """What Qt itself complains of."""
    said = []
    before = qInstallMessageHandler(lambda _, __, text: said.append(text))
    try:
        yield said
    finally:
        qInstallMessageHandler(before)


def choose(dock, row, text):
    return dock.model.setData(dock.model.index(row, 3), text, Qt.ItemDataRole.EditRole)


def test_another_target_is_a_what_if_and_every_number_follows(session, dock):
    session.go_to("A/one")
    before = session.score
    assert choose(dock, 2, DROP)  # native 9, which was the spleen
    assert session.score.regions["spleen"].gt_voxels is None  # nothing of the dataset reaches it: not labelled
    assert rows(dock)[2] == ["9", "4", "24", "✕ background", "what if, was 2; dropped (listed as 0)"]
    assert "9 → background (was 2)" in dock.alarm.text()
    assert dock.alarm.text().startswith("what if, nothing is saved")
    assert session.row("A/one").score == before  # the list holds the files' numbers
    assert not session.edited
    assert "what if" in header_text(session, scoring=False)
    dock.reset.click()
    assert session.score == before
    assert dock.alarm.text() == ""
    assert not dock.reset.isVisible()


def test_a_remap_that_is_tried_gives_what_scoring_with_it_gives(session, dock):
    session.go_to("A/one")
    choose(dock, 1, "2  spleen")  # native 6, a part of the liver
    case = session.working_case
    assert dict(case.entry.remap.table) == {5: 1, 6: 2, 9: 2, 11: 0, 12: 3}
    assert int((case.gt.data == 2).sum()) == 16
    assert session.score == score_case(case, session.spec, session.options)


def test_it_goes_on_with_the_next_case_of_the_dataset_alone(session, dock):
    session.go_to("A/one")
    choose(dock, 2, DROP)
    session.go_to("B/three")
    assert session.working_case.entry == session.case.entry
    assert "other cases" in dock.alarm.text()
    session.go_to("A/one")
    assert session.working_case.entry.remap.table[9] == 0


def test_the_headline_over_all_cases_is_said_with_how_many_they_are(remembered, session, dock):
    session.go_to("A/one")
    choose(dock, 2, UNLIST)
    session.what_if.request_overall()
    text = dock.overall.text()
    assert "headline, dice of liver: " in text
    assert "of 3 cases of the test split" in text
    assert "not scored: B/three" in text


def test_without_remembered_tables_it_says_where_they_come_from(monkeypatch, tmp_path, session, dock):
    monkeypatch.setenv("MEDOTTER_VIEWER_CACHE", str(tmp_path / "none.sqlite"))
    session.go_to("A/one")
    choose(dock, 2, UNLIST)
    session.what_if.request_overall()
    assert "no remembered table: A/one" in dock.overall.text()
    assert "medotter-viewer score" in dock.overall.text()


def test_the_yaml_on_the_clipboard_can_be_read_as_a_what_if(session, dock):
    session.go_to("A/one")
    choose(dock, 0, "3  gland")
    choose(dock, 2, UNLIST)
    dock.copy_yaml.click()
    text = QGuiApplication.clipboard().text()
    assert text == "label_remap:\n  A:\n    5: 3  # was 1\n    9: null  # was 2\n"
    assert parse_changes(yaml.safe_load(text), where="clipboard").remaps == {"A": {5: 3, 9: None}}


def test_what_is_no_id_changes_nothing_and_what_was_before_ends_it(session, dock):
    session.go_to("A/one")
    said = []
    session.events.failed.connect(said.append)
    assert not choose(dock, 0, "liver")
    assert said == ["native 5 to 'liver': no canonical id, type its number or take the list's"]
    assert not session.what_if.is_on
    choose(dock, 0, "77")  # typed: no region's
    assert rows(dock)[0][3] == "77  (in no region)"
    choose(dock, 0, "1  liver")
    assert not session.what_if.is_on


def test_a_list_to_choose_from_opens_in_the_cell(session, dock, qtbot):
    session.go_to("A/one")
    index = dock.model.index(2, 3)
    dock.table.edit(index)
    editor = dock.table.findChild(QComboBox)
    texts = [editor.itemText(i) for i in range(editor.count())]
    assert texts == ["1  liver", "2  spleen", "3  gland", DROP, UNLIST]
    assert editor.currentText() == "2  spleen"
    editor.setCurrentIndex(0)
    editor.activated.emit(0)
    assert session.what_if.changes.remaps == {"A": {9: 1}}


def open_editor(dock, qtbot):
    dock.table.edit(dock.model.index(2, 3))
    editor = dock.table.findChild(QComboBox)
    qtbot.waitUntil(lambda: editor.lineEdit().hasSelectedText())
    return editor


def test_a_number_that_is_typed_replaces_the_text_and_return_tries_it(session, dock, qtbot):
    session.go_to("A/one")
    editor = open_editor(dock, qtbot)
    assert editor.lineEdit().selectedText() == "2  spleen"
    qtbot.keyClicks(editor.lineEdit(), "1")
    assert editor.currentText() == "1"
    with qtbot.capture_exceptions() as exceptions, warned() as said:
        qtbot.keyClick(editor.lineEdit(), Qt.Key.Key_Return)
        qtbot.wait(50)
    assert session.what_if.changes.remaps == {"A": {9: 1}}
    assert not exceptions
    assert said == []
    assert dock.table.findChild(QComboBox) is None


def test_what_is_typed_is_tried_when_somebody_clicks_elsewhere_and_escape_leaves_it(session, dock, qtbot):
    session.go_to("A/one")
    editor = open_editor(dock, qtbot)
    qtbot.keyClicks(editor.lineEdit(), "3")
    qtbot.keyClick(editor.lineEdit(), Qt.Key.Key_Escape)
    qtbot.wait(20)
    assert not session.what_if.is_on
    editor = open_editor(dock, qtbot)
    qtbot.keyClicks(editor.lineEdit(), "3")
    with warned() as said:
        dock.table.commitData(editor)
        dock.table.closeEditor(editor, dock.table.itemDelegate().EndEditHint.NoHint)
        qtbot.waitUntil(lambda: session.what_if.is_on)
    assert session.what_if.changes.remaps == {"A": {9: 3}}
    assert said == []
