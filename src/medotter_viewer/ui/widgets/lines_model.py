"""A table of lines that are made elsewhere: each with its cells, and a place that a click on it goes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column

Place = tuple[int, float | None, float | None]
"""Slice number and x, y in mm LPS; None where only the slice is meant."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table.

    Parameters
    ----------
    cells : tuple of Cell
        One for each column.
    place : Place or None
        Where a click goes; None where there is nothing to go to.
    """

    cells: tuple[Cell, ...]
    place: Place | None = None


class LinesModel(CellModel):
    """A table of lines.

    Parameters
    ----------
    columns : sequence of Column
        The columns, which stay.
    """

    def __init__(self, columns: Sequence[Column], parent: Any = None) -> None:
        super().__init__(parent)
        self._all_columns = tuple(columns)
        self.lines: Sequence[Line] = ()
        self.refresh()

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines."""
        self.lines = tuple(lines)
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns."""
        return self._all_columns

    def n_rows(self) -> int:
        """Return how many lines there are."""
        return len(self.lines)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the cells of a line."""
        return self.lines[row].cells

    def place(self, row: int) -> Place | None:
        """Return where a click on a line goes."""
        return self.lines[row].place

    def row_of_slice(self, number: int | None) -> int | None:
        """Return the first line of a slice, or None."""
        places = ((row, line.place) for row, line in enumerate(self.lines))
        return next((row for row, place in places if place is not None and place[0] == number), None)

    def texts(self) -> list[list[str]]:
        """Return what all cells say, line by line."""
        return [[cell.text for cell in line.cells] for line in self.lines]
