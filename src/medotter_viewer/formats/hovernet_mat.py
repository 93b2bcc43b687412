"""Read instance maps of nuclei as HoVer-Net writes them: the variable ``inst_map`` of a MATLAB 5 file (.mat).

Only that variable is read, and only where it is a plain 2-D array of numbers: structures, objects and functions are
passed over unread. Types, classes and centroids beside it are derived from the map. scipy is not used: on damaged files
it ends the process.

References
----------
MathWorks, "MAT-File Format", level 5.
"""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.images import MAX_PIXELS, pixel_grid
from medotter_viewer.formats.voxels import DEFLATE_RATIO, StoredVoxels, inflated, read_errors, refuse_pointer

NAME = "hovernet_mat"
SUFFIXES = (".mat",)
VARIABLE = "inst_map"

_MAGIC = b"MATLAB 5.0 MAT-file"
_HDF5 = (b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n")
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CLASSES = {1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 16: "function", 17: "opaque"}
_COMPLEX = 0x0800
_MOST_VARIABLES, _LONGEST_NAME, _MOST_DIMENSIONS = 10_000, 256, 32


@dataclass(frozen=True, slots=True)
class _Variable:
    """What stands before the numbers of a matrix."""

    name: str
    kind: str
    shape: tuple[int, ...]


def matches(start: bytes) -> bool:
    """Tell a MATLAB 5 file by its first bytes."""
    return start.startswith(_MAGIC)


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return the size of the instance map, in pixels, without reading it.

    Raises
    ------
    ReadError
        If the file is damaged, of another version, or has no such map.
    """
    with _instance_map(path) as (_, shape):
        return pixel_grid(shape), []


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the instance map in its smallest integer type, of shape (1, rows, columns), and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, of another version, or has no such map.
    LabelError
        If values lie more than 0.05 from a whole number, or are no numbers.
    """
    with _instance_map(path) as (voxels, shape):
        ids, notes = voxels.ids()
    grid = pixel_grid(shape)
    return LabelMap(ids.reshape(shape, order="F").reshape(grid.shape), grid), notes


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the instance map as an image.

    Raises
    ------
    ReadError
        If the file is damaged, of another version, or has no such map.
    """
    with _instance_map(path) as (voxels, shape):
        data = voxels.values()
    grid = pixel_grid(shape)
    return Volume(data.reshape(shape, order="F").reshape(grid.shape), grid), []


@contextmanager
def _instance_map(path: Path) -> Iterator[tuple[StoredVoxels, tuple[int, ...]]]:
    """The numbers of the variable, ready to be read, and its shape (rows, columns)."""
    with read_errors(path, "zlib"), path.open("rb") as file:
        start = file.read(128)
        refuse_pointer(start, path)
        if start.startswith(_HDF5):
            raise ReadError(f"{path}: MATLAB 7.3 (HDF5) is not read; save it with '-v7' or as .npy")
        order = {b"IM": "<", b"MI": ">"}.get(start[126:128])
        if not matches(start) or order is None:
            raise ReadError(f"{path}: not a MATLAB 5 file (starts with {start[:8]!r}); expected .mat")
        seen: list[str] = []
        for stream in _elements(file, order, path):
            variable = _variable(stream, order, path)
            seen.append(variable.name)
            if variable.name == VARIABLE:
                yield _numbers(stream, variable, order, path), variable.shape
                return
    names = ", ".join(seen[:10]) or "nothing"
    raise ReadError(f"{path}: no variable {VARIABLE}, expected an instance map; it holds {names}")


def _elements(file: io.BufferedReader, order: str, path: Path) -> Iterator[io.BufferedIOBase]:
    """The variables of a file, each as a stream of what stands in its matrix."""
    for _ in range(_MOST_VARIABLES):
        tag = file.read(8)
        if not tag.strip(b"\0"):
            return
        if len(tag) < 8:
            raise EOFError
        kind, size = struct.unpack(f"{order}II", tag)
        start = file.tell()
        if kind == _COMPRESSED:
            stream = inflated(io.BytesIO(file.read(size)))
            inner = stream.read(8)
            if len(inner) == 8 and struct.unpack(f"{order}II", inner)[0] == _MATRIX:
                yield stream
        elif kind == _MATRIX:
            yield file
        else:
            raise ReadError(f"{path}: damaged MATLAB file: an element of type {kind}; copy it again")
        file.seek(start + size)


def _variable(stream: io.BufferedIOBase, order: str, path: Path) -> _Variable:
    flags = struct.unpack(f"{order}II", _element(stream, order, 8, path)[1].ljust(8, b"\0"))[0]
    dimensions = _element(stream, order, 4 * _MOST_DIMENSIONS, path)[1]
    shape = struct.unpack(f"{order}{len(dimensions) // 4}i", dimensions[: len(dimensions) // 4 * 4])
    name = _element(stream, order, _LONGEST_NAME, path)[1].decode("ascii", errors="replace")
    return _Variable(name, "complex" if flags & _COMPLEX else _CLASSES.get(flags & 0xFF, ""), shape)


def _element(stream: io.BufferedIOBase, order: str, most: int, path: Path) -> tuple[int, bytes]:
    """Type and content of a short element, which is padded to eight bytes."""
    kind, size, small = _tag(stream, order)
    if size > most:
        raise ReadError(f"{path}: damaged MATLAB file: an element of {size} bytes, expected at most {most}")
    if small is not None:
        return kind, small[:size]
    content = stream.read(-(-size // 8) * 8)
    if len(content) < size:
        raise EOFError
    return kind, content[:size]


def _tag(stream: io.BufferedIOBase, order: str) -> tuple[int, int, bytes | None]:
    """Type, size, and the content where it is so short that it stands in the tag itself."""
    tag = stream.read(8)
    if len(tag) < 8:
        raise EOFError
    kind, size = struct.unpack(f"{order}II", tag)
    return (kind & 0xFFFF, kind >> 16, tag[4:]) if kind >> 16 else (kind, size, None)


def _numbers(stream: io.BufferedIOBase, variable: _Variable, order: str, path: Path) -> StoredVoxels:
    shape = variable.shape
    if variable.kind or len(shape) != 2 or min(shape) < 1:
        word = variable.kind or "an array"
        raise ReadError(f"{path}: {VARIABLE} is {word} of shape {shape}, expected rows and columns of numbers")
    kind, size, small = _tag(stream, order)
    if kind not in _TYPES:
        raise ReadError(f"{path}: damaged MATLAB file: numbers of type {kind}; copy it again")
    count, dtype = math.prod(shape), np.dtype(f"{order}{_TYPES[kind]}")
    held = min(path.stat().st_size * DEFLATE_RATIO, MAX_PIXELS * dtype.itemsize)
    if small is not None:
        stream, held = io.BytesIO(small[:size]), size
    voxels = StoredVoxels(path, stream, dtype, count, held)
    if voxels.needed != size:
        raise ReadError(f"{path}: {VARIABLE} of shape {shape} has {size} bytes of numbers, expected {voxels.needed}")
    return voxels
