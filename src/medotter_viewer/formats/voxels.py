"""Voxels out of the bytes of a file: read in pieces, converted in the cache, never more memory than they need.

Formats parse their headers themselves; here is what comes behind a header, for all of them.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import IntArray
from medotter_viewer.core.paths import Confined
from medotter_viewer.errors import MedotterViewerError, ReadError
from medotter_viewer.formats.whole import WholeIds

DEFLATE_RATIO = 1040
"""How many bytes one byte of deflated data can become at most."""

GZIP_MAGIC = b"\x1f\x8b"
LFS_MAGIC = b"version https://git-lfs"

_PIECE = 1 << 20
_TAIL_PIECES = 64  # how many may follow the voxels before the end is no longer looked for


@dataclass(frozen=True, slots=True, eq=False)
class StoredVoxels:
    """What a header says about the voxels behind it.

    Parameters
    ----------
    path : Path
        For messages.
    stream : binary stream
        At the first voxel.
    dtype : dtype
        As stored, in the file's byte order: int, unsigned or float.
    count : int
        How many values.
    held : int
        How many bytes the stream can give at most.
    slope, inter : float
        A value is ``stored * slope + inter``.

    Raises
    ------
    ReadError
        If more bytes are promised than there can be: nothing is read or reserved.
    """

    path: Path
    stream: io.BufferedIOBase
    dtype: np.dtype[Any]
    count: int
    held: int
    slope: float = 1.0
    inter: float = 0.0

    def __post_init__(self) -> None:
        if self.needed > self.held:
            raise ReadError(
                f"{self.path}: truncated: the header promises {self.needed} bytes of voxels, the file cannot hold them"
            )

    @property
    def needed(self) -> int:
        """Bytes of all values."""
        return self.count * self.dtype.itemsize

    @property
    def is_scaled(self) -> bool:
        """Whether values differ from what is stored."""
        return (self.slope, self.inter) != (1.0, 0.0)

    def values(self) -> NDArray[Any]:
        """Return the values, a 1-D array in native byte order: float32 where scaled or stored with more digits.

        Raises
        ------
        ReadError
            If the stream ends before, or the memory does not suffice.
        """
        as_stored = not self.is_scaled and (self.dtype.kind in "iu" or self.dtype.itemsize <= 4)
        data: NDArray[Any] = self._reserved(self.dtype if as_stored else np.dtype(np.float32))
        if as_stored:
            self._fill(data.view(np.uint8), 0)
            data = data if self.dtype.isnative else data.byteswap(inplace=True).view(self.dtype.newbyteorder("="))
        else:
            place = 0
            with np.errstate(all="ignore"):  # what overflows is infinite
                for block in self._blocks():
                    data[place : place + block.size] = block
                    place += block.size
        self._finish()
        return data

    def ids(self) -> tuple[IntArray, list[Finding]]:
        """Return the values as label ids, a 1-D array in their smallest type, and what was noticed.

        Raises
        ------
        ReadError
            If the stream ends before, or the memory does not suffice.
        LabelError
            If values lie more than 0.05 from a whole number, or are no numbers.
        """
        if self.dtype == np.uint8 and not self.is_scaled:
            data = self._reserved(self.dtype)
            self._fill(data, 0)
            self._finish()
            return data, []
        try:
            whole = WholeIds(self.count, self.path)
            with np.errstate(all="ignore"):
                for block in self._blocks():
                    whole.add(block)
        except MemoryError as error:
            raise self._too_large() from error
        self._finish()
        return whole.result()

    def _reserved(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        try:
            return np.empty(self.count, dtype=dtype)
        except MemoryError as error:
            raise self._too_large() from error

    def _too_large(self) -> ReadError:
        return ReadError(f"{self.path}: {self.needed / 2**30:.1f} GiB of voxels do not fit the memory")

    def _blocks(self) -> Iterator[NDArray[Any]]:
        """Values scaled and in native byte order; each block is valid until the next."""
        size = max(1, _PIECE // self.dtype.itemsize)
        scratch = np.empty(min(size, self.count), dtype=self.dtype)
        for start in range(0, self.count, size):
            block: NDArray[Any] = scratch[: self.count - start]
            self._fill(block.view(np.uint8), start * self.dtype.itemsize)
            if not self.dtype.isnative:
                block = block.astype(self.dtype.newbyteorder("="))
            yield block * np.float64(self.slope) + np.float64(self.inter) if self.is_scaled else block

    def _fill(self, target: NDArray[np.uint8], before: int) -> None:
        view, got = target.data, 0
        while got < len(view):
            n = self.stream.readinto(view[got : got + _PIECE])
            if not n:
                raise ReadError(
                    f"{self.path}: truncated: {before + got} of {self.needed} bytes of voxels, unexpected end of file; "
                    "copy it again"
                )
            got += n

    def _finish(self) -> None:
        """Read to the end: only there is the checksum of packed data compared."""
        for _ in range(_TAIL_PIECES):
            if not self.stream.read(_PIECE):
                break


def detached(header: Path, key: str, name: str) -> Path:
    """Return the file of values that a header names, in its own folder.

    Raises
    ------
    ReadError
        If it names several files.
    UnsafePathError
        If it names a file outside its folder.
    """
    if name.upper().startswith("LIST") or "%" in name:
        raise ReadError(f"{header}: {key} {name!r}: data in several files are not read; join them into one")
    return Confined(header.parent).resolve(name, where=f"{header}: {key}")


def gunzipped(file: BinaryIO) -> io.BufferedIOBase:
    """Return the unpacked bytes of a gzip file of one or several members, by isal: several times as fast as zlib."""
    from isal import igzip

    # The reader itself where there is one, it is no public name: IGzipFile.readinto copies every byte once more.
    reader = getattr(igzip, "_GzipReader", None)
    if reader is None:
        return cast(io.BufferedIOBase, igzip.IGzipFile(fileobj=file, mode="rb"))
    return io.BufferedReader(cast(io.RawIOBase, reader(file, 1 << 19)), 1 << 16)


def inflated(file: BinaryIO) -> io.BufferedReader:
    """Return the unpacked bytes of a zlib (or gzip) stream, never more at once than were asked for."""
    return io.BufferedReader(_Inflated(file), 1 << 16)


class _Inflated(io.RawIOBase):
    """Deflated data unpacked while they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(wbits=47)
        self._packed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacker.eof:
            self._packed = self._packed or self._file.read(1 << 16)
            if not self._packed:
                raise EOFError
            content = self._unpacker.decompress(self._packed, len(buffer))
            self._packed = self._unpacker.unconsumed_tail
            if content:
                buffer[: len(content)] = content
                return len(content)
        return 0


@contextmanager
def read_errors(path: Path, packing: str = "gzip") -> Iterator[None]:
    """Turn what opening, reading and unpacking raise into a ReadError that names the file and how it is packed."""
    from isal import igzip_lib

    isal_error = cast(type[Exception], igzip_lib.IsalError)
    try:
        yield
    except MedotterViewerError:
        raise
    except (EOFError, zlib.error, isal_error, gzip.BadGzipFile) as error:
        raise ReadError(
            f"{path}: damaged or truncated {packing} data (unexpected end of {packing} stream); copy the file again"
        ) from error
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error


def refuse_pointer(start: bytes, path: Path) -> None:
    """Refuse a file that only says where its content would be found."""
    if start.startswith(LFS_MAGIC):
        raise ReadError(f"{path}: Git LFS pointer, data not downloaded; run 'git lfs pull'")
