"""A dask scheduler and its workers: the same JSON, whoever dies; clear words where nobody is there."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from medotter_viewer.batch import cluster as module
from medotter_viewer.batch import score_entries
from medotter_viewer.batch.cluster import cluster_workers
from medotter_viewer.cli import main
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import WorkersError
from medotter_viewer.scoring.options import ScoreOptions

pytestmark = pytest.mark.filterwarnings("ignore")  # dask's own


class Cluster:
    """A scheduler and workers as processes of their own, on this machine alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        line = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.address = self._start(r"tcp://127\.0\.0\.1:\d+", *line)[1]

    def _start(self, said: str, *more: str) -> tuple[subprocess.Popen[bytes], str]:
        """A process that has said something, and what."""
        log = self.folder / f"{len(self.processes)} {more[0]} {threading.get_ident()}.log"
        environment = {**os.environ, "MEDOTTER_VIEWER_ENGINE": "plain"}
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *more],
                stdout=file,
                stderr=file,
                env=environment,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(process)
        until = time.monotonic() + 60
        while not (found := re.search(said, log.read_text(errors="replace"))):
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < until, log.read_text(errors="replace")
            time.sleep(0.05)
        return process, found[0]

    def add_worker(self) -> None:
        here = ("--host", "127.0.0.1", "--no-dashboard", "--local-directory", str(self.folder))
        worker, _ = self._start("Registered to", "worker", self.address, "--nthreads", "1", *here)
        self.workers.append(worker)

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    one = Cluster(tmp_path_factory.mktemp("dask"))
    yield one
    one.stop()


@pytest.fixture(scope="module")
def two_workers(cluster: Cluster) -> Cluster:
    starting = [threading.Thread(target=cluster.add_worker) for _ in range(2)]
    for one in starting:
        one.start()
    for one in starting:
        one.join()
    return cluster


def test_a_scheduler_without_workers_is_not_waited_for_all_night(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WORKERS_S", 0.2)
    message = rf"scheduler at {cluster.address} has no workers; start some: dask worker {cluster.address}"
    with pytest.raises(WorkersError, match=message), cluster_workers(cluster.address):
        pass


@pytest.mark.parametrize("address", ["foo", "tcp://", "", "tcp://host", "host:port"])
def test_what_is_no_address_is_said_at_once(
    new_bundle: Any, command: Any, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    assert main(command(new_bundle(1), "--scheduler", address)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"medotter-viewer score: {address!r} is no address of a scheduler; expected HOST:PORT, such as "
        "tcp://localhost:8786"
    )


def test_nobody_at_the_address(
    new_bundle: Any, command: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_CONNECT_S", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        assert main(command(new_bundle(1), "--scheduler", address)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"medotter-viewer score: no dask scheduler answers at {address} (")
    assert line.endswith("; start one ('dask scheduler' prints its address), or give the address of one that runs")


def test_json_is_that_of_one_process_and_of_two(
    two_workers: Cluster, new_bundle: Any, command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = new_bundle(6)
    (tiny.predictions / "S" / "1.nii.gz").write_bytes(b"damaged")
    monkeypatch.chdir(tmp_path)  # the workers stand elsewhere
    line = ["score", "b/bundle", "--predictions", "b/model", "--data-root", "b/data", "--no-cache"]
    written = []
    for number, more in enumerate(([], ["--workers", "2"], ["--scheduler", two_workers.address])):
        assert main([*line, *more, "--json", f"{number}.json"]) == 1  # for the damaged file
        written.append(Path(f"{number}.json").read_bytes())
    assert written[0] == written[1] == written[2]
    assert b"b/model/S/1.nii.gz" in written[0]


def test_a_killed_worker_loses_nothing(two_workers: Cluster, new_bundle: Any, open_bundle: Any, children: Any) -> None:
    source = open_bundle(new_bundle(12, 24))
    entries = list(source.entries("test"))
    plain = score_entries(entries, source.spec, ScoreOptions())

    def kill_one(done: int, total: int, score: CaseScore) -> None:
        if done == 3:
            victim = children(two_workers.workers[0].pid, "spawn_main")[0]
            victim.kill()

    with cluster_workers(two_workers.address) as workers:
        scores = score_entries(entries, source.spec, ScoreOptions(), executor=workers, progress=kill_one)
    assert scores == plain


def test_files_that_a_worker_does_not_see_are_named_before_the_first_case(
    two_workers: Cluster, new_bundle: Any, open_bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_bundle(new_bundle(1))
    entries = list(source.entries("test"))
    monkeypatch.setattr(module, "_unseen", _elsewhere())
    unseen = rf"does not see {re.escape(str(entries[0].gt_path))}: files must lie at the same path on every machine"
    with cluster_workers(two_workers.address) as workers, pytest.raises(WorkersError, match=unseen):
        score_entries(entries, source.spec, ScoreOptions(), executor=workers)


def test_another_version_on_a_worker_is_refused(two_workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "version", lambda name: "9.9.9")
    other = r"has medotter-viewer \d\S*, here is 9.9.9: numbers could differ; install"
    with pytest.raises(WorkersError, match=other), cluster_workers(two_workers.address):
        pass
    monkeypatch.undo()
    monkeypatch.setattr(module, "ENGINE_VERSION", "0")
    other = r"by version \d+ of the engine, here is 0; install the same code"
    with pytest.raises(WorkersError, match=other), cluster_workers(two_workers.address):
        pass


def _elsewhere() -> Any:
    """A function that dask sends as it is: a file system on which nothing is."""

    def unseen(paths: Any) -> list[str]:
        return list(paths)

    return unseen
