"""The list of cases of a saved review that is taken up: what hides cases is seen, and their order is as it was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from medotter_viewer.session.case_list import WORST_FOR_A
from medotter_viewer.session.state_file import ReviewState
from medotter_viewer.sources.second_predictions import with_predictions
from medotter_viewer.ui.saved_reviews import take_up
from medotter_viewer.ui.widgets.cases import CasesDock


@pytest.fixture
def dock(session: Any, qtbot: Any) -> Any:
    dock = CasesDock(session)
    qtbot.addWidget(dock)
    yield dock
    dock.close_connections()


def restore(session: Any, **of_list: Any) -> list[str]:
    window: Any = SimpleNamespace(session=session, looking=SimpleNamespace(look=lambda **_: None))
    return take_up(window, ReviewState({}, **of_list))


def ids(session: Any) -> list[str]:
    return [row.case_id for row in session.rows]


def test_the_filter_stands_in_its_field_and_is_said(dock: Any, session: Any) -> None:
    said = restore(session, filter="dataset:A")
    assert dock.filter.text() == "dataset:A"
    assert ids(session) == ["A/one", "A/two"]
    assert said == ["filter 'dataset:A': 2 of 3 cases listed"]
    dock.filter.clear()
    assert len(ids(session)) == 3


def test_without_a_filter_nothing_is_said(dock: Any, session: Any) -> None:
    assert restore(session) == []
    assert dock.filter.text() == ""
    assert dock.sorting.currentData() is None


def test_cases_are_scored_for_the_order_that_was_saved(dock: Any, session: Any) -> None:
    # dice of the liver: 2·36/(48+36) = 6/7 of A/one; A/two has 48 of 48; B/three has no prediction
    restore(session, worst_first="dice")
    assert dock.sorting.currentData() == "dice"
    assert [row.values["dice"] for row in session.rows][:2] == pytest.approx([6 / 7, 1.0])
    other = restore(session, worst_first="no such")
    assert other == ["the list was sorted by 'no such', which there is not now: it is as listed"]


def test_an_order_by_two_models_comes_back(dock: Any, session: Any, bundle: Any) -> None:
    (bundle / "predictions/fast").rename(bundle / "predictions/b")
    (bundle / "predictions/fast/A").mkdir(parents=True)
    for one, two in (("one", "two"), ("two", "one")):  # A is as good on two as B is on one
        (bundle / f"predictions/fast/A/{one}.nii.gz").write_bytes(
            (bundle / f"predictions/b/A/{two}.nii.gz").read_bytes()
        )
    session.second.show(with_predictions(session.source, bundle / "predictions/b"))
    restore(session, worst_first=WORST_FOR_A)
    assert dock.sorting.currentData() == WORST_FOR_A
    gains = [row.values[WORST_FOR_A] for row in session.rows if row.values[WORST_FOR_A] is not None]
    assert gains == sorted(gains)
    assert len(gains) == 2
    assert gains[0] < gains[1]
