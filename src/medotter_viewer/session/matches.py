"""The objects of the open case of an instance task: matches at a threshold, what is looked at, and in which order.

Follows the session: counted in the background when a case opens and whenever edits settle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal, SignalGroup

from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.metrics.instances.rows import MatchRows
from medotter_viewer.scoring.instance_matches import Column, InstanceMatches, MatchRow, instance_matches
from medotter_viewer.session.events import SessionEvents
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.session.working_copy import WorkingCopy

LOWEST, HIGHEST = 0.05, 0.95
"""Between what the threshold can be moved."""


class MatchEvents(SignalGroup):
    """What happened to the matches; every signal is emitted on the main thread."""

    rows_changed = Signal()  # other objects, another threshold or another order
    selected = Signal(object)  # MatchRow that is looked at, or None
    coloring_changed = Signal(bool)  # whether objects are coloured by what became of them


@dataclass(frozen=True, slots=True)
class ObjectName:
    """An object by its id: of ground truth, or of the prediction."""

    object_id: int
    is_gt: bool


class Matches:
    """The matches of the open case.

    Parameters
    ----------
    events : SessionEvents
        Of the session: says when there is something to count.
    jobs : Jobs
        Works in the background: ``matches``.
    spec : EvalSpec
        Threshold and rules; of other tasks than those of instances nothing is ever counted.
    working : callable
        Returns the open case's prediction as it is edited, or None.
    on_error : callable
        Takes an error that is not ours.

    Attributes
    ----------
    events : MatchEvents
        What happened.
    found : InstanceMatches or None
        The objects of the open case; None until they are counted, and where a side is missing.
    problem : str
        Why there are none, where they cannot be counted.
    threshold : float
        IoU that a match exceeds; stays from case to case.
    column : str or None
        What the lines are sorted by; None is what has no match first, and what costs most first.
    descending : bool
        Which way.
    colored : bool
        Whether objects are coloured by what became of them.
    """

    def __init__(
        self,
        events: SessionEvents,
        jobs: Jobs,
        spec: EvalSpec,
        working: Callable[[], WorkingCopy | None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        self.events = MatchEvents()
        self._jobs, self._spec, self._working, self._fail = jobs, spec, working, on_error
        self.found: InstanceMatches | None = None
        self.problem = ""
        self.threshold = spec.iou_threshold
        self.column: Column | None = None
        self.descending, self.colored = True, False
        self._selected: ObjectName | None = None
        self._told: MatchRow | None = None
        self._rows: MatchRows | None = None
        self._order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        if spec.is_instances:
            events.case_changed.connect(self._on_case_changed)
            events.scoring_changed.connect(self._on_scoring_changed)

    # ---------------------------------------------------------------- what there is

    @property
    def rows(self) -> MatchRows | None:
        """A line for every object or matching pair, at the threshold."""
        return self._rows

    def __len__(self) -> int:
        """How many lines there are."""
        return int(self._order.size)

    def row(self, place: int) -> MatchRow:
        """Return the line at a place of the order.

        Raises
        ------
        IndexError
            If there is none.
        """
        if self.found is None or self._rows is None:
            raise IndexError(f"line {place}: nothing is counted")
        return self.found.row(self._rows, int(self._order[place]))

    @property
    def selected(self) -> MatchRow | None:
        """The line that is looked at."""
        place = self.selected_place
        return None if place is None else self.row(place)

    @property
    def selected_place(self) -> int | None:
        """Where in the order the line is that is looked at; None where there is none."""
        if self._selected is None or self.found is None or self._rows is None:
            return None
        line = self.found.line_of(self._rows, self._selected.object_id, is_gt=self._selected.is_gt)
        return None if line is None else int(np.flatnonzero(self._order == line)[0])

    # ---------------------------------------------------------------- what a person does

    def set_threshold(self, threshold: float) -> None:
        """Match above another IoU, from `LOWEST` to `HIGHEST`, or that of the specification."""
        if threshold != self._spec.iou_threshold:
            threshold = min(max(threshold, LOWEST), HIGHEST)
        if threshold != self.threshold:
            self.threshold = threshold
            self._match()

    def reset_threshold(self) -> None:
        """Match as the scores do."""
        self.set_threshold(self._spec.iou_threshold)

    def sort_by(self, column: Column | None) -> None:
        """Sort by a column, largest first; again: smallest first; once more, or None: by what it costs."""
        if column is None or (column == self.column and not self.descending):
            self.column, self.descending = None, True
        else:
            self.column, self.descending = column, column != self.column
        self._arrange()

    def select(self, place: int | None) -> None:
        """Look at the line at a place of the order, or at none."""
        row = None if place is None else self.row(place)
        self._selected = None if row is None else _name(row)
        self._tell()

    def step(self, by: int) -> str:
        """Look at the next line without a match, or (-1) at the one before, in the order; return where that is."""
        if self._rows is None:
            return self.problem or "objects are being counted"
        unmatched = np.flatnonzero(~self._rows.is_match[self._order])
        if not unmatched.size:
            return f"every object has a match above IoU {self.threshold:g}"
        here = self.selected_place
        if here is None:
            place = 0 if by > 0 else unmatched.size - 1
        else:
            after = np.searchsorted(unmatched, here, side="right" if by > 0 else "left")
            place = int(after) + (by - 1 if by > 0 else by)
        if not 0 <= place < unmatched.size:
            return "first object without a match" if place < 0 else "last object without a match"
        self.select(int(unmatched[place]))
        return f"{place + 1} of {unmatched.size} without a match"

    def set_colored(self, colored: bool) -> None:
        """Colour objects by what became of them, or by their ids."""
        if colored != self.colored:
            self.colored = colored
            self.events.coloring_changed.emit(colored)

    # ---------------------------------------------------------------- what the session says

    def _on_case_changed(self, _: object) -> None:
        """Forget the objects of another case."""
        self._jobs.cancel("matches")
        self._selected = None
        self._take(None)

    def _on_scoring_changed(self, scoring: bool) -> None:
        """Count again whenever the case is scored again."""
        working = self._working()
        if not scoring or working is None:
            return
        case, spec = working.frozen(), self._spec

        def work(report: Callable[[InstanceMatches | None], None], is_stale: Callable[[], bool]) -> None:
            if not is_stale():
                report(instance_matches(case, spec))

        self._jobs.start("matches", work, self._take, self._on_failed)

    def _on_failed(self, error: BaseException) -> None:
        """Say why nothing could be counted; the scores say it, too."""
        self._take(None)
        if not isinstance(error, MedotterViewerError):
            self._fail(error)
            return
        self.problem = str(error)
        self.events.rows_changed.emit()

    # ---------------------------------------------------------------- inside

    def _take(self, found: InstanceMatches | None) -> None:
        self.found, self.problem = found, ""
        self._match()

    def _match(self) -> None:
        self._rows = None if self.found is None else self.found.rows(self.threshold)
        self._arrange()

    def _arrange(self) -> None:
        """Put the lines in order, and say so; what is looked at stays, if it is still there."""
        if self.found is None or self._rows is None:
            self._order = np.zeros(0, dtype=np.int64)
        else:
            self._order = self.found.order(self._rows, self.column, descending=self.descending)
        self.events.rows_changed.emit()
        if self._rows is not None and self.selected_place is None:
            self._selected = None  # it was painted away
        self._tell()

    def _tell(self) -> None:
        """Say what is looked at, where that is another line than before, or another kind of line."""
        row = self.selected
        if row != self._told:
            self._told = row
            self.events.selected.emit(row)


def _name(row: MatchRow) -> ObjectName | None:
    """The object that a line is about."""
    object_id = row.gt_id if row.is_of_gt else row.pred_id
    return None if object_id is None else ObjectName(object_id, row.is_of_gt)
