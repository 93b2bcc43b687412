"""Which formats can be read, and by which function: one line each.

A file is tried by its suffix; the reader itself trusts the content only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.formats import images, nifti


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its suffixes (longest first) and its readers."""

    name: str
    suffixes: tuple[str, ...]
    read_grid: Callable[[Path], tuple[Grid, list[Finding]]]
    read_labels: Callable[[Path], tuple[LabelMap, list[Finding]]]
    read_volume: Callable[[Path], tuple[Volume, list[Finding]]]


FORMATS: tuple[Format, ...] = (
    Format("nifti", nifti.SUFFIXES, nifti.read_grid, nifti.read_labels, nifti.read_volume),
    Format("image", images.SUFFIXES, images.read_grid, images.read_labels, images.read_volume),
)
SUFFIXES: tuple[str, ...] = tuple(s for f in FORMATS for s in f.suffixes)


def format_of(path: Path) -> Format:
    """Return the format of a file by its suffix.

    Raises
    ------
    ReadError
        If no format has that suffix, or the file is not there.
    """
    if not path.is_file():
        raise ReadError(f"{path}: no such file")
    for one in FORMATS:
        if path.name.lower().endswith(one.suffixes):
            return one
    raise ReadError(f"{path}: no reader for this kind of file; expected one of {', '.join(SUFFIXES)}")


def stem(path: Path) -> str:
    """Return a file's name without its known suffix: ``0001.nii.gz`` gives ``0001``."""
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.stem


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label map of a file of any known format, and what was noticed."""
    return format_of(path).read_labels(path)


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a file of any known format, and what was noticed."""
    return format_of(path).read_volume(path)


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them."""
    return format_of(path).read_grid(path)
