"""Executors that tests can steer, a bundle of three cases, and a session on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source


class AtOnce(Executor):
    """Runs work when it is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        _run(future, lambda: fn(*args, **kwargs))
        return future


class Queue(Executor):
    """Keeps work until a test says go."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: fn(*args, **kwargs)))
        return future

    def run_next(self) -> None:
        """Do the oldest piece of work; cancelled ones are dropped."""
        future, call = self.waiting.popleft()
        if future.set_running_or_notify_cancel():
            _run(future, call)

    def run_all(self) -> None:
        """Do all work, also what it leads to."""
        while self.waiting:
            self.run_next()


class MainThread:
    """Keeps answers until the main thread takes them."""

    def __init__(self) -> None:
        self.waiting: deque[Callable[[], None]] = deque()

    def __call__(self, call: Callable[[], None]) -> None:
        self.waiting.append(call)

    def take_all(self) -> None:
        """Run what has arrived."""
        while self.waiting:
            self.waiting.popleft()()


def _run(future: Future[Any], call: Callable[[], Any]) -> None:
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - as an executor does
        future.set_exception(error)


class Heard:
    """Writes down what a session says."""

    def __init__(self, session: ReviewSession) -> None:
        self.said: list[tuple[str, Any]] = []
        for name, signal in session.events.signals.items():
            signal.connect(lambda *args, name=name: self.said.append((name, args[0] if len(args) == 1 else args)))

    def of(self, name: str) -> list[Any]:
        """Return what one signal said, in order."""
        return [value for said, value in self.said if said == name]

    def names(self) -> list[str]:
        return [name for name, _ in self.said]


GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1  # 64 voxels
GOOD, BAD = GT.copy(), GT.copy()
BAD[:, :, 3:] = 0  # 32 of them
OK = GT.copy()
OK[1, :, :] = 0  # 48 of them
DICE = {"A/good": 1.0, "A/bad": 64 / 96, "B/ok": 96 / 112}


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Three cases with predictions of dice 1, 2/3 and 6/7, in this order, and a train case without prediction."""
    cases = {
        "A/good": {"dataset": "A", "gt": GT, "tier": "easy", "image": GT.astype(np.float32)},
        "A/bad": {"dataset": "A", "gt": GT, "tier": "hard"},
        "B/ok": {"dataset": "B", "gt": GT, "tier": "hard"},
        "B/none": {"dataset": "B", "gt": GT, "tier": "easy", "split": "train"},
    }
    spec = {"eval_regions": {"one": [1]}, "metrics": ["dice", "hd95"], "main_region": "one"}
    return write_bundle(tmp_path, cases, eval_spec=spec, predictions={"A/good": GOOD, "A/bad": BAD, "B/ok": OK})


@pytest.fixture
def new_session(tiny: Any) -> Iterator[Callable[..., ReviewSession]]:
    """Function that makes a session whose work runs at once, or on the given executor and main thread."""
    made = []

    def make(executor: Executor | None = None, deliver: Any = None, **options: Any) -> ReviewSession:
        source = open_source(
            options.pop("target", tiny.bundle), predictions=options.pop("predictions", tiny.predictions)
        )
        session = ReviewSession(
            source,
            executor=executor or AtOnce(),
            deliver=deliver or (lambda call: call()),
            **{"split": "test", **options},
        )
        made.append(session)
        return session

    yield make
    for session in made:
        session.close()


@pytest.fixture
def session(new_session: Callable[..., ReviewSession]) -> ReviewSession:
    return new_session()


@pytest.fixture
def heard(session: ReviewSession) -> Heard:
    return Heard(session)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def main_thread() -> MainThread:
    return MainThread()


@pytest.fixture
def listen() -> type[Heard]:
    """Function that writes down what a session says."""
    return Heard


@pytest.fixture
def dice() -> dict[str, float]:
    """Dice of each case with a prediction, counted by hand."""
    return dict(DICE)
