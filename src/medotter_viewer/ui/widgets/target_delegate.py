"""The editor of a cell that says what a native id becomes: a list to choose from, in which a number may be typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QRect, QSize, Qt
from qtpy.QtWidgets import QComboBox

from medotter_viewer.ui.widgets.cell_table import CellDelegate


class TargetDelegate(CellDelegate):
    """Edits what a native id becomes.

    Parameters
    ----------
    choices : callable
        Returns the texts that may be chosen.
    """

    def __init__(self, choices: Callable[[], list[str]], parent: Any = None) -> None:
        super().__init__(parent)
        self._choices = choices

    def createEditor(self, parent: Any, _option: Any, _index: Any) -> QComboBox:  # noqa: N802 - Qt's name
        """Return the list."""
        editor = QComboBox(parent)
        editor.setEditable(True)
        editor.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        editor.addItems(self._choices())
        editor.activated.connect(lambda _: self._choose(editor))
        return editor

    def updateEditorGeometry(self, editor: QComboBox, option: Any, _index: Any) -> None:  # noqa: N802 - Qt's name
        """Let the list be higher and wider than a dense row."""
        wanted, cell = editor.sizeHint(), option.rect
        size = QSize(max(cell.width(), wanted.width()), max(cell.height(), wanted.height()))
        place = QRect(cell.topLeft(), size)
        place.moveRight(min(place.right(), editor.parentWidget().width()))
        editor.setGeometry(place)

    def setEditorData(self, editor: QComboBox, index: Any) -> None:  # noqa: N802 - Qt's name
        """Show what it becomes now."""
        now = str(index.data(Qt.ItemDataRole.EditRole) or "")
        place = editor.findText(now)
        editor.setCurrentIndex(place)
        if place < 0:
            editor.setEditText(now)

    def setModelData(self, editor: QComboBox, model: Any, index: Any) -> None:  # noqa: N802 - Qt's name
        """Hand over what was chosen."""
        model.setData(index, editor.currentText(), Qt.ItemDataRole.EditRole)

    def _choose(self, editor: QComboBox) -> None:
        self.commitData.emit(editor)
        self.closeEditor.emit(editor)
