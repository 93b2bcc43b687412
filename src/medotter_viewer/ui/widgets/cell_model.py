"""A Qt table model over columns and cells: subclasses say which, this one answers Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from qtpy.QtCore import QAbstractTableModel, QModelIndex, Qt
from qtpy.QtGui import QFont

from medotter_viewer.ui.widgets.cells import Cell, Column

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
# Numbers, as a view asks for them: it asks for many roles of every cell whenever it draws.
_TEXT, _WHY, _SIDE, _SWATCH, _FONT = (
    int(role)
    for role in (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.TextAlignmentRole,
        Qt.ItemDataRole.DecorationRole,
        Qt.ItemDataRole.FontRole,
    )
)
_ANSWERED = frozenset({_TEXT, _WHY, _SIDE, _SWATCH, _FONT})


class CellModel(QAbstractTableModel):
    """A read-only table; its texts are made when they are first looked at and forgotten by `refresh`."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._columns: tuple[Column, ...] = ()
        self._made: dict[int, Sequence[Cell]] = {}
        self._n_shown = -1

    # ---------------------------------------------------------------- what subclasses say

    def make_columns(self) -> Sequence[Column]:
        """Return the columns as they are now."""
        raise NotImplementedError

    def n_rows(self) -> int:
        """Return how many rows there are now."""
        raise NotImplementedError

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the cells of a row, one for each column."""
        raise NotImplementedError

    def spans(self) -> Iterable[tuple[int, int, int]]:
        """Return row, column and number of columns of every cell that covers others."""
        return ()

    # ---------------------------------------------------------------- for views and docks

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns shown."""
        return self._columns

    def cells(self, row: int) -> Sequence[Cell]:
        """Return the cells of a row."""
        if row not in self._made:
            self._made[row] = self.make_cells(row)
        return self._made[row]

    def refresh(self, *_: Any) -> None:
        """Read everything again; a table that keeps its shape keeps its place and selection in the view."""
        columns, n_rows = tuple(self.make_columns()), self.n_rows()
        if columns == self._columns and n_rows == self._n_shown:
            self.refresh_rows(0, n_rows - 1)
            return
        self.beginResetModel()
        self._made.clear()
        self._columns, self._n_shown = columns, n_rows
        self.endResetModel()

    def refresh_rows(self, first: int, last: int) -> None:
        """Read some rows again; the columns stay."""
        for row in range(first, last + 1):
            self._made.pop(row, None)
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, max(len(self._columns) - 1, 0)))

    # ---------------------------------------------------------------- for Qt

    def rowCount(self, parent: Any = None) -> int:  # noqa: N802 - Qt's name
        """Return how many rows there are."""
        return 0 if parent is not None and parent.isValid() else self.n_rows()

    def columnCount(self, parent: Any = None) -> int:  # noqa: N802 - Qt's name
        """Return how many columns there are."""
        return 0 if parent is not None and parent.isValid() else len(self._columns)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what Qt asks about a cell."""
        cell = self.cell_at(index) if role in _ANSWERED else None
        if cell is None:
            return None
        if role == _TEXT:
            return cell.text
        if role == _WHY:
            return cell.why or None
        if role == _SIDE:
            return self.side(cell, index.column())
        if role == _SWATCH:
            return cell.swatch
        return self.font(cell)

    def cell_at(self, index: QModelIndex) -> Cell | None:
        """Return the cell at a place of a view; None for one that is no more."""
        if not index.isValid() or index.row() >= self.n_rows():
            return None
        return self.cells(index.row())[index.column()]

    def side(self, cell: Cell, column: int) -> Qt.AlignmentFlag:
        """Return where the text of a cell stands in its column."""
        return _RIGHT if self._columns[column].numeric and not cell.word else _LEFT

    def font(self, cell: Cell) -> QFont | None:
        """Return the weight and slant of a cell; None for those of the table."""
        if not (cell.bold or cell.italic):
            return None
        font = QFont()
        font.setBold(cell.bold)
        font.setItalic(cell.italic)
        return font

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return what Qt asks about a header."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.header
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.why or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.numeric else _LEFT
        return None
