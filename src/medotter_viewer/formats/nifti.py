"""Read and write NIfTI-1 and NIfTI-2 volumes (.nii, .nii.gz).

Content decides, not the name. Geometry leaves this module in RAS+ mm whatever unit the file uses, and says when the
file has no position of its own. nibabel parses and writes the header; the voxels are read here so that a header that
promises more than the file holds costs nothing.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import PASS_FRACTION, Grid
from medotter_viewer.core.labels import LabelMap, smallest_label_dtype
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import GridMismatchError, ReadError, WriteError
from medotter_viewer.formats.whole import whole_labels

NAME = "nifti"
SUFFIXES = (".nii.gz", ".nii")

_MM = {1: 1000.0, 2: 1.0, 3: 0.001}  # xyzt_units: metre, millimetre, micrometre
_UNIT_NAMES = {1: "metre", 3: "micrometre"}
_GZIP_RATIO = 1040  # deflate cannot expand further
_TAIL_MIB = 64  # how much may follow the voxels before the end is no longer looked for
_LFS = b"version https://git-lfs"


@dataclass(slots=True)
class _Header:
    """What the header says, and what was noticed about it."""

    raw: Any
    grid: Grid
    findings: list[Finding] = field(default_factory=list)


def matches(start: bytes) -> bool:
    """Whether a file that begins so, unpacked, has a NIfTI header: its size comes first, in either byte order."""
    return start[:4] in (b"\x5c\x01\0\0", b"\0\0\x01\x5c", b"\x1c\x02\0\0", b"\0\0\x02\x1c")


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them.

    Raises
    ------
    ReadError
        If it is no NIfTI file.
    """
    with _opened(path) as (stream, notes):
        header = _read_header(stream, path)
        return header.grid, notes + header.findings


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file in its smallest integer type, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged or is no NIfTI file.
    LabelError
        If values lie more than 0.05 from a whole number, or are no numbers.
    """
    data, header, findings = _read(path)
    whole, noticed = whole_labels(data, path)
    findings += noticed
    return LabelMap(whole, header.grid), findings


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a file, scaled as its header says, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, is no NIfTI file, or holds colours or several volumes.
    """
    data, header, findings = _read(path)
    if data.dtype == np.float64:
        with np.errstate(all="ignore"):  # what overflows is infinite
            data = data.astype(np.float32)
    return Volume(data, header.grid), findings


def write_labels(path: Path, labels: LabelMap) -> None:
    """Write a label map in its smallest type; the file gets the sform of its grid.

    Raises
    ------
    WriteError
        If the file exists or cannot be written.
    """
    data = labels.data
    low, high = (int(data.min()), int(data.max())) if data.size else (0, 0)
    kind = smallest_label_dtype(low, high)
    _write(path, data.astype(kind), labels.grid)


def write_volume(path: Path, volume: Volume) -> None:
    """Write an image; the file gets the sform of its grid.

    Raises
    ------
    WriteError
        If the file exists or cannot be written.
    """
    _write(path, volume.data, volume.grid)


