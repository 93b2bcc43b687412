"""The score table with a second model's numbers beside the first's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.scores_rows import KNOWN, ScoreTable

_BESIDE = ("dice", "hd95")  # of those that every segmentation has


@dataclass(frozen=True)
class ComparedTable(ScoreTable):
    """The score table of two models.

    Parameters
    ----------
    second : CaseScore or None
        The second model's numbers of the same case; None while they are not known.
    second_name : str
        What that model is called.
    why_none : str
        Why it has no numbers; empty while they are on their way.
    """

    second: CaseScore | None = None
    second_name: str = ""
    why_none: str = ""

    @property
    def beside(self) -> tuple[str, ...]:
        """Metrics of the second model's columns."""
        return _BESIDE if set(self.shown) <= set(KNOWN) else self.shown

    @property
    def is_alone(self) -> bool:
        """Whether no second model's numbers stand beside these."""
        return False

    @property
    def other(self) -> ScoreTable | None:
        """The table of the second model alone; None where it has no numbers."""
        if self.second is None or self.second.status != "scored":
            return None
        return ScoreTable(self.second, self.spec, self.hd95)

    def columns(self) -> list[Column]:
        """Return the columns: those of the second model after the metrics of the first."""
        own = super().columns()
        place = 1 + len(self.shown)
        by_metric = dict(zip(self.shown, own[1:place], strict=True))
        more = [
            replace(by_metric[m], header=f"B {by_metric[m].header}", why=f"B: {self.second_name}. {by_metric[m].why}")
            for m in self.beside
        ]
        return [*own[:place], *more, *own[place:]]

    def mean_cells(self) -> list[Cell]:
        """Return the first line."""
        other = self.other
        return self._with(super().mean_cells(), None if other is None else other.mean_cells())

    def region_cells(self, name: str, swatch: Any = None) -> list[Cell]:
        """Return the line of a region."""
        own, other = super().region_cells(name, swatch), self.other
        if own[1].span > len(self.shown):  # not labelled, for both alike
            covered = replace(own[1], span=0)
            return [
                own[0],
                replace(own[1], span=own[1].span + len(self.beside)),
                *[covered] * (len(own) - 2),
                *[covered] * len(self.beside),
            ]
        there = other is not None and name in other.regions
        return self._with(own, other.region_cells(name) if other is not None and there else None)

    def _with(self, own: list[Cell], other: list[Cell] | None) -> list[Cell]:
        place = 1 + len(self.shown)
        return [*own[:place], *(self._beside(metric, other) for metric in self.beside), *own[place:]]

    def _beside(self, metric: str, other: list[Cell] | None) -> Cell:
        """A number of the second model, short: its column is narrow."""
        shown = self.other.shown if self.other is not None else ()
        if other is None or metric not in shown:
            waits = self.second is None and not self.why_none
            return Cell("…" if waits else NOTHING, "being computed" if waits else self.why_none, "quiet")
        cell = other[1 + shown.index(metric)]
        text = cell.text.split(" (")[0].split(" in both")[0]
        return replace(cell, text=text, why=f"B: {cell.why}" if cell.why else "", span=1)


def compared(table: ScoreTable, session: ReviewSession) -> ScoreTable:
    """Return the table with a second model's numbers, where there is one; a what-if is tried on the first alone."""
    second = session.second
    if not second.is_on or session.what_if.is_on_for(session.case):
        return table
    score = second.score
    failed = score.message or score.status if score is not None and score.status != "scored" else ""
    why = failed or ("" if second.is_scoring else second.message)
    return ComparedTable(
        table.score, table.spec, table.hd95, table.coming, second=score, second_name=second.name, why_none=why
    )
