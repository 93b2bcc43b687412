"""Reading a file of records: what is damaged is said and spoils nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from medotter_viewer.errors import ReadError
from medotter_viewer.review.reading import read_reviews
from medotter_viewer.review.records import Record, Subject
from medotter_viewer.review.standing import standings

SUBJECT = Subject("torso", "1.0", "0123", "mixed")


def verdict(case_id: str, word: str = "fine") -> Record:
    return Record("verdict", "anna", SUBJECT, case_id, verdict=word)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.reviews.jsonl"


def test_records_come_in_the_order_of_writing(path: Path) -> None:
    said = [verdict("A/2"), verdict("A/1"), verdict("A/2", "ambiguous")]
    path.write_bytes(b"".join(r.to_line() for r in said))
    found = read_reviews(path)
    assert list(found.records) == said
    assert found.findings == ()


def test_an_empty_file_empty_lines_a_mark_of_an_editor_and_its_ends_of_line_are_no_fault(path: Path) -> None:
    path.write_bytes(b"")
    assert read_reviews(path).records == ()
    one, two = verdict("A/1"), verdict("A/2")
    path.write_bytes(b"\xef\xbb\xbf" + one.to_line().replace(b"\n", b"\r\n") + b"\r\n\n" + two.to_line())
    found = read_reviews(path)
    assert (found.records, found.findings) == ((one, two), ())


@pytest.mark.parametrize("kept", [1, 9, 60, -2])
def test_a_torn_last_line_is_said_and_the_records_before_it_are_there(path: Path, kept: int) -> None:
    one, two = verdict("A/1"), verdict("A/2")
    path.write_bytes(one.to_line() + two.to_line()[:kept])
    found = read_reviews(path)
    assert found.records == (one,)
    (finding,) = found.findings
    assert (finding.severity, finding.code, finding.where) == ("warning", "torn-record", "line 2")
    assert finding.file == str(path)
    assert "a.reviews.jsonl: line 2: cut short" in finding.message


def test_a_last_line_that_lacks_only_its_end_is_whole(path: Path) -> None:
    path.write_bytes(verdict("A/1").to_line().removesuffix(b"\n"))
    found = read_reviews(path)
    assert [r.case_id for r in found.records] == ["A/1"]
    assert found.findings == ()


def test_lines_after_a_torn_one_are_read(path: Path) -> None:
    one, two, three = verdict("A/1"), verdict("A/2"), verdict("A/3")
    path.write_bytes(one.to_line() + two.to_line()[:70] + b"\n" + three.to_line())
    found = read_reviews(path)
    assert found.records == (one, three)
    assert [(f.code, f.where) for f in found.findings] == [("torn-record", "line 2")]


def test_a_torn_line_that_was_written_again_lost_nothing(path: Path) -> None:
    one, two = verdict("A/1"), verdict("A/2")
    path.write_bytes(one.to_line() + two.to_line()[:70] + b"\n" + two.to_line())
    found = read_reviews(path)
    assert found.records == (one, two)
    (finding,) = found.findings
    assert (finding.severity, finding.code) == ("info", "torn-record")
    assert "nothing is lost" in finding.message


def test_what_a_power_cut_leaves_is_a_torn_line(path: Path) -> None:
    one, two = verdict("A/1"), verdict("A/2")
    path.write_bytes(one.to_line() + b"\0" * 400 + b"\n" + two.to_line() + b"\xff\xfe\n")
    found = read_reviews(path)
    assert found.records == (one, two)
    assert [f.code for f in found.findings] == ["torn-record"] * 2


def test_a_record_that_is_there_twice_counts_once(path: Path) -> None:
    one, two = verdict("A/1"), verdict("A/1", "ambiguous")
    path.write_bytes(one.to_line() + two.to_line() + one.to_line())
    assert read_reviews(path).records == (one, two)


def test_a_line_that_no_reader_can_use_and_one_of_a_later_version_are_errors(path: Path) -> None:
    bad = json.dumps({**verdict("A/1").to_dict(), "case_id": None}).encode()
    newer = json.dumps({**verdict("A/1").to_dict(), "schema": 9}).encode()
    path.write_bytes(bad + b"\n" + newer + b"\n" + verdict("A/2").to_line())
    found = read_reviews(path)
    assert [r.case_id for r in found.records] == ["A/2"]
    assert [(f.severity, f.code, f.where) for f in found.findings] == [
        ("error", "bad-record", "line 1"),
        ("error", "newer-record", "line 2"),
    ]
    assert "case_id: got None" in found.findings[0].message


def test_an_undo_of_what_is_not_there_is_said(path: Path) -> None:
    one = verdict("A/1")
    undo = Record("undo", "anna", SUBJECT, "A/1", undoes="0" * 16)
    path.write_bytes(one.to_line() + undo.to_line())
    (finding,) = read_reviews(path).findings
    assert (finding.severity, finding.code, finding.where) == ("warning", "undo-of-nothing", "A/1")


def test_what_is_no_file_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="expected a file of verdicts"):
        read_reviews(path)
    with pytest.raises(ReadError):
        read_reviews(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no holes made so")
def test_a_file_far_too_large_is_not_loaded(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)  # a hole: takes no room
    with pytest.raises(ReadError, match="too large"):
        read_reviews(path)


class TestStanding:
    def test_the_last_verdict_counts(self) -> None:
        found = standings([verdict("A/1"), verdict("A/2"), verdict("A/1", "geometry")])
        assert found["A/1"].verdict is not None
        assert found["A/1"].verdict.verdict == "geometry"
        assert len(found["A/1"].said) == 2

    def test_undo_brings_the_one_before_back_and_then_none(self) -> None:
        first, second = verdict("A/1"), verdict("A/1", "geometry")
        undo_second = Record("undo", "anna", SUBJECT, "A/1", undoes=second.record_id)
        undo_first = Record("undo", "anna", SUBJECT, "A/1", undoes=first.record_id)
        assert standings([first, second, undo_second])["A/1"].verdict == first
        assert standings([first, second, undo_second, undo_first])["A/1"].verdict is None

    def test_a_comment_is_no_verdict_and_can_be_taken_back(self) -> None:
        comment = Record("comment", "anna", SUBJECT, "A/1", text="here")
        undo = Record("undo", "anna", SUBJECT, "A/1", undoes=comment.record_id)
        assert standings([comment])["A/1"].verdict is None
        assert standings([comment])["A/1"].comments == (comment,)
        assert standings([comment, undo])["A/1"].comments == ()
        assert standings([comment, undo])["A/1"].said == (comment,)
