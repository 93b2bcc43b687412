"""What the list of cases says of losses and of a second model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from medotter_viewer.session.case_list import LOSS, WORST_FOR_A, WORST_FOR_B
from medotter_viewer.ui.widgets.cases import CasesDock
from medotter_viewer.ui.widgets.cases_model import CasesModel


@pytest.fixture
def other(bundle: Path) -> Path:
    """A second model: nothing for A/two, all right for B/three, all of the liver for A/one."""
    import nibabel as nib

    folder = bundle / "predictions/slow"
    for case_id, name in (("A/one", "one"), ("B/three", "three")):
        data = np.asarray(nib.load(bundle / f"data/{name}.nii.gz").dataobj)
        path = folder / f"{case_id}.nii.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        liver = np.isin(data, (5, 6)) if name == "one" else data == 1
        nib.save(nib.Nifti1Image(liver.astype(np.uint8), np.diag([1.0, 2.0, 3.0, 1.0])), path)
    return folder


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


def offered(dock):
    return [dock.sorting.itemData(i) for i in range(dock.sorting.count())]


def test_losses_get_a_column_once_something_is_scored(session, qapp):
    model = CasesModel(session)
    assert headers(model) == ["", "case", "dice\nliver", "hd95\n[mm]", "status", "tier"]
    session.score_all()
    assert headers(model) == ["", "case", "dice\nliver", "hd95\n[mm]", "loss\ndice", "status", "tier"]
    # dice 72/84 and 1 of two cases: the first takes (1 - 6/7) / 2 = 1/14 from the mean.
    assert [texts(model, row)[4] for row in range(2)] == ["0.0714", "0.0000"]
    assert model.cells(0)[4].why == "100.0% of what the headline lacks"
    assert "0.9286 over 2 cases, best possible 1.0000" in model.columns[4].why


def test_a_case_without_numbers_has_no_loss_and_its_word_covers_the_column(session, qapp):
    model = CasesModel(session)
    session.score_all()
    assert texts(model, 2)[2:6] == ["no prediction"] * 4
    assert list(model.spans()) == [(2, 2, 4)]


def test_sorting_by_loss_puts_what_has_none_last(session, dock):
    session.score_all()
    assert offered(dock) == [None, "dice", "hd95", LOSS]
    dock.table.horizontalHeader().sectionClicked.emit(4)
    assert session.worst_first == LOSS
    assert dock.sorting.currentText() == "costs the headline most first"
    assert [dock.model.case_id(row) for row in range(3)] == ["A/one", "A/two", "B/three"]


def test_both_models_stand_side_by_side(session, dock, other):
    session.second.open_folder(other)
    assert headers(dock.model) == ["", "case", "A\ndice", "B\ndice", "B−A", "status", "tier"]
    assert texts(dock.model, 0)[2:5] == ["–"] * 3
    assert texts(dock.model, 1)[3:5] == ["none", "–"]  # known before it is opened
    session.score_all()
    assert headers(dock.model)[2:6] == ["loss\ndice", "A\ndice", "B\ndice", "B−A"]
    assert texts(dock.model, 0)[2:7] == ["0.0714", "0.857", "1.000", "+0.143", "1 cap"]
    assert texts(dock.model, 1)[4:6] == ["none", "–"]
    assert texts(dock.model, 2)[2:7] == [*["no prediction"] * 2, "1.000", "–", ""]
    assert list(dock.model.spans()) == [(2, 2, 2)]


def test_the_difference_sorts_either_way_and_goes_with_the_second_model(session, dock, other):
    session.second.open_folder(other)
    session.score_all()
    assert offered(dock) == [None, "dice", "hd95", LOSS, WORST_FOR_B, WORST_FOR_A]
    dock.table.horizontalHeader().sectionClicked.emit(5)
    assert session.worst_first == WORST_FOR_B
    session.second.close()
    assert offered(dock) == [None, "dice", "hd95", LOSS]
    assert dock.sorting.currentText() == "as listed"
    assert "B−A" not in headers(dock.model)


def test_the_button_asks_for_a_folder_and_closes_again(session, dock, other, monkeypatch, qtbot):
    asked = []

    def choose(*args):
        asked.append(args)
        return str(other)

    monkeypatch.setattr("medotter_viewer.ui.widgets.second_button.QFileDialog.getExistingDirectory", choose)
    assert dock.second.text() == "Second prediction…"
    dock.second.click()
    assert len(asked) == 1
    assert session.second.name == "slow"
    assert dock.second.text() == "Close B: slow"
    dock.second.click()
    assert not session.second.is_on
    assert len(asked) == 1


def test_a_folder_that_cannot_be_used_is_said_in_the_status_line(session, dock, bundle, monkeypatch):
    (bundle / "empty").mkdir()
    heard = []
    session.events.failed.connect(heard.append)
    monkeypatch.setattr(
        "medotter_viewer.ui.widgets.second_button.QFileDialog.getExistingDirectory", lambda *_: str(bundle / "empty")
    )
    dock.second.click()
    assert len(heard) == 1
    assert "holds nothing for any of the 3 cases" in heard[0]
    assert dock.second.text() == "Second prediction…"


def test_scores_that_come_one_after_the_other_are_drawn_together(session, qapp, qtbot):
    model = CasesModel(session)
    drawn = []
    model.dataChanged.connect(lambda *_: drawn.append(1))
    model.modelReset.connect(lambda: drawn.append(1))
    for _ in range(20):
        session.events.row_changed.emit("A/one")
    assert drawn == []
    qtbot.waitUntil(lambda: len(drawn) == 1)
    qtbot.wait(250)
    assert drawn == [1]
