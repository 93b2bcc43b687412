"""A small form: which bundle, dataset or files, whose predictions; opens the review in this viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qtpy.QtCore import Qt
from qtpy.QtWidgets import QFileDialog, QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from medotter_viewer.errors import MedotterViewerError

if TYPE_CHECKING:
    import napari


class OpenBundle(QWidget):
    """Asks for a bundle or dataset folder, or else for ground truths and images, and for predictions.

    Parameters
    ----------
    napari_viewer : napari.Viewer
        Where the review opens.
    """

    def __init__(self, napari_viewer: napari.Viewer) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self.setMinimumWidth(320)
        self.bundle, self.ground_truth, self.images, self.predictions = (QLineEdit() for _ in range(4))
        self.bundle.setPlaceholderText("folder of a bundle, of nnU-Net or of VerSe")
        self.ground_truth.setPlaceholderText("file, or folder of files, without a bundle")
        self.images.setPlaceholderText("files of equal names (optional)")
        self.predictions.setPlaceholderText("files of one model (optional)")
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)  # it quotes files
        self.message.setWordWrap(True)
        self.open = QPushButton("Open review")
        layout = QFormLayout(self)
        layout.addRow("bundle or dataset", self._with_button(self.bundle, "Folder of a bundle or dataset"))
        layout.addRow("or ground truth", self._with_button(self.ground_truth, "Folder of ground truths"))
        layout.addRow("and images", self._with_button(self.images, "Folder of images"))
        layout.addRow("predictions", self._with_button(self.predictions, "Predictions of one model"))
        layout.addRow(self.open)
        layout.addRow(self.message)
        self.open.clicked.connect(self._on_open_clicked)
        for field in (self.bundle, self.ground_truth, self.images, self.predictions):
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

        names = ("target", "gt", "image")
        fields = (self.bundle, self.ground_truth, self.images)
        named = {name: text for name, field in zip(names, fields, strict=True) if (text := field.text().strip())}
        if not named:
            self.message.setText("name a bundle folder, a dataset or a ground truth first")
            return
        if predictions := self.predictions.text().strip():
            named["predictions" if "target" in named else "pred"] = predictions
        try:
            open_window(open_source(**named), viewer=self._viewer)
        except MedotterViewerError as error:
            self.message.setText(str(error))
        else:
            self.message.setText("")
