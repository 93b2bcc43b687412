"""Which formats can be read: one module and one line each.

Content decides, the suffix only where the content does not say. A module offers ``NAME``, ``SUFFIXES``,
``matches(start)`` (of a folder format ``matches_folder(path)``), ``read_grid``, ``read_labels`` and ``read_volume``;
its libraries are imported when they are needed.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.formats import hovernet_mat, images, mask_folder, metaimage, nifti, nrrd, seg_nrrd
from medotter_viewer.formats.dicom import file as dicom
from medotter_viewer.formats.dicom import series as dicom_series
from medotter_viewer.formats.dicom.choice import ANY, SeriesChoice
from medotter_viewer.formats.dicom.files import sop_kind
from medotter_viewer.formats.voxels import GZIP_MAGIC, refuse_pointer

START_BYTES = 4096


class Readers(Protocol):
    """What reads one format."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """Word for the kind of file, as ``info`` shows it."""

    def read_grid(self, path: Path, /) -> tuple[Grid, list[Finding]]:
        """Return where the voxels lie, without reading them."""

    def read_labels(self, path: Path, /) -> tuple[LabelMap, list[Finding]]:
        """Return the label map."""

    def read_volume(self, path: Path, /) -> tuple[Volume, list[Finding]]:
        """Return the image."""


class FileFormat(Readers, Protocol):
    """A module that reads single files."""

    @property
    def SUFFIXES(self) -> tuple[str, ...]:  # noqa: N802
        """Suffixes in lower case, longest first."""

    def matches(self, start: bytes, /) -> bool:
        """Whether a file that begins so, after unpacking gzip, is of this format."""


class FolderFormat(Readers, Protocol):
    """A module that reads a folder as one volume."""

    def matches_folder(self, path: Path, /) -> bool:
        """Whether a folder is of this format, by what is in it."""


FORMATS: tuple[FileFormat, ...] = (nifti, images, dicom, seg_nrrd, nrrd, metaimage, hovernet_mat)
FOLDERS: tuple[FolderFormat, ...] = (dicom_series, mask_folder)
SUFFIXES: tuple[str, ...] = tuple(s for f in FORMATS for s in f.SUFFIXES)


def format_of(path: Path) -> Readers:
    """Return what reads a file or folder: by its content, else by its suffix.

    Raises
    ------
    ReadError
        If no format knows it, or it is not there.
    """
    if path.is_dir():
        found = next((one for one in FOLDERS if one.matches_folder(path)), None)
        if found is None:
            raise ReadError(f"{path}: a folder that no reader takes for one volume; name a file in it")
        return found
    if not path.is_file():
        raise ReadError(f"{path}: no such file")
    start = start_of(path)
    if not start:
        raise ReadError(f"{path}: an empty file (0 bytes); copy it again")
    refuse_pointer(start, path)
    by_content = next((one for one in FORMATS if one.matches(start)), None)
    # A damaged file is left to the reader of its suffix, which says what is damaged.
    chosen = by_content or next((one for one in FORMATS if _is_named(path, one)), None)
    if chosen is None:
        raise ReadError(
            f"{path}: no reader for this kind of file (it starts with {start[:8]!r}); expected one of "
            f"{', '.join(SUFFIXES)}"
        )
    return chosen


def start_of(path: Path) -> bytes:
    """Return the first bytes of a file; of gzip data those that are packed, as far as they can be unpacked."""
    try:
        with path.open("rb") as file:
            start = file.read(START_BYTES)
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error
    return unpacked(start) if start.startswith(GZIP_MAGIC) else start


def unpacked(start: bytes) -> bytes:
    """Return what the first bytes of a gzip file hold, as far as they can be unpacked; themselves if not at all."""
    try:
        return zlib.decompressobj(wbits=31).decompress(start, START_BYTES)
    except zlib.error:
        return start


def is_there(path: Path) -> bool:
    """Whether a path is a file or a folder, and no pipe or device that would keep a reader waiting."""
    return path.is_file() or path.is_dir()


def stem(path: Path) -> str:
    """Return a file's name without its known suffix: ``0001.nii.gz`` gives ``0001``."""
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.stem


def read_labels(path: Path, series: SeriesChoice = ANY) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file of any known format, and what was noticed.

    Parameters
    ----------
    path : Path
        The file, or a folder that is one volume.
    series : SeriesChoice, optional
        Which image series, where a folder holds several.

    Raises
    ------
    ReadError
        Also if a series is named for what is no DICOM.
    """
    readers = format_of(path)
    if _has_series(path, readers, series):
        return dicom_series.read_labels(path, series)
    labels, findings = readers.read_labels(path)
    return labels, _with_suffix_note(path, readers, findings)


def read_volume(path: Path, series: SeriesChoice = ANY) -> tuple[Volume, list[Finding]]:
    """Return the image of a file of any known format, and what was noticed; parameters as of `read_labels`."""
    readers = format_of(path)
    if _has_series(path, readers, series):
        return dicom_series.read_volume(path, series)
    volume, findings = readers.read_volume(path)
    return volume, _with_suffix_note(path, readers, findings)


def read_grid(path: Path, series: SeriesChoice = ANY) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them; parameters as of `read_labels`."""
    readers = format_of(path)
    if _has_series(path, readers, series):
        return dicom_series.read_grid(path, series)
    grid, findings = readers.read_grid(path)
    return grid, _with_suffix_note(path, readers, findings)


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files on which the voxels of a file depend: itself, and the data file that a header names.

    Raises
    ------
    ReadError
        If no format knows it, or its header cannot be read.
    UnsafePathError
        If it names data outside its folder.
    """
    readers = format_of(path)
    data_path = getattr(readers, "data_path", None)
    return (path,) if data_path is None else tuple(dict.fromkeys((path, data_path(path))))


def _has_series(path: Path, readers: Readers, choice: SeriesChoice) -> bool:
    """Whether the choice is for this path; naming a series of what is none is refused."""
    if readers is dicom_series:
        return True
    if choice.named is None:
        return False
    if readers is dicom and sop_kind(path) == "image":
        return True
    raise ReadError(f"{path}: {readers.NAME}, but --series is for images of DICOM; leave it out")


def _is_named(path: Path, readers: Readers) -> bool:
    return path.name.lower().endswith(tuple(getattr(readers, "SUFFIXES", ())))


def _with_suffix_note(path: Path, readers: Readers, findings: list[Finding]) -> list[Finding]:
    """Say so where the name promises another format; a reader that looks closer has said it already."""
    if path.is_dir() or _is_named(path, readers) or any(f.code == "wrong-suffix" for f in findings):
        return findings
    message = f"{readers.NAME} data in a file named {path.suffix or 'without a suffix'}; read by its content"
    return [*findings, replace(Finding("warning", "wrong-suffix", message), file=str(path))]
