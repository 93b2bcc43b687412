"""The tables of the dock of instances: every object, and the scores at the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qtpy.QtGui import QColor

from medotter_viewer.metrics.instances.table import MatchKind
from medotter_viewer.scoring.instance_matches import COLUMNS
from medotter_viewer.scoring.instance_matches import Column as SortColumn
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.match_layers import KIND_ACCENTS
from medotter_viewer.ui.widgets import instances_rows as rows
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column


class InstancesModel(CellModel):
    """A line for every object or matching pair, in the session's order.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    """

    def __init__(self, session: ReviewSession, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self._swatches: dict[MatchKind, Any] = {kind: QColor(color) for kind, color in KIND_ACCENTS.items()}
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns; the one the table is sorted by is marked."""
        matches = self._session.matches
        return rows.columns(matches.column, descending=matches.descending, unit=self._unit)

    def n_rows(self) -> int:
        """Return how many lines there are."""
        return len(self._session.matches)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the line of an object or of a matching pair."""
        matches = self._session.matches
        found, line = matches.found, matches.row(row)
        union = 0 if found is None else found.matcher.losses.union
        return rows.cells(line, union, swatch=self._swatches[line.kind], voxel_mm3=self._voxel)

    def column(self, section: int) -> SortColumn:
        """Return what a column is sorted by."""
        found: SortColumn = COLUMNS[section]
        return found

    @property
    def _unit(self) -> str:
        case = self._session.case
        grid = None if case is None else case.grid
        if grid is None or grid.unit == "mm":
            return "mm³"
        return "px" if 1 in grid.shape else "voxels"

    @property
    def _voxel(self) -> float | None:
        """Size of a voxel in mm³; None where lengths are not known."""
        case = self._session.case
        grid = None if case is None else case.grid
        return None if grid is None or grid.unit == "px" else grid.voxel_volume_mm3


class SummaryModel(CellModel):
    """The scores at the threshold, and below at the specification's where that is another.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    """

    def __init__(self, session: ReviewSession, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns, which stay."""
        return rows.SUMMARY_COLUMNS

    def n_rows(self) -> int:
        """Return how many thresholds are told of."""
        return len(self._titles) if self._session.matches.found is not None else 0

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the scores at one threshold."""
        found = self._session.matches.found
        if found is None:
            return ()
        thresholds = [self._session.matches.threshold, found.threshold][-len(self._titles) :]
        return rows.summary_cells(self._titles[row], found.values(thresholds[row]), bold=row == 0)

    @property
    def _titles(self) -> list[str]:
        return rows.summary_titles(self._session.matches.threshold, self._session.spec.iou_threshold)
