"""Scoring all cases beyond the first second's worth: in processes, which end with it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from medotter_viewer.session import score_all


@pytest.fixture(autouse=True)
def at_once_in_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(score_all, "_HERE_S", -1.0)
    monkeypatch.setenv("MEDOTTER_VIEWER_ENGINE", "plain")
    monkeypatch.setenv("MEDOTTER_VIEWER_CACHE", str(tmp_path / "scores.sqlite"))


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "batch.worker" in " ".join(child.cmdline())]


def test_scores_are_those_of_this_process_though_a_worker_is_killed(
    new_session: Any, listen: Any, dice: dict[str, float]
) -> None:
    session = new_session()
    heard = listen(session)
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if done == 1:
            killed.append(workers()[0].pid)
            os.kill(killed[0], 9)

    session.events.progress_changed.connect(kill)
    session.score_all()
    assert {r.case_id: r.values["dice"] for r in session.rows} == pytest.approx(dice)
    assert heard.of("progress_changed") == [(0, 3), (1, 3), (2, 3), (3, 3), (0, 0)]
    assert len(killed) == 1
    assert workers() == []


def test_closing_ends_the_processes_at_once(new_session: Any) -> None:
    threads = ThreadPoolExecutor(1)
    session = new_session(threads)
    session.score_all()
    while not workers() and not session.is_idle:
        pass
    session.close()
    assert workers() == []
