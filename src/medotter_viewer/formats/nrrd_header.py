"""The header of a NRRD file: how its values are stored, which axes are space, and where they lie in RAS+ mm.

pynrrd parses the fields; what they say is judged here.

References
----------
teem.sourceforge.net/nrrd/format.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats.voxels import refuse_pointer

MAGIC = b"NRRD000"
MAX_HEADER_BYTES = 4 << 20

_RAS_SIGNS = {
    "right-anterior-superior": (1, 1, 1), "ras": (1, 1, 1),
    "left-anterior-superior": (-1, 1, 1), "las": (-1, 1, 1),
    "left-posterior-superior": (-1, -1, 1), "lps": (-1, -1, 1),
}  # fmt: skip
_MM = {
    "mm": 1.0, "millimeter": 1.0, "millimetre": 1.0, "cm": 10.0, "centimeter": 10.0, "m": 1000.0, "meter": 1000.0,
    "um": 1e-3, "\u00b5m": 1e-3, "\u03bcm": 1e-3, "micron": 1e-3, "micrometer": 1e-3, "micrometre": 1e-3, "nm": 1e-6,
}  # fmt: skip
_NOT_SPACE = {"list", "vector", "point", "covariant-vector", "normal", "stub", "scalar", "complex", "time"}
_COLOURS = {"rgb-color": 3, "rgba-color": 4}
_TYPES = {
    "i1": "signed char, int8, int8_t",
    "u1": "uchar, unsigned char, uint8, uint8_t",
    "i2": "short, short int, signed short, signed short int, int16, int16_t",
    "u2": "ushort, unsigned short, unsigned short int, uint16, uint16_t",
    "i4": "int, signed int, int32, int32_t",
    "u4": "uint, unsigned int, uint32, uint32_t",
    "i8": "longlong, long long, long long int, signed long long, signed long long int, int64, int64_t",
    "u8": "ulonglong, unsigned long long, unsigned long long int, uint64, uint64_t",
    "f4": "float",
    "f8": "double",
}
_DTYPES = {name: kind for kind, names in _TYPES.items() for name in names.split(", ")}


@dataclass(frozen=True, slots=True, eq=False)
class NrrdHeader:
    """What the header says.

    Parameters
    ----------
    path : Path
        For messages.
    fields : mapping
        As pynrrd parsed them.
    end : int
        Byte behind the header.
    sizes : tuple of int
        Of all axes, the fastest first.
    dtype : dtype
        Of one value, in the file's byte order.
    space_axes : tuple of int
        The two or three axes that are space.
    grid : Grid
        Where they lie, mm RAS+.
    colours : int
        3 or 4 where one axis is red, green, blue (and alpha), else 0.
    findings : list of Finding
        What was noticed.
    """

    path: Path
    fields: Mapping[str, Any]
    end: int
    sizes: tuple[int, ...]
    dtype: np.dtype[Any]
    space_axes: tuple[int, ...]
    grid: Grid
    colours: int
    findings: list[Finding] = field(default_factory=list)

    @property
    def other_axes(self) -> tuple[int, ...]:
        """Axes that are not space."""
        return tuple(axis for axis in range(len(self.sizes)) if axis not in self.space_axes)

    def get(self, *names: str) -> Any:
        """Return the field of one of these names, None where there is none."""
        return next((self.fields[name] for name in names if name in self.fields), None)


def read_header(path: Path) -> NrrdHeader:
    """Return the header of a NRRD file.

    Raises
    ------
    ReadError
        If it is none, is damaged, or has not two or three axes of space.
    """
    try:
        with path.open("rb") as file:
            start = file.read(MAX_HEADER_BYTES)
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error
    refuse_pointer(start, path)
    if not start.startswith(MAGIC):
        raise ReadError(f"{path}: not a NRRD file (starts with {start[:8]!r}); expected .nrrd or .nhdr")
    blank = re.search(rb"\r?\n\r?\n", start)
    if blank is None and len(start) == MAX_HEADER_BYTES:
        raise ReadError(f"{path}: damaged NRRD header: no blank line within {MAX_HEADER_BYTES >> 20} MB ends it")
    fields = _fields(start[: blank.start() if blank else len(start)], path)
    try:
        # What is no number, or too large for one, is refused by Grid.
        with np.errstate(all="ignore"):
            return _judged(path, fields, blank.end() if blank else len(start))
    except (GridMismatchError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise ReadError(f"{path}: damaged NRRD header: {error}") from error


def _fields(content: bytes, path: Path) -> Mapping[str, Any]:
    import nrrd

    text = content.decode("utf-8", errors="replace")
    # Some writers put blanks into vectors, which pynrrd takes for several.
    lines = [
        re.sub(r"\s+(?=[^()]*\))", "", line) if line.lower().startswith("space ") else line for line in text.split("\n")
    ]
    try:
        with np.errstate(all="ignore"):
            fields: Mapping[str, Any] = nrrd.read_header(lines)
    except Exception as error:  # fields of a damaged header fail anywhere in the parser
        raise ReadError(f"{path}: damaged NRRD header: {error}") from error
    if absent := [name for name in ("type", "dimension", "sizes", "encoding") if name not in fields]:
        raise ReadError(f"{path}: damaged NRRD header: no {', '.join(absent)}")
    return fields


def _judged(path: Path, fields: Mapping[str, Any], end: int) -> NrrdHeader:
    sizes = tuple(int(n) for n in fields["sizes"])
    if not sizes or len(sizes) != int(fields["dimension"]) or min(sizes) < 1:
        raise ReadError(f"{path}: damaged NRRD header: dimension {fields['dimension']}, sizes {sizes}")
    kinds = [str(kind).lower() for kind in fields.get("kinds", [])] or ["domain"] * len(sizes)
    directions = _rows(fields.get("space directions"), len(sizes), path)
    if len(kinds) != len(sizes):
        raise ReadError(f"{path}: damaged NRRD header: {len(kinds)} kinds for {len(sizes)} axes")
    if directions is not None:
        space_axes = tuple(int(axis) for axis in np.flatnonzero(~np.isnan(directions).all(axis=1)))
    else:
        named = [axis for axis, kind in enumerate(kinds) if not _is_other(kind)]
        space_axes = tuple(axis for axis in named if len(named) <= 3 or sizes[axis] > 1)
    if len(space_axes) not in (2, 3):
        raise ReadError(
            f"{path}: {len(sizes)}-dimensional, sizes {sizes}, of which {len(space_axes)} are axes of space; expected "
            "one volume of three; store one file per channel"
        )
    notes: list[Finding] = []
    grid = _grid(path, fields, tuple(sizes[axis] for axis in space_axes), space_axes, directions, notes)
    dtype = _dtype(path, fields)
    others = [(kinds[axis], sizes[axis]) for axis in range(len(sizes)) if axis not in space_axes]
    # ITK calls the colours of a vector image a vector.
    colours = [
        n for kind, n in others if _COLOURS.get(kind) == n or (kind == "vector" and n == 3 and dtype == np.uint8)
    ]
    if len(sizes) != 3:
        message = f"sizes {sizes} read as {grid.shape}"
        if all(sizes[axis] == 1 for axis in range(len(sizes)) if axis not in space_axes):
            notes.append(Finding("info", "singleton-axes", message, file=str(path)))
    return NrrdHeader(
        path, fields, end, sizes, dtype, space_axes, grid, colours[0] if len(others) == 1 and colours else 0, notes
    )


def _is_other(kind: str) -> bool:
    return kind in _NOT_SPACE or kind in _COLOURS or "color" in kind or "matrix" in kind or kind.endswith("-vector")


def _rows(directions: Any, n: int, path: Path) -> NDArray[np.float64] | None:
    """One row of three numbers for each axis, NaN for an axis that is not space."""
    if directions is None:
        return None
    rows = np.array([[np.nan] * 3 if row is None else row for row in directions], dtype=np.float64)
    if rows.shape != (n, 3):
        raise ReadError(f"{path}: space directions of shape {rows.shape}, expected three numbers for each of {n} axes")
    return rows


def _grid(
    path: Path,
    fields: Mapping[str, Any],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    directions: NDArray[np.float64] | None,
    notes: list[Finding],
) -> Grid:
    shape = (*shape, *(1,) * (3 - len(shape)))
    if directions is None:
        spacings, units = fields.get("spacings"), fields.get("units")
        steps = [1.0 if spacings is None else abs(float(spacings[axis])) for axis in axes]
        to_mm = _to_mm([units[axis] for axis in axes] if units is not None else [], len(axes), path, notes)
        return Grid(shape, np.diag([*(np.array(steps) * to_mm), *(1.0,) * (4 - len(axes))]), has_world=False)
    to_mm = _to_mm(list(fields.get("space units", [])), 3, path, notes)
    columns = directions[list(axes)].T * to_mm[:, None]
    if len(axes) == 2:
        normal = np.cross(*columns.T)
        columns = np.column_stack([columns, normal / (np.linalg.norm(normal) or 1.0)])
    space = str(fields.get("space", "")).lower()
    if space not in _RAS_SIGNS:
        message = (
            f"space {space or 'not named'}: how the volume lies in the patient is unknown; only its steps are used"
        )
        notes.append(Finding("warning", "unknown-space", message, file=str(path)))
        return Grid(shape, np.diag([*np.linalg.norm(columns, axis=0), 1.0]), has_world=False)
    affine = np.eye(4)
    affine[:3, :3] = columns
    if (origin := fields.get("space origin")) is None:
        message = "no space origin: the first voxel is taken to lie at 0, 0, 0"
        notes.append(Finding("warning", "no-origin", message, file=str(path)))
    else:
        affine[:3, 3] = np.asarray(origin, dtype=np.float64) * to_mm
    return Grid(shape, np.diag([*_RAS_SIGNS[space], 1]) @ affine)


def _to_mm(units: list[Any], n: int, path: Path, notes: list[Finding]) -> NDArray[np.float64]:
    words = [str(unit).strip().lower() for unit in units] or [""] * n
    if len(words) != n:
        raise ReadError(f"{path}: {len(words)} units, expected {n}")
    factors = np.array([_MM.get(word, _MM.get(word.removesuffix("s"), 1.0)) for word in words])
    if (factors != 1).any():
        message = f"lengths are given in {', '.join(dict.fromkeys(words))} and were converted to mm"
        notes.append(Finding("info", "unit-converted", message, file=str(path)))
    return factors


def _dtype(path: Path, fields: Mapping[str, Any]) -> np.dtype[Any]:
    name = " ".join(str(fields["type"]).lower().split())
    if name not in _DTYPES:
        raise ReadError(f"{path}: values of type {name!r}, expected whole or real numbers")
    dtype = np.dtype(_DTYPES[name])
    if dtype.itemsize == 1 or str(fields["encoding"]).lower() in ("ascii", "text", "txt"):
        return dtype
    endian = fields.get("endian")
    order = {"little": "<", "big": ">"}.get(str(endian).lower())
    if order is None:
        raise ReadError(f"{path}: damaged NRRD header: endian {endian!r}, expected little or big")
    return np.dtype(f"{order}{_DTYPES[name]}")
