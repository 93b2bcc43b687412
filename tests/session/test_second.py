"""A second model beside the first: what it says of the open case, and what the list says of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import UsageError
from medotter_viewer.session.case_list import (
    GAIN,
    LOSS,
    SECOND,
    WORST_FOR_A,
    WORST_FOR_B,
    CaseRow,
    arrange,
    second_values,
)
from medotter_viewer.session.review import ReviewSession

NewSession = Callable[..., ReviewSession]
GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1  # 64 voxels
HALF = GT.copy()
HALF[:, :, 3:] = 0  # 32 of them: dice 2 * 32 / 96


def write(path: Path, data: np.ndarray, step_mm: float = 1.0) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(data, np.diag([step_mm, step_mm, step_mm, 1.0])), path)


@pytest.fixture
def other(tiny: Any) -> Path:
    """Second predictions: dice 2/3 for A/good, 1 for A/bad, nothing for B/ok."""
    folder = tiny.folder / "other"
    write(folder / "A/good.nii.gz", HALF)
    write(folder / "A/bad.nii.gz", GT)
    return folder


def dice(score: CaseScore | None) -> float | None:
    assert score is not None
    return score.regions["one"].metrics["dice"].value


class TestTheOpenCase:
    def test_it_is_read_and_scored_by_the_same_rules(self, session: ReviewSession, other: Path) -> None:
        session.go_to("A/bad")
        session.second.open_folder(other)
        assert session.second.name == "other"
        assert session.second.case is not None
        assert session.second.case.pred is not None
        np.testing.assert_array_equal(session.second.case.pred.data, GT)
        assert dice(session.second.score) == 1.0
        assert session.second.score.regions["one"].metrics["hd95"].value == 0.0  # type: ignore[union-attr]
        assert dice(session.score) == pytest.approx(2 / 3)  # the first is as it was
        assert session.second.is_settled

    def test_neither_image_nor_ground_truth_is_held_twice(self, session: ReviewSession, other: Path) -> None:
        session.second.open_folder(other)
        session.go_to("A/good")
        case = session.second.case
        assert case is not None
        assert (dict(case.channels), case.gt, case.gt_native) == ({}, None, None)

    def test_the_next_case_brings_its_own(self, session: ReviewSession, other: Path) -> None:
        session.second.open_folder(other)
        session.go_to("A/good")
        assert dice(session.second.score) == pytest.approx(2 / 3)
        session.step(1)
        assert session.second.case.case_id == "A/bad"  # type: ignore[union-attr]
        assert dice(session.second.score) == 1.0

    def test_a_missing_file_is_said_and_nothing_is_shown(self, session: ReviewSession, other: Path) -> None:
        session.second.open_folder(other)
        assert not session.second.is_predicted("B/ok")  # before it is opened
        session.go_to("B/ok")
        assert session.second.case.pred is None  # type: ignore[union-attr]
        assert "no prediction" in session.second.message
        assert session.second.score.status == "missing_prediction"  # type: ignore[union-attr]
        assert session.score.status == "scored"  # type: ignore[union-attr]

    def test_a_file_on_another_grid_is_refused_with_numbers_and_the_first_stays(
        self, session: ReviewSession, other: Path
    ) -> None:
        write(other / "A/bad.nii.gz", GT[:5], 2.0)
        session.second.open_folder(other)
        session.go_to("A/bad")
        assert session.second.case.pred is None  # type: ignore[union-attr]
        assert "5 x 6 x 6" in session.second.message
        assert session.second.score.status == "error"  # type: ignore[union-attr]
        assert dice(session.score) == pytest.approx(2 / 3)
        assert session.pred_data is not None

    def test_it_stays_as_its_file_says_while_the_first_is_edited(self, session: ReviewSession, other: Path) -> None:
        session.second.open_folder(other)
        session.go_to("A/bad")
        assert session.pred_data is not None
        session.pred_data[:] = 0
        session.edits.note_painted()
        assert dice(session.score) == 0.0
        assert dice(session.second.score) == 1.0
        np.testing.assert_array_equal(session.second.case.pred.data, GT)  # type: ignore[union-attr]

    def test_while_it_is_read_the_case_before_is_gone(self, new_session: NewSession, queue: Any, other: Path) -> None:
        session = new_session(queue)
        session.second.open_folder(other)
        session.go_to("A/good")
        queue.run_all()
        session.go_to("A/bad")
        queue.run_next()  # the first model's case is there
        assert session.current_id == "A/bad"
        assert (session.second.case, session.second.score) == (None, None)
        assert session.second.is_scoring
        queue.run_all()
        assert dice(session.second.score) == 1.0

    def test_an_answer_for_a_case_that_was_left_is_dropped(
        self, new_session: NewSession, queue: Any, main_thread: Any, other: Path
    ) -> None:
        session = new_session(queue, main_thread)
        session.second.open_folder(other)
        for case_id in ("A/good", "A/bad"):
            session.go_to(case_id)
            queue.run_all()
            main_thread.take_all()
        queue.run_all()
        main_thread.take_all()
        assert session.second.case.case_id == "A/bad"  # type: ignore[union-attr]

    def test_closing_it_leaves_the_first_alone(self, session: ReviewSession, other: Path) -> None:
        session.go_to("A/bad")
        session.second.open_folder(other)
        session.second.close()
        assert not session.second.is_on
        assert (session.second.case, session.second.score, session.second.name) == (None, None, "")
        assert SECOND not in session.row("A/bad").values
        assert dice(session.score) == pytest.approx(2 / 3)

    def test_a_folder_that_cannot_be_used_changes_nothing(self, session: ReviewSession, other: Path) -> None:
        session.second.open_folder(other)
        with pytest.raises(UsageError, match="nowhere"):
            session.second.open_folder(other / "nowhere")
        assert session.second.name == "other"


class TestTheList:
    def test_all_of_both_are_scored_one_after_the_other(self, session: ReviewSession, heard: Any, other: Path) -> None:
        session.second.open_folder(other)
        session.score_all()
        # Three cases of A and three of B, of which one has no file.
        assert heard.of("progress_changed") == [*((n, 6) for n in range(7)), (0, 0)]
        rows = {row.case_id: row.values for row in session.rows}
        assert rows["A/good"]["dice"] == 1.0
        assert rows["A/good"][SECOND] == pytest.approx(2 / 3)
        assert rows["A/good"][GAIN] == pytest.approx(-1 / 3)
        assert rows["A/bad"][GAIN] == pytest.approx(1 / 3)
        assert (rows["B/ok"][SECOND], rows["B/ok"][GAIN]) == (None, None)

    def test_sorted_by_the_difference_either_way_without_one_last(self, session: ReviewSession, other: Path) -> None:
        session.second.open_folder(other)
        session.score_all()
        session.sort_worst_first(WORST_FOR_B)
        assert [row.case_id for row in session.rows] == ["A/good", "A/bad", "B/ok"]
        session.sort_worst_first(WORST_FOR_A)
        assert [row.case_id for row in session.rows] == ["A/bad", "A/good", "B/ok"]
        session.second.close()
        assert session.worst_first is None  # there is nothing left to sort by
        assert [row.case_id for row in session.rows] == ["A/good", "A/bad", "B/ok"]

    def test_cancelling_stops_the_second_too(self, session: ReviewSession, heard: Any, other: Path) -> None:
        def cancel(done: int, total: int) -> None:
            if done == 4:
                session.cancel_score_all()

        session.second.open_folder(other)
        session.events.progress_changed.connect(cancel)
        session.score_all()
        assert len(session.scores()) == 3
        assert len(session.second.scores) == 1
        assert heard.of("progress_changed")[-1] == (0, 0)

    def test_only_what_is_missing_is_scored_once_it_is_chosen(
        self, session: ReviewSession, heard: Any, other: Path
    ) -> None:
        session.score_all()
        heard.said.clear()
        session.second.open_folder(other)
        session.score_all()
        assert heard.of("progress_changed")[0] == (0, 3)
        assert len(session.second.scores) == 3

    def test_less_is_better_for_a_distance(self) -> None:
        spec = EvalSpec.from_mapping({"eval_regions": {"a": [1]}, "metrics": ["hd95"], "main_region": "a"})

        def score(value: float) -> CaseScore:
            return CaseScore("1", "scored", regions={"a": RegionScore({"hd95": MetricValue(value)})})

        near, far = score(1.0), score(9.0)
        worse, better = second_values(near, far, spec), second_values(far, near, spec)
        assert (worse[GAIN], better[GAIN]) == (8.0, -8.0)
        rows = [CaseRow(CaseEntry(name), None, "", values) for name, values in (("b", better), ("w", worse))]
        assert [row.case_id for row in arrange(rows, worst_first=WORST_FOR_B)] == ["w", "b"]
        assert [row.case_id for row in arrange(rows, worst_first=WORST_FOR_A)] == ["b", "w"]


class TestLoss:
    def test_the_list_says_what_each_case_costs_and_sorts_by_it(self, session: ReviewSession) -> None:
        assert session.rows[0].values.get(LOSS) is None
        session.score_all()
        # dice 1, 2/3 and 6/7 of three cases: a third of what each lacks.
        found = {row.case_id: row.values[LOSS] for row in session.rows}
        assert found == pytest.approx({"A/good": 0.0, "A/bad": 1 / 9, "B/ok": 1 / 21})
        session.sort_worst_first(LOSS)
        assert [row.case_id for row in session.rows] == ["A/bad", "B/ok", "A/good"]

    def test_a_filter_does_not_change_what_a_case_costs(self, session: ReviewSession) -> None:
        session.score_all()
        session.set_filter("dataset:B")
        assert session.rows[0].values[LOSS] == pytest.approx(1 / 21)

    def test_cases_of_train_are_no_part_of_the_headline_of_test(self, new_session: NewSession, tiny: Any) -> None:
        write(tiny.predictions / "B/none.nii.gz", HALF)
        session = new_session(split="all")
        session.score_all()
        found = {row.case_id: row.values[LOSS] for row in session.rows}
        assert found["B/none"] is None
        assert found["A/bad"] == pytest.approx(1 / 9)
        session.sort_worst_first(LOSS)
        assert session.rows[-1].case_id == "B/none"

    def test_opening_one_case_changes_what_all_cost(self, session: ReviewSession) -> None:
        session.go_to("A/bad")
        assert session.row("A/bad").values[LOSS] == pytest.approx(1 / 3)
        session.go_to("B/ok")
        assert session.row("A/bad").values[LOSS] == pytest.approx(1 / 6)
