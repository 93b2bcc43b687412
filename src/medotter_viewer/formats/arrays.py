"""Read npy files, and npz files that hold one array. Pickled objects are never loaded."""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MedotterViewerError, ReadError

NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_DEFLATE_RATIO = 1040  # deflate cannot expand further
_LENGTHS = {b"\x01\x00": "<H", b"\x02\x00": "<I"}  # by version: how the length of the header is stored
_LONGEST_HEADER = 10_000  # numpy's own limit

# The header is Python's text of a dictionary, which numpy evaluates: slow, and with warnings, where it is damaged.
_WORD = r"""\s*['"]{}['"]\s*:\s*"""
_TYPE = re.compile(_WORD.format("descr") + r"""['"]([<>|=]?[a-zA-Z?]\d*)['"]""")
_ORDER = re.compile(_WORD.format("fortran_order") + "(True|False)")
_SHAPE = re.compile(_WORD.format("shape") + r"\(([0-9L, ]*)\)")


def read_shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the array of a file, without reading it.

    Raises
    ------
    ReadError
        If the file is damaged, holds objects, or several arrays.
    """
    with _opened(path) as (stream, held):
        return _header(stream, held, path)[0]


def decode(path: Path) -> NDArray[Any]:
    """Return the array of a file in native byte order.

    Raises
    ------
    ReadError
        If the file is damaged, holds objects, or several arrays.
    """
    with _opened(path) as (stream, held):
        shape, order, dtype = _header(stream, held, path)
        needed = math.prod(shape) * dtype.itemsize
        content = stream.read(needed)
        if len(content) < needed:
            raise ReadError(f"{path}: truncated: {len(content)} of {needed} bytes of values; copy the file again")
        stream.read(1)  # only at the end is a zip member's checksum compared
    data: NDArray[Any] = np.frombuffer(content, dtype=dtype).reshape(shape, order=order)  # type: ignore[call-overload]
    return data if dtype.isnative else data.astype(dtype.newbyteorder("="))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Open the bytes of the one array, and say how many there can be at most."""
    try:
        with path.open("rb") as file:
            packed = file.read(4).startswith(ZIP_MAGICS)
            file.seek(0)
            if not packed:
                yield file, path.stat().st_size
                return
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
                if len(names) != 1 or not names[0].endswith(".npy"):
                    listed = ", ".join(names[:10]) or "nothing"
                    raise ReadError(f"{path}: holds {len(names)} members ({listed}), expected exactly one array")
                with archive.open(names[0]) as member:
                    yield member, archive.getinfo(names[0]).compress_size * _DEFLATE_RATIO
    except MedotterViewerError:
        raise
    except (
        *(OSError, EOFError, ValueError, MemoryError),
        *(zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError),
    ) as error:
        raise ReadError(f"{path}: damaged or unusual array file: {error}") from error


def _header(stream: IO[bytes], held: int, path: Path) -> tuple[tuple[int, ...], str, np.dtype[Any]]:
    """Shape, memory order and type; refused before reading where objects or more bytes than possible are promised."""
    magic = stream.read(8)
    length = _LENGTHS.get(magic[6:])
    if not magic.startswith(NPY_MAGIC) or length is None:
        version = ".".join(map(str, magic[6:])) if magic.startswith(NPY_MAGIC) else "none"
        raise ReadError(f"{path}: npy version {version}, expected 1.0 or 2.0: one plain array")
    size = struct.calcsize(length)
    (wanted,) = struct.unpack(length, stream.read(size).ljust(size, b"\0"))
    text = stream.read(min(wanted, _LONGEST_HEADER)).decode("latin-1")
    found = [pattern.search(text) for pattern in (_TYPE, _ORDER, _SHAPE)]
    if len(text) < wanted or not all(found):
        raise ReadError(f"{path}: damaged or unusual npy header {text[:100]!r}, expected one plain array")
    kind, order, sizes = (one[1] for one in found if one)
    dtype = _number_type(kind)
    if dtype is None:
        raise ReadError(f"{path}: values of type {kind!r}, expected whole or real numbers; objects are never loaded")
    digits = [part.strip().rstrip("L") for part in sizes.split(",") if part.strip()]
    if not all(part.isdigit() and len(part) < 20 for part in digits):
        raise ReadError(f"{path}: damaged npy header: shape ({sizes[:100]})")
    shape = tuple(map(int, digits))
    needed = math.prod(shape) * dtype.itemsize
    if needed > held:
        raise ReadError(f"{path}: truncated: the header promises {needed} bytes of values, the file cannot hold them")
    return shape, "F" if order == "True" else "C", dtype


def _number_type(kind: str) -> np.dtype[Any] | None:
    """Bool, int or float of a name such as ``<f8``; None for anything else."""
    if kind.lstrip("<>|=")[:1] not in ("b", "i", "u", "f"):
        return None
    try:
        return np.dtype(kind)
    except TypeError:  # no such size here
        return None
