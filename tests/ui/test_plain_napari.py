"""Nothing of napari's is compiled for what a review draws: that would stop the window. No window needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

_DRAW = """
from medotter_viewer.ui.marks import ArrowMark, BoxMark, MarkDisplay
from medotter_viewer.ui.plain_napari import keep_colors_plain
import numpy as np
from napari.components import ViewerModel
from napari.utils.colormaps import DirectLabelColormap

keep_colors_plain()
viewer = ViewerModel()
labels = viewer.add_labels(np.arange(64, dtype=np.uint16).reshape(4, 4, 4) % 3)
labels.colormap = DirectLabelColormap(color_dict={None: "red", 0: "transparent", 1: "blue", 2: "white"})
viewer.dims.set_point(0, 0)
marks = MarkDisplay(viewer)
arrow = ArrowMark(np.zeros(3), np.array([0.0, 3.0, 3.0]), "white", 0.1)
marks.set_marks([arrow, BoxMark(np.zeros(3), np.array([0.0, 3.0, 3.0]), "white")], (1, 1, 1), (0, 0, 0), (4, 4, 4))
ring = np.array([[0, 0, 0], [0, 0, 3], [0, 3, 3], [0, 0, 0]], dtype=float)
viewer.add_shapes(ndim=3).data = [(ring, "path")]
print(len(marks.layer.data))
"""


def test_marks_outlines_and_label_maps_are_drawn_without_compiling(tmp_path: Path) -> None:
    # numba writes what it compiles for napari into this folder, and it is empty at first as after an installation
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path),
        "NAPARI_CONFIG": "",
        "MEDOTTER_VIEWER_ENGINE": "plain",
    }
    done = subprocess.run(
        [sys.executable, "-c", _DRAW], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert done.stdout.split() == ["10"], "an arrow and four corners, each with its rim"
