"""What an export sees of a review: every case as it was edited at one moment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import CaseNotFoundError
from medotter_viewer.evaluation.predicted import Predicted

BLOCK = (slice(1, 5), slice(1, 5))


def test_open_left_and_untouched_cases_are_as_a_person_left_them(session: Any) -> None:
    session.go_to("A/bad")  # the model found the block on slices 2 and 3
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    session.go_to("A/good")
    session.pred_data[...] = 0
    session.edits.note_painted()
    cases = session.edits.cases()
    session.pred_data[...] = 1  # later than the moment
    bad, good = cases.load("A/bad", "one"), cases.load("A/good", "one")
    assert np.count_nonzero(bad.pred.data) == 3 * 16
    assert bad.pred_contours.origins == {2: ("model",), 3: ("model",), 4: ("edited",)}
    assert np.count_nonzero(good.pred.data) == 0
    assert good.pred_contours.rings == {}


def test_reading_an_edited_case_takes_nothing_from_the_review(session: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    session.go_to("A/good")
    session.edits.cases().load("A/bad", "one").pred.data[...] = 0
    session.go_to("A/bad")
    assert np.count_nonzero(session.pred_data) == 48
    assert session.edited


def test_a_case_that_is_not_edited_is_as_its_files_say(session: Any) -> None:
    session.go_to("A/bad")
    assert session.edits.cases().load("B/ok", "one").pred_contours is None
    assert session.edits.cases().load("A/bad", "one").pred_contours is None
    with pytest.raises(CaseNotFoundError):
        session.edits.cases().load("A/none", "one")


def test_a_stroke_after_saving_that_is_taken_back_leaves_the_file_as_it_is(session: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    session.edits.note_written(session.edits.cases(), ["A/bad"], "o.nii.gz")
    session.pred_data[(*BLOCK, 4)] = 1
    session.edits.note_painted()
    assert session.edits.unwritten_ids == ["A/bad"]
    session.pred_data[(*BLOCK, 4)] = 0
    session.edits.note_painted()
    assert (session.edits.unwritten_ids, session.edits.words) == ([], "edited, saved as o.nii.gz")
    session.edits.set_level_shift(1)
    assert session.edits.unwritten_ids == ["A/bad"]
    session.edits.set_level_shift(0)
    assert session.edits.unwritten_ids == []


def test_what_a_file_holds_is_saved_until_it_is_changed_again(session: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    assert session.edits.words == "edited, not saved"
    session.edits.note_written(session.edits.cases(), ["A/bad"], "o.csv")
    assert session.edits.words == "edited, saved as o.csv"
    assert (session.edits.case_ids, session.edits.unwritten_ids) == (["A/bad"], [])
    session.go_to("A/good")
    session.go_to("A/bad")
    assert session.edits.unwritten_ids == []
    session.pred_data[(*BLOCK, 4)] = 1
    session.edits.note_painted()
    assert session.edits.words == "edited, not saved"


def test_a_stroke_that_settles_after_it_was_saved_is_saved(session: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_written(session.edits.cases(), ["A/bad"], "o.csv")
    session.edits.note_painted()
    assert session.edits.words == "edited, saved as o.csv"
    session.pred_data[(*BLOCK, 4)] = 1
    session.edits.note_painted()
    assert session.edits.words == "edited, not saved"


def test_what_was_edited_while_a_file_was_written_is_not_saved(session: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    cases = session.edits.cases()
    session.pred_data[(*BLOCK, 4)] = 1
    session.edits.note_written(cases, ["A/bad"], "o.csv")
    assert session.edits.unwritten_ids == ["A/bad"]
    session.go_to("A/good")
    cases = session.edits.cases()
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 5)] = 1
    session.go_to("A/good")
    session.edits.note_written(cases, ["A/bad"], "o.csv")
    assert session.edits.unwritten_ids == ["A/bad"]


def test_a_stroke_just_before_the_case_is_left_is_in_no_file(session: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    session.edits.note_written(session.edits.cases(), ["A/bad"], "o.nii.gz")
    for _ in range(2):  # what is left as it was saved stays saved
        session.go_to("A/good")
        session.go_to("A/bad")
        assert session.edits.words == "edited, saved as o.nii.gz"
    session.pred_data[(*BLOCK, 4)] = 1  # it has not settled
    session.go_to("A/good")
    assert session.edits.unwritten_ids == ["A/bad"]
    session.go_to("A/bad")
    assert session.edits.words == "edited, not saved"


def test_a_saved_prediction_that_is_painted_on_another_day_is_in_no_file(session: Any) -> None:
    session.go_to("A/bad")
    case = session.case
    session.edits.take_prediction(Predicted(LabelMap(np.zeros_like(case.pred.data), case.pred.grid), "m"), case)
    session.edits.note_written(session.edits.cases(), ["A/bad"], "o.nii.gz")
    session.go_to("A/good")
    session.go_to("A/bad")
    assert session.edits.words == "predicted by m, saved as o.nii.gz"
    session.pred_data[(*BLOCK, 4)] = 1
    session.edits.note_painted()
    assert session.edits.words == "predicted by m and edited, in no file"
