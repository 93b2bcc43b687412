"""Read and write NIfTI-1 and NIfTI-2 volumes (.nii, .nii.gz).

Content decides, not the name. Geometry leaves this module in RAS+ mm whatever unit the file uses, and says when the
file has no position of its own. A header that promises more than the file holds costs nothing. nibabel writes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, smallest_label_dtype
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, ReadError, WriteError
from medotter_viewer.formats.colours import colour_volume
from medotter_viewer.formats.nifti_fields import SIZES
from medotter_viewer.formats.nifti_header import NiftiHeader, read_header
from medotter_viewer.formats.voxels import (
    DEFLATE_RATIO,
    GZIP_MAGIC,
    LFS_MAGIC,
    StoredVoxels,
    gunzipped,
    read_errors,
    refuse_pointer,
)

NAME = "nifti"
SUFFIXES = (".nii.gz", ".nii")


def matches(start: bytes) -> bool:
    """Tell a NIfTI file by its first bytes, unpacked; without the magic word too, which old ones lack."""
    return start[:4] in SIZES and len(start) >= 348


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them.

    Raises
    ------
    ReadError
        If it is no NIfTI file.
    """
    with _opened(path) as (stream, _, notes):
        header = read_header(stream, path)
        return header.grid, notes + header.findings


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file in its smallest integer type, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged or is no NIfTI file.
    LabelError
        If values lie more than 0.05 from a whole number, are no numbers, or are colours.
    """
    with _stored(path) as (voxels, header, samples, notes):
        if samples > 1:
            raise LabelError(
                f"{path}: {samples} channels of colour for each voxel: these are no label ids; write label maps with "
                "one value for each voxel"
            )
        ids, noticed = voxels.ids()
    return LabelMap(ids.reshape(header.grid.shape, order="F"), header.grid), notes + noticed


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a file, scaled as its header says or in its colours, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged, is no NIfTI file, or holds several volumes.
    """
    with _stored(path) as (voxels, header, samples, notes):
        data = voxels.values()
    shape = header.grid.shape
    if samples == 1:
        return Volume(data.reshape(shape, order="F"), header.grid), notes
    colours = data.reshape(*shape[::-1], samples).transpose(2, 1, 0, 3)  # the colours of a voxel lie side by side
    volume, more = colour_volume(colours, header.grid, path)
    return volume, notes + more


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
def _opened(path: Path) -> Iterator[tuple[io.BufferedIOBase, bool, list[Finding]]]:
    """Open the unpacked bytes of a file, whatever its name says; whether they are packed."""
    notes: list[Finding] = []
    with read_errors(path), path.open("rb") as file:
        start = file.read(len(LFS_MAGIC))
        file.seek(0)
        refuse_pointer(start, path)
        packed, named = start.startswith(GZIP_MAGIC), path.name.lower().endswith(".gz")
        if packed != named:
            kind = "gzip data in a file not named .gz" if packed else "named .gz but not gzip data"
            notes.append(Finding("warning", "wrong-suffix", f"{kind}; read by its content", file=str(path)))
        if packed:
            with gunzipped(file) as stream:
                yield stream, True, notes
        else:
            yield file, False, notes


@contextmanager
def _stored(path: Path) -> Iterator[tuple[StoredVoxels, NiftiHeader, int, list[Finding]]]:
    """The voxels, ready to be read, how many numbers each has, and what was noticed."""
    with _opened(path) as (stream, packed, notes):
        header = read_header(stream, path)
        dtype, samples = header.dtype, 1
        if dtype.names is not None and "".join(dtype.names) in ("RGB", "RGBA"):
            dtype, samples = np.dtype(np.uint8), len(dtype.names or ())
        if dtype.kind not in "iuf":
            raise ReadError(f"{path}: voxels of type {dtype}, expected whole or real numbers (one value a voxel)")
        count = math.prod(header.grid.shape) * samples
        held = path.stat().st_size * (DEFLATE_RATIO if packed else 1)
        slope, inter = header.scaling if samples == 1 else (1.0, 0.0)
        voxels = StoredVoxels(path, stream, dtype, count, held, slope, inter)
        if not header.offset + voxels.needed <= held:
            raise ReadError(f"{path}: damaged NIfTI header: voxels start at byte {header.offset:g}, beyond the file")
        stream.seek(int(max(header.offset, header.smallest_offset)))
        shape = header.fields.shape
        if len(shape) != 3:
            message = f"shape {shape} read as {header.grid.shape}"
            notes.append(Finding("info", "singleton-axes", message, file=str(path)))
        yield voxels, header, samples, notes + header.findings
