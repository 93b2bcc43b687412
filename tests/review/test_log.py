"""The file that records are appended to: each whole and on its own line, whatever happens in between."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.review import log as log_module
from medotter_viewer.review.log import ReviewLog
from medotter_viewer.review.reading import read_reviews
from medotter_viewer.review.records import Record, Subject

SUBJECT = Subject("torso", "1.0", "0123", "mixed")
POSIX = pytest.mark.skipif(os.name == "nt", reason="of POSIX")


def verdict(case_id: str, word: str = "fine") -> Record:
    return Record("verdict", "anna", SUBJECT, case_id, verdict=word)


@pytest.fixture
def log(tmp_path: Path) -> ReviewLog:
    return ReviewLog(tmp_path / "reviews" / "a.reviews.jsonl")


def fail_with(number: int) -> Any:
    def fail(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    return fail


def test_the_file_is_made_with_the_first_record(log: ReviewLog) -> None:
    assert not log.path.parent.exists()
    said = [verdict("A/1"), verdict("A/2")]
    assert all(log.append(record) for record in said)
    assert log.path.read_bytes() == b"".join(record.to_line() for record in said)
    assert log.unwritten == ()


def test_each_record_is_one_write_that_is_brought_to_the_disk(log: ReviewLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log.append(verdict("A/0"))
    calls: list[str] = []
    write, fsync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda fd, line: calls.append("write") or write(fd, line))
    monkeypatch.setattr(os, "fsync", lambda fd: calls.append("fsync") or fsync(fd))
    log.append(verdict("A/1"))
    log.append(verdict("A/2"))
    assert calls == ["write", "fsync"] * 2


def test_a_record_after_a_torn_line_begins_a_line_of_its_own(log: ReviewLog) -> None:
    log.append(verdict("A/1"))
    torn = verdict("A/2").to_line()[:50]
    with log.path.open("ab") as file:
        file.write(torn)
    three = verdict("A/3")
    assert ReviewLog(log.path).append(three)
    assert log.path.read_bytes().endswith(torn + b"\n" + three.to_line())
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/3"]


def test_a_full_disk_is_said_and_what_waits_is_written_with_the_next(
    log: ReviewLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(verdict("A/1"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail_with(errno.ENOSPC))
        assert not log.append(verdict("A/2"))
        assert log.error == os.strerror(errno.ENOSPC)
        assert not log.append(verdict("A/3"))
        assert [r.case_id for r in log.unwritten] == ["A/2", "A/3"]
    assert log.append(verdict("A/4"))
    assert (log.error, log.unwritten) == (None, ())
    found = read_reviews(log.path)
    assert [r.case_id for r in found.records] == ["A/1", "A/2", "A/3", "A/4"]
    assert found.findings == ()


def test_half_a_record_on_a_disk_that_fills_up_is_repeated_whole(
    log: ReviewLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(verdict("A/1"))
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, line: write(fd, line[:60]))
        assert not log.append(verdict("A/2"))
    assert log.append(verdict("A/3"))
    found = read_reviews(log.path)
    assert [r.case_id for r in found.records] == ["A/1", "A/2", "A/3"]
    assert [(f.severity, f.code) for f in found.findings] == [("info", "torn-record")]


def test_a_disk_that_fails_to_keep_a_record_has_it_twice_and_it_counts_once(
    log: ReviewLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(verdict("A/1"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_with(errno.EIO))
        assert not log.append(verdict("A/2"))
    assert log.flush()
    assert log.path.read_bytes().count(b"A/2") == 2
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/2"]


@POSIX
def test_a_limit_of_the_system_on_the_size_of_files_loses_nothing(tmp_path: Path) -> None:
    path, limit = tmp_path / "a.reviews.jsonl", 1000
    program = """
import resource, signal, sys
from pathlib import Path
from medotter_viewer.review.log import ReviewLog
from medotter_viewer.review.records import Record, Subject

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
log = ReviewLog(Path(sys.argv[1]))
for number in range(6):
    log.append(Record("verdict", "anna", Subject("torso"), f"A/{number}", verdict="fine"))
print(len(log.unwritten), log.error)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
print(log.flush(), len(log.unwritten))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(limit)], capture_output=True, text=True, check=True
    )
    first, second = done.stdout.splitlines()
    n_waiting, error = first.split(" ", 1)
    assert 0 < int(n_waiting) < 6
    assert error in (os.strerror(errno.EFBIG), os.strerror(errno.ENOSPC))
    assert second == "True 0"
    assert [r.case_id for r in read_reviews(path).records] == [f"A/{n}" for n in range(6)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="of Linux")
