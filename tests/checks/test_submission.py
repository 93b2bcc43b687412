"""What a submission is warned of, and that a million lines are looked at in little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from medotter_viewer.checks import submission
from medotter_viewer.checks.submission import LISTED, SubmissionCheck, check_submission, polygon_findings
from medotter_viewer.formats import submission_reader
from medotter_viewer.formats.polygon_csv import read_submission

SQUARE = "A,1,0,0,10,0,10,10,0,10"


@pytest.fixture
def check(tmp_path: Path):
    def check_lines(*lines: str, contest_reader: bool = False) -> SubmissionCheck:
        path = tmp_path / "s.csv"
        path.write_text("".join(line + "\n" for line in lines))
        return check_submission(path, contest_reader=contest_reader)

    return check_lines


def warned(found: SubmissionCheck) -> list[tuple[str, str | None]]:
    return [(f.code, f.where) for f in found.findings if f.severity == "warning"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("A,1,0,0,20,20,20,0,0,20", "crosses itself: 200 mm2 count by the even-odd rule, 0 mm2 by its list"),
        ("A,1,0,0,9,0,9,9,0,9,0,0,9,0,9,9,0,9", "runs around a part twice: 0 mm2 count"),
        ("A,1,0,0,9,0,9,9,0,9,0,0,3,3,6,3,6,6,3,6,3,3", "runs around a part twice: 72 mm2 count by the even-odd"),
    ],
)
def test_a_ring_whose_areas_disagree_is_named_with_both(check, line: str, said: str) -> None:
    found = check(SQUARE, line)
    assert (found.status, found.polygons) == ("ok", 2)
    message = next(f.message for f in found.findings if f.code == "self-crossing-polygon")
    assert message.startswith("line 2: scan 'A', slice 1: ")
    assert said in message


def test_a_keyhole_of_opposite_direction_and_a_closed_ring_are_as_they_should_be(check) -> None:
    keyhole = "A,1,0,0,9,0,9,9,0,9,0,0,3,3,3,6,6,6,6,3,3,3"
    assert warned(check(SQUARE, keyhole, SQUARE + ",0,0")) == []


def test_a_ring_without_area_is_named(check) -> None:
    assert warned(check("A,1,0,0,5,5,9,9")) == [("polygon-without-area", "1")]


def test_a_line_that_stands_twice_is_named_with_the_first(check) -> None:
    other = [SQUARE.replace("A", "B"), SQUARE.replace(",1,", ",2,", 1), SQUARE.replace("10", "11")]
    found = check(SQUARE, *other, SQUARE, "A,01,0,-0.0,1e1,0,10,10.0,0,10")
    assert warned(found) == [("duplicate-polygon", "5"), ("duplicate-polygon", "6")]
    assert all("repeats line 1:" in finding.message for finding in found.findings)


def test_many_warnings_are_counted_and_the_first_are_listed(check) -> None:
    found = check(*[f"A,1,{i},0,{i + 20},20,{i + 20},0,{i},20" for i in range(LISTED + 5)])
    assert len(found.findings) == LISTED + 1
    assert found.findings[-1].message.startswith("5 more")
    found = check(*[SQUARE] * (LISTED + 6))
    assert found.findings[-1].message.startswith("5 more")


def test_a_contest_line_that_is_no_polygon_is_warned_of(check) -> None:
    found = check("A,1,0,0,NaN,0,1,1", "A,1,5,5", "A,1,0,0,20,0", contest_reader=True)
    assert found.status == "ok"
    expected = [("not-a-number", "1"), ("polygon-without-area", "2"), ("polygon-without-area", "3")]
    assert sorted(warned(found)) == sorted(expected)


def test_a_ring_of_very_many_points_is_not_examined_but_found_twice(check, monkeypatch) -> None:
    monkeypatch.setattr(submission, "_HUGE", 5)
    huge = "A,1,0,0,20,20,20,0,0,20,5,5,6,7"
    found = check(huge, SQUARE, huge, SQUARE, SQUARE.replace("A", "B"))
    expected = [
        ("duplicate-polygon", "3"),
        ("duplicate-polygon", "4"),
        ("polygon-not-examined", "1"),
        ("polygon-not-examined", "3"),
    ]
    assert sorted((f.code, f.where) for f in found.findings) == expected


def test_blocks_make_no_difference(check, monkeypatch) -> None:
    lines = [SQUARE, "A,1,0,0,20,20,20,0,0,20", "B,2,0,0,1,1,2,2", SQUARE, "A,3,0,0"]
    whole = check(*lines)
    monkeypatch.setattr(submission_reader, "_CHUNK", 5)
    assert check(*lines) == whole


def test_warnings_of_what_was_read_are_those_of_the_check(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(f"{SQUARE}\nA,1,0,0,20,20,20,0,0,20\n{SQUARE}\n")
    assert polygon_findings(read_submission(path), path) == list(check_submission(path).findings)
    assert len(polygon_findings(read_submission(path), path)) == 2


def test_a_malformed_file_is_malformed(check) -> None:
    found = check(SQUARE, "A,1,0,0,1,1")
    assert (found.status, found.lines, found.polygons) == ("malformed", 2, 1)


def test_a_million_lines_are_checked_and_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    with path.open("w") as file:
        for scan in range(100):
            file.write("".join(f"S{scan},{i % 200 + 1},{i},0,{i + 1},0,{i},1\n" for i in range(10_000)))
    code = f"""
import re
from pathlib import Path
from medotter_viewer.checks import submission
from medotter_viewer.checks.submission import check_submission
from medotter_viewer.formats.polygon_csv import read_submission

def peak_mb():
    # not ru_maxrss, which a new process takes over from the one that started it
    return int(re.search("VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

found = check_submission(Path({str(path)!r}))
assert (found.status, found.lines, found.polygons, len(found.findings)) == ("ok", 1_000_000, 1_000_000, 0), found
peak = peak_mb()
found = read_submission(Path({str(path)!r}))
assert len(found.rings["S7"][200]) == 50
print(peak, peak_mb())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    check_mb, read_mb = map(float, done.stdout.split())
    assert check_mb < 250
    assert read_mb < 400
