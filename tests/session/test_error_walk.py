"""Walking through errors, mending them, and what the scores were without one: counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.scoring.error_items import without_piece
from medotter_viewer.scoring.registry import score_case

SHAPE = (12, 4, 4)
FN, WRONG, FP = (2, np.s_[0:2], np.s_[0:2]), (9, 0, np.s_[0:2]), (5, 3, 3)


def maps() -> tuple[Any, Any]:
    """12 voxels of one, 8 of two; 4 of one are missed, 2 of two are called one, one voxel is invented."""
    gt = np.zeros(SHAPE, dtype=np.uint8)
    gt[0:3, 0:2, 0:2] = 1
    gt[8:10, 0:2, 0:2] = 2
    pred = gt.copy()
    pred[FN] = 0
    pred[WRONG] = 1
    pred[FP] = 1
    return gt, pred


@pytest.fixture
def review(tmp_path: Path, write_bundle: Any, new_session: Any) -> Any:
    """Function that makes a session on three cases: with errors, right, and without a prediction."""
    gt, pred = maps()
    cases = {name: {"dataset": "A", "gt": gt} for name in ("A/wrong", "A/right", "A/none")}
    spec = {"eval_regions": {"one": [1], "two": [2]}, "metrics": ["dice", "hd95"], "main_region": "one"}
    tiny = write_bundle(tmp_path / "walk", cases, eval_spec=spec, predictions={"A/wrong": pred, "A/right": gt})
    return lambda **options: new_session(target=tiny.bundle, predictions=tiny.predictions, **options)


@pytest.fixture
def session(review: Any) -> Any:
    made = review()
    made.go_to("A/wrong")
    return made


def told(session: Any) -> list[tuple[str, int]]:
    return [(item.kind, item.piece.voxels) for item in session.errors.shown]


def dice(score: Any) -> tuple[float, float]:
    return tuple(score.regions[name].metrics["dice"].value for name in ("one", "two"))


def paint(session: Any, place: Any, label: int) -> None:
    """Paint as the window does, and let the stroke settle."""
    there = np.zeros(SHAPE, dtype=bool)
    there[place] = True
    session.pred_data[there] = label
    session.note_stroke(np.nonzero(there))
    session.edits.note_painted()


class TestWalking:
    def test_nothing_is_found_before_somebody_asks(self, session: Any) -> None:
        assert session.errors.items is None
        assert not session.errors.is_computing

    def test_next_and_previous_stay_in_order_and_stop_at_the_ends(self, session: Any) -> None:
        gone, said = [], []
        session.errors.events.gone_to.connect(lambda item: gone.append(item.kind))
        session.errors.events.said.connect(said.append)
        for by in (1, 1, 1, 1, -1, -1, -1):
            session.errors.step(by)
        assert gone == ["fn", "wrong", "fp", "wrong", "fn"]
        assert said == ["last error of the list", "first error of the list"]
        session.errors.step(1)
        session.errors.go_to_largest()
        assert gone[-2:] == ["wrong", "fn"]

    def test_the_list_is_that_of_the_selected_region(self, session: Any) -> None:
        session.errors.keep_up(True)
        assert told(session) == [("fn", 4), ("wrong", 2), ("fp", 1)]
        assert session.errors.items.is_measured
        assert session.errors.items.items[0].piece.farthest_mm == 1.0
        session.select_region("one")
        assert told(session) == [("fn", 4), ("fp", 2), ("fp", 1)]
        assert [item.gt_name for item in session.errors.shown] == ["one", "two", "background"]
        session.select_region("two")
        assert told(session) == [("fn", 2)]
        assert session.errors.current is None

    def test_kinds_that_are_not_shown_are_left_out_of_the_walk(self, session: Any) -> None:
        session.errors.step(1)
        session.errors.set_kinds(["fp", "wrong"])
        assert session.errors.current is None
        session.errors.step(1)
        assert session.errors.current.kind == "wrong"
        session.errors.go_to_largest()
        assert session.errors.current.kind == "wrong"
        said: list[str] = []
        session.errors.events.said.connect(said.append)
        session.errors.set_kinds([])
        session.errors.step(1)
        assert said == ["none of the kinds that are shown"]

    def test_a_right_prediction_and_a_missing_one_say_so(self, session: Any) -> None:
        said: list[str] = []
        session.errors.events.said.connect(said.append)
        session.go_to("A/right")
        session.errors.step(1)
        session.go_to("A/none")
        session.errors.step(1)
        assert said[0] == "no errors"
        assert "no label map of the prediction" in said[1]

    def test_another_remap_is_another_list(self, session: Any) -> None:
        session.errors.keep_up(True)
        session.what_if.set_target(session.case, 2, 0)
        # two is background now: its 6 voxels that are predicted right are invented, and so are those called one
        assert told(session) == [("fp", 6), ("fn", 4), ("fp", 2), ("fp", 1)]
        session.what_if.reset()
        assert told(session) == [("fn", 4), ("wrong", 2), ("fp", 1)]


class TestMending:
    def test_the_next_error_follows_the_one_that_was_mended(self, session: Any) -> None:
        session.errors.step(1)
        paint(session, FN, 1)
        assert told(session) == [("wrong", 2), ("fp", 1)]
        assert session.errors.current is None
        session.errors.step(1)
        assert session.errors.current.kind == "wrong"

    def test_an_error_stays_the_current_one_while_it_exists_and_keeps_its_place(self, session: Any) -> None:
        session.errors.step(1)
        paint(session, (2, np.s_[0:2], 0), 1)
        paint(session, (2, 0, 1), 1)
        assert told(session) == [("fn", 1), ("wrong", 2), ("fp", 1)]
        assert (session.errors.current.kind, session.errors.current.piece.voxel) == ("fn", (2, 1, 1))
        session.errors.step(1)
        assert session.errors.current.kind == "wrong"
        session.errors.rank()
        assert told(session) == [("wrong", 2), ("fn", 1), ("fp", 1)]
        assert session.errors.current.kind == "wrong"

    def test_what_is_new_comes_last(self, session: Any) -> None:
        session.errors.step(1)
        paint(session, np.s_[11, 0:4, 0:4], 2)
        assert told(session) == [("fn", 4), ("wrong", 2), ("fp", 1), ("fp", 16)]

    def test_undo_gives_the_former_list(self, session: Any) -> None:
        session.errors.keep_up(True)
        paint(session, FN, 1)
        paint(session, FN, 0)
        session.errors.rank()
        assert told(session) == [("fn", 4), ("wrong", 2), ("fp", 1)]


class TestWithout:
    def test_dice_with_each_kind_gone(self, session: Any) -> None:
        assert dice(session.score) == pytest.approx((16 / 23, 12 / 14))
        session.errors.step(1)
        session.errors.toggle_without()
        found = []
        for _ in range(3):
            assert session.errors.without.is_complete
            found.append(dice(session.errors.without.score))
            session.errors.step(1)
        assert found == [
            pytest.approx((24 / 27, 12 / 14)),  # 12 of 12 are found, 15 predicted
            pytest.approx((16 / 21, 1.0)),  # 9 predicted as one; two is right
            pytest.approx((16 / 22, 12 / 14)),  # 10 predicted
        ]

    def test_the_numbers_are_those_of_scoring_a_mended_copy(self, session: Any) -> None:
        session.errors.step(1)
        session.errors.toggle_without()
        for _ in range(3):
            walk = session.errors
            mended = without_piece(walk.items, walk.current)
            assert walk.without.score == score_case(mended, session.spec, session.options)
            walk.step(1)

    def test_nothing_is_changed_by_it(self, session: Any) -> None:
        score, pred = session.score, session.pred_data.copy()
        session.errors.step(1)
        session.errors.toggle_without()
        session.errors.toggle_without()
        assert session.errors.without is None
        assert session.score is score
        assert np.array_equal(session.pred_data, pred)
        assert not session.edited
        assert session.row("A/wrong").score == score

    def test_it_needs_an_error_and_ends_with_the_case(self, session: Any) -> None:
        said: list[str] = []
        session.errors.events.said.connect(said.append)
        session.errors.toggle_without()
        assert session.errors.without is None
        assert said[0].startswith("no error is looked at")
        session.errors.step(1)
        session.errors.toggle_without()
        session.go_to("A/right")
        assert session.errors.without is None

    def test_it_follows_an_edit(self, session: Any) -> None:
        session.errors.step(1)
        session.errors.toggle_without()
        paint(session, FP, 0)
        assert dice(session.errors.without.score) == pytest.approx((24 / 26, 12 / 14))
        paint(session, FN, 1)
        assert session.errors.without is None

    def test_under_another_remap(self, session: Any) -> None:
        session.what_if.set_target(session.case, 2, 0)
        session.errors.go_to_largest()
        session.errors.toggle_without()
        walk = session.errors
        assert walk.without.score == score_case(without_piece(walk.items, walk.current), session.spec, session.options)
        assert walk.without.score.regions["two"].pred_voxels == 0


class TestInTheBackground:
    def test_an_answer_for_a_case_that_was_left_is_dropped(self, review: Any, queue: Any, main_thread: Any) -> None:
        session = review(executor=queue, deliver=main_thread)
        session.go_to("A/wrong")
        queue.run_all()
        main_thread.take_all()
        queue.run_all()
        main_thread.take_all()
        session.errors.step(1)
        assert session.errors.is_computing
        session.go_to("A/right")
        queue.run_all()
        main_thread.take_all()
        queue.run_all()
        main_thread.take_all()
        assert session.case.case_id == "A/right"
        assert session.errors.items is None
        assert session.errors.current is None

    def test_what_was_asked_for_happens_once_the_errors_are_there(
        self, review: Any, queue: Any, main_thread: Any
    ) -> None:
        session = review(executor=queue, deliver=main_thread)
        session.go_to("A/wrong")
        for _ in range(2):
            queue.run_all()
            main_thread.take_all()
        said: list[str] = []
        session.errors.events.said.connect(said.append)
        session.errors.step(1)
        assert said == ["finding errors…"]
        assert session.errors.current is None
        queue.run_all()
        main_thread.take_all()
        assert session.errors.current.kind == "fn"
        assert session.errors.items.is_measured
        assert not session.errors.is_computing
