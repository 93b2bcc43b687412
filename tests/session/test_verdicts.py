"""What a reader says in a review, where it goes, and what is hidden from a blinded one."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.review.reading import read_reviews
from medotter_viewer.review.records import Place
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.session.verdicts import ReviewVerdicts

NewSession = Callable[..., ReviewSession]
PLACE = Place((12.0, -33.5, 88.0), (1.0, 2.0, 3.0), "axial", 4)


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; the reader is anna."""
    monkeypatch.setenv("MEDOTTER_VIEWER_REVIEWS", str(tmp_path / "own"))
    monkeypatch.setenv("MEDOTTER_VIEWER_READER", "anna")
    return tmp_path / "own"


@pytest.fixture
def verdicts(session: ReviewSession) -> ReviewVerdicts:
    return session.verdicts


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Nothing can be written until this is undone."""

    def fail(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        yield patch


class TestSaying:
    def test_a_verdict_is_in_the_file_when_the_call_returns(self, verdicts: ReviewVerdicts, tiny: Any) -> None:
        assert verdicts.record("A/bad", "Model error", PLACE) == "A/bad: model error, by anna"
        assert verdicts.path == tiny.predictions / "tiny-01234567.model.anna.reviews.jsonl"
        assert verdicts.place_words == "beside the predictions"
        (record,) = read_reviews(verdicts.path).records
        assert (record.kind, record.reader, record.case_id, record.verdict) == (
            "verdict",
            "anna",
            "A/bad",
            "model error",
        )
        assert (record.subject.target, record.subject.hash, record.subject.model) == (
            "tiny",
            "0123456789ab",
            "model",
        )
        assert record.place == PLACE

    def test_nothing_is_written_before_something_is_said(self, verdicts: ReviewVerdicts, tiny: Any, own: Path) -> None:
        before = sorted(tiny.predictions.rglob("*"))
        assert verdicts.verdict("A/bad") == ""
        verdicts.close()
        assert sorted(tiny.predictions.rglob("*")) == before
        assert not own.exists()

    def test_the_last_verdict_counts_and_what_it_was_is_said(self, verdicts: ReviewVerdicts) -> None:
        verdicts.record("A/bad", "fine")
        assert verdicts.record("A/bad", "geometry") == "A/bad: geometry (was fine), by anna"
        assert verdicts.record("A/bad", "geometry") == "A/bad: geometry, by anna"
        assert verdicts.verdict("A/bad") == "geometry"
        assert len(read_reviews(verdicts.path).records) == 3

    def test_a_comment_is_bound_to_its_place_and_is_no_verdict(self, verdicts: ReviewVerdicts) -> None:
        assert verdicts.comment("A/bad", "  leaks  ", PLACE) == (
            "A/bad: comment recorded at LPS -12.0 33.5 88.0 mm, by anna"
        )
        assert verdicts.verdict("A/bad") == ""
        (comment,) = verdicts.standing("A/bad").comments
        assert (comment.text, comment.place.position_world) == ("leaks", (12.0, -33.5, 88.0))

    def test_an_empty_comment_says_nothing(self, verdicts: ReviewVerdicts) -> None:
        assert verdicts.comment("A/bad", "  ") == ""
        assert not verdicts.path.exists()

    def test_listeners_hear_of_the_case(self, verdicts: ReviewVerdicts, heard: Any) -> None:
        ids: list[str] = []
        verdicts.events.case_changed.connect(ids.append)
        verdicts.record("A/bad", "fine")
        verdicts.comment("B/ok", "here")
        verdicts.undo()
        assert ids == ["A/bad", "B/ok", "B/ok"]
        assert heard.of("row_changed") == ["A/bad", "B/ok", "B/ok"]


class TestUndo:
    def test_it_takes_back_one_after_the_other_and_appends(self, verdicts: ReviewVerdicts) -> None:
        verdicts.record("A/bad", "fine")
        verdicts.record("A/bad", "geometry")
        verdicts.comment("B/ok", "here")
        assert verdicts.undo() == "B/ok: comment taken back; verdict: none"
        assert verdicts.undo() == "A/bad: verdict geometry taken back; verdict: fine"
        assert verdicts.undo() == "A/bad: verdict fine taken back; verdict: none"
        assert verdicts.undo().startswith("nothing to take back")
        assert [r.kind for r in read_reviews(verdicts.path).records] == [*["verdict"] * 2, "comment", *["undo"] * 3]
        assert read_reviews(verdicts.path).findings == ()

    def test_what_another_window_recorded_is_not_taken_back(self, new_session: NewSession) -> None:
        new_session().verdicts.record("A/bad", "fine")
        later = new_session().verdicts
        assert later.verdict("A/bad") == "fine"
        assert later.undo().startswith("nothing to take back")
        assert later.verdict("A/bad") == "fine"


class TestNextTime:
    def test_a_new_review_knows_what_was_said(self, new_session: NewSession) -> None:
        first = new_session().verdicts
        first.record("A/bad", "fine")
        first.record("B/ok", "fine")
        first.undo()
        later = new_session().verdicts
        assert (later.verdict("A/bad"), later.verdict("B/ok")) == ("fine", "")

    def test_another_model_or_reader_starts_anew(
        self, new_session: NewSession, tiny: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        new_session().verdicts.record("A/bad", "fine")
        other = new_session(predictions=None).verdicts
        assert other.verdict("A/bad") == ""
        monkeypatch.setenv("MEDOTTER_VIEWER_READER", "bert")
        assert new_session().verdicts.verdict("A/bad") == ""

    def test_a_damaged_line_is_a_finding_and_the_rest_holds(self, new_session: NewSession) -> None:
        first = new_session().verdicts
        first.record("A/bad", "fine")
        with first.path.open("ab") as file:
            file.write(b'{"id": "dead')
        later = new_session().verdicts
        assert later.verdict("A/bad") == "fine"
        assert [f.code for f in later.findings] == ["torn-record"]
        later.record("B/ok", "fine")
        assert new_session().verdicts.verdict("B/ok") == "fine"


class TestPlaces:
    def test_without_predictions_in_the_users_folder_and_said_so(self, new_session: NewSession, own: Path) -> None:
        verdicts = new_session(predictions=None).verdicts
        verdicts.record("A/bad", "fine")
        assert verdicts.path == own / "tiny-01234567.anna.reviews.jsonl"
        assert "no predictions" in verdicts.place_words

    def test_where_the_reader_says_with_all_that_was_known(
        self, verdicts: ReviewVerdicts, new_session: NewSession, tmp_path: Path
    ) -> None:
        verdicts.record("A/bad", "fine")
        old = verdicts.path
        assert str(tmp_path / "mine.reviews.jsonl") in verdicts.write_to(tmp_path / "mine")
        verdicts.record("B/ok", "geometry")
        assert (verdicts.verdict("A/bad"), verdicts.verdict("B/ok")) == ("fine", "geometry")
        assert [r.case_id for r in read_reviews(old).records] == ["A/bad"]
        assert [r.case_id for r in read_reviews(tmp_path / "mine.reviews.jsonl").records] == ["B/ok"]
        verdicts.undo()
        assert verdicts.undo() == "A/bad: verdict fine taken back; verdict: none"

    def test_a_folder_is_taken_too(self, verdicts: ReviewVerdicts, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        verdicts.write_to(tmp_path / "elsewhere")
        assert verdicts.path == tmp_path / "elsewhere" / "tiny-01234567.model.anna.reviews.jsonl"

    def test_a_file_of_another_reader_stays_that_readers(self, verdicts: ReviewVerdicts, tmp_path: Path) -> None:
        verdicts.record("A/bad", "fine")
        annas, content = verdicts.path, verdicts.path.read_bytes()
        verdicts.choose(reader="bert")
        said = verdicts.write_to(annas)
        assert said.startswith(f"{annas.name} is of anna; verdicts are written to ")
        verdicts.record("A/bad", "geometry")
        assert annas.read_bytes() == content
        assert verdicts.path == annas.with_name("tiny-01234567.model.bert.reviews.jsonl")
        assert list(verdicts.others("A/bad")) == ["anna"]


class TestTrouble:
    def test_a_full_disk_is_said_at_once_and_nothing_is_lost(
        self, verdicts: ReviewVerdicts, full_disk: pytest.MonkeyPatch
    ) -> None:
        full = os.strerror(errno.ENOSPC)
        kept = "in memory, tried again with the next key"
        assert verdicts.record("A/bad", "fine") == f"A/bad: fine, by anna · NOT WRITTEN ({full}): 1 record {kept}"
        assert verdicts.warning.startswith(f"NOT WRITTEN to {verdicts.path}: {full}. 1 record is kept in memory")
        assert verdicts.record("B/ok", "geometry") == (
            f"B/ok: geometry, by anna · NOT WRITTEN ({full}): 2 records {kept}"
        )
        assert verdicts.n_unwritten == 2
        assert verdicts.verdict("A/bad") == "fine"
        full_disk.undo()
        assert verdicts.record("A/good", "fine") == "A/good: fine, by anna"
        assert (verdicts.n_unwritten, verdicts.warning) == (0, "")
        assert [r.case_id for r in read_reviews(verdicts.path).records] == ["A/bad", "B/ok", "A/good"]

    def test_at_the_end_what_waits_is_tried_again(
        self, verdicts: ReviewVerdicts, full_disk: pytest.MonkeyPatch
    ) -> None:
        verdicts.record("A/bad", "fine")
        path = verdicts.path
        full_disk.undo()
        assert verdicts.close() == ()
        assert len(read_reviews(path).records) == 1

    def test_at_the_end_what_cannot_be_written_goes_to_the_users_folder_and_is_known_the_next_time(
        self, verdicts: ReviewVerdicts, new_session: NewSession, own: Path, monkeypatch: pytest.MonkeyPatch, tiny: Any
    ) -> None:
        real = os.open

        def read_only(path: Any, *args: Any, **more: Any) -> int:
            if Path(path).parent == tiny.predictions:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
            return real(path, *args, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", read_only)
            assert os.strerror(errno.EROFS) in verdicts.record("A/bad", "fine")
            assert verdicts.close() == ()
        assert [path.name for path in own.glob("*.reviews.jsonl")] == ["tiny-01234567.model.anna.reviews.jsonl"]
        later = new_session().verdicts
        assert later.verdict("A/bad") == "fine"
        assert later.path.parent == tiny.predictions

    def test_what_no_disk_takes_is_given_back(self, verdicts: ReviewVerdicts, full_disk: pytest.MonkeyPatch) -> None:
        verdicts.record("A/bad", "fine")
        assert [r.case_id for r in verdicts.close()] == ["A/bad"]

    def test_another_place_takes_what_waits(
        self, verdicts: ReviewVerdicts, full_disk: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        verdicts.record("A/bad", "fine")
        full_disk.undo()
        verdicts.write_to(tmp_path / "mine.jsonl")
        assert verdicts.n_unwritten == 0
        assert [r.case_id for r in read_reviews(tmp_path / "mine.jsonl").records] == ["A/bad"]


class TestNextUnreviewed:
    def test_after_the_current_one_and_round(self, verdicts: ReviewVerdicts) -> None:
        ids = ["A/good", "A/bad", "B/ok"]
        assert verdicts.next_unreviewed(ids, None) == "A/good"
        assert verdicts.next_unreviewed(ids, "A/good") == "A/bad"
        assert verdicts.next_unreviewed(ids, "B/ok") == "A/good"
        verdicts.record("A/good", "fine")
        assert verdicts.next_unreviewed(ids, "B/ok") == "A/bad"
        assert verdicts.next_unreviewed(ids, "not listed") == "A/bad"
        verdicts.record("A/bad", "fine")
        assert verdicts.next_unreviewed(ids, "B/ok") is None
        assert verdicts.next_unreviewed([], None) is None


class TestChoices:
    def test_the_list_is_edited_and_kept(self, verdicts: ReviewVerdicts, new_session: NewSession) -> None:
        assert verdicts.words[:2] == ("model error", "gt error")
        assert verdicts.choose(verdicts=("Good", "bad", "good")) == ""
        assert verdicts.words == ("good", "bad")
        assert new_session().verdicts.words == ("good", "bad")

    def test_another_reader_has_another_file(self, verdicts: ReviewVerdicts, tiny: Any) -> None:
        verdicts.record("A/bad", "fine")
        verdicts.choose(reader="Bert")
        assert verdicts.verdict("A/bad") == ""
        assert verdicts.path == tiny.predictions / "tiny-01234567.model.Bert.reviews.jsonl"
        assert verdicts.undo().startswith("nothing to take back")
        assert list(verdicts.others("A/bad")) == ["anna"]
        verdicts.choose(reader="anna")
        assert verdicts.verdict("A/bad") == "fine"

    def test_a_reader_whose_records_no_disk_takes_stays(
        self, verdicts: ReviewVerdicts, full_disk: pytest.MonkeyPatch
    ) -> None:
        verdicts.record("A/bad", "fine")
        assert "1 record is" in verdicts.choose(reader="Bert")
        assert verdicts.reader == "anna"
        assert verdicts.n_unwritten == 1

    def test_a_reader_whom_the_environment_names_is_never_kept_along_with_another_choice(
        self, new_session: NewSession, own: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MEDOTTER_VIEWER_READER", "bert")
        monkeypatch.setattr("getpass.getuser", lambda: "login")
        verdicts = new_session().verdicts
        assert verdicts.reader == "bert"
        assert "for this window alone" in verdicts.reader_words
        verdicts.choose(blinded=True)
        assert json.loads((own / "choices.json").read_text())["reader"] == ""
        monkeypatch.delenv("MEDOTTER_VIEWER_READER")
        later = new_session().verdicts
        assert (later.reader, later.blinded, later.reader_words) == ("login", True, "")
        later.choose(reader="anna")
        later.choose(blinded=False)
        assert (new_session().verdicts.reader, new_session().verdicts.blinded) == ("anna", False)

    def test_what_holds_for_this_review_alone_is_not_kept(
        self, new_session: NewSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("MEDOTTER_VIEWER_READER")
        verdicts = new_session().verdicts
        verdicts.choose(reader="anna")
        verdicts.choose(reader="carl", verdicts=("good",), keep=False)
        verdicts.choose(blinded=True)
        assert (verdicts.reader, verdicts.words) == ("carl", ("good",))
        later = new_session().verdicts
        assert (later.reader, len(later.words), later.blinded) == ("anna", 7, True)

    def test_choices_that_cannot_be_kept_hold_for_this_review(self, verdicts: ReviewVerdicts, own: Path) -> None:
        own.write_text("in the way")
        assert "not kept for the next review" in verdicts.choose(verdicts=("good",))
        assert verdicts.words == ("good",)


class TestBlinded:
    def test_until_a_case_is_judged_it_hides_numbers_and_others(
        self, verdicts: ReviewVerdicts, new_session: NewSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MEDOTTER_VIEWER_READER", "bert")
        new_session().verdicts.record("A/bad", "geometry")
        assert not verdicts.hides("A/bad")
        assert verdicts.others("A/bad")["bert"].verdict.verdict == "geometry"  # type: ignore[union-attr]
        verdicts.choose(blinded=True)
        assert verdicts.hides("A/bad")
        assert verdicts.hides(None)
        assert verdicts.others("A/bad") == {}
        verdicts.record("A/bad", "fine")
        assert not verdicts.hides("A/bad")
        assert list(verdicts.others("A/bad")) == ["bert"]
        verdicts.undo()
        assert verdicts.hides("A/bad")

    def test_a_warning_does_not_name_the_model(self, verdicts: ReviewVerdicts, full_disk: pytest.MonkeyPatch) -> None:
        verdicts.choose(blinded=True)
        verdicts.record("A/bad", "fine")
        assert verdicts.n_unwritten == 1
        assert str(verdicts.path) not in verdicts.warning


class TestList:
    def test_rows_tell_the_verdict_and_can_be_filtered_by_it(self, session: ReviewSession) -> None:
        session.verdicts.record("A/bad", "gt error")
        assert [row.verdict for row in session.rows] == ["", "gt error", ""]
        for text, ids in (
            ("verdict:gt", ["A/bad"]),
            ("verdict:model", []),
            ("reviewed:yes", ["A/bad"]),
            ("reviewed:no", ["A/good", "B/ok"]),
            ("reviewed:no dataset:b", ["B/ok"]),
            ("reviewed:", ["A/good", "A/bad", "B/ok"]),
        ):
            session.set_filter(text)
            assert [row.case_id for row in session.rows] == ids, text

    def test_rows_do_not_move_while_they_are_looked_at(self, session: ReviewSession) -> None:
        session.set_filter("reviewed:no")
        session.verdicts.record("A/bad", "fine")
        assert [row.case_id for row in session.rows] == ["A/good", "A/bad", "B/ok"]
        assert session.row("A/bad").verdict == "fine"
        assert session.rows[1].verdict == "fine"

    def test_another_reader_makes_another_list(self, session: ReviewSession, heard: Any) -> None:
        session.verdicts.record("A/bad", "fine")
        session.verdicts.choose(reader="bert")
        assert [row.verdict for row in session.rows] == ["", "", ""]
        assert heard.of("rows_changed")

    def test_closing_the_session_writes_what_waits(self, session: ReviewSession, full_disk: pytest.MonkeyPatch) -> None:
        session.verdicts.record("A/bad", "fine")
        full_disk.undo()
        session.close()
        assert session.verdicts.n_unwritten == 0
