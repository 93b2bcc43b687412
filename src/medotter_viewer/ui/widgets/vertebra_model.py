"""The table of a scan's vertebrae."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.ui.widgets import vertebra_rows as rows
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.vertebra_facts import VertebraFacts


class VertebraeModel(CellModel):
    """One line for each vertebra of either side, from the head to the feet.

    Parameters
    ----------
    spec : EvalSpec
        Which region is which vertebra.
    """

    def __init__(self, spec: EvalSpec, parent: Any = None) -> None:
        super().__init__(parent)
        self._spec = spec
        self._facts: VertebraFacts | None = None
        self._score: CaseScore | None = None
        self._coming = False
        self.refresh()

    def show(self, facts: VertebraFacts | None, score: CaseScore | None, *, coming: bool) -> None:
        """Show a case; `coming` says that more of its metrics are on their way."""
        self._facts, self._score, self._coming = facts, score, coming
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns, which stay."""
        return rows.COLUMNS

    def n_rows(self) -> int:
        """Return how many vertebrae there are."""
        return 0 if self._facts is None else len(self._facts.labels)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return a vertebra's line."""
        if self._facts is None:
            return ()
        cells: Sequence[Cell] = rows.vertebra_cells(
            self.label(row), self._facts, self._score, self._spec, coming=self._coming
        )
        return cells

    def label(self, row: int) -> int:
        """Return the label of a row."""
        return 0 if self._facts is None else self._facts.labels[row]
