"""Submissions: what is accepted, what makes a file malformed and where, and what the contest's own reader takes."""

from __future__ import annotations

import io
import math
import struct
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats import submission_file, submission_reader
from medotter_viewer.formats.finding_log import LISTED
from medotter_viewer.formats.polygon_csv import Submission, read_submission

SQUARE = b"TC1,2,0,0,10,0,10,10,0,10"
KNOWN = {"TC1": {1, 2, 4}, "TC2": {1}}


@pytest.fixture
def read(tmp_path: Path):
    def read_bytes(content: bytes, name: str = "s.csv", **options: object) -> Submission:
        path = tmp_path / name
        path.write_bytes(content)
        return read_submission(path, **options)  # type: ignore[arg-type]

    return read_bytes


def errors(found: Submission) -> list[tuple[str, str | None]]:
    return [(f.code, f.where) for f in found.findings if f.severity == "error"]


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


class TestRings:
    def test_rings_are_found_by_scan_and_slice_in_the_order_of_the_file(self, read) -> None:
        lines = [b"B,7,0,0,1,0,1,1", b"A,2,0,0,2,0,2,2", b"B,7,0,0,3,0,3,3", b"B,3,0,0,4,0,4,4"]
        rings = read(b"\n".join(lines) + b"\n").rings
        assert list(rings) == ["B", "A"]
        assert {scan: list(slices) for scan, slices in rings.items()} == {"B": [3, 7], "A": [2]}
        assert [ring.tolist() for ring in rings["B"][7]] == [[[0, 0], [1, 0], [1, 1]], [[0, 0], [3, 0], [3, 3]]]

    def test_rings_are_the_same_whichever_blocks_the_file_is_read_in(self, read, monkeypatch) -> None:
        content = b"".join(b"S%d,%d,0,0,%d,0,1,%d\r\n" % (i % 3, i % 5 + 1, i, i + 1) for i in range(200))
        whole = read(content)
        for size in (1, 2, 3, 7, 64):
            monkeypatch.setattr(submission_reader, "_CHUNK", size)
            found = read(content)
            assert (found.lines, found.polygons) == (200, 200)
            for scan, slices in whole.rings.items():
                for number, rings in slices.items():
                    np.testing.assert_array_equal(found.rings[scan][number], rings)

    def test_a_line_longer_than_what_is_split_at_a_time_keeps_every_number(self, read) -> None:
        numbers = np.arange(60_000) / 8
        found = read(b"S,1," + ",".join(map(repr, numbers.tolist())).encode())
        np.testing.assert_array_equal(found.rings["S"][1][0].ravel(), numbers)

    @given(st.lists(st.tuples(*[st.floats(-1e9, 1e9)] * 2), min_size=3, max_size=6))
    def test_numbers_come_back_bit_by_bit(self, tmp_path_factory, points) -> None:
        path = tmp_path_factory.mktemp("s") / "s.csv"
        path.write_text("S,1," + ",".join(repr(value) for point in points for value in point))
        assert read_submission(path).rings["S"][1][0].tolist() == [list(point) for point in points]

    def test_an_empty_file_is_valid_and_says_that_it_scores_nothing(self, read) -> None:
        found = read(b"")
        assert (found.status, found.lines, found.polygons, dict(found.rings)) == ("ok", 0, 0, {})
        assert [f.code for f in found.findings] == ["no-polygons"]

    def test_a_file_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match="no such file"):
            read_submission(tmp_path / "none.csv")
        with pytest.raises(ReadError, match="a folder"):
            read_submission(tmp_path)


