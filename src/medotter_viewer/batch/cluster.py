"""Workers of a dask scheduler: the same cases through `distributed`'s own concurrent.futures executor."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from medotter_viewer.batch.absolute import called_as_before, with_absolute_paths
from medotter_viewer.batch.worker import prepare_process
from medotter_viewer.cache.dependencies import named_paths
from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed, compute
from medotter_viewer.cache.store import ENGINE_VERSION
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import MissingDependencyError, WorkersError

_DISTRIBUTION = "medotter-viewer"
_ADDRESS = re.compile(r"(\w+://)?(\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+):\d+|inproc://\S+")
_CONNECT_S, _WORKERS_S, _ALONE_S = 10, 30, 60
_COUNT_EVERY_S = 5.0
_LOOKED_FOR = 50
"""Files that every worker is asked for before the first case."""


@contextmanager
def cluster_workers(address: str) -> Iterator[ClusterWorkers]:
    """Connect to a scheduler for the time of a run.

    Parameters
    ----------
    address : str
        For example ``tcp://host:8786``.

    Raises
    ------
    MissingDependencyError
        If distributed is not installed.
    WorkersError
        If there is no scheduler, no worker, or one with another version of this package or of Python.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependencyError("--scheduler needs dask: pip install 'medotter-viewer[batch]'") from error
    if not _ADDRESS.fullmatch(address):  # dask would try for a while, and complain at the end of the process
        raise WorkersError(
            f"{address!r} is no address of a scheduler; expected HOST:PORT, such as tcp://localhost:8786"
        )
    try:
        client = Client(address, timeout=f"{_CONNECT_S}s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkersError(
            f"no dask scheduler answers at {address} ({_first_line(error)}); start one ('dask scheduler' prints its "
            "address), or give the address of one that runs"
        ) from error
    try:
        workers = ClusterWorkers(client, address)
        workers.wait()
        workers.check_versions()
        yield workers
    finally:
        client.close(timeout=_CONNECT_S)


class ClusterWorkers:
    """Workers of a dask scheduler.

    Parameters
    ----------
    client : distributed.Client
        Connected.
    address : str
        As given, for messages.
    """

    def __init__(self, client: Any, address: str) -> None:
        self.memory_bytes: int | None = None  # dask's workers have limits of their own
        self._client, self._address = client, address
        self._executor = client.get_executor(pure=False)
        self._counted, self._count = float("-inf"), 0
        self._last_seen = time.monotonic()

    def wait(self) -> None:
        """Wait a while for the first worker."""
        try:
            self._client.wait_for_workers(1, timeout=_WORKERS_S)
        except TimeoutError as error:
            raise WorkersError(
                f"the dask scheduler at {self._address} has no workers; start some: dask worker {self._address}"
            ) from error

    def check_versions(self) -> None:
        """Raise WorkersError unless every worker has this package, its version, and this version of Python."""
        try:
            released = version(_DISTRIBUTION)
        except PackageNotFoundError:  # run from its source: the engine's version is compared below
            released = None
        ours = {_DISTRIBUTION: released, "python": _python(".".join(map(str, sys.version_info)))}
        for worker, told in self._client.get_versions(packages=[_DISTRIBUTION])["workers"].items():
            packages = told["packages"]
            theirs = {_DISTRIBUTION: packages.get(_DISTRIBUTION), "python": _python(packages["python"])}
            for name, ours_is in ours.items():
                if ours_is is not None and theirs[name] != ours_is:
                    there = f"{name} {theirs[name]}" if theirs[name] else f"no {name}"
                    raise WorkersError(
                        f"worker {worker} has {there}, here is {ours_is}: numbers could differ; install the same "
                        "version on all machines and start the workers again"
                    )
        for worker, engine in self._client.run(_engine).items():
            if engine != ENGINE_VERSION:
                raise WorkersError(
                    f"worker {worker} computes by version {engine} of the engine, here is {ENGINE_VERSION}; install "
                    "the same code on all machines and start the workers again"
                )

    def check(self, entries: Sequence[CaseEntry]) -> None:
        """Raise WorkersError where a worker does not see the files: a sample of them, one of every folder."""
        one_of_folder: dict[Path, Path] = {}
        for path in (path.absolute() for entry in entries for path in named_paths(entry)):
            if len(one_of_folder) < _LOOKED_FOR and path.parent not in one_of_folder and path.exists():
                one_of_folder[path.parent] = path
        wanted = [str(path) for path in one_of_folder.values()]
        for worker, unseen in self._client.run(_unseen, wanted).items():
            if unseen:
                raise WorkersError(
                    f"worker {worker} does not see {unseen[0]}: files must lie at the same path on every machine; "
                    "mount the folder there, or score here with --workers"
                )

    def count(self) -> int:
        """Return how many cases the workers can score at a time, as of a few seconds ago."""
        if time.monotonic() - self._counted > _COUNT_EVERY_S:
            self._count = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return self._count

    def check_alive(self) -> None:
        """Raise WorkersError where the scheduler is gone, or has had no workers for a minute."""
        if self._client.status != "running":
            raise WorkersError(f"the dask scheduler at {self._address} is gone; the same command goes on from here")
        if self.count():
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > _ALONE_S:
            raise WorkersError(
                f"the dask scheduler at {self._address} has had no workers for {_ALONE_S} s; start some (dask worker "
                f"{self._address}), the same command goes on from here"
            )

    def start(self, entry: CaseEntry, rules: Rules, with_facts: bool) -> Future[Computed]:
        """Hand over one case; its files are looked for at the same absolute paths."""
        there, names = with_absolute_paths(entry)
        seen = [str(path) for path in named_paths(there) if path.exists()]
        future: Future[Computed] = self._executor.submit(_compute_there, there, rules, with_facts, names, seen)
        return future

    def has_died(self, error: BaseException) -> bool:
        """Whether dask gave a case up because several workers ended while they had it."""
        from distributed.scheduler import KilledWorker

        return isinstance(error, KilledWorker)


def _compute_there(
    entry: CaseEntry, rules: Rules, with_facts: bool, names: Sequence[tuple[str, str]], seen: Sequence[str]
) -> Computed:
    """On a worker: the score of a case, with the paths as they are called where it was asked for."""
    prepare_process()
    if unseen := _unseen(seen):
        message = f"case {entry.case_id}: {unseen[0]} is not there for the worker that was to score it; run it again"
        score = CaseScore.unscored(entry.case_id, "error", message)
        computed = Computed(replace(score, dataset=entry.dataset, tier=entry.tier, patient_uid=entry.patient_uid))
    else:
        computed = compute(entry, rules, with_facts)
    return Computed(called_as_before(computed.score, names), computed.facts)  # facts name no path


def _engine() -> str:
    return ENGINE_VERSION


def _unseen(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if not os.path.exists(path)]  # noqa: PTH110


def _python(text: str) -> str:
    """Major and minor version."""
    return ".".join(text.split(".")[:2])


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
