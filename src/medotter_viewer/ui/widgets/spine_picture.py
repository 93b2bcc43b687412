"""A window with the straightened picture of a spine."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import Qt
from qtpy.QtGui import QKeySequence, QPixmap, QShortcut
from qtpy.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.figures.cells import png_of
from medotter_viewer.figures.spine import spine_figure
from medotter_viewer.ui.widgets.layout import dense


class SpinePicture(QWidget):
    """A window of its own, beside the viewer; it shows a picture, or says why there is none.

    Attributes
    ----------
    label : QLabel
        Holds the picture.
    """

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Spine overview")
        self.label = QLabel()
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.label.setWordWrap(True)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(self.label)
        dense(QVBoxLayout(self)).addWidget(area)
        for keys in ("Escape", "Ctrl+W", "Ctrl+Q"):  # of this window alone: the review behind it stays
            QShortcut(QKeySequence(keys), self).activated.connect(self.close)
        self.resize(820, 900)

    def show_waiting(self, case_id: str) -> None:
        """Say that a picture is being drawn; one of the same case stays until then."""
        if self.windowTitle() != _title(case_id):
            self.setWindowTitle(_title(case_id))
            self.label.setText("drawing…")

    def show_picture(self, case_id: str, picture: bytes | str) -> None:
        """Show a PNG, or words."""
        self.setWindowTitle(_title(case_id))
        if isinstance(picture, str):
            self.label.setText(picture)
            return
        pixels = QPixmap()
        pixels.loadFromData(picture)
        self.label.setPixmap(pixels)


def draw_spine(case: Case, spec: EvalSpec, modality: str | None) -> bytes | str:
    """Return the picture of a case as a PNG, or why there is none; callable from any thread."""
    try:
        return png_of(spine_figure(case, spec, modality=modality))
    except MedotterViewerError as error:
        return str(error)


def _title(case_id: str) -> str:
    return f"Spine overview · {case_id}"
