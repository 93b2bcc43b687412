"""Hand cases to workers, a few at a time, and take their answers as they come."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from medotter_viewer.batch.keeping import Asked
from medotter_viewer.batch.memory import estimated_bytes
from medotter_viewer.batch.workers import Workers
from medotter_viewer.cache.keys import Rules
from medotter_viewer.cache.scores import Computed
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.engine import choice
from medotter_viewer.errors import MedotterViewerError, WorkersError

_LOOK_EVERY_S = 0.1  # whether somebody cancelled
_CHECK_EVERY_S = 5.0  # whether anybody is left
_AHEAD = 256  # cases that are looked up before they can be handed over
_HANDED_OVER = 2  # for each worker: one that it is at, one that waits for it

Answer = tuple[Asked, Computed]


def unscored(entry: CaseEntry, why: str) -> CaseScore:
    """Return the score of a case that could not be scored though its files may be good."""
    score = CaseScore.unscored(entry.case_id, "error", f"case {entry.case_id}: {why}")
    return replace(score, dataset=entry.dataset, tier=entry.tier, patient_uid=entry.patient_uid)


DIES = (
    "the process that scores it ends without an answer, each time it is tried and with nothing else running: too "
    "little memory, or a file that breaks a library; score it alone with --case to see more"
)


@dataclass(frozen=True, slots=True, eq=False)
class _Flight:
    asked: Asked
    n_bytes: int
    is_alone: bool


def scored_by(
    workers: Workers,
    entries: Sequence[CaseEntry],
    asked: Iterator[list[Asked]],
    rules: Rules,
    cancelled: Callable[[], bool],
    meanwhile: Callable[[], None],
    notice: Callable[[str], None],
) -> Generator[Answer, None, None]:
    """Yield the cases of a run as they are done; closing it, or an error, calls back what is still handed over.

    Parameters
    ----------
    workers : Workers
        Who scores.
    entries : sequence of CaseEntry
        All cases of the run.
    asked : iterator
        The same cases, with what is known of them; taken from in a thread of its own.
    rules : Rules
        By which cases are scored.
    cancelled, meanwhile : callable
        Asked, and called, a few times a second.
    notice : callable
        Takes what a person should know.
    """
    run = _Run(workers, rules, notice)
    looker = threading.Thread(target=run.look_up, args=(asked,), name="medotter-viewer looking up", daemon=True)
    looker.start()
    try:
        checked = time.monotonic()
        n_done = 0
        while n_done < len(entries):
            if cancelled():
                return
            run.hand_over(entries)
            try:
                event = run.events.get(timeout=_LOOK_EVERY_S)
            except Empty:
                meanwhile()
                if time.monotonic() - checked > _CHECK_EVERY_S:
                    checked = time.monotonic()
                    workers.check_alive()
                continue
            checked = time.monotonic()
            for answer in run.take(event):
                n_done += 1
                yield answer
                if cancelled():
                    return
    finally:
        run.call_back()
        looker.join()
    if run.defect is not None:
        raise run.defect


class _Run:
    """What is known, waiting, handed over and to be tried again."""

    def __init__(self, workers: Workers, rules: Rules, notice: Callable[[str], None]) -> None:
        self.events: SimpleQueue[list[Asked] | Future[Computed] | BaseException | None] = SimpleQueue()
        self.defect: BaseException | None = None
        self._workers, self._rules, self._notice = workers, rules, notice
        self._waiting: deque[Asked] = deque()
        self._again: deque[Asked] = deque()
        self._flying: dict[Future[Computed], _Flight] = {}
        self._has_all, self._is_over, self._has_begun, self._has_noticed = False, False, False, False
        self._ahead = threading.Semaphore(_AHEAD)
        self._bytes = 0
        self._estimate: int | None = None  # of the case that waits first

    def look_up(self, asked: Iterator[list[Asked]]) -> None:
        """Let what is known become events; the reading of many files must not keep workers waiting."""
        try:
            for some in asked:
                self.events.put(some)
                for _ in some:
                    self._ahead.acquire()
                if self._is_over:
                    return
            self.events.put(None)
        except BaseException as error:  # noqa: BLE001 - raised where the events are taken
            self.events.put(error)

    def call_back(self) -> None:
        """Withdraw all that is not done."""
        self._is_over = True
        self._ahead.release(_AHEAD)
        for future in list(self._flying):
            future.cancel()

    def hand_over(self, entries: Sequence[CaseEntry]) -> None:
        """Give workers as much to do as they and the memory can take."""
        while self._waiting and len(self._flying) < _HANDED_OVER * max(1, self._workers.count()):
            n_bytes = self._needed(self._waiting[0].entry)
            if n_bytes is None:
                return
            self._estimate = None
            self._start(self._waiting.popleft(), n_bytes, entries)
            self._ahead.release()
        if self._again and not self._flying and not self._waiting and self._has_all:
            self._start(self._again.popleft(), 0, entries, is_alone=True)

    def _needed(self, entry: CaseEntry) -> int | None:
        """What a case takes; None where there is no room for it beside the others."""
        limit = self._workers.memory_bytes
        if limit is None:
            return 0
        n_bytes = self._estimate = estimated_bytes(entry) if self._estimate is None else self._estimate
        if not self._flying or self._bytes + n_bytes <= limit:
            return n_bytes
        used, count = len(self._flying), self._workers.count()
        if used < count and not self._has_noticed:
            self._has_noticed = True
            sizes = [f"{n / 1e9:.1f} GB" for n in (n_bytes, self._bytes, limit)]
            self._notice(
                f"fewer than {count} workers are used where memory would not suffice: case {entry.case_id} takes about "
                f"{sizes[0]}, {used} other{'s' * (used != 1)} {sizes[1]}, of {sizes[2]} that are free"
            )
        return None

    def _start(self, asked: Asked, n_bytes: int, entries: Sequence[CaseEntry], *, is_alone: bool = False) -> None:
        if not self._has_begun:  # nothing is started or connected for what is remembered
            self._has_begun = True
            self._workers.check(entries)
            choice.start_compiling()
        future = self._workers.start(asked.entry, self._rules, asked.with_facts)
        self._flying[future] = _Flight(asked, n_bytes, is_alone)
        self._bytes += n_bytes
        future.add_done_callback(self.events.put)

    def take(self, event: list[Asked] | Future[Computed] | BaseException | None) -> Iterator[Answer]:
        """Yield the answers that an event brings."""
        match event:
            case None:
                self._has_all = True
            case list():
                for asked in event:
                    if asked.score is None:
                        self._waiting.append(asked)
                    else:
                        self._ahead.release()
                        yield asked, Computed(asked.score)
            case Future():
                flight = self._flying.pop(event)
                self._bytes -= flight.n_bytes
                answer = self._answer(flight, event)
                if answer is not None:
                    yield flight.asked, answer
            case _:
                raise event

    def _answer(self, flight: _Flight, future: Future[Computed]) -> Computed | None:
        """The score, or that there is none; None for a case that is tried again."""
        entry = flight.asked.entry
        if future.cancelled():
            raise WorkersError("the workers dropped cases that were handed to them; the same command goes on from here")
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, MemoryError) or self._workers.has_died(error):
            if flight.is_alone:
                return Computed(unscored(entry, DIES))
            self._again.append(flight.asked)
            return None
        if isinstance(error, MedotterViewerError) or not isinstance(error, Exception):
            raise error
        error.add_note(f"while case {entry.case_id} was scored")
        self.defect = self.defect or error
        return Computed(unscored(entry, f"a defect of this program: {type(error).__name__}: {error}"))
