"""The native ids of one case as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.remap_audit import NativeRow, native_rows
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.remap_rows import dropped_text, remap_cells, remap_columns
from medotter_viewer.ui.widgets.volumes import MM3, VolumeUnit, unit_for


class RemapModel(CellModel):
    """Native ids of a case, what becomes of them, and how much each is."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._rows: list[NativeRow] = []
        self._unit: VolumeUnit = MM3
        self._voxel_mm3 = 1.0
        self._unknown = False
        self.refresh()

    def show_case(self, case: Case | None, voxels: Mapping[int, int], spec: EvalSpec) -> None:
        """Show a case.

        Parameters
        ----------
        case : Case or None
            None, or one without ground truth, empties the table.
        voxels : mapping of int to int
            Native id to voxels, from `label_voxels`.
        spec : EvalSpec
            Names the regions.
        """
        self._rows = []
        if case is not None and case.gt_native is not None:
            self._rows = native_rows(voxels, case.entry.remap, spec)
            self._voxel_mm3 = case.gt_native.grid.voxel_volume_mm3
            self._unit = unit_for(row.voxels * self._voxel_mm3 for row in self._rows)
            self._unknown = case.entry.remap is None
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns, with the unit that fits this case."""
        return remap_columns(self._unit)

    def n_rows(self) -> int:
        """Return how many native ids occur or are listed."""
        return len(self._rows)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the line of a native id."""
        return remap_cells(self._rows[row], self._unit, self._voxel_mm3, unknown=self._unknown)

    def native(self, row: int) -> int:
        """Return the native id of a row."""
        return self._rows[row].native

    @property
    def summary(self) -> str:
        """How much of what is labelled becomes background."""
        return "" if self._unknown else dropped_text(self._rows, self._unit, self._voxel_mm3)
