"""Read MetaImage volumes (.mha, and .mhd with its data in a file beside it), as ITK writes them.

The header is text, one ``key = value`` a line, and its last line says where the data are. Axes and offset are LPS, as
in ITK; they leave this module in RAS+ mm. The data of a detached header must lie in the header's own folder.

References
----------
itk.org/Wiki/ITK/MetaIO/Documentation; Kitware/MetaIO, ``metaTypes.h`` (a MET_LONG has four bytes everywhere).
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import LPS_TO_RAS, Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import GridMismatchError, LabelError, ReadError
from medotter_viewer.formats.colours import colour_volume
from medotter_viewer.formats.voxels import DEFLATE_RATIO, StoredVoxels, detached, inflated, read_errors, refuse_pointer

NAME = "metaimage"
SUFFIXES = (".mha", ".mhd")

_MAX_HEADER_BYTES = 1 << 16
_FIRST_KEYS = re.compile(rb"\s*(ObjectType|NDims|Comment|Name|ID|BinaryData|CompressedData)\s*=", re.IGNORECASE)
_LAST_LINE = re.compile(rb"^[ \t]*ElementDataFile[ \t]*=[ \t]*([^\r\n]*)\r?(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_TYPES = {
    "met_char": "i1", "met_uchar": "u1", "met_short": "i2", "met_ushort": "u2", "met_int": "i4", "met_uint": "u4",
    "met_long": "i4", "met_ulong": "u4", "met_long_long": "i8", "met_ulong_long": "u8", "met_float": "f4",
    "met_double": "f8",
}  # fmt: skip
_MM = {"um": 1e-3, "cm": 10.0}  # DistanceUnits; all others are mm


@dataclass(frozen=True, slots=True, eq=False)
class _Header:
    """Keys in lower case, the data file as written, where the header ends, and what follows from it."""

    path: Path
    keys: Mapping[str, str]
    data_file: str
    end: int
    dtype: np.dtype[np.number]
    channels: int
    grid: Grid
    findings: list[Finding] = field(default_factory=list)


def matches(start: bytes) -> bool:
    """Tell a MetaImage by its first bytes: lines of its keys, up to the one that names the data."""
    return _FIRST_KEYS.match(start) is not None and _LAST_LINE.search(start) is not None


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them.

    Raises
    ------
    ReadError
        If it is no MetaImage or is damaged.
    """
    header = _read_header(path)
    return header.grid, header.findings


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file in its smallest integer type, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, is no MetaImage, or holds several volumes.
    LabelError
        If values lie more than 0.05 from a whole number, are no numbers, or there are several in each voxel.
    UnsafePathError
        If the header names data outside its folder.
    """
    header = _read_header(path)
    if header.channels > 1:
        raise LabelError(
            f"{path}: {header.channels} channels for each voxel: these are no label ids; write label maps with one "
            "value for each voxel"
        )
    with _stored(header) as voxels:
        ids, notes = voxels.ids()
    return LabelMap(ids.reshape(header.grid.shape, order="F"), header.grid), header.findings + notes


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a file, in colour where it is stored in colour, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, is no MetaImage, or holds several volumes.
    UnsafePathError
        If the header names data outside its folder.
    """
    header = _read_header(path)
    if header.channels > 1 and (header.channels not in (3, 4) or header.dtype != np.uint8):
        raise ReadError(
            f"{path}: {header.channels} channels of type {header.dtype} for each voxel, expected one, or 8-bit red, "
            "green and blue; store one file per channel"
        )
    with _stored(header) as voxels:
        data = voxels.values()
    notes, shape = list(header.findings), header.grid.shape
    if header.channels == 1:
        unit = "HU" if header.keys.get("modality") == "MET_MOD_CT" else ""
        return Volume(data.reshape(shape, order="F"), header.grid, unit), notes
    colours = data.reshape(*shape[::-1], header.channels).transpose(2, 1, 0, 3)
    volume, more = colour_volume(colours, header.grid, path)
    return volume, notes + more


def _read_header(path: Path) -> _Header:
    with read_errors(path), path.open("rb") as file:
        start = file.read(_MAX_HEADER_BYTES)
    refuse_pointer(start, path)
    last = _LAST_LINE.search(start)
    if last is None or _FIRST_KEYS.match(start) is None:
        raise ReadError(f"{path}: not a MetaImage (starts with {start[:8]!r}); expected .mha or .mhd")
    keys = _keys(start[: last.start()].decode("utf-8", errors="replace"), path)
    notes: list[Finding] = []
    try:
        with np.errstate(all="ignore"):
            grid = _grid(path, keys, notes)
        channels = int(keys.get("elementnumberofchannels", "1"))
    except (GridMismatchError, ValueError, OverflowError) as error:
        raise ReadError(f"{path}: damaged MetaImage header: {error}") from error
    kind = _TYPES.get(keys.get("elementtype", "").lower().removesuffix("_array"))
    if kind is None or channels < 1:
        raise ReadError(f"{path}: {channels} values of type {keys.get('elementtype')}; expected whole or real numbers")
    is_big = any(_is_true(keys, key) for key in ("elementbyteordermsb", "binarydatabyteordermsb"))
    dtype = np.dtype(f"{'>' if is_big else '<'}{kind}")
    data_file = last[1].decode("utf-8", errors="replace").strip()
    return _Header(path, keys, data_file, last.end(), dtype, channels, grid, notes)


