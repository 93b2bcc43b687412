"""Drop a folder that holds cases on napari: a bundle, a dataset; its review opens in that window.

napari offers this reader for every folder and file, as names say nothing: what holds no cases is said in the window.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.sources.bundle import MANIFEST
from medotter_viewer.sources.nnunet import DATASET
from medotter_viewer.sources.opening import holds_cases, nothing_known, open_source

LayerData = list[tuple[Any, ...]]
NOTHING_TO_ADD: LayerData = [(None,)]  # napari's word for "read, and no layer comes of it"


def get_reader(path: str | list[str]) -> Callable[[str | list[str]], LayerData]:
    """Return what opens a folder that holds cases (or the manifest, or dataset.json, in it), else what says why not.

    napari asks this about everything that is dropped: nothing is opened here. A refusal (None) would be an error of
    napari's, with its traceback in the terminal and no word of what is expected.
    """
    return read_bundle if isinstance(path, str) and holds_cases(_folder(path)) else say_why_not


def read_bundle(path: str | list[str]) -> LayerData:
    """Open the review of a folder in the current viewer; without a viewer return the layers of its first case.

    In a viewer an error of ours is a notification.

    Raises
    ------
    MedotterViewerError
        Without a viewer, as `open_source`.
    """
    folder = _folder(path if isinstance(path, str) else path[0])
    if not holds_cases(folder):
        return say_why_not(path)
    viewer = _viewer()
    if viewer is None:
        return first_case_layers(open_source(folder))
    from medotter_viewer.ui.window import open_window

    try:
        open_window(open_source(folder), viewer=viewer)
    except MedotterViewerError as error:
        _show(f"{folder.name} cannot be opened: {error}")
    return NOTHING_TO_ADD


def say_why_not(path: str | list[str]) -> LayerData:
    """Tell in the window what was expected of something that holds no cases; without a viewer return nothing."""
    if _viewer() is None:
        return []  # another reader may have more of it
    places = [Path(path)] if isinstance(path, str) else [Path(one) for one in path]
    named = places[0].name if len(places) == 1 else f"{len(places)} files"
    _show(f"{named}: no cases to review. {nothing_known(places[0])} (in napari: Plugins > Review a bundle)")
    return NOTHING_TO_ADD


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


def _viewer() -> Any:
    """The viewer that something was dropped on; None where there is none with a window."""
    import napari

    viewer = napari.current_viewer()
    return viewer if viewer is not None and hasattr(viewer, "window") else None


def _show(message: str) -> None:
    from napari.utils.notifications import show_error

    show_error(message)
