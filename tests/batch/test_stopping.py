"""A run that is stopped goes on where it was: by Ctrl+C, or by the end of its process."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.cli import main

N = 14


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "scores.sqlite"
    monkeypatch.setenv("MEDOTTER_VIEWER_CACHE", str(path))
    monkeypatch.setenv("MEDOTTER_VIEWER_ENGINE", "plain")
    return path


def n_kept(cache: Path) -> int:
    """How many records are there."""
    if not cache.is_file():
        return 0
    connection = sqlite3.connect(f"file:{cache}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM facts").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def started(python: str, line: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-m", "medotter_viewer", *line],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Ctrl+C is ignored in what a script starts in the background, and children take that over.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_a_killed_run_leaves_no_process_and_goes_on_where_it_was(
    new_bundle: Any, command: Any, cache: Path, tmp_path: Path, wait_until: Any, children: Any, python: str
) -> None:
    tiny = new_bundle(N, 40)
    whole, resumed = tmp_path / "whole.json", tmp_path / "resumed.json"
    run = started(python, command(tiny, "--workers", 2, "--json", resumed))
    wait_until(lambda: n_kept(cache) >= 4 or run.poll() is not None)
    workers = children(run.pid)
    run.kill()
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    assert len(workers) == 2
    wait_until(lambda: not any(worker.is_running() for worker in workers), 5)
    before = n_kept(cache)
    assert 4 <= before < 2 * N
    assert main(command(tiny, "--workers", 2, "--json", resumed)) == 0
    assert n_kept(cache) == 2 * N  # of each case its facts and its score
    assert main(command(tiny, "--no-cache", "--json", whole)) == 0
    assert resumed.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_ctrl_c_says_how_far_it_came_and_that_it_goes_on(
    new_bundle: Any, command: Any, cache: Path, wait_until: Any, children: Any, python: str, workers: tuple[str, ...]
) -> None:
    run = started(python, command(new_bundle(N, 40), *workers))
    wait_until(lambda: n_kept(cache) >= 2 or run.poll() is not None)
    left = children(run.pid)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to all of the group
    _, said = run.communicate(timeout=20)
    assert run.returncode == 130
    (line,) = said.splitlines()
    n_done = int(line.split()[1])
    assert line == f"interrupted: {n_done} of {N} cases are done and remembered; the same command goes on from there"
    assert n_kept(cache) == 2 * n_done > 0
    assert not any(worker.is_running() for worker in left)
