"""The score table of the open case: its first row is the mean, the others are regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from qtpy.QtGui import QColor

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.colors import label_color
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.connections import Connections
from medotter_viewer.ui.widgets.scores_compared import compared
from medotter_viewer.ui.widgets.scores_rows import MOST_STRIPES, ScoreTable


class ScoresModel(CellModel):
    """Scores of the open case.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    color_of : callable
        Takes a region's name and returns its QColor, or None.
    """

    def __init__(self, session: ReviewSession, color_of: Callable[[str], Any], parent: Any = None) -> None:
        super().__init__(parent)
        self._session, self._color_of = session, color_of
        self._table: ScoreTable | None = None
        self.scoring = False
        self._connections = Connections()
        self._connections.add(session.events.scores_changed, self.refresh)
        self._connections.add(session.events.scoring_changed, self._on_scoring_changed)
        for signal in (session.second.events.chosen, session.second.events.score_changed):
            self._connections.add(signal, self.refresh)
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns, with the unit that fits this case."""
        score = self._session.score
        shown = score is not None and score.status == "scored"
        self._table = (
            ScoreTable(score, self._session.spec, self._session.options.hd95, self.scoring) if score and shown else None
        )
        if self._table is not None:
            self._table = compared(self._table, self._session)
        return self._table.columns() if self._table else ()

    def n_rows(self) -> int:
        """Return how many rows there are: none while there are no numbers."""
        return 1 + len(self._table.regions) if self._table else 0

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return a row."""
        if self._table is None:
            return ()
        name = self.region(row)
        return self._table.mean_cells() if name is None else self._table.region_cells(name, self._swatch(name))

    def spans(self) -> Iterable[tuple[int, int, int]]:
        """Return where a word stands for several numbers."""
        for row in range(self.n_rows()):
            for column, cell in enumerate(self.cells(row)):
                if cell.span > 1:
                    yield row, column, cell.span

    def region(self, row: int) -> str | None:
        """Return the region of a row; None for the first."""
        return self._table.regions[row - 1] if self._table and row else None

    def row_of(self, region: str | None) -> int | None:
        """Return the row of a region."""
        if self._table is None:
            return None
        if region is None:
            return 0
        return 1 + self._table.regions.index(region) if region in self._table.regions else None

    def close_connections(self) -> None:
        """Stop listening."""
        self._connections.close()

    def _swatch(self, region: str) -> Any:
        """Return a region's colour, of a union those of its ids; without one the place stays, for the names' sake."""
        if (color := self._color_of(region)) is not None:
            return color
        ids = self._session.spec.regions.get(region, ())
        if not 1 < len(ids) <= MOST_STRIPES or self._session.spec.is_instances:
            return QColor(0, 0, 0, 0)
        return [QColor.fromRgbF(*(float(part) for part in label_color(i)[:3])) for i in ids]

    def _on_scoring_changed(self, scoring: bool) -> None:
        self.scoring = scoring
        if not scoring:
            self.refresh()
