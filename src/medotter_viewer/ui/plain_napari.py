"""napari without compiling: the first outline or label map of an installation would stop the window for half a minute.

Where numba is installed napari compiles what cuts shapes into triangles and what colours labels, on the thread of the
window, and part of it anew in each process. For slices and the outlines on one, its plain code takes as long or less.
"""

from __future__ import annotations

import sys
from typing import Any

_COMPILED = "napari.layers.shapes._accelerated_triangulate_numba"


def keep_shapes_plain() -> None:
    """Keep napari from compiling what draws shapes; to be called before its layers are imported, else it does nothing.

    Inside a napari that somebody else has started, that one's ways stay.
    """
    modules: dict[str, Any] = sys.modules
    if "napari.layers.shapes" not in modules:
        modules[_COMPILED] = None  # importing it fails, as where numba is not installed


def keep_colors_plain() -> None:
    """Keep napari from compiling what colours labels, unless its settings ask for that in so many words."""
    from napari.settings import get_settings
    from napari.utils.colormap_backend import ColormapBackend, set_backend

    if get_settings().experimental.colormap_backend == ColormapBackend.fastest_available:
        set_backend(ColormapBackend.pure_python)