def _write(path: Path, data: NDArray[Any], grid: Grid) -> None:
    import nibabel
    from nibabel.spatialimages import HeaderDataError

    if path.exists():
        raise WriteError(f"{path} exists; choose another name or remove it first")
    if not path.name.lower().endswith(SUFFIXES):
        raise WriteError(f"{path}: no writer for this kind of file; expected one of {', '.join(SUFFIXES)}")
    try:
        image = nibabel.Nifti1Image(data, grid.affine, dtype=data.dtype)
        image.header.set_xyzt_units("mm")
        if not grid.has_world:
            image.set_sform(None, code=0)
            image.set_qform(None, code=0)
        nibabel.save(image, path)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
    except HeaderDataError as error:
        raise WriteError(f"{path}: not storable as NIfTI: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, list[Finding]]]:
    """Open the decompressed bytes of a file, whatever its name says."""
    notes: list[Finding] = []
    try:
        with path.open("rb") as file:
            magic = file.read(len(_LFS))
            file.seek(0)
            if magic == _LFS:
                raise ReadError(f"{path}: Git LFS pointer, data not downloaded; run 'git lfs pull'")
            packed, named = magic[:2] == b"\x1f\x8b", path.name.lower().endswith(".gz")
            if packed != named:
                kind = "gzip data in a file not named .gz" if packed else "named .gz but not gzip data"
                notes.append(Finding("warning", "wrong-suffix", f"{kind}; read by its content", file=str(path)))
            if packed:
                with gzip.GzipFile(fileobj=file) as stream:
                    yield cast(BinaryIO, stream), notes
            else:
                yield file, notes
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ReadError(
            f"{path}: damaged or truncated gzip data (unexpected end of gzip stream); copy the file again"
        ) from error
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error.strerror or error}") from error


def _read_header(stream: BinaryIO, path: Path) -> _Header:
    import nibabel
    from nibabel.spatialimages import HeaderDataError
    from nibabel.wrapstruct import WrapStructError

    start = stream.read(540)
    size = start[:4]
    version = {b"\x5c\x01\0\0": 1, b"\0\0\x01\x5c": 1, b"\x1c\x02\0\0": 2, b"\0\0\x02\x1c": 2}.get(size)
    if version is None or len(start) < (348 if version == 1 else 540):
        raise ReadError(f"{path}: not a NIfTI file (starts with {start[:8]!r}); expected .nii or .nii.gz")
    kind = nibabel.Nifti1Header if version == 1 else nibabel.Nifti2Header
    try:
        # Extensions are skipped: the voxels start at vox_offset.
        raw = kind(start[: kind.sizeof_hdr], check=False)
        _mend_steps(raw)
        notes: list[Finding] = []
        with np.errstate(all="ignore"):  # a form that is no number is refused by Grid
            header = _Header(raw, _grid(raw, path, notes), notes)
    except (HeaderDataError, WrapStructError, GridMismatchError, ValueError) as error:
        raise ReadError(f"{path}: damaged NIfTI header: {error}") from error
    if header.grid.shear_deg > 0.1:
        notes.append(
            Finding(
                "info",
                "sheared-axes",
                f"axes are {header.grid.shear_deg:.2f} deg from orthogonal (sheared); distances use the voxel "
                "edge lengths",
                file=str(path),
            )
        )
    return header


def _mend_steps(raw: Any) -> None:
    """Read qfac by its sign (the format says so, and 0 is common), steps without it, those of absent axes as 1."""
    steps = raw["pixdim"]
    steps[0] = -1 if steps[0] < 0 else 1
    steps[1:4] = np.abs(steps[1:4])
    steps[1 + len(raw.get_data_shape()) : 4] = 1


def _grid(raw: Any, path: Path, notes: list[Finding]) -> Grid:
    """Position in mm: sform first, then qform, else none."""
    shape = _spatial_shape(raw, path)
    unit = int(raw["xyzt_units"]) & 7
    to_mm = np.array([[_MM.get(unit, 1.0)]] * 3 + [[1.0]])
    if unit in _UNIT_NAMES:
        message = f"lengths are given in {_UNIT_NAMES[unit]} and were converted to mm"
        notes.append(Finding("info", "unit-converted", message, file=str(path)))
    forms = {}
    for name, code, get in (("sform", "sform_code", raw.get_sform), ("qform", "qform_code", raw.get_qform)):
        if int(raw[code]) > 0:
            try:
                forms[name] = Grid(shape, to_mm * get())
            except ValueError as error:  # GridMismatchError, or nibabel's for a quaternion longer than 1
                notes.append(Finding("warning", "unusable-form", f"{name}: {error}; not used", file=str(path)))
    if not forms:
        zooms = np.asarray(raw["pixdim"][1:4], dtype=np.float64)
        return Grid(shape, to_mm * np.diag([*zooms, 1.0]), has_world=False)
    if len(forms) == 2:
        apart = forms["sform"].corner_displacement_mm(forms["qform"])
        if apart > PASS_FRACTION * min(forms["sform"].spacing):
            message = f"qform and sform differ by {apart:.1f} mm; the sform is used"
            notes.append(Finding("warning", "qform-sform-differ", message, file=str(path)))
    return forms.get("sform") or forms["qform"]


