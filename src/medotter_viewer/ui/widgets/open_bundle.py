"""A small form: which bundle, whose predictions; opens the review in this viewer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from qtpy.QtWidgets import QFileDialog, QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from medotter_viewer.errors import MedotterViewerError

if TYPE_CHECKING:
    import napari


class OpenBundle(QWidget):
    """Asks for a bundle folder and a predictions folder.

    Parameters
    ----------
    napari_viewer : napari.Viewer
        Where the review opens.
    """

    def __init__(self, napari_viewer: napari.Viewer) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self.setMinimumWidth(320)
        self.bundle, self.predictions = QLineEdit(), QLineEdit()
        self.bundle.setPlaceholderText("folder with manifest_test.json")
        self.predictions.setPlaceholderText("folder of one model (optional)")
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.open = QPushButton("Open review")
        layout = QFormLayout(self)
        layout.addRow("bundle", self._with_button(self.bundle, "Bundle folder"))
        layout.addRow("predictions", self._with_button(self.predictions, "Predictions of one model"))
        layout.addRow(self.open)
        layout.addRow(self.message)
        self.open.clicked.connect(self._on_open_clicked)
        for field in (self.bundle, self.predictions):
            field.returnPressed.connect(self._on_open_clicked)

    def _with_button(self, field: Any, title: str) -> Any:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        button = QPushButton("...")
        button.setMaximumWidth(32)
        layout.addWidget(field, 1)
        layout.addWidget(button)

        def choose() -> None:
            if folder := QFileDialog.getExistingDirectory(self, title, field.text()):
                field.setText(folder)

        button.clicked.connect(choose)
        return row

    def _on_open_clicked(self) -> None:
        from medotter_viewer.sources.opening import open_source
        from medotter_viewer.ui.window import open_window

        if not self.bundle.text().strip():
            self.message.setText("name a bundle folder first")
            return
        predictions = self.predictions.text().strip()
        try:
            source = open_source(Path(self.bundle.text().strip()), predictions=predictions or None)
            open_window(source, viewer=self._viewer)
        except MedotterViewerError as error:
            self.message.setText(str(error))
        else:
            self.message.setText("")
