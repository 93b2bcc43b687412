"""How many cases are handed over at a time: few, and no more than the memory can take."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.batch import memory, score_entries
from medotter_viewer.batch.memory import BYTES_PER_VOXEL, PROCESS_BYTES, estimated_bytes, memory_for_cases
from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import UsageError, WorkersError
from medotter_viewer.scoring.options import ScoreOptions

SPEC = EvalSpec.from_mapping({"eval_regions": {"one": [1]}, "metrics": ["dice"]})


class Crew:
    """Workers that score nothing, and know how many cases they ever had at a time."""

    def __init__(self, count: int, memory_bytes: int | None = None, pause_s: float = 0) -> None:
        self.pause_s = pause_s
        self.memory_bytes = memory_bytes
        self.most = self.asked = 0
        self.failing: dict[str, list[BaseException]] = {}
        self._n = count
        self._pool = ThreadPoolExecutor(count)
        self._here = 0
        self._lock = threading.Lock()

    def count(self) -> int:
        return self._n

    def check(self, entries: Sequence[CaseEntry]) -> None:
        pass

    def check_alive(self) -> None:
        pass

    def has_died(self, error: BaseException) -> bool:
        return isinstance(error, EOFError)

    def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
        with self._lock:
            self._here += 1
            self.asked += 1
            self.most = max(self.most, self._here)
        return self._pool.submit(self._score, entry)

    def _score(self, entry: CaseEntry) -> Computed:
        alone = self._here == 1
        time.sleep(self.pause_s)
        try:
            if left := self.failing.get(entry.case_id):
                raise left.pop(0)
            return Computed(CaseScore(entry.case_id, "scored", tier=str(alone)))
        finally:
            with self._lock:
                self._here -= 1


def run(crew: Crew, entries: Sequence[CaseEntry], **more: Any) -> list[CaseScore]:
    return score_entries(entries, SPEC, ScoreOptions(), executor=crew, **more)


def cases(count: int) -> list[CaseEntry]:
    return [CaseEntry(f"{number}") for number in range(count)]


def test_twenty_thousand_cases_are_not_twenty_thousand_futures() -> None:
    crew = Crew(3)
    scores = run(crew, cases(20_000))
    assert [s.case_id for s in scores] == [f"{number}" for number in range(20_000)]
    assert crew.most <= 6


def test_cancelling_hands_nothing_more_over() -> None:
    crew, done = Crew(2), []
    scores = run(
        crew,
        cases(20_000),
        progress=lambda n, total, score: done.append(n),
        cancelled=lambda: len(done) == 100,
    )
    assert len(scores) == 100
    assert crew.asked <= 104


def test_a_case_whose_worker_died_is_tried_again_when_nothing_else_runs() -> None:
    crew = Crew(4)
    crew.failing = {"3": [EOFError()], "5": [EOFError(), EOFError()], "6": [MemoryError(), MemoryError()]}
    scores = run(crew, cases(40))
    assert [s.case_id for s in scores if s.status == "error"] == ["5", "6"]
    assert scores[3].tier == "True"
    assert crew.asked == 43


def test_a_defect_is_raised_when_all_others_are_done() -> None:
    crew, done = Crew(2), []
    crew.failing = {"1": [ZeroDivisionError("of ours")]}
    with pytest.raises(ZeroDivisionError, match="of ours") as caught:
        run(crew, cases(9), progress=lambda n, total, score: done.append(score.case_id))
    assert sorted(done) == [f"{number}" for number in range(9)]
    assert caught.value.__notes__ == ["while case 1 was scored"]


def test_what_cannot_be_used_for_any_case_stops_the_run_at_once() -> None:
    crew = Crew(1)
    crew.failing = {"0": [UsageError("no such metric")]}
    with pytest.raises(UsageError, match="no such metric"):
        run(crew, cases(500))
    assert crew.asked <= 4


def test_cases_that_workers_drop_are_no_scores() -> None:
    class Dropping(Crew):
        def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
            future: Future[Computed] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(WorkersError, match="same command goes on"):
        run(Dropping(1), cases(3))


def grid_of(tmp_path: Path, count: int) -> list[CaseEntry]:
    """Cases of 1,000 voxels."""
    import nibabel
    import numpy as np

    path = tmp_path / "gt.nii.gz"
    nibabel.save(nibabel.Nifti1Image(np.zeros((10, 10, 10), np.uint8), np.eye(4)), path)
    return [CaseEntry(f"{number}", gt_path=path, pred_path=path) for number in range(count)]


def test_memory_is_estimated_from_headers(tmp_path: Path) -> None:
    (entry,) = grid_of(tmp_path, 1)
    assert estimated_bytes(entry) == PROCESS_BYTES + 1000 * BYTES_PER_VOXEL
    (tmp_path / "x").write_bytes(b"12345")
    assert estimated_bytes(CaseEntry("x", gt_path=tmp_path / "x")) == PROCESS_BYTES + 50
    assert estimated_bytes(CaseEntry("none", gt_path=tmp_path / "none")) == PROCESS_BYTES


def test_cases_in_flight_fit_the_memory_and_it_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    entries = grid_of(tmp_path, 30)
    crew = Crew(4, memory_bytes=2 * estimated_bytes(entries[0]), pause_s=0.02)
    assert len(run(crew, entries, notice=said.append)) == 30
    assert crew.most == 2
    (line,) = said
    assert line.startswith("fewer than 4 workers are used where memory would not suffice: case ")
    assert "takes about 0.3 GB, 2 others 0.5 GB, of 0.5 GB that are free" in line


def test_a_case_that_fits_nowhere_is_scored_alone(tmp_path: Path) -> None:
    crew = Crew(4, memory_bytes=1)
    assert len(run(crew, grid_of(tmp_path, 5))) == 5
    assert crew.most == 1


def test_a_container_s_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    assert memory_for_cases() == 480_000
    (tmp_path / "memory.max").write_text("max\n")
    assert (memory_for_cases() or 0) > 1_000_000
