"""Numbers of a case that was read ahead: there when it opens, and those of scoring it anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.evaluation.predicted import Predicted
from medotter_viewer.live import table as live_table
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.session import foreseen, live_scores

BLOCK = (slice(1, 5), slice(1, 5))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Case ids whose distances were measured, one for each time."""
    ids: list[str] = []

    def noted(case: Any, *rest: Any) -> Any:
        ids.append(case.case_id)
        return live_table.measure(case, *rest)

    for module in (foreseen, live_scores):
        monkeypatch.setattr(module, "measure", noted)
    return ids


def anew(session: Any) -> Any:
    return score_case(session.source.load(session.current_id), session.spec, session.options)


def test_the_next_case_has_all_its_numbers_when_it_opens(
    new_session: Any, queue: Any, main_thread: Any, measured: list[str], listen: Any
) -> None:
    session = new_session(queue, main_thread)
    session.go_to("A/good")
    while queue.waiting or main_thread.waiting:
        queue.run_all()
        main_thread.take_all()
    assert measured == ["A/good", "A/bad"]
    heard = listen(session)
    session.step(1)
    queue.run_next()  # takes what was read
    main_thread.take_all()
    assert session.current_id == "A/bad"
    assert session.score == anew(session)
    assert [score.case_id for score in heard.of("scores_changed")] == ["A/bad"]
    assert measured == ["A/good", "A/bad"]


def test_who_goes_on_before_the_numbers_are_found_waits_for_those_and_nothing_is_measured_twice(
    new_session: Any, queue: Any, main_thread: Any, measured: list[str], dice: dict[str, float]
) -> None:
    session = new_session(queue, main_thread)
    session.go_to("A/good")
    while measured == [] or main_thread.waiting:
        queue.run_next()
        main_thread.take_all()
    queue.run_next()  # reads A/bad
    assert measured == ["A/good"]
    session.step(1)
    _, loading = queue.waiting.popleft(), queue.waiting.popleft()
    queue.waiting.extend([loading, _])
    queue.run_next()
    main_thread.take_all()
    assert session.current_id == "A/bad"
    assert session.score is None
    queue.run_all()
    main_thread.take_all()
    assert session.score == anew(session)
    assert session.score.regions["one"].metrics["dice"].value == dice["A/bad"]
    assert measured.count("A/bad") == 1


def test_a_case_that_was_painted_on_has_the_numbers_of_what_was_painted(session: Any, measured: list[str]) -> None:
    session.go_to("A/bad")
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    painted = session.score
    assert painted.regions["one"].metrics["dice"].value == 2 * 48 / (64 + 48)
    session.step(-1)
    session.step(1)  # read ahead as its files say
    assert session.score == painted


def test_what_cannot_be_scored_ahead_is_said_when_the_case_is_opened(
    new_session: Any, monkeypatch: pytest.MonkeyPatch, listen: Any
) -> None:
    session = new_session()

    def broken(*_: Any) -> Any:
        raise MedotterViewerError("no room")

    monkeypatch.setattr(foreseen, "measure", broken)
    session.go_to("A/good")
    heard = listen(session)
    session.step(1)
    assert session.current_id == "A/bad"
    assert heard.of("failed") == ["no room"]


def test_what_was_painted_is_not_taken_for_what_the_file_says(session: Any) -> None:
    session.go_to("A/good")
    session.step(1)
    of_file = session.score
    session.pred_data[(*BLOCK, 3)] = 1
    session.edits.note_painted()
    session.edits.note_written(session.edits.cases(), ["A/bad"], "mine.nii.gz")
    case = session.source.load("A/bad")
    grid = case.pred.grid
    session.edits.take_prediction(Predicted(LabelMap(np.zeros_like(case.pred.data), grid), "m"), case)
    assert session.edits.drop_prediction(case)
    assert session.score == of_file == anew(session)
