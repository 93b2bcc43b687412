"""Walking through the errors of the open case.

The list follows what is painted, once strokes settle: errors keep their order while a person walks through them and
mends them, what was mended is left out, what is new comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from psygnal import Signal, SignalGroup

from medotter_viewer.core.case import Case
from medotter_viewer.core.labels import same_ids
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.metrics.pieces import KINDS, ErrorKind
from medotter_viewer.scoring.error_items import (
    ErrorItem,
    ErrorItems,
    find_errors,
    measured,
    same_pieces,
    why_no_errors,
)
from medotter_viewer.session.error_what_if import ErrorWhatIf, Without
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.session.live_scores import LiveScores

if TYPE_CHECKING:
    from medotter_viewer.session.review import ReviewSession

_FINDING = "finding errors…"
_Report = Callable[[Callable[[], None]], None]


class ErrorEvents(SignalGroup):
    """What happens to the list of errors; every signal is emitted on the main thread."""

    changed = Signal()  # which errors, their order, what is known of them, or whether they are being found
    current_changed = Signal()  # which one is looked at
    gone_to = Signal(object)  # ErrorItem that a person wants to see
    without_changed = Signal()  # the what-if: on or off, or its scores
    said = Signal(str)  # for the status line


class ErrorWalk:
    """The errors of the open case, for the selected region or for all.

    Parameters
    ----------
    session : ReviewSession
        Whose case.
    jobs : Jobs
        Works in the background: ``errors`` and ``errors_without``.
    live : LiveScores
        Counts what follows from tables.

    Attributes
    ----------
    events : ErrorEvents
        What happened.
    items : ErrorItems or None
        The errors; None while they are not known.
    current : ErrorItem or None
        The one that is looked at.
    kinds : frozenset of ErrorKind
        Those that are walked through.
    is_computing : bool
        Whether errors are being found, or distances measured.
    why_none : str
        Why there is no list, where there can be none.
    """

    def __init__(self, session: ReviewSession, jobs: Jobs, live: LiveScores) -> None:
        self.events = ErrorEvents()
        self.items: ErrorItems | None = None
        self.current: ErrorItem | None = None
        self.kinds: frozenset[ErrorKind] = frozenset(KINDS)
        self.is_computing = False
        self.why_none = ""
        self._what_if = ErrorWhatIf(session, jobs, live, self.events.without_changed.emit, self.events.said.emit)
        self._session, self._jobs = session, jobs
        self._is_wanted, self._is_stale = False, True
        self._at = 0  # where in the list the next one stands while none is looked at
        self._then: Callable[[], None] | None = None  # what to do once the errors are known
        events = session.events
        events.case_changed.connect(self._on_other)
        events.region_changed.connect(self._on_other)
        events.what_if_changed.connect(self._on_other)
        events.scoring_changed.connect(self._on_scoring_changed)

    # ---------------------------------------------------------------- the list

    @property
    def shown(self) -> list[ErrorItem]:
        """The errors of the kinds that are walked through, in order."""
        return [] if self.items is None else [item for item in self.items.items if item.kind in self.kinds]

    def keep_up(self, wanted: bool) -> None:
        """Note whether somebody looks at the list: only then is it found before it is asked for."""
        self._is_wanted = wanted
        if wanted and self._is_stale:
            self._find(keep=False)

    def set_kinds(self, kinds: Iterable[ErrorKind]) -> None:
        """Walk through some kinds only."""
        self.kinds = frozenset(kinds)
        if self.current is not None and self.current.kind not in self.kinds:
            self._look_at(None)
        self._at = self._index() or 0
        self.events.changed.emit()

    def rank(self) -> None:
        """Put the list in the order of volumes again."""
        if self.items is not None:
            self.items = self.items.ranked()
            self._at = self._index() or 0
            self.events.changed.emit()

    # ---------------------------------------------------------------- walking

    def step(self, by: int) -> None:
        """Go `by` errors further; without a current one the next that was not looked at."""
        if not self._is_there(lambda: self.step(by)):
            return
        shown, index = self.shown, self._index()
        next_one = self._at if by > 0 else self._at - 1
        place = next_one if index is None else index + by
        if 0 <= place < len(shown):
            self.go_to(shown[place])
        else:
            self.events.said.emit("first error of the list" if place < 0 else "last error of the list")

    def go_to_largest(self) -> None:
        """Go to the error of the largest volume."""
        if self._is_there(self.go_to_largest):
            self.go_to(min(self.shown, key=lambda item: item.place))

    def go_to(self, item: ErrorItem) -> None:
        """Look at an error of the list."""
        self._look_at(item)
        self._at = self._index() or 0
        self.events.gone_to.emit(item)

    @property
    def without(self) -> Without | None:
        """The what-if: the scores if the error that is looked at were gone; None while it is off."""
        return self._what_if.now

    def toggle_without(self) -> None:
        """Begin or end the what-if: the scores if the error that is looked at were gone. Nothing is changed by it."""
        if self.without is not None:
            self._what_if.end()
            self.events.said.emit("what-if ended: the scores are those of the prediction as it is")
        elif self.current is None:
            self.events.said.emit(_nothing_to_leave_out(self._session))
        else:
            self._begin_without()

    # ---------------------------------------------------------------- what happened to the case

    def _on_other(self, _: object = None) -> None:
        """Another case, region or remap: another list."""
        self._jobs.cancel("errors")
        self._what_if.end()
        self._is_stale, self.items, self.why_none, self._at = True, None, "", 0
        self.is_computing, self._then = False, None
        self._look_at(None)
        self.events.changed.emit()
        if self._is_wanted:
            self._find(keep=False)

    def _on_scoring_changed(self, scoring: bool) -> None:
        """Follow edits once they settle."""
        was_edited = self.items is not None and self.items.case.pred is not self._session_pred()
        if scoring or not (self._session.edited or was_edited):
            return
        self._is_stale = True
        if self._is_wanted or self.items is not None:
            self._find(keep=True)

    def _session_pred(self) -> object:
        case = self._session.case
        return None if case is None else case.pred

    # ---------------------------------------------------------------- finding

    def _is_there(self, then: Callable[[], None]) -> bool:
        """Tell whether there is an error to go to; where they are not known yet, do something once they are."""
        if self.items is None and not self.why_none:
            self._then = then
            if not self.is_computing:
                self._find(keep=False)
            if self._then is not None and self.is_computing:
                self.events.said.emit(_FINDING)
            return False
        if not self.shown:
            some = self.items is not None and bool(self.items.items)
            self.events.said.emit(self.why_none or ("none of the kinds that are shown" if some else "no errors"))
            return False
        return True

    def _find(self, *, keep: bool) -> None:
        session = self._session
        case, region, spec = session.frozen_case, session.region, session.spec
        if case is None:
            return
        self._is_stale = False
        self.why_none = why_no_errors(case, spec, region)
        if self.why_none:
            self._jobs.cancel("errors")
            self.items, self.is_computing = None, False
            self._finish()
            return
        before = self.items if keep else None

        def work(report: _Report, is_stale: Callable[[], bool]) -> None:
            if before is not None and before.is_measured and _same_pred(before.case, case):
                report(self._finish)
                return
            found = find_errors(case, spec, region)
            kept = {} if before is None else same_pieces(before, found)
            if before is not None:
                found = found.in_order([kept[item.place] for item in before.items if item.place in kept])
            report(lambda: self._on_found(found, kept))
            if not is_stale():
                with_distances = measured(found, spec)
                report(lambda: self._on_measured(with_distances))

        self.is_computing = True
        self.events.changed.emit()
        self._jobs.start("errors", work, lambda arrive: arrive(), self._on_error)

    def _on_found(self, found: ErrorItems, kept: dict[int, int]) -> None:
        place = None if self.current is None else kept.get(self.current.place)
        self.items = found
        item = next((item for item in found.items if item.place == place), None)
        self._look_at(item, again=True)
        self._at = min(self._at, len(self.shown)) if item is None else self._index() or 0
        self.events.changed.emit()
        self._go_on()

    def _on_measured(self, found: ErrorItems) -> None:
        if self.items is None:
            return
        self.items = found.in_order([item.place for item in self.items.items])
        if self.current is not None:
            place = self.current.place
            self.current = next((item for item in self.items.items if item.place == place), None)
        self._finish()

    def _finish(self) -> None:
        self.is_computing = False
        self.events.changed.emit()
        self._go_on()

    def _go_on(self) -> None:
        """Do what waited for the errors."""
        then, self._then = self._then, None
        if then is not None:
            then()

    def _on_error(self, error: BaseException) -> None:
        self.is_computing, self.items, self._then = False, None, None
        if not isinstance(error, MedotterViewerError):
            raise error
        self.why_none = f"not compared: {error}"
        self.events.changed.emit()

    def _index(self) -> int | None:
        """Where the current error stands among those that are shown."""
        places = [item.place for item in self.shown]
        return places.index(self.current.place) if self.current and self.current.place in places else None

    def _look_at(self, item: ErrorItem | None, *, again: bool = False) -> None:
        """Make an error the current one; `again` says that it is the same after a change of the prediction."""
        if item is None and self.current is None:
            return
        is_other = again or item is None or self.current is None or item.place != self.current.place
        self.current = item
        self.events.current_changed.emit()
        if self.without is not None and is_other:
            if item is None:
                self._what_if.end()
            else:
                self._begin_without()

    def _begin_without(self) -> None:
        if self.items is not None and self.current is not None:
            self._what_if.begin(self.items, self.current)


def _same_pred(one: Case, other: Case) -> bool:
    """Whether two states of a case have the same labels on both sides."""
    if one.gt is not other.gt or one.pred is None or other.pred is None:
        return False
    return one.pred is other.pred or same_ids(one.pred.data, other.pred.data)


def _nothing_to_leave_out(session: ReviewSession) -> str:
    """What to do first, or where the task, which has no list of errors, says what costs how much."""
    spec = session.spec
    if not session.can_score:
        return "no what-if without an error: this task is not scored"
    if spec.is_instances:
        return "no what-if without an object: the Instances panel lists what each object costs of AJI"
    if spec.contours:
        return "no what-if without an error: the Polygons panel lists what is wrong on each slice"
    return "no error is looked at: J, K, 9 or a row of the Errors panel takes one"
