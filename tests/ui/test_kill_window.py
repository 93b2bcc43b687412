"""A window whose process is killed while keys are pressed loses nothing but, at most, the last one."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from medotter_viewer.review.reading import read_reviews

ROOT = Path(__file__).parents[2]
N_POINTS = 20


@pytest.mark.window
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_what_a_kill_would_leave_at_twenty_points_and_leaves_at_the_last(tmp_path: Path) -> None:
    """What stands in the file at a moment is what a kill at that moment leaves; the last is a real one."""
    bundle = ROOT / "sample_bundles" / "torso_ct"
    predictions = tmp_path / "mixed"
    shutil.copytree(bundle / "predictions" / "mixed", predictions, ignore=shutil.ignore_patterns("*.jsonl"))
    program = [sys.executable, str(ROOT / "tests" / "support" / "keys_in_window.py")]
    child = subprocess.Popen(
        [*program, str(bundle / "bundle"), str(predictions), "100000"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEDOTTER_VIEWER_READER": "anna"},
    )
    assert child.stdout is not None
    chance = random.Random(7)  # noqa: S311 - points in time
    returned = 0
    left: list[int] = []
    try:
        for point in range(N_POINTS):
            for _ in range(chance.randrange(1, 9)):
                assert child.stdout.readline(), "the window ended"
                returned += 1
            threading.Event().wait(chance.random() * 0.02)  # somewhere within a later key
            if point == N_POINTS - 1:
                child.send_signal(signal.SIGKILL)
                returned += len(child.stdout.read().splitlines())
                assert child.wait(30) == -signal.SIGKILL
            (path,) = predictions.glob("*.reviews.jsonl")
            left.append(len(read_reviews(path).records))
            assert left[-1] >= returned  # the keys whose lines were not read yet are there, too
    finally:
        child.kill()
        child.wait(30)
        child.stdout.close()
    assert left[-1] <= returned + 1  # one may have been written without having returned
    assert left == sorted(left)
    assert len(set(left)) > N_POINTS // 2  # these were different points
    assert {record.reader for record in read_reviews(path).records} == {"anna"}
