"""File > Open Sample: phantom bundles whose predictions are wrong in known ways."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.errors import BundleNotFoundError
from medotter_viewer.ui.reader import LayerData, first_case_layers

# napari refuses a sample without any layer: it gets an empty one, which is taken away again at once.
PLACEHOLDER: tuple[Any, dict[str, Any], str] = (
    np.empty((0, 3)),
    {"name": "sample is opening", "visible": False, "units": ("mm",) * 3, "axis_labels": ("I", "P", "L")},
    "points",
)


def torso_ct() -> LayerData:
    """Open the CT phantom with swapped, shifted, missed and mirrored organs."""
    return _open("torso_ct")


def glioma_mr() -> LayerData:
    """Open the four-channel MR phantom with a tumour in three nested regions."""
    return _open("glioma_mr")


def lung_scans() -> LayerData:
    """Open the chest scans whose contours are shifted, missed, filled and invented."""
    return _open("lung_scans")


def spine_ct() -> LayerData:
    """Open the spines with a missed vertebra, a point far off, and one vertebra too many."""
    return _open("spine_ct")


def sample_folder(name: str) -> Path:
    """Return the folder of a sample bundle: in the installed package, else in the source tree.

    Raises
    ------
    BundleNotFoundError
        If it is in neither.
    """
    package = Path(str(files("medotter_viewer")))
    for folder in (package / "sample_bundles" / name, package.parents[1] / "sample_bundles" / name):
        if folder.is_dir():
            return folder
    raise BundleNotFoundError(f"sample bundle {name} is not installed; scripts/make_sample_bundles.py writes it")


def _open(name: str) -> LayerData:
    import napari

    from medotter_viewer.sources.opening import open_source

    folder = sample_folder(name)
    source = open_source(folder, predictions=folder / "predictions" / "mixed")
    viewer = napari.current_viewer()
    if viewer is None or not hasattr(viewer, "window"):
        return first_case_layers(source)
    from qtpy.QtCore import QTimer

    from medotter_viewer.ui.window import open_window

    open_window(source, viewer=viewer)
    QTimer.singleShot(0, lambda: _remove_placeholder(viewer))
    return [PLACEHOLDER]


def _remove_placeholder(viewer: Any) -> None:
    for layer in [layer for layer in viewer.layers if layer.name == PLACEHOLDER[1]["name"]]:
        viewer.layers.remove(layer)
