"""The list of errors as it is read, and what clicks do."""

from __future__ import annotations

from typing import Any

import pytest

from medotter_viewer.scoring.error_items import find_errors
from medotter_viewer.ui.error_words import item_line, label_text, left_out_line, what_if_line
from medotter_viewer.ui.widgets.errors import ErrorsDock


@pytest.fixture
def dock(session: Any, qtbot: Any) -> Any:
    made = ErrorsDock(session)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close_connections()


def rows(model: Any) -> list[list[str]]:
    return [[cell.text for cell in model.cells(row)] for row in range(model.rowCount())]


def test_errors_are_listed_with_their_size_reach_and_slice(session: Any, dock: Any) -> None:
    session.go_to("A/one")
    # voxels of 6 mm3; 12 of the liver are missed at k = 4, 3 mm from k = 3, all 4 of the spleen at k = 2; of 6 slices
    # the first is that of k = 5
    assert rows(dock.model) == [
        ["1", "FN", "liver", "72.0", "12", "3.0", "2"],
        ["2", "FN", "spleen", "24.0", "4", "–", "4"],
    ]
    assert [c.header.split("\n")[0] for c in dock.model.columns] == [
        "#", "kind", "label", "volume", "voxels", "reach", "slice"
    ]  # fmt: skip
    assert "[mm³]" in dock.model.columns[3].header
    assert dock.model.cells(1)[5].why == "no distance: the prediction has no spleen at all"
    assert "2 pieces" in dock.header.text()
    assert [button.text() for button in dock.kinds.values()] == ["FP 0\n0 mm³", "FN 2\n96.0 mm³", "wrong 0\n0 mm³"]


def test_slices_are_counted_along_the_axis_that_is_looked_along(session: Any, dock: Any) -> None:
    session.go_to("A/one")
    dock.set_position(1)
    # j = 2.5 of 8 lies nearest to the middle of the liver: 2; displayed towards the back 7 - 2 = 5, the 6th
    assert [row[-1] for row in rows(dock.model)] == ["6", "3"]


def test_a_click_goes_to_an_error_and_gives_the_keyboard_back(session: Any, qtbot: Any) -> None:
    done: list[bool] = []
    dock = ErrorsDock(session, lambda: done.append(True))
    qtbot.addWidget(dock)
    dock.show()
    session.go_to("A/one")
    gone: list[str] = []
    session.errors.events.gone_to.connect(lambda item: gone.append(item.gt_name))
    dock.table.row_chosen.emit(1)
    assert gone == ["spleen"]
    assert done == [True]
    assert dock.table.selected_row() == 1
    session.errors.step(-1)
    assert dock.table.selected_row() == 0
    dock.close_connections()


def test_nothing_is_found_while_the_dock_is_hidden(session: Any, qtbot: Any) -> None:
    dock = ErrorsDock(session)
    qtbot.addWidget(dock)
    session.go_to("A/one")
    assert session.errors.items is None
    dock.show()
    assert dock.model.rowCount() == 2
    dock.close_connections()


def test_kinds_are_chosen_by_their_buttons(session: Any, dock: Any) -> None:
    session.go_to("A/one")
    dock.kinds["fn"].click()
    assert dock.model.rowCount() == 0
    dock.kinds["fn"].click()
    assert dock.model.rowCount() == 2
    assert dock.kinds["wrong"].isVisible()
    session.select_region("liver")
    assert not dock.kinds["wrong"].isVisible()
    assert rows(dock.model) == [["1", "FN", "liver", "72.0", "12", "3.0", "2"]]


def test_the_what_if_stands_below_as_before_and_after(session: Any, dock: Any) -> None:
    session.go_to("A/one")
    assert not dock.without.isEnabled()
    session.errors.step(1)
    dock.without.click()
    # liver: 36 of 48 voxels are right; hd95 3 mm, as the missed slice is more than 5 % of the surface
    assert dock.alarm.text() == ("what if, nothing is changed: without this missed (FN) piece, liver, 72.0 mm³")
    assert rows(dock.without_model) == [["headline: liver", "0.857 → 1.000", "3.00 → 0.00"]]
    session.errors.step(1)
    assert rows(dock.without_model) == [
        ["headline: liver", "0.857", "3.00"],
        ["spleen", "0.000 → 1.000", "cap 373.13 → 0.00"],
    ]
    dock.without.click()
    assert rows(dock.without_model) == []
    assert not dock.alarm.isVisible()


def test_why_there_is_no_list_is_said(session: Any, dock: Any) -> None:
    session.go_to("B/three")
    assert dock.header.text() == "not compared: no label map of the prediction"
    session.go_to("A/two")
    session.select_region("liver")
    assert dock.header.text() == "liver alone, as one mask: no voxel is wrong"


def test_a_list_that_is_cut_says_what_is_left_out(session: Any) -> None:
    session.go_to("A/one")
    found = find_errors(session.working_case, session.spec, limit=1)
    assert left_out_line(found) == (
        "the 1 largest of 2 pieces are listed; the others hold 24.0 mm³, 25 % of what is wrong"
    )
    assert left_out_line(find_errors(session.working_case, session.spec)) == ""


def test_an_error_in_one_line(session: Any) -> None:
    session.go_to("A/one")
    session.errors.keep_up(True)
    first, second = session.errors.items.items
    assert item_line(first, 1, 2) == (
        "error 1 of 2  ·  missed (FN): liver  ·  72.0 mm³ (12 voxels)  ·  up to 3.0 mm from the prediction"
    )
    assert item_line(second, 2, 2) == "error 2 of 2  ·  missed (FN): spleen  ·  24.0 mm³ (4 voxels)"
    assert label_text(second) == "spleen"
    assert "missed (FN) piece, spleen" in what_if_line(second)