class TestDialect:
    @pytest.mark.parametrize(
        "content",
        [
            SQUARE,
            SQUARE + b"\n",
            SQUARE + b"\r\n\r\n   \r\n",
            SQUARE + b"\r",
            b"\xef\xbb\xbf" + SQUARE,
            b"TC1,2,0,0,1e1,0,1.0E+1,10,-0.0,1.00e01",
            b"TC1,02,.0,0.,10,0,+10,10,0,10",
            SQUARE + b",0,0",
        ],
    )
    def test_one_square_is_accepted_however_it_is_written(self, read, content: bytes) -> None:
        found = read(content, slices=KNOWN)
        assert (found.status, found.polygons) == ("ok", 1)
        assert found.rings["TC1"][2][0][:4].tolist() == [[0, 0], [10, 0], [10, 10], [0, 10]]

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b"TC1,2,0,0,10,0,10,10,0", "odd number of coordinates, 7"),
            (b"TC1,2,0,0,5,10,0,5,10,10,5", "x,y,z of each point"),
            (b"TC1,2,0,0,,0,10,10,0,10", "empty field: coordinate 3"),
            (b"TC1,2,0,0,10,0,10,10,", "empty field: coordinate 7"),
            (b"TC1,2,0,0,nan,0,10,10", "coordinate 3 is 'nan', expected a finite number"),
            (b"TC1,2,0,0,-Infinity,0,10,10", "expected a finite number"),
            (b"TC1,2,0,0,1e999,0,10,10", "not a finite length"),
            (b"TC1,2,0,0,1_0,0,10,10", "coordinate 3 is '1_0', expected a decimal number"),
            (b"TC1,2,0,0, 10,0,10,10", "coordinate 3 is ' 10'"),
            (b"TC1,2,0,0,1e,0,10,10", "coordinate 3 is '1e'"),
            (b"TC1,2,0,0,0x1p3,0,10,10", "coordinate 3 is '0x1p3'"),
            ("TC1,2,0,0,\u0661,0,10,10".encode(), "coordinate 3"),
            (b"TC1,2,0,0,10,0", "2 points, expected at least three"),
            (b"TC1,2", "no coordinates"),
            (b"TC1", "no \",\" in 'TC1'"),
            (b"TC1;2;0,0;0,0;10,0", 'expected "," between fields'),
            (b"TC1\t2\t0\t0", 'expected "," between fields'),
            (b"TC1,2.0,0,0,10,0,10,10", "slice is '2.0', expected a whole number"),
            (b"TC1, 2,0,0,10,0,10,10", "slice is ' 2'"),
            (b"TC1,-2,0,0,10,0,10,10", "slice is '-2'"),
            (b"TC1,1_0,0,0,10,0,10,10", "slice is '1_0'"),
            (b"TC1,,0,0,10,0,10,10", "slice is ''"),
            (b"TC1,99999999999999999999,0,0,1,0,1,1", "slice is '9999"),
            (b"scan_id,slice_id,x1,y1", "is it a header?"),
            (b",2,0,0,10,0,10,10", "empty field: the scan's id"),
            (b'"TC1",2,0,0,10,0,10,10', "no quotation marks"),
            (b" TC1,2,0,0,10,0,10,10", "no blanks around it"),
            (b"T\xff1,2,0,0,10,0,10,10", "not UTF-8"),
            (b"T\x001,2,0,0,10,0,10,10", "UTF-16"),
        ],
    )
    def test_a_malformed_line_is_named_with_the_reason(self, read, line: bytes, reason: str) -> None:
        found = read(SQUARE + b"\n" + line + b"\n" + SQUARE + b"\n")
        assert (found.status, found.lines, found.polygons) == ("malformed", 3, 2)
        (finding,) = found.findings
        assert (finding.severity, finding.where) == ("error", "2")
        assert finding.message.startswith("line 2: ")
        assert reason in finding.message
        assert dict(found.rings) == {}

    def test_utf_16_is_named_once(self, read) -> None:
        found = read((SQUARE.decode() + "\n").encode("utf-16"))
        assert found.status == "malformed"
        assert errors(found) == [("not-utf-8", None)]

    def test_a_byte_order_mark_is_a_warning_and_for_the_contest_an_error(self, read) -> None:
        content = b"\xef\xbb\xbf" + SQUARE
        assert read(content).findings[0].severity == "warning"
        found = read(content, contest_reader=True)
        assert (found.status, errors(found)) == ("malformed", [("byte-order-mark", "1")])

    def test_a_scan_or_slice_that_is_not_there_is_named_by_line(self, read) -> None:
        lines = [SQUARE, b"TC9,1,0,0,1,0,1,1", b"TC1,3,0,0,1,0,1,1", b"TC1,0,0,0,1,0,1,1", b"TC9,2,0,0,1,0,1,1"]
        found = read(b"\n".join(lines), slices=KNOWN)
        expected = [("unknown-scan", "2"), ("unknown-slice", "3"), ("unknown-slice", "4"), ("unknown-scan", "5")]
        assert errors(found) == expected
        assert errors(read(b"\n".join(lines))) == [("unknown-slice", "4")]

    def test_many_malformed_lines_are_counted_and_the_first_are_listed(self, read) -> None:
        found = read(b"TC1\n" * (LISTED + 7))
        assert len(found.findings) == LISTED + 1
        assert found.findings[-1] == Finding(
            "error", "malformed-line", "7 more of this kind (malformed-line) are not listed", found.findings[0].file
        )

    @given(st.binary(max_size=200), st.booleans())
    def test_whatever_a_file_holds_it_is_accepted_or_malformed(self, tmp_path_factory, content, contest) -> None:
        path = tmp_path_factory.mktemp("s") / "s.csv"
        path.write_bytes(content)
        found = read_submission(path, contest_reader=contest)
        assert (found.status == "malformed") == bool(errors(found))


