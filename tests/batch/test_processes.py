"""Worker processes: any of them may die at any time, and nothing is lost, left behind, or another number."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.batch import processes as module
from medotter_viewer.batch import score_entries
from medotter_viewer.batch.processes import ProcessWorkers
from medotter_viewer.cli import main
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import LabelError, WorkersError
from medotter_viewer.scoring.options import ScoreOptions

N = 10


def test_a_killed_worker_loses_nothing_and_none_is_left_behind(
    new_bundle: Any, open_bundle: Any, children: Any
) -> None:
    source = open_bundle(new_bundle(N, 24))
    entries = list(source.entries("test"))
    plain = score_entries(entries, source.spec, ScoreOptions())
    killed: list[int] = []

    def kill_one(done: int, total: int, score: CaseScore) -> None:
        if done in (2, 5):
            victim = children()[0].pid
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    with ProcessWorkers(2) as workers:
        scores = score_entries(entries, source.spec, ScoreOptions(), executor=workers, progress=kill_one)
        assert children()
    assert scores == plain
    assert len(killed) == len(set(killed)) == 2
    assert children() == []


def test_a_case_that_ends_its_worker_twice_is_an_error_and_the_others_are_scored(
    new_bundle: Any, open_bundle: Any, breaking_library: Path, children: Any
) -> None:
    source = open_bundle(new_bundle(5, killers=(1,)))
    entries = list(source.entries("test"))
    with ProcessWorkers(2) as workers:
        scores = score_entries(entries, source.spec, ScoreOptions(), executor=workers)
    assert [s.case_id for s in scores] == [e.case_id for e in entries]
    assert [s.status for s in scores] == ["scored", "error", "scored", "scored", "scored"]
    assert scores[1].message.startswith(f"case {scores[1].case_id}: the process that scores it ends without an answer")
    assert "score it alone with --case" in scores[1].message
    assert scores[1].dataset == "S"


def test_json_is_the_same_whatever_the_workers(new_bundle: Any, command: Any, tmp_path: Path) -> None:
    tiny = new_bundle(4)
    written = []
    for number, more in enumerate(((), ("--workers", 1), ("--workers", 2))):
        out = tmp_path / f"{number}.json"
        assert main(command(tiny, "--no-cache", "--json", out, *more)) == 0
        written.append(out.read_bytes())
    assert written[0] == written[1] == written[2]
    assert b"seconds" not in written[0]


def test_workers_are_started_for_nothing_that_is_remembered(
    new_bundle: Any, command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDOTTER_VIEWER_CACHE", str(tmp_path / "scores.sqlite"))
    tiny = new_bundle(3)
    assert main(command(tiny, "--json", tmp_path / "1.json")) == 0
    monkeypatch.setattr(module, "_new_process", lambda: pytest.fail("a process was started"))
    assert main(command(tiny, "--json", tmp_path / "2.json", "--workers", 2)) == 0
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def test_an_error_of_a_worker_is_raised_here_with_its_class(capfd: pytest.CaptureFixture[str]) -> None:
    with ProcessWorkers(1) as workers:
        with pytest.raises(LabelError, match="expected ids of 0 or more"):
            workers.submit(Remap, {-1: 1}, "user").result()
        with pytest.raises(ZeroDivisionError) as caught:
            workers.submit(divmod, 1, 0).result()
        assert "in a worker process" in caught.value.__notes__[0]
        with pytest.raises((AttributeError, TypeError)):
            workers.submit(lambda: None).result()
        with pytest.raises(ModuleNotFoundError):
            workers.submit(_only_here).result()
        assert workers.submit(print, "not an answer").result() is None
        assert workers.submit(os.getenv, "MEDOTTER_VIEWER_THREADS").result() == "1"
    assert "not an answer" in capfd.readouterr().err


def _only_here() -> None:
    """A function of a module that no other process can import."""


def test_workers_that_cannot_start_end_the_run_with_a_reason(
    new_bundle: Any, open_bundle: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_START", "raise SystemExit('this interpreter is broken')")
    source = open_bundle(new_bundle(2))
    with (
        ProcessWorkers(2) as workers,
        pytest.raises(WorkersError, match="could not be started: it ended with status 1"),
    ):
        score_entries(list(source.entries("test")), source.spec, ScoreOptions(), executor=workers)
    assert "this interpreter is broken" in capfd.readouterr().err


def test_cancelling_ends_the_processes_in_the_midst_of_their_cases(
    new_bundle: Any, open_bundle: Any, children: Callable[..., list[Any]]
) -> None:
    source = open_bundle(new_bundle(6, 24))
    done: list[str] = []
    with ProcessWorkers(2) as workers:
        scores = score_entries(
            list(source.entries("test")),
            source.spec,
            ScoreOptions(),
            executor=workers,
            progress=lambda n, total, score: done.append(score.case_id),
            cancelled=lambda: bool(done),
        )
    assert [s.case_id for s in scores] == done
    assert len(done) == 1
    assert children() == []