def _spatial_shape(raw: Any, path: Path) -> tuple[int, ...]:
    shape = tuple(int(n) for n in raw.get_data_shape())
    if not 1 <= len(shape) <= 7 or min(shape) < 1:
        raise ReadError(f"{path}: shape {shape}, expected three positive numbers")
    if any(n != 1 for n in shape[3:]):
        raise ReadError(
            f"{path}: {len(shape)}-dimensional, shape {shape}; expected one 3-D volume; store one file per channel"
        )
    return (*shape[:3], *(1,) * (3 - len(shape)))


def _read(path: Path) -> tuple[NDArray[Any], _Header, list[Finding]]:
    """Voxels in file-axis order (Fortran), scaled, native byte order."""
    from nibabel.spatialimages import HeaderDataError

    with _opened(path) as (stream, notes):
        header = _read_header(stream, path)
        raw = header.raw
        try:
            stored = raw.get_data_dtype()
        except (HeaderDataError, KeyError) as error:
            raise ReadError(f"{path}: damaged NIfTI header: no voxel type has the code {error}") from error
        try:
            slope, inter = raw.get_slope_inter()
        except HeaderDataError as error:  # the intercept is no number
            if float(raw["scl_slope"]) != 1.0:
                raise ReadError(f"{path}: damaged NIfTI header: {error}") from error
            slope = inter = None
        if stored.kind not in "iuf":
            raise ReadError(f"{path}: voxels of type {stored}, expected whole or real numbers (one value a voxel)")
        count = math.prod(header.grid.shape)
        needed = count * stored.itemsize
        held = path.stat().st_size * (_GZIP_RATIO if hasattr(stream, "mtime") else 1)
        if needed > held:
            raise ReadError(
                f"{path}: truncated: the header promises {needed} bytes of voxels, the file cannot hold them"
            )
        offset = float(raw["vox_offset"])
        if not offset + needed <= held:
            raise ReadError(f"{path}: damaged NIfTI header: voxels start at byte {offset:g}, beyond the file")
        stream.seek(int(max(offset, 352 if raw.sizeof_hdr == 348 else 544)))
        try:
            buffer = bytearray(needed)
        except MemoryError as error:
            raise ReadError(f"{path}: {needed / 2**30:.1f} GiB of voxels do not fit the memory") from error
        view, got = memoryview(buffer), 0
        while got < needed and (n := stream.readinto(view[got : got + (1 << 20)])):  # type: ignore[attr-defined]
            got += n
        if got < needed:
            raise ReadError(
                f"{path}: truncated: {got} of {needed} bytes of voxels, unexpected end of file; copy it again"
            )
        for _ in range(_TAIL_MIB):  # only at the end of gzip data is its checksum compared
            if not stream.read(1 << 20):
                break
    data: NDArray[Any] = np.frombuffer(buffer, dtype=stored).reshape(header.grid.shape, order="F")
    if not stored.isnative:
        data = data.astype(stored.newbyteorder("="))
    if slope is not None and (slope, inter or 0.0) != (1.0, 0.0):
        with np.errstate(all="ignore"):  # what overflows is infinite
            data = data * np.float64(slope) + np.float64(inter or 0.0)
    squeezed = raw.get_data_shape()
    if len(squeezed) != 3:
        message = f"shape {tuple(int(n) for n in squeezed)} read as {header.grid.shape}"
        notes.append(Finding("info", "singleton-axes", message, file=str(path)))
    return data, header, notes + header.findings
