"""The editor of a cell that says what a native id becomes: a list to choose from, in which a number may be typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QEvent, QObject, QPersistentModelIndex, QRect, QSize, Qt, QTimer
from qtpy.QtGui import QKeyEvent
from qtpy.QtWidgets import QComboBox

from medotter_viewer.ui.widgets.cell_table import CellDelegate

_PLACE = "place"


class TargetDelegate(CellDelegate):
    """Edits what a native id becomes; what is typed replaces what was there.

    Parameters
    ----------
    choices : callable
        Returns the texts that may be chosen.
    """

    def __init__(self, choices: Callable[[], list[str]], parent: Any = None) -> None:
        super().__init__(parent)
        self._choices = choices

    def createEditor(self, parent: Any, _option: Any, index: Any) -> QComboBox:  # noqa: N802 - Qt's name
        """Return the list."""
        editor = QComboBox(parent)
        editor.setEditable(True)
        editor.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        editor.setCompleter(None)  # it would make 10 of a 1 that was typed
        editor.addItems(self._choices())
        place = QPersistentModelIndex(index)
        editor.activated.connect(lambda _: self._choose(editor, place))
        editor.setProperty(_PLACE, place)
        _soon(editor, editor.lineEdit().selectAll)  # once it has the keyboard
        return editor

    def eventFilter(self, editor: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Take what was typed with Return; Qt's own way closes an editor that went with the rows it changed."""
        key = event.key() if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress else None
        if isinstance(editor, QComboBox) and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(editor, editor.property(_PLACE))
            return True
        return bool(super().eventFilter(editor, event))

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

    def setModelData(self, editor: QComboBox, _model: Any, _index: Any) -> None:  # noqa: N802 - Qt's name
        """Hand over what was typed before somebody clicked elsewhere, once the editor is closed."""
        text, place = editor.currentText(), editor.property(_PLACE)
        _soon(self, lambda: _set(place, text))

    def _choose(self, editor: QComboBox, place: Any) -> None:
        """Close the list before the rows change: then it still belongs to them."""
        text = editor.currentText()
        self.closeEditor.emit(editor)
        _set(place, text)


def _set(place: QPersistentModelIndex, text: str) -> None:
    model = place.model()
    if place.isValid() and model is not None:
        model.setData(model.index(place.row(), place.column()), text, Qt.ItemDataRole.EditRole)


def _soon(owner: QObject, call: Callable[[], object]) -> None:
    """Call something once what runs now has ended, unless its owner has gone by then."""
    timer = QTimer(owner, singleShot=True)
    timer.timeout.connect(call)
    timer.start(0)
