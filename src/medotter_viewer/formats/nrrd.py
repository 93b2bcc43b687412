"""Read NRRD volumes (.nrrd, and .nhdr with its data in a file beside it).

Content decides, not the name. Geometry leaves this module in RAS+ mm, whatever space and unit the file uses. The data
of a detached header must lie in the header's own folder; what is promised beyond the file's length costs nothing.
"""

from __future__ import annotations

import bz2
import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray, LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats.colours import colour_volume
from medotter_viewer.formats.nrrd_header import MAGIC, NrrdHeader, read_header
from medotter_viewer.formats.voxels import DEFLATE_RATIO, StoredVoxels, detached, gunzipped, read_errors

NAME = "nrrd"
SUFFIXES = (".nrrd", ".nhdr")

_BZIP2_HELD = 1 << 33  # bzip2 packs a million equal bytes into a handful: its length says nothing
_TEXT = ("ascii", "text", "txt")
_GZIP = ("gzip", "gz")
_BZIP2 = ("bzip2", "bz2")


def matches(start: bytes) -> bool:
    """Tell a NRRD file by its first bytes."""
    return start.startswith(MAGIC)


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them.

    Raises
    ------
    ReadError
        If it is no NRRD file or is damaged.
    """
    header = read_header(path)
    return header.grid, header.findings


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file in its smallest integer type, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, is no NRRD file, or holds several volumes.
    LabelError
        If values lie more than 0.05 from a whole number, are no numbers, or are colours.
    UnsafePathError
        If a detached header names data outside its folder.
    """
    header = read_header(path)
    if header.colours:
        raise LabelError(
            f"{path}: {header.colours} channels of colour for each voxel: these are no label ids; write label maps "
            "with one value for each voxel"
        )
    ids, notes = read_layers(header)
    _refuse_several(header)
    return LabelMap(ids.reshape(header.grid.shape, order="F"), header.grid), header.findings + notes


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a file, in colour where it is stored in colour, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, is no NRRD file, or holds several volumes.
    UnsafePathError
        If a detached header names data outside its folder.
    """
    header = read_header(path)
    if not header.colours:
        _refuse_several(header)
    elif header.dtype != np.uint8:
        raise ReadError(f"{path}: colours of type {header.dtype}, expected 8 bits for each channel")
    with stored(header) as voxels:
        data = voxels.values()
    if not header.colours:
        return Volume(data.reshape(header.grid.shape, order="F"), header.grid), header.findings
    (axis,) = header.other_axes
    colours = np.moveaxis(data.reshape(header.sizes, order="F"), axis, -1)
    colours = colours.reshape(*header.grid.shape, header.colours)
    volume, notes = colour_volume(colours, header.grid, path)
    return volume, header.findings + notes


def read_layers(header: NrrdHeader) -> tuple[IntArray, list[Finding]]:
    """Return all values as ids, of shape ``header.sizes``, and what was noticed."""
    with stored(header) as voxels:
        ids, notes = voxels.ids()
    return ids.reshape(header.sizes, order="F"), notes


def _refuse_several(header: NrrdHeader) -> None:
    if any(header.sizes[axis] != 1 for axis in header.other_axes):
        raise ReadError(
            f"{header.path}: {len(header.sizes)}-dimensional, sizes {header.sizes}; expected one 3-D volume; store one "
            "file per channel"
        )


@contextmanager
def stored(header: NrrdHeader) -> Iterator[StoredVoxels]:
    """Open the values behind a header, or in the file that a detached header names."""
    path = _data_path(header)
    encoding = str(header.fields["encoding"]).lower()
    count = math.prod(header.sizes)
    with read_errors(path, encoding), path.open("rb") as file:
        if path == header.path:
            file.seek(header.end)
        for _ in range(_whole(header, "line skip", "lineskip", lowest=0)):
            if not file.readline():
                raise ReadError(f"{path}: truncated: fewer lines than the line skip of its header")
        left = path.stat().st_size - file.tell()
        skipped = _whole(header, "byte skip", "byteskip", lowest=-1)
        needed = count * header.dtype.itemsize
        if skipped < 0 and (encoding != "raw" or needed > left):
            raise ReadError(f"{path}: byte skip {skipped} with {encoding} data of {left} bytes: cannot be read")
        if encoding in _TEXT:
            numbers = _numbers(file, header.dtype, path, left)
            yield StoredVoxels(path, io.BytesIO(numbers.tobytes()), numbers.dtype, count, numbers.nbytes)
            return
        held = {"raw": left, **dict.fromkeys(_GZIP, left * DEFLATE_RATIO), **dict.fromkeys(_BZIP2, _BZIP2_HELD)}
        if encoding not in held:
            raise ReadError(f"{path}: encoding {encoding!r}, expected raw, gzip, bzip2 or ascii")
        stream: io.BufferedIOBase = file
        if encoding in _GZIP:
            stream = gunzipped(file)
        elif encoding in _BZIP2:
            stream = bz2.BZ2File(file)
        voxels = StoredVoxels(path, stream, header.dtype, count, held[encoding])
        if skipped > held[encoding] - needed:
            raise ReadError(f"{path}: truncated: {skipped} bytes to skip and {needed} of voxels do not fit the file")
        if skipped:
            stream.seek(left - needed if skipped < 0 else skipped, io.SEEK_CUR)
        yield voxels


def data_path(path: Path) -> Path:
    """Return the file that holds the values of a file: itself, or what its detached header names.

    Raises
    ------
    ReadError, UnsafePathError
        If the header cannot be read, or names several files or data outside its folder.
    """
    return _data_path(read_header(path))


def _data_path(header: NrrdHeader) -> Path:
    """The file that holds the values: this one, or one in its folder."""
    named = header.get("data file", "datafile")
    if named is None:
        return header.path
    return detached(header.path, "data file", str(named))


def _whole(header: NrrdHeader, *names: str, lowest: int) -> int:
    value = header.get(*names)
    number = 0 if value is None else int(value)
    if number < lowest:
        raise ReadError(f"{header.path}: damaged NRRD header: {names[0]} {number}")
    return number


def _numbers(file: BinaryIO, dtype: np.dtype[Any], path: Path, left: int) -> NDArray[Any]:
    """Numbers of a text, piece by piece: a list of all of them would take fifty times their length."""
    native = dtype.newbyteorder("=")
    found: list[NDArray[Any]] = []
    rest = b""
    for _ in range(0, left, 1 << 16):
        piece = rest + file.read(1 << 16)
        cut = max(piece.rfind(b" "), piece.rfind(b"\n"), piece.rfind(b"\t")) + 1
        words, rest = piece[:cut].split(), piece[cut:]
        if len(rest) > 64:
            break
        found.append(_parsed(words, native, path))
    found.append(_parsed(rest.split(), native, path))
    return np.concatenate(found)


def _parsed(words: list[bytes], dtype: np.dtype[Any], path: Path) -> NDArray[Any]:
    if max(map(len, words), default=0) > 64:
        raise ReadError(f"{path}: damaged text: a word of more than 64 letters, expected numbers")
    try:
        numbers: NDArray[Any] = np.array(words, dtype="S").astype(dtype) if words else np.empty(0, dtype)
    except (ValueError, OverflowError) as error:
        raise ReadError(f"{path}: damaged text: {error}, expected numbers") from error
    return numbers
