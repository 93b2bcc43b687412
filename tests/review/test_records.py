"""A record and its line: what is written is what is read, and nothing else is taken for a record."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.review.parsing import NewerSchemaError, record_of
from medotter_viewer.review.records import (
    Place,
    Record,
    Subject,
    new_id,
    now_utc,
    verdict_key,
)

SUBJECT = Subject("torso", "1.0", "0123456789ab", "mixed")
PLACE = Place((12.0, -33.5, 88.25), (10.0, 20.0, 30.0), "axial", 41, "liver")
VERDICT = Record("verdict", "anna", SUBJECT, "TS/0007", verdict="fine", place=PLACE)


def line_with(**changes: Any) -> bytes:
    return json.dumps({**VERDICT.to_dict(), **changes}).encode()


def test_the_line_holds_what_was_said_of_what_by_whom_and_in_which_frame() -> None:
    line = VERDICT.to_line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "id": VERDICT.record_id,
        "schema": 1,
        "kind": "verdict",
        "time": VERDICT.time,
        "reader": "anna",
        "target": "torso",
        "version": "1.0",
        "hash": "0123456789ab",
        "model": "mixed",
        "case_id": "TS/0007",
        "verdict": "fine",
        "comment": None,
        "undoes": None,
        "position_world": [12.0, -33.5, 88.25],
        "frame": "RAS+ mm",
        "position_voxel": [10.0, 20.0, 30.0],
        "plane": "axial",
        "slice": 41,
        "region": "liver",
    }


def test_without_a_position_no_frame_is_written() -> None:
    written = json.loads(replace(VERDICT, place=Place()).to_line())
    assert (written["position_world"], written["frame"], written["slice"]) == (None, None, None)


def test_time_is_utc_and_ids_differ() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now_utc())
    assert len({new_id() for _ in range(100)}) == 100


@given(st.text(min_size=1), st.text(min_size=1))
def test_whatever_is_written_comes_back_in_one_line(text: str, case_id: str) -> None:
    said = Record("comment", "anna", SUBJECT, case_id, text=text, place=PLACE)
    line = said.to_line()
    assert line.count(b"\n") == 1
    assert record_of(line.removesuffix(b"\n")) == said


def test_half_a_surrogate_pair_is_written_as_json_writes_it() -> None:
    line = replace(VERDICT, kind="comment", text="\ud800x").to_line()
    assert rb"\ud800x" in line
    assert record_of(line.strip()).text == "\ud800x"


def test_a_position_is_written_to_a_thousandth_of_a_mm_and_without_minus_zero() -> None:
    line = replace(VERDICT, place=Place((-0.0001, 1.23456, 2.0))).to_line()
    assert b'"position_world": [0.0, 1.235, 2.0]' in line


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"schema": None}, "schema"),
        ({"schema": True}, "schema"),
        ({"schema": 0}, "schema"),
        ({"kind": "praise"}, "kind"),
        ({"verdict": None}, "verdict"),
        ({"verdict": 5}, "verdict"),
        ({"kind": "comment"}, "comment"),
        ({"kind": "undo"}, "undoes"),
        ({"case_id": ""}, "case_id"),
        ({"reader": None}, "reader"),
        ({"id": 7}, "id"),
        ({"model": 7}, "model"),
        ({"frame": "LPS mm"}, "frame"),
        ({"frame": None}, "frame"),
        ({"position_world": [1, 2]}, "position_world"),
        ({"position_world": [1, 2, 3, 4]}, "position_world"),
        ({"position_world": [1, 2, None]}, "position_world"),
        ({"position_world": [1, 2, True]}, "position_world"),
        ({"position_world": "123"}, "position_world"),
        ({"position_world": [1, 2, 10**400]}, "position_world"),
        ({"position_world": [1, 2, float("nan")]}, "position_world"),
        ({"position_world": [1, 2, float("inf")]}, "position_world"),
        ({"slice": 1.5}, "slice"),
        ({"slice": "41"}, "slice"),
    ],
)
def test_a_key_that_cannot_be_used_is_named(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}: got "):
        record_of(line_with(**changes))


@pytest.mark.parametrize("line", [b"[]", b"null", b"3", b'"text"'])
def test_json_that_is_no_mapping_is_no_record(line: bytes) -> None:
    with pytest.raises(ValueError, match="expected keys and values"):
        record_of(line)


def test_a_line_of_a_later_version_is_told_apart() -> None:
    with pytest.raises(NewerSchemaError, match="schema 2 is newer than 1"):
        record_of(line_with(schema=2, kind="unheard of"))


def test_values_inside_values_without_end_are_no_record() -> None:
    with pytest.raises(ValueError, match=r"without end|Expecting"):
        record_of(b'{"id": ' + b"[" * 200_000)


def test_keys_of_later_use_are_passed_over() -> None:
    assert record_of(line_with(mood="good")) == VERDICT


@pytest.mark.parametrize(("text", "key"), [(" GT  Error", "gt error"), ("FINE", "fine"), ("Größe", "grösse"), ("", "")])
def test_a_verdict_is_the_same_whoever_types_it(text: str, key: str) -> None:
    assert verdict_key(text) == key
    assert record_of(line_with(verdict=text or "x")).verdict == (key or "x")
