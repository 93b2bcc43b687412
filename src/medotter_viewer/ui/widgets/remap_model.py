"""The native ids of one case as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from qtpy.QtCore import QModelIndex, Qt, Signal

from medotter_viewer.core.case import Case
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.remap_audit import NativeRow, native_rows
from medotter_viewer.live.changes import Edits
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.remap_rows import (
    TARGET_COLUMN,
    dropped_text,
    fate_text,
    remap_cells,
    remap_columns,
)
from medotter_viewer.ui.widgets.volumes import MM3, VolumeUnit, unit_for
from medotter_viewer.ui.widgets.what_if_rows import DROP, UNLIST, choices, parse_choice


class RemapModel(CellModel):
    """Native ids of a case, what becomes of them, and how much each is.

    Attributes
    ----------
    target_chosen : Signal(int, object)
        A native id is to become something else: its canonical id, 0 to drop it, None to take it out of the list.
    refused : Signal(str)
        What was typed is no id; says what is.
    """

    target_chosen = Signal(int, object)
    refused = Signal(str)

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self._rows: list[NativeRow] = []
        self._unit: VolumeUnit = MM3
        self._voxel_mm3 = 1.0
        self._unknown = False
        self._spec: EvalSpec | None = None
        self._before: Remap | None = None
        self._edits: Edits = {}
        self.can_edit = False
        self.refresh()

    def show_case(
        self,
        case: Case | None,
        voxels: Mapping[int, int],
        spec: EvalSpec,
        *,
        tried: Remap | None = None,
        edits: Edits = MappingProxyType({}),
    ) -> None:
        """Show a case.

        Parameters
        ----------
        case : Case or None
            None, or one without ground truth, empties the table.
        voxels : mapping of int to int
            Native id to voxels, from `label_voxels`.
        spec : EvalSpec
            Names the regions.
        tried : Remap, optional
            The remap that is tried instead of the case's own.
        edits : mapping of int to int or None
            What of it is changed.
        """
        self._rows, self._spec, self._edits = [], spec, edits
        if case is not None and case.gt_native is not None:
            remap = tried if edits else case.entry.remap
            self._before = case.entry.remap
            self._rows = native_rows({**dict.fromkeys(edits, 0), **voxels}, remap, spec)
            self._voxel_mm3 = case.gt_native.grid.voxel_volume_mm3
            self._unit = unit_for(row.voxels * self._voxel_mm3 for row in self._rows)
            self._unknown = remap is None
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns, with the unit that fits this case."""
        return remap_columns(self._unit)

    def n_rows(self) -> int:
        """Return how many native ids occur or are listed."""
        return len(self._rows)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return the line of a native id."""
        line = self._rows[row]
        was = fate_text(self._before, line.native) if line.native in self._edits else ""
        return remap_cells(line, self._unit, self._voxel_mm3, unknown=self._unknown, was=was, can_edit=self.can_edit)

    def choices(self) -> list[str]:
        """Return what may be chosen for a native id."""
        return [] if self._spec is None else choices(self._spec, {row.canonical for row in self._rows})

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        """Let what a native id becomes be edited."""
        flags = super().flags(index)
        if self.can_edit and index.isValid() and index.column() == TARGET_COLUMN:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what Qt asks about a cell; for the editor what may be chosen and is chosen now."""
        if role == Qt.ItemDataRole.EditRole and index.isValid() and index.column() == TARGET_COLUMN:
            row = self._rows[index.row()]
            if row.canonical == 0:
                return UNLIST if row.status == "not_listed" else DROP
            return next((text for text in self.choices() if parse_choice(text) == row.canonical), str(row.canonical))
        return super().data(index, role)

    def setData(self, index: QModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802 - Qt's name
        """Tell what was chosen; a text that is no id changes nothing, and is said."""
        if role != Qt.ItemDataRole.EditRole or not self.flags(index) & Qt.ItemFlag.ItemIsEditable:
            return False
        try:
            to = parse_choice(str(value))
        except ValueError:
            native = self.native(index.row())
            self.refused.emit(f"native {native} to {str(value)!r}: no canonical id, type its number or take the list's")
            return False
        if str(value) != self.data(index, role):
            self.target_chosen.emit(self.native(index.row()), to)
        return True

    def native(self, row: int) -> int:
        """Return the native id of a row."""
        return self._rows[row].native

    @property
    def summary(self) -> str:
        """How much of what is labelled becomes background."""
        return "" if self._unknown else dropped_text(self._rows, self._unit, self._voxel_mm3)
