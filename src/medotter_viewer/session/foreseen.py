"""The numbers of a case that was read ahead, found before anybody asks for them."""

from __future__ import annotations

from concurrent.futures import Future

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MetricInputError
from medotter_viewer.live.table import LiveTable, count_slices, measure
from medotter_viewer.metrics.slice_tables import SliceTables
from medotter_viewer.scoring.options import ScoreOptions

Distances = dict[tuple[str, tuple[int, ...]], float]


class Foreseen:
    """Counts and distances of one case, as its files say. To be taken by one review, once: its table follows strokes.

    Parameters
    ----------
    case : Case
        One whose scores follow from a table, see `can_be_live`.
    spec, options
        How it is scored.
    axis : int
        Displayed axis whose slices are counted.

    Attributes
    ----------
    table : Future of LiveTable or None
        Its table; None where it has too many ids for one.
    distances : Future of dict
        What `measure` finds of the distances that the table lacks.
    slices : Future of SliceTables or None
        The counts of its slices, which come last; None where they are too many for tables.
    """

    def __init__(self, case: Case, spec: EvalSpec, options: ScoreOptions, axis: int) -> None:
        self._case, self._spec, self._options, self._axis = case, spec, options, axis
        self.table: Future[LiveTable | None] = Future()
        self.distances: Future[Distances] = Future()
        self.slices: Future[SliceTables | None] = Future()

    def run(self) -> None:
        """Find all of it, in the background."""
        try:
            self._find()
        except Exception as error:  # noqa: BLE001 - told to whoever waits for the numbers
            for part in (self.table, self.distances, self.slices):
                if not part.done():
                    part.set_exception(error)

    def complete(self) -> LiveTable | None:
        """Return the table with all there is to know; None while something is missing, and where there is none."""
        if not self.slices.done() or self.slices.exception() is not None:
            return None
        table, slices = self.table.result(), self.slices.result()
        if table is not None:
            table.learn(self.distances.result(), self._case.entry, 0)
            if slices is not None:
                table.take_slices(self._axis, slices, 0)
        return table

    def _find(self) -> None:
        try:
            table = LiveTable(self._case, self._spec, self._options)
        except MetricInputError:  # too many ids: the scores say so
            self.table.set_result(None)
            self.distances.set_result({})
            self.slices.set_result(None)
            return
        self.table.set_result(table)
        self.distances.set_result(measure(self._case, self._spec, self._options, table.score()[1]))
        try:
            self.slices.set_result(count_slices(self._case, self._axis))
        except MetricInputError:
            self.slices.set_result(None)
