"""Read a folder of one mask for each nucleus (``<case>/masks/*.png``) as one instance map.

Each picture is one object: 0 outside, one other value inside. Ids count from 1 in the natural order of the names, so
that ``2.png`` comes before ``10.png``. A folder is taken for this only where it is called ``masks`` and holds nothing
but pictures of one size, the first ones of two values: slices of a scan and label maps are left alone.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, smallest_label_dtype
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError
from medotter_viewer.formats import images

NAME = "mask_folder"
SUFFIXES = (".png", ".tif", ".tiff")
"""Of the pictures in it."""

_FOLDER = "masks"
_LOOKED_INTO = 3  # masks, before a folder is taken for one
_NOT_LISTED = {"thumbs.db", "desktop.ini"}
_NAMES_SHOWN = 5


def matches_folder(path: Path) -> bool:
    """Tell a folder of masks by its name and what is in it; a damaged picture is left to the reader to name."""
    if path.name.lower() != _FOLDER:
        return False
    try:
        files = _listed(path)
    except ReadError:
        return False
    if not files or not all(file.is_file() and file.suffix.lower() in SUFFIXES for file in files):
        return False
    try:
        if len({images.read_grid(file)[0].shape for file in files}) > 1:
            return False
        for file in files[:_LOOKED_INTO]:
            _mask(file)
    except LabelError:
        return False
    except MedotterViewerError:
        return True
    return True


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return the size of the masks, in pixels, by the first of them.

    Raises
    ------
    ReadError
        If the folder holds no mask, or the first is damaged.
    """
    return images.read_grid(_masks(path)[0])[0], []


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the instance map of a folder, of shape (1, rows, columns), and what was noticed.

    Where masks overlap, the later name wins. An empty mask has an id, but no pixel.

    Raises
    ------
    ReadError
        If the folder holds no mask, one is damaged, or two are of different sizes.
    LabelError
        If a picture has more than two values, or colours.
    """
    files = _masks(path)
    grid, _ = read_grid(path)
    ids = np.zeros(grid.shape, dtype=smallest_label_dtype(0, len(files)))
    shared, empty = np.zeros(grid.shape, dtype=np.bool_), []
    for number, file in enumerate(files, 1):
        its_grid, _ = images.read_grid(file)
        if its_grid.shape != grid.shape:
            raise ReadError(
                f"{file}: mask of {its_grid.describe()}, but {files[0].name} is of {grid.describe()}; all masks of a "
                "folder have one size"
            )
        mask = _mask(file)
        if not mask.any():
            empty.append(file.name)
        shared |= mask & (ids != 0)
        ids[mask] = number
    return LabelMap(ids, grid), _notes(path, ids, len(files), int(np.count_nonzero(shared)), empty)


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the instance map of a folder as an image; see `read_labels`."""
    labels, notes = read_labels(path)
    return Volume(labels.data, labels.grid), notes


def _notes(path: Path, ids: NDArray[np.integer], count: int, shared: int, empty: list[str]) -> list[Finding]:
    notes = []
    if shared:
        covered = count - len(empty) - np.count_nonzero(np.bincount(ids.ravel())[1:])
        gone = f"; {covered} masks are covered altogether" if covered else ""
        message = f"{shared} pixels are set in more than one mask: the later name has them{gone}"
        notes.append(Finding("warning", "overlapping-masks", message, file=str(path)))
    if empty:
        names = ", ".join(empty[:_NAMES_SHOWN]) + (", ..." if len(empty) > _NAMES_SHOWN else "")
        message = f"{len(empty)} of {count} masks have no pixel: {names}"
        notes.append(Finding("info", "empty-mask", message, file=str(path)))
    return notes


def _mask(file: Path) -> NDArray[np.bool_]:
    """Pixels of one object; of a picture in colour where all three colours are equal, whatever its alpha."""
    try:
        values = images.read_labels(file)[0].data
    except LabelError:
        volume, _ = images.read_volume(file)
        if not volume.rgb:
            raise
        if (volume.data != volume.data[..., :1]).any():
            raise LabelError(f"{file}: a picture in colours, expected a mask of 0 and one other value") from None
        values = volume.data[..., 0].astype(np.uint8, copy=False)
    top = values.max()
    if ((values != 0) & (values != top)).any():
        raise LabelError(f"{file}: {len(np.unique(values))} values, expected a mask of 0 and one other value")
    mask: NDArray[np.bool_] = values != 0
    return mask


def _masks(path: Path) -> list[Path]:
    files = [file for file in _listed(path) if file.suffix.lower() in SUFFIXES and file.is_file()]
    if not files:
        raise ReadError(f"{path}: no masks in this folder, expected {', '.join(SUFFIXES)} of one object each")
    return files


def _listed(path: Path) -> list[Path]:
    """What is in a folder, in natural order, without what systems leave behind."""
    try:
        found = [one for one in path.iterdir() if not one.name.startswith(".") and one.name.lower() not in _NOT_LISTED]
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error
    return sorted(found, key=_natural)


def _natural(path: Path) -> tuple[list[tuple[int, int, str]], str]:
    """Numbers in a name count by their value, however many digits they have, and stand before words."""
    parts = re.findall(r"\d+|\D+", path.name.lower())
    digits = [part.lstrip("0") if part.isdecimal() else None for part in parts]
    return [(0, len(n), n) if n is not None else (1, 0, p) for p, n in zip(parts, digits, strict=True)], path.name
