"""A dense table view: small rows, whole-row selection, and no key taken but those that move in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from qtpy.QtCore import QSize, Qt, QTimer, Signal
from qtpy.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QIcon, QKeySequence, QPainter, QPalette, QPixmap
from qtpy.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Column
from medotter_viewer.ui.widgets.theme import tone_color

_MOVES = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
)
_SIDEWAYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
_MANY_ROWS = 500
_MARGIN = 5  # pixels left and right of a text, and of its swatch
_STYLE = "QHeaderView::section { border: none; padding: 2px 4px; } QTableView::item { padding: 0px 1px; }"


class CellTable(QTableView):
    """A view of a `CellModel`.

    Parameters
    ----------
    model : CellModel
        What is shown.

    Attributes
    ----------
    row_chosen : Signal(int)
        A row was clicked, or Return was pressed on it.
    why_asked : Signal(int, int)
        A cell (row, column) that says where it comes from was clicked twice, or with the right button.
    """

    row_chosen = Signal(int)
    why_asked = Signal(int, int)

    def __init__(self, model: CellModel, parent: Any = None) -> None:
        super().__init__(parent)
        self._was_shown = self._goes_sideways = False
        self.setModel(model)
        self.setItemDelegate(CellDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setIconSize(QSize(9, 9))
        self.setMinimumHeight(90)
        self.setStyleSheet(_STYLE)
        rows, header = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(12)
        rows.setDefaultSectionSize(self.fontMetrics().height() + 5)
        header.setMinimumSectionSize(12)
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(0)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._due = QTimer(self, singleShot=True, interval=0)  # rows change one by one; the columns are fitted once
        self._due.timeout.connect(self._fit_to_rows)
        model.modelReset.connect(self._fit_soon)
        model.dataChanged.connect(self._fit_soon)
        self.clicked.connect(lambda index: self.row_chosen.emit(index.row()))
        self.doubleClicked.connect(self._on_why_clicked)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda place: self._on_why_clicked(self.indexAt(place)))
        self._fit_to_rows()

    def scrollTo(self, index: Any, hint: Any = QAbstractItemView.ScrollHint.EnsureVisible) -> None:  # noqa: N802
        """Scroll up or down to a cell; sideways only for the keys that move so: a click must not push names away."""
        bar = self.horizontalScrollBar()
        place = bar.value()
        super().scrollTo(index, hint)
        if not self._goes_sideways:
            bar.setValue(place)

    def select(self, row: int | None) -> None:
        """Select a row without choosing it; None selects nothing."""
        if row is None:
            self.clearSelection()
        elif self.currentIndex().row() != row or not self.selectionModel().isRowSelected(row):
            self.selectRow(row)

    def selected_row(self) -> int | None:
        """Return the selected row."""
        rows = self.selectionModel().selectedRows()
        return rows[0].row() if rows else None

    def fit_columns(self) -> None:
        """Give every column the room its text needs and the rest to the one that stretches."""
        if not self.isVisible() and (self._was_shown or self.model().rowCount() > _MANY_ROWS):
            return  # once it is seen; of many rows Qt then measures those on the screen, else every one
        columns, measured = self.model().columns, self.horizontalHeader().fontMetrics()
        headers = [max(measured.horizontalAdvance(line) for line in c.header.split("\n")) + 12 for c in columns]
        widths = [max(cells, header) for cells, header in zip(self._cell_widths(), headers, strict=True)]
        for i, width in enumerate(fitted(widths, columns, self.viewport().width())):
            self.setColumnWidth(i, width)

    def _cell_widths(self) -> list[int]:
        """Return the room that the texts on the screen need; Qt's own measuring asks the model ten times for each."""
        model = self.model()
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        seen = range(max(first, 0), (last if last >= 0 else model.rowCount() - 1) + 1)
        bold = QFont(self.font())
        bold.setBold(True)
        plain, heavy, widths = self.fontMetrics(), QFontMetrics(bold), [0] * len(model.columns)
        beside = self.iconSize().width() + 2 * _MARGIN
        for cells in (model.cells(row) for row in seen[:_MANY_ROWS]):
            for i, cell in enumerate(cells):
                if cell.span == 1:  # one that spans columns, or is covered, asks for no width
                    width = (heavy if cell.bold else plain).horizontalAdvance(cell.text) + 2 * _MARGIN
                    widths[i] = max(widths[i], width + beside * (cell.swatch is not None))
        return widths

    def fit_height(self) -> None:
        """Make the table as high as its lines, and hide it where there are none."""
        n = self.model().rowCount()
        height = n * self.verticalHeader().defaultSectionSize() + self.horizontalHeader().sizeHint().height()
        self.setFixedHeight(height + 2 * self.frameWidth() + 2)
        self.setVisible(n > 0)

    def _on_why_clicked(self, index: Any) -> None:
        if index.isValid() and self.model().cells(index.row())[index.column()].why:
            self.why_asked.emit(index.row(), index.column())

    def _fit_soon(self, *_: Any) -> None:
        self._due.start()

    def _fit_to_rows(self) -> None:
        self._due.stop()
        self.clearSpans()
        for row, column, n_columns in self.model().spans():
            self.setSpan(row, column, 1, n_columns)
        self.fit_columns()

    def showEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Fit the columns to what changed while nobody saw it."""
        super().showEvent(event)
        self._was_shown = True
        self._fit_to_rows()

    def resizeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Keep the columns fitted."""
        super().resizeEvent(event)
        self.fit_columns()

    def changeEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Follow the font."""
        super().changeEvent(event)
        if event.type() in (event.Type.FontChange, event.Type.StyleChange) and self.model() is not None:
            self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 5)

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Move, choose or copy; leave every other key to the window."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            row = self.selected_row()
            if row is not None:
                self.row_chosen.emit(row)
        elif event.key() in _MOVES:
            self._goes_sideways = event.key() in _SIDEWAYS
            super().keyPressEvent(event)
            self._goes_sideways = False
        else:
            event.ignore()

    def _copy(self) -> None:
        """Put the whole table on the clipboard, tab-separated."""
        model = self.model()
        lines = ["\t".join(column.header.replace("\n", " ") for column in model.columns)]
        lines += ["\t".join(cell.text for cell in model.cells(row)) for row in range(model.rowCount())]
        QGuiApplication.clipboard().setText("\n".join(lines))


def fitted(widths: Sequence[int], columns: Sequence[Column], room: int) -> list[int]:
    """Return widths that fill some room: one column stretches, those that may be cut down share what is too much.

    Examples
    --------
    >>> fitted([50, 40], [Column("a", stretch=True, least=20), Column("b")], 100)
    [60, 40]
    >>> fitted([50, 40], [Column("a", stretch=True, least=20), Column("b")], 80)
    [40, 40]
    """
    out, spare = list(widths), room - sum(widths)
    if spare >= 0:
        return [width + spare * column.stretch for width, column in zip(out, columns, strict=True)]
    for last in (False, True):  # the one that stretches is the last to be cut down
        gives = [max(w - c.least, 0) * bool(c.least and c.stretch == last) for w, c in zip(out, columns, strict=True)]
        share = min(1.0, -spare / sum(gives)) if sum(gives) else 0.0
        out = [width - math.ceil(share * give) for width, give in zip(out, gives, strict=True)]
        spare = min(room - sum(out), 0)
    return out


class CellDelegate(QStyledItemDelegate):
    """Paints tones in the theme's colours, and swatches."""

    def initStyleOption(self, option: Any, index: Any) -> None:  # noqa: N802 - Qt's name
        """Say how a cell is drawn; Qt's own way to find that out asks the model once for each of ten roles."""
        table = self.parent()
        cell, column = table.model().cell_at(index), index.column()
        option.index = index
        if cell is None:
            return
        of = QStyleOptionViewItem.ViewItemFeature
        option.text, option.features = cell.text, option.features | of.HasDisplay
        option.displayAlignment = table.model().side(cell, column)
        middle = table.model().columns[column].stretch  # names differ at their ends, too
        option.textElideMode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        if (font := table.model().font(cell)) is not None:
            option.font = font.resolve(option.font)
            option.fontMetrics = QFontMetrics(option.font)
        if cell.swatch is not None:
            option.icon, option.features = (
                _square(cell.swatch, option.decorationSize),
                option.features | of.HasDecoration,
            )
        if cell.tone != "plain":
            color = tone_color(table.palette(), cell.tone)
            for role in (QPalette.ColorRole.Text, QPalette.ColorRole.HighlightedText):
                option.palette.setColor(role, QColor(color))


def _square(color: Any, size: Any) -> Any:
    """Return an icon of one colour, or in stripes of several, the same in a selected row."""
    picture, icon = QPixmap(size), QIcon()
    if isinstance(color, QColor):
        picture.fill(color)
    else:
        painter, edges = QPainter(picture), [round(i * size.width() / len(color)) for i in range(len(color) + 1)]
        for stripe, left, right in zip(color, edges, edges[1:], strict=False):
            painter.fillRect(left, 0, right - left, size.height(), stripe)
        painter.end()
    for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):
        icon.addPixmap(picture, mode)
    return icon
