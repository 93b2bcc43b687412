"""The remap table: its words, and what clicks do."""

from __future__ import annotations

import pytest
from qtpy.QtCore import Qt

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.labels import Remap
from medotter_viewer.evaluation.remap_audit import NativeRow
from medotter_viewer.ui.widgets.remap import RemapDock
from medotter_viewer.ui.widgets.remap_rows import canonical_text, remap_cells, remap_header, status_text
from medotter_viewer.ui.widgets.volumes import MM3


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
