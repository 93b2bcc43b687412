"""What a review does: opens, steps, scores, forgets; with work that runs when a test says so."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import CaseNotFoundError, ReadError
from medotter_viewer.session import score_all
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.bundle_source import BundleSource

NewSession = Callable[..., ReviewSession]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Case ids in the order in which their files were read."""
    ids: list[str] = []
    load = BundleSource.load

    def counted(self: BundleSource, case_id: str, **options: Any) -> Case:
        ids.append(case_id)
        return load(self, case_id, **options)

    monkeypatch.setattr(BundleSource, "load", counted)
    return ids


def metrics(session: ReviewSession) -> dict[str, float | None]:
    assert session.score is not None
    return {name: v.value for name, v in session.score.regions["one"].metrics.items()}


class TestOpening:
    def test_a_case_comes_with_its_prediction_and_worst_slice(self, session: ReviewSession, heard: Any) -> None:
        session.go_to("A/bad")
        assert session.current_id == "A/bad"
        assert session.case is not None
        assert session.pred_data is not None
        np.testing.assert_array_equal(session.pred_data, session.case.pred.data)  # type: ignore[union-attr]
        # Heights 3 and 4 are missed; the list of slices runs from the head down, so height 4 is slice 1.
        (opened,) = heard.of("case_changed")
        assert opened.worst_slice == 1
        assert heard.of("loading_started") == ["A/bad"]

    def test_an_unknown_case_is_refused_and_nothing_is_closed(self, session: ReviewSession) -> None:
        session.go_to("A/bad")
        with pytest.raises(CaseNotFoundError, match="A/none"):
            session.go_to("A/none")
        assert session.current_id == "A/bad"

    def test_a_case_of_another_split_is_not_part_of_the_review(self, session: ReviewSession) -> None:
        with pytest.raises(KeyError):
            session.go_to("B/none")

    def test_while_it_is_read_the_new_case_is_the_current_one(self, new_session: NewSession, queue: Any) -> None:
        session = new_session(queue)
        session.go_to("A/good")
        queue.run_all()
        session.go_to("B/ok")
        assert session.current_id == "B/ok"
        assert session.case is not None
        assert session.case.case_id == "A/good"

    def test_a_file_that_cannot_be_read_is_a_message(
        self, session: ReviewSession, heard: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session.go_to("A/good")

        def fail(*args: Any, **options: Any) -> Case:
            raise ReadError("disk gone")

        monkeypatch.setattr(BundleSource, "load", fail)
        session.go_to("B/ok")
        assert heard.of("failed") == ["disk gone"]
        assert session.current_id == "A/good"

    def test_a_defect_of_ours_is_not_swallowed(
        self, new_session: NewSession, queue: Any, main_thread: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = new_session(queue, main_thread)
        monkeypatch.setattr(BundleSource, "load", lambda *a, **o: 1 / 0)
        session.go_to("A/good")
        queue.run_all()
        with pytest.raises(ZeroDivisionError):
            main_thread.take_all()

    def test_damaged_data_are_a_finding_of_the_case_and_the_rest_goes_on(
        self, session: ReviewSession, heard: Any, tiny: Any
    ) -> None:
        (tiny.predictions / "A/bad.nii.gz").write_bytes(b"broken")
        session.go_to("A/bad")
        assert session.score is not None
        assert session.score.status == "error"
        assert session.pred_data is None
        assert heard.of("failed") == []
        session.go_to("B/ok")
        assert session.score.status == "scored"


class TestStepping:
    def test_the_first_step_opens_the_first_case(self, session: ReviewSession) -> None:
        session.step(1)
        assert session.current_id == "A/good"

    def test_forward_and_back_in_the_lists_order(self, session: ReviewSession) -> None:
        session.go_to("A/good")
        session.step(1)
        assert session.current_id == "A/bad"
        session.step(1)
        assert session.current_id == "B/ok"
        session.step(-2)
        assert session.current_id == "A/good"

    def test_at_the_ends_nothing_happens_but_a_notice(self, session: ReviewSession, heard: Any) -> None:
        session.go_to("A/good")
        session.step(-1)
        session.go_to("B/ok")
        session.step(1)
        assert heard.of("failed") == ["first case of the list", "last case of the list"]
        assert session.current_id == "B/ok"
        assert heard.of("loading_started") == ["A/good", "B/ok"]

    def test_an_empty_list_has_nowhere_to_go(self, session: ReviewSession, heard: Any) -> None:
        session.set_filter("case:nothing")
        session.step(1)
        assert session.current_id is None
        assert heard.of("loading_started") == []

    def test_from_a_case_that_the_filter_hides_to_the_first_listed(self, session: ReviewSession) -> None:
        session.go_to("A/good")
        session.set_filter("dataset:B")
        session.step(1)
        assert session.current_id == "B/ok"


class TestReadingAhead:
    def test_the_next_case_is_read_while_this_one_is_looked_at(self, session: ReviewSession, loads: list[str]) -> None:
        session.go_to("A/good")
        assert loads == ["A/good", "A/bad"]
        session.step(1)
        assert loads == ["A/good", "A/bad", "B/ok"]
        session.step(1)
        assert loads == ["A/good", "A/bad", "B/ok"]

    def test_next_means_next_in_the_list_as_it_is_sorted(self, session: ReviewSession, loads: list[str]) -> None:
        session.score_all()
        session.sort_worst_first("dice")
        loads.clear()
        session.go_to("A/bad")
        assert loads == ["A/bad", "B/ok"]

    def test_a_jump_elsewhere_drops_what_was_read_ahead(
        self, new_session: NewSession, queue: Any, loads: list[str]
    ) -> None:
        session = new_session(queue)
        session.go_to("A/good")
        while session.case is None:
            queue.run_next()
        session.go_to("B/ok")
        queue.run_all()
        assert loads == ["A/good", "B/ok"]

    def test_what_failed_while_reading_ahead_is_told_when_it_is_opened(
        self, session: ReviewSession, heard: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load = BundleSource.load

        def fail(self: BundleSource, case_id: str, **options: Any) -> Case:
            if case_id == "A/bad":
                raise ReadError("disk gone")
            return load(self, case_id, **options)

        monkeypatch.setattr(BundleSource, "load", fail)
        session.go_to("A/good")
        assert heard.of("failed") == []
        session.step(1)
        assert heard.of("failed") == ["disk gone"]

    def test_one_worker_thread_is_enough(self, new_session: NewSession, main_thread: Any) -> None:
        session = new_session(ThreadPoolExecutor(1), main_thread)
        session.step(1)
        for _ in range(3):
            while not (session.score and session.score.case_id == session.current_id and "hd95" in metrics(session)):
                main_thread.take_all()
            session.step(1)
        assert session.current_id == "B/ok"


class TestScoring:
    def test_dice_comes_first_and_hd95_after(self, session: ReviewSession, heard: Any, dice: dict[str, float]) -> None:
        session.go_to("A/bad")
        known, first, whole = heard.of("scores_changed")
        assert known is None
        assert {m: v.value for m, v in first.regions["one"].metrics.items()} == pytest.approx(
            {"dice": dice["A/bad"], "iou": 0.5}
        )
        # Heights 1 and 2 of 1 to 4 are left: a missed face lies up to 2 steps away.
        assert {m: v.value for m, v in whole.regions["one"].metrics.items()} == pytest.approx(
            {"dice": dice["A/bad"], "iou": 0.5, "hd95": 2.0}
        )
        assert heard.of("scoring_changed") == [True, False]
        assert heard.of("row_changed") == ["A/bad"]

    def test_a_case_seen_before_shows_its_scores_at_once(self, session: ReviewSession, heard: Any) -> None:
        session.go_to("A/bad")
        session.go_to("A/good")
        heard.said.clear()
        session.go_to("A/bad")
        assert "hd95" in heard.of("scores_changed")[0].regions["one"].metrics

    @pytest.mark.parametrize("name", ["directed_max", "pooled", "mean", "surfel"])
    def test_hd95_is_the_chosen_one(self, new_session: NewSession, name: str) -> None:
        session = new_session(hd95=name)
        session.go_to("B/ok")
        assert session.options.hd95 == name
        assert metrics(session)["hd95"] == pytest.approx(1.0)

    def test_a_case_without_prediction_is_shown_and_said_to_have_none(self, new_session: NewSession) -> None:
        session = new_session(split="all")
        session.go_to("B/none")
        assert session.pred_data is None
        assert session.score is not None
        assert session.score.status == "missing_prediction"
        assert session.row("B/none").status == "no prediction"

    def test_task_types_without_adapter_are_shown_only(self, new_session: NewSession, tiny: Any, listen: Any) -> None:
        (tiny.bundle / "eval_spec.yaml").write_text("task_type: cls\neval_regions: {one: [1]}\n")
        session = new_session()
        heard = listen(session)
        session.go_to("A/bad")
        session.score_all()
        assert not session.can_score
        assert session.case is not None
        assert session.score is None
        assert heard.of("scoring_changed") == heard.of("progress_changed") == heard.of("failed") == []


class TestStaleAnswers:
    def test_a_case_that_arrives_after_the_next_was_asked_for_is_dropped(
        self, new_session: NewSession, queue: Any, main_thread: Any, listen: Any
    ) -> None:
        session = new_session(queue, main_thread)
        heard = listen(session)
        session.go_to("A/good")
        queue.run_next()  # read, but the main thread has not taken it
        session.go_to("A/bad")
        main_thread.take_all()
        assert session.case is None
        queue.run_next()
        main_thread.take_all()
        assert [o.case.case_id for o in heard.of("case_changed")] == ["A/bad"]

    def test_a_case_overtaken_before_it_is_read_is_not_read(
        self, new_session: NewSession, queue: Any, loads: list[str]
    ) -> None:
        session = new_session(queue)
        for case_id in ("A/good", "A/bad", "B/ok"):
            session.go_to(case_id)
        queue.run_all()
        assert loads == ["B/ok"]

    def test_scores_of_a_case_that_was_left_are_dropped(
        self, new_session: NewSession, queue: Any, main_thread: Any, listen: Any
    ) -> None:
        session = new_session(queue, main_thread)
        heard = listen(session)
        session.go_to("A/good")
        queue.run_next()
        main_thread.take_all()
        queue.run_next()  # scored, not taken
        session.go_to("A/bad")
        main_thread.take_all()
        assert session.score is None
        assert heard.of("row_changed") == []
        while queue.waiting or main_thread.waiting:
            queue.run_all()
            main_thread.take_all()
        assert {s.case_id for s in heard.of("scores_changed") if s is not None} == {"A/bad"}

    def test_an_older_score_does_not_overwrite_that_of_a_later_edit(
        self, new_session: NewSession, queue: Any, main_thread: Any
    ) -> None:
        session = new_session(queue, main_thread)
        session.go_to("B/ok")
        queue.run_next()
        main_thread.take_all()
        assert session.pred_data is not None
        queue.run_next()  # score of the file, on its way
        session.pred_data[1:5, 1:5, 1:5] = 1
        session.edits.note_painted()
        main_thread.take_all()
        queue.run_all()
        main_thread.take_all()
        assert metrics(session)["dice"] == 1.0

    def test_strokes_after_the_request_do_not_reach_the_worker(self, new_session: NewSession, queue: Any) -> None:
        session = new_session(queue)
        session.go_to("A/good")
        queue.run_all()
        assert session.pred_data is not None
        session.pred_data[1, 1, 1] = 0
        session.edits.note_painted()
        session.pred_data[...] = 0  # painted while the worker waits
        queue.run_all()
        assert metrics(session)["dice"] == pytest.approx(2 * 63 / 127)


class TestEdits:
    def test_an_edit_is_scored_but_changes_neither_case_nor_list_nor_file(
        self, session: ReviewSession, heard: Any, tiny: Any, dice: dict[str, float]
    ) -> None:
        session.go_to("B/ok")
        file = tiny.predictions / "B/ok.nii.gz"
        before = file.read_bytes()
        heard.said.clear()
        assert session.pred_data is not None
        session.pred_data[1, 1:5, 1:5] = 1
        session.edits.note_painted()
        assert session.edited
        assert metrics(session) == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}
        assert session.row("B/ok").values["dice"] == pytest.approx(dice["B/ok"])
        assert heard.of("row_changed") == []
        assert session.case is not None
        assert np.count_nonzero(session.case.pred.data) == 48  # type: ignore[union-attr]
        assert np.count_nonzero(session.working_case.pred.data) == 64  # type: ignore[union-attr]
        assert file.read_bytes() == before

    def test_an_edit_is_there_again_when_the_case_is_opened_again(
        self, session: ReviewSession, dice: dict[str, float]
    ) -> None:
        session.go_to("B/ok")
        assert session.pred_data is not None
        session.pred_data[...] = 0
        session.edits.note_painted()
        assert metrics(session)["dice"] == 0.0
        session.go_to("A/good")
        assert not session.edited
        assert session.edits.case_ids == ["B/ok"]
        session.go_to("B/ok")
        assert session.edited
        assert metrics(session)["dice"] == 0.0
        assert session.row("B/ok").score is not None
        assert session.row("B/ok").values["dice"] == pytest.approx(dice["B/ok"])  # the list says what the file says

    def test_a_stroke_that_was_not_scored_yet_is_kept_too(self, session: ReviewSession) -> None:
        session.go_to("B/ok")
        assert session.pred_data is not None
        session.pred_data[...] = 0
        session.go_to("A/good")
        assert session.edits.case_ids == ["B/ok"]
        session.go_to("B/ok")
        assert metrics(session)["dice"] == 0.0

    def test_the_profile_is_that_of_the_edited_prediction(self, session: ReviewSession, heard: Any) -> None:
        session.go_to("A/bad")
        assert session.pred_data is not None
        session.pred_data[1:5, 1:5, 3] = 1
        session.edits.note_painted()
        session.request_profile(0)
        (profile,) = heard.of("profile_changed")
        assert profile.error_mm2.tolist() == [0, 16, 0, 0, 0, 0]


class TestScoringAll:
    def test_every_listed_case_gets_its_score(self, session: ReviewSession, heard: Any, dice: dict[str, float]) -> None:
        session.score_all()
        assert heard.of("progress_changed") == [(0, 3), (1, 3), (2, 3), (3, 3), (0, 0)]
        assert sorted(heard.of("row_changed")) == ["A/bad", "A/good", "B/ok"]  # what is remembered comes first
        assert {r.case_id: r.values["dice"] for r in session.rows} == pytest.approx(dice)
        assert set(session.scores()) == set(dice)

    def test_one_that_is_open_is_among_them_and_none_is_scored_twice(self, session: ReviewSession, heard: Any) -> None:
        session.go_to("A/good")
        heard.said.clear()
        session.score_all()  # also to remember its counts: a what-if over all cases needs them
        assert sorted(heard.of("row_changed")) == ["A/bad", "A/good", "B/ok"]
        heard.said.clear()
        session.score_all()
        assert heard.said == []

    def test_a_case_whose_files_were_mended_is_tried_again(self, session: ReviewSession, heard: Any, tiny: Any) -> None:
        path = tiny.predictions / "A" / "bad.nii.gz"
        kept = path.read_bytes()
        path.write_bytes(kept[:40])
        session.score_all()
        assert session.scores()["A/bad"].status == "error"
        path.write_bytes(kept)
        heard.said.clear()
        session.score_all()
        assert heard.of("row_changed") == ["A/bad"]
        assert session.scores()["A/bad"].status == "scored"

    def test_only_what_the_filter_lists(self, session: ReviewSession) -> None:
        session.set_filter("dataset:A")
        session.score_all()
        assert set(session.scores()) == {"A/good", "A/bad"}

    def test_cancelling_keeps_what_is_done(self, session: ReviewSession, heard: Any) -> None:
        def cancel(done: int, total: int) -> None:
            if done == 1:
                session.cancel_score_all()

        session.events.progress_changed.connect(cancel)
        session.score_all()
        assert len(session.scores()) == 1
        assert heard.of("progress_changed")[-1] == (0, 0)

    def test_scores_that_are_told_together_are_the_same_and_one_after_the_other(
        self, session: ReviewSession, heard: Any, dice: dict[str, float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(score_all, "_TOGETHER_S", 1000.0)
        session.score_all()
        assert heard.of("progress_changed") == [(0, 3), (1, 3), (2, 3), (3, 3), (0, 0)]
        assert sorted(heard.of("row_changed")) == ["A/bad", "A/good", "B/ok"]
        assert {r.case_id: r.values["dice"] for r in session.rows} == pytest.approx(dice)

    def test_cancelling_between_two_that_were_told_together_keeps_the_first(
        self, session: ReviewSession, heard: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(score_all, "_TOGETHER_S", 1000.0)

        def cancel(done: int, total: int) -> None:
            if done == 2:  # the second and the third come at once
                session.cancel_score_all()

        session.events.progress_changed.connect(cancel)
        session.score_all()
        assert len(session.scores()) == len(heard.of("row_changed")) == 2
        assert heard.of("progress_changed")[-1] == (0, 0)

    def test_many_remembered_cases_are_brought_in_few_deliveries(self) -> None:
        told: list[int] = []
        together = score_all._Together(lambda answers: told.append(len(answers)))
        for n in range(1000):
            together.add((print, CaseScore(str(n), "scored"), n + 1))
        together.tell()
        assert sum(told) == 1000
        assert told[0] == 1  # the first waits for nothing
        assert len(told) < 100

    def test_it_goes_on_while_another_case_is_opened(self, new_session: NewSession, queue: Any) -> None:
        session = new_session(queue)
        session.score_all()
        session.go_to("B/ok")
        queue.run_all()
        assert len(session.scores()) == 3
        assert session.score is not None
        assert session.score.case_id == "B/ok"

    def test_a_list_worst_first_is_in_order_once_all_are_scored(self, session: ReviewSession, heard: Any) -> None:
        session.sort_worst_first("dice")
        heard.said.clear()
        session.score_all()
        assert [r.case_id for r in session.rows] == ["A/bad", "B/ok", "A/good"]
        assert "rows_changed" in heard.names()


class TestList:
    def test_filter_and_sort_do_not_change_each_other(self, session: ReviewSession) -> None:
        session.score_all()
        session.sort_worst_first("dice")
        assert [r.case_id for r in session.rows] == ["A/bad", "B/ok", "A/good"]
        session.set_filter("tier:hard")
        assert [r.case_id for r in session.rows] == ["A/bad", "B/ok"]
        session.sort_worst_first(None)
        session.set_filter("")
        assert [r.case_id for r in session.rows] == ["A/good", "A/bad", "B/ok"]
        assert session.n_cases == 3

    def test_splits(self, new_session: NewSession) -> None:
        assert new_session(split="all").n_cases == 4
        assert [r.case_id for r in new_session(split="train").rows] == ["B/none"]


class TestLooking:
    def test_a_region_is_told_once(self, session: ReviewSession, heard: Any) -> None:
        session.select_region("one")
        session.select_region("one")
        session.select_region(None)
        assert heard.of("region_changed") == ["one", None]

    def test_a_case_opens_on_the_worst_slice_of_the_region_that_is_looked_at_alone(
        self, write_bundle: Any, tmp_path: Path, new_session: NewSession
    ) -> None:
        gt = np.zeros((6, 6, 6), dtype=np.uint8)
        gt[1:5, 1:5, 1] = 1
        gt[1:5, 1:5, 4] = 2
        spec = {"eval_regions": {"one": [1], "two": [2]}, "metrics": ["dice"], "main_region": "one"}
        cases = {name: {"dataset": "A", "gt": gt} for name in ("A/1", "A/2")}
        made = write_bundle(tmp_path / "two", cases, eval_spec=spec, predictions=dict.fromkeys(cases, gt * 0))
        session = new_session(target=made.bundle, predictions=made.predictions)
        session.go_to("A/1")
        assert session.opened is not None
        assert session.opened.worst_slice == 5 - 1
        session.select_region("two")  # the next case was read ahead, with the headline's slice
        session.step(1)
        assert session.current_id == "A/2"
        assert session.opened.worst_slice == 5 - 4
        session.step(-1)
        assert session.opened.worst_slice == 5 - 4

    def test_an_unknown_region_is_refused(self, session: ReviewSession) -> None:
        with pytest.raises(KeyError):
            session.select_region("two")
        assert session.region is None

    def test_native_ids_are_told_once(self, session: ReviewSession, heard: Any) -> None:
        session.show_native(False)
        session.show_native(True)
        session.show_native(True)
        assert heard.of("native_shown_changed") == [True]

    def test_without_a_case_there_is_no_profile(self, session: ReviewSession, heard: Any) -> None:
        session.request_profile(0)
        assert heard.of("profile_changed") == [None]


class TestEnds:
    def test_no_array_of_a_case_stays_after_stepping_on(self, new_session: NewSession) -> None:
        session = new_session(split="all")
        session.go_to("A/good")
        case = session.case
        assert case is not None
        parts = [case.gt, case.gt_native, case.pred, *case.channels.values()]
        arrays = [weakref.ref(part.data) for part in parts if part is not None]
        arrays.append(weakref.ref(session.pred_data))  # type: ignore[arg-type]
        assert len(arrays) == 5
        del case, parts
        session.go_to("A/bad")
        session.go_to("B/ok")
        gc.collect()
        assert [ref() is None for ref in arrays] == [True] * len(arrays)

    def test_a_stroke_counts_though_the_next_case_cannot_be_opened(
        self, session: ReviewSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session.go_to("B/ok")
        session.pred_data[...] = 0  # type: ignore[index]

        def broken(*_: Any, **__: Any) -> Case:
            raise ReadError("no such disk")

        monkeypatch.setattr(BundleSource, "load", broken)
        session.go_to("A/bad")
        assert session.edited
        assert session.score is not None
        assert session.score.regions["one"].pred_voxels == 0

    def test_what_was_read_ahead_is_let_go_too(self, session: ReviewSession, monkeypatch: pytest.MonkeyPatch) -> None:
        arrays: list[weakref.ref[Any]] = []
        load = BundleSource.load

        def noted(self: BundleSource, case_id: str, **options: Any) -> Case:
            case = load(self, case_id, **options)
            arrays.append(weakref.ref(case.pred.data))  # type: ignore[union-attr]
            return case

        monkeypatch.setattr(BundleSource, "load", noted)
        session.go_to("A/good")
        session.go_to("B/ok")
        gc.collect()
        assert [ref() is None for ref in arrays] == [True, True, False]

    def test_after_the_end_nothing_arrives(self, new_session: NewSession, queue: Any, listen: Any) -> None:
        session = new_session(queue)
        heard = listen(session)
        session.go_to("A/good")
        session.close()
        queue.run_all()
        assert heard.names() == ["loading_started"]

    def test_files_are_not_touched(self, session: ReviewSession, tmp_path: Path) -> None:
        def state() -> dict[str, bytes]:
            return {str(p): p.read_bytes() for p in sorted(tmp_path.rglob("*")) if p.is_file()}

        before = state()
        session.score_all()
        session.go_to("A/bad")
        session.pred_data[...] = 0  # type: ignore[index]
        session.edits.note_painted()
        session.close()
        assert state() == before
