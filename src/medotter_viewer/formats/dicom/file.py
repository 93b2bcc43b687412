"""A single DICOM file: an image is read, any other object is named with what to do instead."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom import series
from medotter_viewer.formats.dicom.files import is_dicom, kind_of, read_header
from medotter_viewer.formats.dicom.values import uid_name

NAME = "dicom"
SUFFIXES = (".dcm",)


def matches(start: bytes) -> bool:
    """Tell whether a file that starts like this is DICOM."""
    return is_dicom(start)


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where the voxels of an image lie, without reading them.

    Raises
    ------
    ReadError
        If the file is damaged, or holds another object than an image.
    """
    _check_image(path)
    return series.read_grid(path)


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the values of an image as label ids.

    Raises
    ------
    ReadError, MissingDependencyError, LabelError
        As `series.read_labels` does, or if the file holds another object than an image.
    """
    _check_image(path)
    return series.read_labels(path)


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return an image.

    Raises
    ------
    ReadError, MissingDependencyError
        As `series.read_volume` does, or if the file holds another object than an image.
    """
    _check_image(path)
    return series.read_volume(path)


def _check_image(path: Path) -> None:
    header = read_header(path, ("SOPClassUID", "Modality", "Rows", "Columns"))
    kind = kind_of(header)
    if kind == "image":
        return
    if kind == "rtstruct":
        raise ReadError(f"{path}: contours (RTSTRUCT), not an image; give the image series they were drawn on as well")
    if kind == "seg":
        raise ReadError(f"{path}: a segmentation (DICOM SEG), not an image; give it as a label map")
    name = uid_name(header.text("SOPClassUID")) or "of no known class"
    raise ReadError(f"{path}: a DICOM object without an image ({name}), expected an image, contours or segments")
