"""Read npy files, and npz files that hold one array. Pickled objects are never loaded."""

from __future__ import annotations

import math
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
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ReadError(f"{path}: npy version {version}, expected 1.0 or 2.0: one plain array")
    if dtype.hasobject or dtype.kind not in "biuf":
        raise ReadError(f"{path}: values of type {dtype}, expected whole or real numbers; objects are never loaded")
    needed = math.prod(shape) * dtype.itemsize
    if needed > held:
        raise ReadError(f"{path}: truncated: the header promises {needed} bytes of values, the file cannot hold them")
    return shape, "F" if is_fortran else "C", dtype
