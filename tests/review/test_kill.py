"""A reader's process that dies between two keys loses nothing but, at most, the last one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from medotter_viewer.review.reading import read_reviews

N_POINTS, N_KEYS = 20, 400
# What keys do, without a window: each line that is printed is a key that has returned.
PROGRAM = """
import sys
from case_source import Cases
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.review.records import Place
from medotter_viewer.session.verdicts import ReviewVerdicts

class Source(Cases):
    hash = "0123456789ab"

    def record(self):
        return {"predictions": sys.argv[1]}

ids = [f"A/{number}" for number in range(50)]
verdicts = ReviewVerdicts(Source([Case(CaseEntry(i)) for i in ids], None))
for key in range(int(sys.argv[2])):
    case_id = ids[key % len(ids)]
    if key % 10 == 7:
        verdicts.comment(case_id, f"key {key}", Place((1.0, 2.0, key)))
    elif key % 10 == 9:
        verdicts.undo()
    else:
        verdicts.record(case_id, verdicts.words[key % 7], Place((1.0, 2.0, key)))
    print(key, flush=True)
"""


def kinds(n: int) -> list[str]:
    return [{7: "comment", 9: "undo"}.get(key % 10, "verdict") for key in range(n)]


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_kill_between_any_two_keys_loses_at_most_the_last_one(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - points in time
    paths = {"MEDOTTER_VIEWER_READER": "anna", "MEDOTTER_VIEWER_REVIEWS": str(tmp_path / "own")}
    environment = {**os.environ, **paths, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    counts = []
    for point in range(N_POINTS):
        folder = tmp_path / f"model{point}"
        folder.mkdir()
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder), str(N_KEYS)],
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert child.stdout is not None
        returned = 0
        for _ in range(chance.randrange(1, 60)):
            returned += bool(child.stdout.readline())
        while chance.random() < 0.5:  # somewhere within a later key
            returned += bool(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        returned += len(child.stdout.read().splitlines())  # keys that had returned before the kill arrived
        assert child.wait(30) == -signal.SIGKILL
        child.stdout.close()
        (path,) = folder.glob("*.reviews.jsonl")
        found = read_reviews(path)
        n = len(found.records)
        assert returned <= n <= returned + 1, (returned, n)  # the last key may be written and not have returned
        assert [r.kind for r in found.records] == kinds(n)
        assert [f.code for f in found.findings] in ([], ["torn-record"])
        counts.append(n)
    assert len(set(counts)) > N_POINTS // 2  # these were different points


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("kept", [1, 40, 300])
def test_after_a_kill_within_a_write_the_next_review_goes_on_and_all_but_that_record_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """A child that is killed when only a part of a record has reached the file."""
    half = f"""
import os, signal
write, left = os.write, [5]

def torn(descriptor, line):
    if descriptor < 3:
        return write(descriptor, line)
    left[0] -= 1
    if left[0]:
        return write(descriptor, line)
    write(descriptor, line[:{kept}])
    os.kill(os.getpid(), signal.SIGKILL)

os.write = torn
"""
    paths = {"MEDOTTER_VIEWER_READER": "anna", "MEDOTTER_VIEWER_REVIEWS": str(tmp_path / "own")}
    environment = {**os.environ, **paths, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    program = [sys.executable, "-c", half + PROGRAM, str(tmp_path), "20"]
    done = subprocess.run(program, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.splitlines()) == 4
    go_on = [sys.executable, "-c", PROGRAM, str(tmp_path), "3"]
    subprocess.run(go_on, env=environment, capture_output=True, check=True)
    (path,) = tmp_path.glob("*.reviews.jsonl")
    found = read_reviews(path)
    assert [r.case_id for r in found.records] == ["A/0", "A/1", "A/2", "A/3", "A/0", "A/1", "A/2"]
    assert [(f.code, f.where) for f in found.findings] == [("torn-record", "line 5")]