def test_what_is_no_plain_file_is_not_written_to(tmp_path: Path) -> None:
    log = ReviewLog(Path("/dev/full"))
    assert not log.append(verdict("A/1"))
    assert log.error == "is no file"
    assert len(log.unwritten) == 1
    assert log.move_to(tmp_path / "b.reviews.jsonl")
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1"]


@POSIX
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    link = tmp_path / "a.reviews.jsonl"
    link.symlink_to(precious)
    log = ReviewLog(link)
    assert not log.append(verdict("A/1"))
    assert precious.read_text() == "mine"


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of nobody's, and be nobody: root may write everywhere."""
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        inner = folder / "predictions"
        inner.mkdir()
        if is_root:
            os.chown(inner, 65534, -1)
            os.seteuid(65534)
        try:
            yield inner
        finally:
            if is_root:
                os.seteuid(0)
            inner.chmod(0o755)


@POSIX
def test_a_folder_that_became_read_only_keeps_records_in_memory(nobody: Path) -> None:
    log = ReviewLog(nobody / "a.reviews.jsonl")
    nobody.chmod(0o555)
    assert not log.append(verdict("A/1"))
    assert log.error == os.strerror(errno.EACCES)
    assert [r.case_id for r in log.unwritten] == ["A/1"]
    nobody.chmod(0o755)
    assert log.append(verdict("A/2"))
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/2"]


def test_a_share_that_became_read_only_keeps_records_in_memory(log: ReviewLog, monkeypatch: pytest.MonkeyPatch) -> None:
    log.append(verdict("A/1"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail_with(errno.EROFS))
        assert not log.append(verdict("A/2"))
        assert log.error == os.strerror(errno.EROFS)
    assert log.flush()
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/2"]


@POSIX
def test_a_file_that_another_program_keeps_locked_is_waited_for_and_then_tried_again(
    log: ReviewLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    log.append(verdict("A/1"))
    monkeypatch.setattr(log_module, "_PATIENCE_S", 0.05)
    with log.path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not log.append(verdict("A/2"))
        assert log.error == "another program keeps the file locked"
    assert log.flush()
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/2"]


def test_two_windows_do_not_mix_their_lines(tmp_path: Path) -> None:
    path, n = tmp_path / "a.reviews.jsonl", 60
    program = """
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from medotter_viewer.review.log import ReviewLog
from medotter_viewer.review.records import Record, Subject

log = ReviewLog(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    log.append(Record("comment", sys.argv[2], Subject("torso"), f"A/{number}", text=sys.argv[2] * 3000))
log.flush()
sys.exit(len(log.unwritten))
"""
    windows = [subprocess.Popen([sys.executable, "-c", program, str(path), name, str(n)]) for name in "ab"]
    assert [window.wait(60) for window in windows] == [0, 0]
    found = read_reviews(path)
    assert found.findings == ()
    for name in "ab":
        own = [r for r in found.records if r.reader == name]
        assert [r.case_id for r in own] == [f"A/{i}" for i in range(n)]
        assert {r.text for r in own} == {name * 3000}


@pytest.mark.parametrize("how", ["removed", "emptied", "cut"])
def test_what_a_file_has_lost_meanwhile_is_written_again(log: ReviewLog, how: str) -> None:
    said = [verdict("A/1"), verdict("A/2"), verdict("A/3")]
    log.append(said[0])
    log = ReviewLog(log.path, read_reviews(log.path).records)  # another day
    log.append(said[1])
    if how == "removed":
        log.path.unlink()
    else:
        log.path.write_bytes(log.path.read_bytes()[: 0 if how == "emptied" else -20])
    assert log.append(said[2])
    assert log.n_again == 2
    assert {r.case_id for r in read_reviews(log.path).records} == {"A/1", "A/2", "A/3"}
    assert log.append(verdict("A/4"))
    assert log.n_again == 0


def test_a_file_that_grows_meanwhile_is_appended_to(log: ReviewLog) -> None:
    log.append(verdict("A/1"))
    ReviewLog(log.path).append(verdict("A/2"))
    log.append(verdict("A/3"))
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/2", "A/3"]


def test_what_a_file_has_lost_waits_too_where_nothing_can_be_written(
    log: ReviewLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(verdict("A/1"))
    log.path.unlink()
    write = os.write
    monkeypatch.setattr(os, "write", fail_with(errno.ENOSPC))
    assert not log.append(verdict("A/2"))
    assert (log.n_again, [r.case_id for r in log.unwritten]) == (0, ["A/1", "A/2"])
    monkeypatch.setattr(os, "write", write)
    assert log.flush()
    assert [r.case_id for r in read_reviews(log.path).records] == ["A/1", "A/2"]
