"""Drop a folder that holds cases on napari: a bundle, a dataset; its review opens in that window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from medotter_viewer.sources.bundle import MANIFEST
from medotter_viewer.sources.nnunet import DATASET
from medotter_viewer.sources.opening import holds_cases, open_source

LayerData = list[tuple[Any, ...]]
NOTHING_TO_ADD: LayerData = [(None,)]  # napari's word for "read, and no layer comes of it"


def get_reader(path: str | list[str]) -> Callable[[str | list[str]], LayerData] | None:
    """Return a reader for a folder that holds cases (or the manifest, or dataset.json, in it), None for anything else.

    napari asks this about every folder that is dropped: nothing is opened here.
    """
    if not isinstance(path, str) or not holds_cases(_folder(path)):
        return None
    return read_bundle


def read_bundle(path: str | list[str]) -> LayerData:
    """Open the review of a folder in the current viewer; without a viewer return the layers of its first case."""
    import napari

    folder = _folder(path if isinstance(path, str) else path[0])
    if not holds_cases(folder):
        return []
    source = open_source(folder)
    viewer = napari.current_viewer()
    if viewer is not None and hasattr(viewer, "window"):
        from medotter_viewer.ui.window import open_window

        open_window(source, viewer=viewer)
        return NOTHING_TO_ADD
    return first_case_layers(source)


def first_case_layers(source: Any) -> LayerData:
    """Return the first case's layers as napari's layer data: for a viewer without a window."""
    from medotter_viewer.ui.layers import ShowOptions, specs

    case_id = next(iter(source.case_ids("test") or source.case_ids("all")), None)
    if case_id is None:
        return []
    found: LayerData = []
    for spec in specs(source.load(case_id), source.spec, ShowOptions(modality=source.modality)):
        where = {"name": spec.name, "scale": spec.scale, "translate": spec.translate, "units": ("mm",) * 3}
        if spec.is_image:
            found.append((spec.data, {**where, "contrast_limits": spec.contrast_limits, "rgb": spec.rgb}, "image"))
        else:
            found.append((spec.data, where, "labels"))
    return found


def _folder(path: str) -> Path:
    """What was dropped, or the folder of the file that says what it holds."""
    place = Path(path)
    return place.parent if place.name in (MANIFEST, DATASET) else place