def _keys(text: str, path: Path) -> dict[str, str]:
    keys: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or keys.setdefault(key.strip().lower(), value.strip()) != value.strip():
            raise ReadError(f"{path}: damaged MetaImage header: {line[:80]!r}; expected each key once, key = value")
    return keys


def _is_true(keys: Mapping[str, str], key: str) -> bool:
    return keys.get(key, "").lower() in ("true", "1")


def _numbers(keys: Mapping[str, str], *names: str) -> NDArray[np.float64] | None:
    """Numbers of the first of these keys that is there."""
    text = next((keys[name] for name in names if name in keys), None)
    return None if text is None else np.array([float(word) for word in text.split()])


def _grid(path: Path, keys: Mapping[str, str], notes: list[Finding]) -> Grid:
    sizes = tuple(int(word) for word in keys.get("dimsize", "").split())
    n = len(sizes)
    if n < 2 or n != int(keys.get("ndims", n)) or min(sizes) < 1:
        raise ReadError(f"{path}: DimSize {keys.get('dimsize')}, NDims {keys.get('ndims')}; expected three sizes")
    if any(size != 1 for size in sizes[3:]):
        raise ReadError(f"{path}: {n}-dimensional, sizes {sizes}; expected one 3-D volume; store one file per channel")
    shape = (*sizes[:3], *(1,) * (3 - n))
    if n != 3:
        notes.append(Finding("info", "singleton-axes", f"sizes {sizes} read as {shape}", file=str(path)))
    steps = _numbers(keys, "elementspacing", "elementsize")
    steps = np.ones(n) if steps is None else steps
    offset = _numbers(keys, "offset", "position", "origin")
    matrix = _numbers(keys, "transformmatrix", "orientation", "rotation")
    if len(steps) != n or (offset is not None and len(offset) != n) or (matrix is not None and len(matrix) != n * n):
        raise ReadError(f"{path}: spacing, offset or matrix are not of {n} dimensions")
    if not (steps > 0).all():
        raise ReadError(f"{path}: ElementSpacing {steps.tolist()}, expected lengths")
    to_mm = _MM.get(keys.get("distanceunits", "").lower(), 1.0)
    if to_mm != 1:
        message = f"lengths are given in {keys['distanceunits']} and were converted to mm"
        notes.append(Finding("info", "unit-converted", message, file=str(path)))
    if n == 2 or (offset is None and matrix is None):  # a picture does not lie in the patient
        return Grid(shape, np.diag([*(steps[:3] * to_mm), *(1.0,) * (4 - min(n, 3))]), has_world=False)
    affine = np.eye(4)
    # Each three numbers are the direction of one axis: the columns of ITK's matrix.
    affine[:3, :3] = (np.eye(n) if matrix is None else matrix.reshape(n, n).T)[:3, :3] * steps[:3] * to_mm
    affine[:3, 3] = 0 if offset is None else offset[:3] * to_mm
    return Grid(shape, LPS_TO_RAS @ affine)


@contextmanager
def _stored(header: _Header) -> Iterator[StoredVoxels]:
    """Open the values: behind the header, or in the file it names."""
    path, packed = _data_path(header), _is_true(header.keys, "compresseddata")
    if header.keys.get("binarydata", "True").lower() in ("false", "0"):
        raise ReadError(f"{header.path}: values written as text are not read; write BinaryData = True")
    try:
        skipped = int(header.keys.get("headersize", "0"))
    except ValueError as error:
        raise ReadError(f"{header.path}: damaged MetaImage header: HeaderSize: {error}") from error
    count = math.prod(header.grid.shape) * header.channels
    with read_errors(path, "zlib"), path.open("rb") as file:
        length = path.stat().st_size
        start = (header.end if path == header.path else 0) + max(skipped, 0)
        if skipped == -1 and not packed:
            start = max(length - count * header.dtype.itemsize, 0)
        if skipped < -1 or start > length:
            raise ReadError(f"{path}: truncated, or HeaderSize {skipped} is wrong: the file has {length} bytes")
        file.seek(start)
        held = (length - start) * (DEFLATE_RATIO if packed else 1)
        stream: io.BufferedIOBase = inflated(file) if packed else file
        yield StoredVoxels(path, stream, header.dtype, count, held)


def data_path(path: Path) -> Path:
    """Return the file that holds the values of a file: itself, or what its detached header names.

    Raises
    ------
    ReadError, UnsafePathError
        If the header cannot be read, or names several files or data outside its folder.
    """
    return _data_path(_read_header(path))


def _data_path(header: _Header) -> Path:
    """The file that holds the values: this one, or one in its folder."""
    name = header.data_file
    if name.upper() == "LOCAL":
        return header.path
    return detached(header.path, "ElementDataFile", name)
