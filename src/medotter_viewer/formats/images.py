"""Read pictures and plain arrays: PNG, TIFF, npy and npz. They know pixels, not millimetres or patients.

Content decides, not the name. A picture is one slice of shape (1, rows, columns), a stack is (slices, rows, columns)
as it lies; on screen the first pixel is at the upper left. Pickled objects are never loaded.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.formats import arrays, png, tiff
from medotter_viewer.formats.whole import whole_labels

NAME = "image"
SUFFIXES = (".png", ".tiff", ".tif", ".npy", ".npz")
MAX_PIXELS = 1 << 31
"""More than these are not read: a small file can promise any number."""

_LFS = b"version https://git-lfs"
# Array axes run towards the feet, the back and the left, as on screen: nothing is turned or mirrored.
_AFFINE = np.array([[0.0, 0, -1, 0], [0, -1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])


def matches(start: bytes) -> bool:
    """Whether a file that begins so is a PNG, TIFF, npy or npz file."""
    return start.startswith((png.MAGIC, *tiff.MAGICS, arrays.NPY_MAGIC, *arrays.ZIP_MAGICS))


def pixel_grid(shape: tuple[int, ...]) -> Grid:
    """Return the grid of a picture (rows, columns) or stack (slices, rows, columns), in pixels.

    Examples
    --------
    >>> pixel_grid((480, 640)).describe()
    '1 x 480 x 640 pixels'
    """
    return Grid((1,) * (3 - len(shape)) + tuple(shape), _AFFINE, has_world=False, unit="px")


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return the size of a picture or array, without reading its values.

    Raises
    ------
    ReadError
        If the file is damaged, not of a known format, or too large.
    """
    kind, notes = _kind(path)
    return pixel_grid(_shape(path, kind)), notes


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file in its smallest integer type, and what was noticed.

    The stored values are the ids: for a palette the index. Nothing is rescaled.

    Raises
    ------
    ReadError
        If the file is damaged, not of a known format, or too large.
    LabelError
        If it holds colours, or values that are no whole numbers.
    """
    data, _, notes = _decode(path, as_labels=True)
    whole, noticed = whole_labels(data, path)
    grid = pixel_grid(whole.shape)
    return LabelMap(whole.reshape(grid.shape), grid), notes + noticed


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a file, in colour where it is stored in colour, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, not of a known format, or too large.
    """
    data, rgb, notes = _decode(path, as_labels=False)
    if data.dtype == np.bool_:
        data = data.view(np.uint8)
    elif data.dtype.kind == "f" and data.dtype != np.float32:
        with np.errstate(all="ignore"):  # what overflows is infinite
            data = data.astype(np.float32)
    grid = pixel_grid(data.shape[:-1] if rgb else data.shape)
    return Volume(data.reshape(*grid.shape, *data.shape[-1:] * rgb), grid, rgb=rgb), notes


def _decode(path: Path, *, as_labels: bool) -> tuple[NDArray[Any], bool, list[Finding]]:
    kind, notes = _kind(path)
    shape = _shape(path, kind)  # refuses what is too large before anything is decoded
    if kind == "png":
        data, rgb, noticed = png.decode(path, as_labels=as_labels)
    elif kind == "tiff":
        data, rgb, noticed = tiff.decode(path, as_labels=as_labels)
    else:
        data, rgb, noticed = arrays.decode(path), False, []
    if data.dtype.kind not in "biuf":
        raise ReadError(f"{path}: values of type {data.dtype}, expected whole or real numbers")
    if (decoded := data.shape[:-1] if rgb else data.shape) != shape:
        raise ReadError(f"{path}: damaged: the header says {shape}, the pixels are {decoded}; copy the file again")
    return data, rgb, notes + noticed


def _shape(path: Path, kind: str) -> tuple[int, ...]:
    """Two or three sizes, from the header alone."""
    if kind == "png":
        header = png.read_header(path)
        shape: tuple[int, ...] = (header.height, header.width)
    else:
        shape = tiff.read_shape(path) if kind == "tiff" else arrays.read_shape(path)
    if len(shape) not in (2, 3) or min(shape) < 1:
        raise ReadError(f"{path}: shape {shape}, expected (rows, columns) or (slices, rows, columns), none of them 0")
    if math.prod(shape) > MAX_PIXELS:
        raise ReadError(f"{path}: {math.prod(shape)} pixels of shape {shape}; at most {MAX_PIXELS} are read")
    return shape


def _kind(path: Path) -> tuple[str, list[Finding]]:
    """Format by content, and a finding where the name says another one."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_LFS))
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error
    if start == _LFS:
        raise ReadError(f"{path}: Git LFS pointer, data not downloaded; run 'git lfs pull'")
    magics = {"png": (png.MAGIC,), "tiff": tiff.MAGICS, "npy": (arrays.NPY_MAGIC,), "npz": arrays.ZIP_MAGICS}
    kind = next((name for name, starts in magics.items() if start.startswith(starts)), None)
    if kind is None:
        raise ReadError(f"{path}: neither PNG, TIFF, npy nor npz (starts with {start[:8]!r})")
    named = "tiff" if path.suffix.lower() == ".tif" else path.suffix.lower().lstrip(".")
    if named == kind:
        return kind, []
    message = f"{kind} data in a file named {path.suffix}; read by its content"
    return kind, [Finding("warning", "wrong-suffix", message, file=str(path))]