class TestContestReader:
    @pytest.mark.parametrize(
        ("line", "points"),
        [
            (b"TC1,2,5,5", [[5, 5]]),
            (b"TC1,2,0,0,20,0", [[0, 0], [20, 0]]),
            (b"TC1,2,0,0,20,0,7", [[0, 0], [20, 0]]),
            (b"TC1,2,0,0,20,0,never read", [[0, 0], [20, 0]]),
            (b"TC1,2,0,0,20,0,", [[0, 0], [20, 0]]),
            (b"TC1,2,0,0,20,0,,,", [[0, 0], [20, 0]]),
            (b"TC1,2, 0,0 ,\t20,0", [[0, 0], [20, 0]]),
            (b"  TC1,2,0,0,20,0  ", [[0, 0], [20, 0]]),
            (b"TC1,+2,0,0,20,0", [[0, 0], [20, 0]]),
            (b"TC1,2,0,0,0x1.8p1,2f", [[0, 0], [3, 2]]),
            (b"TC1,2,0,0,1e999,-Infinity", [[0, 0], [math.inf, -math.inf]]),
            (b"\n\r\n  \nTC1,2,5,5\n\n", [[5, 5]]),
            (b"TC1,3,5,5", [[5, 5]]),  # a gap between slices is a slice to it
        ],
    )
    def test_what_it_takes_beyond_the_format(self, read, line: bytes, points: list[list[float]]) -> None:
        found = read(line, slices=KNOWN, contest_reader=True)
        assert found.status == "ok"
        ((ring,),) = (rings for slices in found.rings.values() for rings in slices.values())
        assert ring.tolist() == points

    def test_it_takes_not_a_number(self, read) -> None:
        (ring,) = read(b"TC1,2,0,0,NaN,0,1,1", contest_reader=True).rings["TC1"][2]
        assert np.isnan(ring).tolist() == [[False, False], [True, False], [False, False]]

    @pytest.mark.parametrize(
        "line",
        [
            b"TC1,2", b"TC1,2,", b"TC1,2,5", b"TC1,2,5,", b"TC1,2,,", b"TC1, 2,5,5", b"TC1,2 ,5,5", b"TC1,0,5,5",
            b"TC1,5,5,5", b"TC9,1,5,5", b"#comment", b"0;0", b"TC1,2,5,,5,5", b"TC1,2,nan,5", b"TC1,2,inf,5",
            b"TC1,2,1_0,5", b"TC1,2,5,abc", b"TC1,2.0,5,5", b"TC1,3000000000,5,5", b"TC1,2,0x10,5", b"TC1,2,1e,5",
        ],
    )  # fmt: skip
    def test_what_stops_it(self, read, line: bytes) -> None:
        found = read(line, slices=KNOWN, contest_reader=True)
        assert (found.status, [where for _, where in errors(found)]) == ("malformed", ["1"])


class TestLimits:
    def test_as_many_lines_as_allowed_are_accepted_and_the_next_is_refused(self, read, monkeypatch) -> None:
        monkeypatch.setattr(submission_reader, "MAX_LINES", 3)
        assert read(SQUARE + b"\n\n" + SQUARE + b"\n").status == "ok"
        for content in (SQUARE + b"\n\n" + SQUARE + b"\n" + SQUARE, b"\n" * 4):
            found = read(content)
            assert (found.status, found.lines, errors(found)) == ("malformed", 4, [("too-many-lines", "4")])

    @pytest.mark.parametrize("packed", [False, True])
    def test_as_many_bytes_as_allowed_are_accepted_and_one_more_is_refused(self, read, monkeypatch, packed) -> None:
        for limit, status in ((1000, "ok"), (999, "malformed")):
            monkeypatch.setattr(submission_file, "MAX_BYTES", limit)
            content = SQUARE + b"\n" * (1000 - len(SQUARE))
            found = read(zipped({"s.csv": content}) if packed else content)
            assert found.status == status
            assert [code for code, _ in errors(found)] == ["file-too-large"] * (status == "malformed")

    def test_the_limit_is_a_hundred_million_bytes(self) -> None:
        assert submission_file.MAX_BYTES == submission_reader.MAX_BYTES == 100_000_000


