"""The errors of the open case as a table, and the scores without one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qtpy.QtGui import QColor

from medotter_viewer.scoring.error_items import ErrorItem
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.error_words import COLORS
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.error_rows import (
    error_cells,
    error_columns,
    without_columns,
    without_metrics,
    without_rows,
)


class ErrorsModel(CellModel):
    """The errors that are walked through, in order.

    Parameters
    ----------
    session : ReviewSession
        What is read.

    Attributes
    ----------
    axis : int
        Displayed axis that is looked along.
    """

    def __init__(self, session: ReviewSession, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self._items: list[ErrorItem] = []
        self.axis = 0
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns."""
        self._items = self._session.errors.shown
        return error_columns(self.axis)

    def n_rows(self) -> int:
        """Return how many errors there are."""
        return len(self._items)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the line of an error."""
        found, item = self._session.errors.items, self._items[row]
        grid = None if found is None or found.case.gt is None else found.case.gt.grid
        if found is None or grid is None:
            return [Cell()] * len(self.columns)
        coming, swatch = not found.is_measured, QColor(COLORS[item.kind])
        return error_cells(item, row + 1, grid, self.axis, coming=coming, swatch=swatch)

    def item(self, row: int) -> ErrorItem:
        """Return the error of a row."""
        return self._items[row]

    def current_row(self) -> int | None:
        """Return the row of the error that is looked at."""
        current = self._session.errors.current
        places = [item.place for item in self._items]
        return places.index(current.place) if current is not None and current.place in places else None


class WithoutModel(CellModel):
    """What the scores would be without the error that is looked at: the headline, and regions that change."""

    def __init__(self, session: ReviewSession, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rows: list[list[Cell]] = []
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns: the metrics of this case."""
        session, without = self._session, self._session.errors.without
        score = session.score
        self._rows = []
        if without is None or score is None or score.status != "scored":
            return without_columns(())
        metrics = without_metrics(score, session.spec)
        self._rows = without_rows(score, without.score, session.spec, metrics, coming=not without.is_complete)
        return without_columns(metrics)

    def n_rows(self) -> int:
        """Return how many lines there are: none while the what-if is off."""
        return len(self._rows)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return a line."""
        return self._rows[row]
