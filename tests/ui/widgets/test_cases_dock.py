"""The case list: its words, and what clicks do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from qtpy.QtCore import Qt

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import Headline
from medotter_viewer.session.case_list import CaseRow
from medotter_viewer.ui.widgets.cases import CasesDock
from medotter_viewer.ui.widgets.cases_model import CasesModel, headline_metric, status_cell

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@pytest.fixture
def dock(session, qtbot):
    dock = CasesDock(session)
    qtbot.addWidget(dock)
    dock.show()
    yield dock
    dock.close_connections()


def texts(model, row):
    return [cell.text for cell in model.cells(row)]


def headers(model):
    return [column.header for column in model.columns]


def click(qtbot, dock, row, column=1):
    place = dock.table.visualRect(dock.model.index(row, column)).center()
    qtbot.mouseClick(dock.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_headers_name_region_metric_and_unit(session, qapp):
    assert headers(CasesModel(session)) == ["", "case", "dice\nliver", "hd95\n[mm]", "status", "tier"]


@pytest.mark.parametrize(("region", "short"), [("macro_avg", "mean"), ("left adrenal gland", "left adrenal…")])
def test_the_mean_is_headed_so_and_a_long_name_is_cut(session, qapp, region, short):
    session.spec = replace(session.spec, headline=replace(session.spec.headline, region=region))
    model = CasesModel(session)
    assert headers(model) == ["", "case", f"dice\n{short}", "hd95\n[mm]", "status", "tier"]
    assert region in model.columns[2].why


def test_columns_and_prefixes_that_all_cases_share_are_left_out(session, qapp):
    model = CasesModel(session)
    assert texts(model, 0)[1] == "A/one"
    session.set_filter("dataset:b")
    assert headers(model) == ["", "case", "dice\nliver", "hd95\n[mm]", "status"]
    assert texts(model, 0)[1] == "three"


def test_a_dataset_that_ids_do_not_begin_with_gets_a_column(session, qapp):
    rows = [replace(row, entry=replace(row.entry, dataset=f"set {row.case_id}")) for row in session.rows]
    session._list.shown = rows
    model = CasesModel(session)
    assert headers(model) == ["", "case", "dice\nliver", "hd95\n[mm]", "status", "dataset", "tier"]
    assert texts(model, 0) == ["", "A/one", "–", "–", "not scored yet", "set A/one", "near"]


def test_cases_that_are_not_scored_show_no_number_and_what_is_missing_shows_before_loading(session, qapp):
    model = CasesModel(session)
    assert texts(model, 0) == ["", "A/one", "–", "–", "not scored yet", "near"]
    assert texts(model, 1) == ["", "A/two", "–", "–", "not scored yet, no image", "far"]
    assert texts(model, 2) == ["", "B/three", *["no prediction"] * 3, "far"]
    assert list(model.spans()) == [(2, 2, 3)]
    assert model.cells(0)[2].tone == "quiet"


def test_the_open_case_is_bold_and_marked(session, qapp):
    model = CasesModel(session)
    session.go_to("A/two")
    assert [texts(model, row)[0] for row in range(3)] == ["", "▸", ""]
    assert model.data(model.index(1, 1), Qt.ItemDataRole.FontRole).bold()
    assert model.data(model.index(0, 1), Qt.ItemDataRole.FontRole) is None


def test_numbers_are_right_aligned_and_names_are_not(session, qapp):
    model = CasesModel(session)
    role = Qt.ItemDataRole.TextAlignmentRole
    assert [model.data(model.index(0, c), role) == RIGHT for c in range(6)] == [False] * 2 + [True] * 2 + [False] * 2
    assert model.headerData(2, Qt.Orientation.Horizontal, role) == RIGHT


def test_an_error_is_said_in_words_and_explained_in_the_tooltip():
    entry = CaseEntry("A/x", gt_path=Path(__file__), pred_path=Path(__file__))
    cell = status_cell(CaseRow(entry, CaseScore.unscored("A/x", "error", "shapes differ"), "error", {}))
    assert (cell.text, cell.tone, cell.why) == ("error", "error", "shapes differ")


def test_a_missing_file_is_named():
    finding = Finding("error", "missing-file", "case A/x: seg: no such file")
    entry = CaseEntry("A/x", pred_path=Path(__file__), findings=(finding,))
    cell = status_cell(CaseRow(entry, None, "missing file", {}))
    assert (cell.text, cell.tone, cell.why) == ("missing gt", "error", "case A/x: seg: no such file")


def test_a_cap_of_the_headline_region_keeps_its_status():
    region = RegionScore({"hd95": MetricValue(373.13, "cap", "gt_nonempty_pred_empty")}, 5, 0, 0)
    score = CaseScore("A/x", "scored", regions={"liver": region})
    row = CaseRow(CaseEntry("A/x"), score, "scored", {"hd95": 373.13})
    assert headline_metric(row, "liver", "hd95").status == "cap"
    assert status_cell(row).text == "1 cap"


def test_one_regions_number_is_no_slanted_mean(session, dock):
    session.score_all()  # the headline is of liver; spleen has the cap
    cell, status = dock.model.cells(0)[2], dock.model.cells(0)[5]
    assert (cell.text, cell.italic, cell.why) == ("0.857", False, "")
    assert status.why.startswith("empty on one side, with values set by a rule: spleen")


def test_a_mean_tells_what_rules_put_into_it(session, dock):
    session.spec = replace(session.spec, headline=Headline("macro_avg", "dice"))
    session.score_all()
    session.go_to("A/one")
    # liver 72 of 84 by halves, spleen missed: 0 by the formula, gland absent in both: 1
    dock.model.refresh()
    dice, hd95 = dock.model.cells(0)[2:4]
    assert dice.italic
    assert dice.why == (
        "slanted: a mean over 3 regions with values set by a rule, 1 absent in both: gland; the others alone 0.429"
    )
    assert "1 cap, 1 absent in both: spleen, gland" in hd95.why


def test_a_click_opens_the_case_and_gives_the_keyboard_back(session, qtbot):
    done = []
    dock = CasesDock(session, on_done=lambda: done.append(1))
    qtbot.addWidget(dock)
    dock.show()
    click(qtbot, dock, 1)
    assert session.current_id == "A/two"
    assert done == [1]
    dock.close_connections()


def test_return_opens_the_selected_case(session, dock, qtbot):
    dock.table.select(1)
    qtbot.keyClick(dock.table, Qt.Key.Key_Return)
    assert session.current_id == "A/two"


def test_keys_of_the_window_are_not_taken(dock, qtbot):
    heard = []
    dock.keyPressEvent = lambda event: heard.append(event.text())
    for key in ",.G":
        qtbot.keyClick(dock.table, key)
    assert heard == [",", ".", "G"]


def test_the_filter_reduces_the_rows(session, dock, qtbot):
    qtbot.keyClicks(dock.filter, "dataset:B")
    assert dock.model.rowCount() == 1
    assert dock.footer.text() == "1 of 3 listed · 0 of 1 scored · 1 no prediction"  # what is cut off first stands last


def test_score_all_fills_values(session, dock, qtbot):
    seen = []
    session.events.progress_changed.connect(lambda done, total: seen.append((done, total, dock.score_all.text())))
    qtbot.mouseClick(dock.score_all, Qt.MouseButton.LeftButton)
    assert texts(dock.model, 0)[2:] == ["0.857", "3.00", "0.0714", "1 cap", "near"]
    assert texts(dock.model, 1)[2:4] == ["1.000", "0.00"]
    assert texts(dock.model, 2)[2:] == [*["no prediction"] * 4, "far"]
    assert seen[0] == (0, 3, "Cancel")
    assert seen[-1] == (0, 0, "Score all")
    assert dock.footer.text() == "2 of 3 scored · 1 no prediction"


def test_worst_first_is_chosen_by_box_or_header(session, dock, qtbot):
    session.score_all()
    dock.sorting.setCurrentIndex(2)
    dock.sorting.activated.emit(2)
    assert session.worst_first == "hd95"
    assert [dock.model.case_id(row) for row in range(3)] == ["A/one", "A/two", "B/three"]
    dock.table.horizontalHeader().sectionClicked.emit(2)
    assert session.worst_first == "dice"
    assert dock.sorting.currentText() == "worst dice first"
    dock.table.horizontalHeader().sectionClicked.emit(1)
    assert session.worst_first is None


def test_a_closed_dock_no_longer_listens(session, qtbot):
    dock = CasesDock(session)
    qtbot.addWidget(dock)
    dock.close()
    session.set_filter("dataset:B")
    assert dock.footer.text() == "0 of 3 scored · 1 no prediction"


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_escape_and_return_leave_the_filter_as_it_is_and_give_the_keyboard_back(session, qtbot, key):
    done = []
    dock = CasesDock(session, lambda: done.append(True))
    qtbot.addWidget(dock)
    qtbot.keyClicks(dock.filter, "dataset:B")
    assert not done
    qtbot.keyClick(dock.filter, key)
    assert done == [True]
    assert dock.filter.text() == session.filter == "dataset:B"
    dock.close_connections()


def test_a_field_that_there_is_not_is_named_with_those_that_there_are(session, dock, qtbot):
    assert dock.filter_note.isHidden()
    qtbot.keyClicks(dock.filter, "organ:liver")
    assert not dock.filter_note.isHidden()
    assert dock.filter_note.text().startswith('no field "organ"; there are dataset: split: ')
    dock.filter.setText("dataset:B")
    assert dock.filter_note.isHidden()