class TestArchive:
    def test_the_only_csv_is_read_and_what_macos_adds_is_not_looked_at(self, read) -> None:
        names = {"__MACOSX/._s.csv": b"\0", "._s.csv": b"\0", "readme.txt": b"hello", "out/S.CSV": SQUARE}
        assert read(zipped(names), "s.zip").polygons == 1

    @pytest.mark.parametrize(
        ("members", "said"),
        [
            ({"a.csv": SQUARE, "b.csv": SQUARE}, "2 CSV files, expected exactly one; its members: a.csv, b.csv"),
            ({"readme.txt": b"x"}, "no CSV file, expected exactly one; its members: readme.txt"),
            ({}, "no CSV file, expected exactly one; its members: none"),
            ({f"{i}.csv": b"" for i in range(12)}, "9.csv and 2 more"),
        ],
    )
    def test_two_csv_files_or_none_are_refused_and_the_members_listed(self, read, members, said: str) -> None:
        found = read(zipped(members), "s.zip")
        assert errors(found) == [("bad-archive", None)]
        assert said in found.findings[0].message

    def test_a_name_that_climbs_is_never_written(self, read, tmp_path: Path) -> None:
        found = read(zipped({"../../evil.csv": SQUARE}), "s.zip")
        assert (found.polygons, [f.code for f in found.findings]) == (1, ["unsafe-member"])
        assert [path.name for path in tmp_path.iterdir()] == ["s.zip"]

    def test_an_encrypted_member_is_named(self, read) -> None:
        content = bytearray(zipped({"s.csv": SQUARE}))
        for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            content[content.index(signature) + offset] |= 1
        assert "encrypted" in read(bytes(content), "s.zip").findings[0].message

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_a_method_that_unpacks_without_bound_is_refused(self, read, method: int) -> None:
        assert "deflate" in read(zipped({"s.csv": SQUARE}, method), "s.zip").findings[0].message

    def test_a_bomb_is_refused_by_its_size_and_one_that_lies_is_damaged(self, read, monkeypatch) -> None:
        monkeypatch.setattr(submission_file, "MAX_BYTES", 1 << 20)
        content = zipped({"s.csv": b"\n" * (1 << 21)})
        assert errors(read(content, "s.zip")) == [("file-too-large", None)]
        size = struct.pack("<I", 1 << 21)
        found = read(content.replace(size, struct.pack("<I", 1000)), "s.zip")
        assert errors(found) == [("bad-archive", None)]

    def test_a_list_of_very_many_members_is_not_read(self, read, monkeypatch) -> None:
        monkeypatch.setattr(submission_file, "_MAX_DIRECTORY", 1000)
        found = read(zipped({f"{i}.txt": b"" for i in range(50)}), "s.zip")
        assert "thousands of members" in found.findings[0].message

    def test_gzip_data_is_named(self, read) -> None:
        assert "gzip" in read(b"\x1f\x8b\x08\x00" + b"\0" * 20).findings[0].message

    @given(data=st.data())
    def test_a_damaged_archive_is_malformed_or_read(self, tmp_path_factory, data) -> None:
        content = bytearray(zipped({"s.csv": SQUARE * 3, "__MACOSX/._s.csv": b"\0"}))
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path = tmp_path_factory.mktemp("s") / "s.zip"
        path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
        found = read_submission(path)
        assert (found.status == "malformed") == bool(errors(found))


@pytest.mark.parametrize("contest", [False, True])
@pytest.mark.parametrize("number", ["9" * 100_000 + "x", "0x" + "f" * 100_000, "." + "1" * 100_000 + "e"])
def test_a_number_of_any_length_is_judged_in_linear_time(tmp_path: Path, number: str, contest: bool) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"1,1,0,0,10,0,{number},10\n")
    start = time.process_time()
    assert read_submission(path, contest_reader=contest).status == "malformed"
    assert time.process_time() - start < 2, "it took minutes where the digits could be matched in many ways"


def test_a_zip_member_without_a_name_is_no_csv(tmp_path: Path) -> None:
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("s.csv", "1,1,0,0,10,0,10,10\n")
    path.write_bytes(path.read_bytes().replace(b"s.csv", b"\0.csv"))  # a name ends at its first NUL
    found = read_submission(path)
    assert (found.status, [f.code for f in found.findings]) == ("malformed", ["bad-archive"])


def test_the_limit_is_a_million_lines_and_the_next_is_refused_by_its_number(read) -> None:
    assert submission_reader.MAX_LINES == 1_000_000
    found = read(zipped({"s.csv": SQUARE + b"\n" * 1_000_001}), "s.zip")  # the last end of line begins no line
    assert (found.status, found.lines) == ("malformed", 1_000_001)
    assert errors(found) == [("too-many-lines", "1000001")]


@pytest.mark.parametrize("name", ["s.csv", "__MACOSX/._s.csv", "out/s.csv"])
def test_a_member_that_only_looks_like_a_table_is_not_taken_for_the_submission(read, name: str) -> None:
    found = read(zipped({name: SQUARE}), "s.zip")
    taken = "__MACOSX" not in name
    assert (found.status, found.polygons) == (("ok", 1) if taken else ("malformed", 0))
    assert errors(found) == ([] if taken else [("bad-archive", None)])
