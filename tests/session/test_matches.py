"""The objects of the open case: counted in the background, again after edits, and walked through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.session.review import ReviewSession

SPEC = {
    "task_type": "instance_seg_2d",
    "eval_regions": {"nucleus": [1]},
    "metrics": ["f1", "aji", "pq"],
    "iou_threshold": 0.5,
    "main_region": "nucleus",
}


def block(*boxes: tuple[int, int, int, int, int]) -> Any:
    array = np.zeros((20, 20, 1), dtype=np.int16)
    for label, top, bottom, left, right in boxes:
        array[top:bottom, left:right] = label
    return array


# 1 is matched (IoU 1), 2 loosely (16 of 24 + 16 - 16: 2/3), 3 is missed; 9 is invented
GT = block((1, 0, 4, 0, 4), (2, 6, 10, 0, 4), (3, 12, 15, 0, 3))
PRED = block((7, 0, 4, 0, 4), (8, 6, 10, 0, 6), (9, 16, 18, 16, 18))


@pytest.fixture
def nuclei(tmp_path: Path, write_bundle: Any) -> Any:
    return write_bundle(
        tmp_path / "nuclei",
        {"D/a": {"gt": GT}, "D/b": {"gt": GT}, "D/none": {"gt": GT}},
        task={"task": {"id": "nuclei"}},
        eval_spec=SPEC,
        predictions={"D/a": PRED, "D/b": GT},
    )


@pytest.fixture
def open_session(new_session: Callable[..., ReviewSession], nuclei: Any) -> Callable[..., ReviewSession]:
    def make(*args: Any, **options: Any) -> ReviewSession:
        return new_session(*args, target=nuclei.bundle, predictions=nuclei.predictions, **options)

    return make


def kinds(session: ReviewSession) -> list[str]:
    return [session.matches.row(place).kind for place in range(len(session.matches))]


def test_the_what_if_without_an_error_names_a_panel_that_is_there(open_session) -> None:
    session = open_session()
    said: list[str] = []
    session.errors.events.said.connect(said.append)
    session.errors.toggle_without()
    assert said == ["no what-if without an object: the Instances panel lists what each object costs of AJI"]


def test_what_has_no_match_comes_first_and_of_these_what_costs_most(open_session) -> None:
    session = open_session()
    assert session.matches.found is None
    session.go_to("D/a")
    rows = [session.matches.row(place) for place in range(len(session.matches))]
    assert [(r.kind, r.gt_id, r.pred_id, r.loss) for r in rows] == [
        ("fn", 3, None, 9),
        ("fp", None, 9, 4),
        ("tp", 2, 8, 8),
        ("tp", 1, 7, 0),
    ]
    # union 16 + 24 + 9 + 4
    assert sum(r.share for r in rows) == pytest.approx(1 - 32 / 53, abs=1e-12)


def test_numbers_follow_the_threshold_and_there_is_a_way_back(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    said: list[None] = []
    session.matches.events.rows_changed.connect(lambda: said.append(None))
    session.matches.set_threshold(0.7)
    assert kinds(session) == ["fn", "fn", "fp", "fp", "tp"]
    assert session.matches.found.values(0.7)["f1"].value == pytest.approx(1 / 3)
    session.matches.set_threshold(2.0)
    assert session.matches.threshold == 0.95
    session.matches.reset_threshold()
    assert (session.matches.threshold, kinds(session)) == (0.5, ["fn", "fp", "tp", "tp"])
    assert len(said) == 3
    session.matches.reset_threshold()
    assert len(said) == 3


def test_at_the_specifications_threshold_they_are_the_scores(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    scored = session.score.regions["nucleus"].metrics
    assert {m: session.matches.found.values()[m] for m in scored} == dict(scored)


def test_painting_counts_again_when_it_settles(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    session.matches.select(0)
    session.pred_data[12:15, 0:3] = 5
    session.edits.note_painted()
    assert kinds(session) == ["fp", "tp", "tp", "tp"]
    row = session.matches.selected
    assert (row.kind, row.gt_id, row.pred_id) == ("tp", 3, 5)
    session.pred_data[...] = session.case.pred.data
    session.edits.note_painted()
    assert kinds(session) == ["fn", "fp", "tp", "tp"]


def test_an_object_that_is_painted_away_is_not_looked_at_any_more(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    session.matches.select(1)
    assert session.matches.selected.pred_id == 9
    session.pred_data[16:18, 16:18] = 0
    session.edits.note_painted()
    assert session.matches.selected is None


def test_an_answer_of_a_case_that_was_left_is_dropped(open_session, queue, main_thread) -> None:
    session = open_session(queue, main_thread)
    session.go_to("D/a")
    queue.run_next()
    main_thread.take_all()  # a is open, its objects are not counted yet
    session.go_to("D/b")
    queue.run_all()
    main_thread.take_all()
    queue.run_all()
    main_thread.take_all()
    assert session.case.case_id == "D/b"
    assert session.matches.found.case_id == "D/b"
    assert kinds(session) == ["tp", "tp", "tp"]


def test_without_a_prediction_nothing_is_listed(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    session.go_to("D/none")
    assert session.matches.found is None
    assert len(session.matches) == 0
    with pytest.raises(IndexError):
        session.matches.row(0)


def test_walking_goes_through_what_has_no_match_and_says_where_it_is(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    seen: list[Any] = []
    session.matches.events.selected.connect(lambda row: seen.append(None if row is None else (row.gt_id, row.pred_id)))
    assert session.matches.step(1) == "1 of 2 without a match"
    assert session.matches.step(1) == "2 of 2 without a match"
    assert session.matches.step(1) == "last object without a match"
    assert session.matches.step(-1) == "1 of 2 without a match"
    assert session.matches.step(-1) == "first object without a match"
    assert seen == [(3, None), (None, 9), (3, None)]


def test_walking_from_a_match_goes_on_from_there(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    session.matches.sort_by("pred")
    assert kinds(session) == ["fp", "tp", "tp", "fn"]
    session.matches.select(1)
    assert session.matches.step(1) == "2 of 2 without a match"
    session.matches.select(2)
    assert session.matches.step(-1) == "1 of 2 without a match"


def test_where_all_match_walking_says_so(open_session) -> None:
    session = open_session()
    session.go_to("D/b")
    assert session.matches.step(1) == "every object has a match above IoU 0.5"
    assert session.matches.selected is None


def test_a_column_sorts_largest_first_then_smallest_then_not_at_all(open_session) -> None:
    session = open_session()
    session.go_to("D/a")

    def ids() -> list[Any]:
        return [session.matches.row(place).gt_id for place in range(len(session.matches))]

    session.matches.sort_by("gt")
    assert ids() == [3, 2, 1, None]
    session.matches.sort_by("gt")
    assert ids() == [1, 2, 3, None]
    session.matches.sort_by("gt")
    assert (session.matches.column, ids()) == (None, [3, None, 2, 1])


def test_what_is_looked_at_stays_when_the_threshold_moves(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    session.matches.select(2)
    assert session.matches.selected.kind == "tp"
    session.matches.set_threshold(0.7)
    assert (session.matches.selected.kind, session.matches.selected.gt_id) == ("fn", 2)
    assert session.matches.selected_place == 1


def test_another_case_forgets_what_was_looked_at_and_keeps_the_threshold(open_session) -> None:
    session = open_session()
    session.go_to("D/a")
    session.matches.set_threshold(0.8)
    session.matches.select(0)
    session.go_to("D/b")
    assert session.matches.selected is None
    assert session.matches.threshold == 0.8


def test_label_maps_of_other_tasks_are_never_matched(session) -> None:
    session.go_to("A/bad")
    assert session.matches.found is None
    assert session.score is not None
