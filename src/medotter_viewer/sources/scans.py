"""Scan folders of both layouts: which folders are scans, and what one holds. The pixels are read apart."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.paths import Confined
from medotter_viewer.core.scans import Scan
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.sources import scan_dicom, scan_png

_ANY_SLICE = range(1_000_000_000)


def is_scan(folder: Path) -> bool:
    """Tell whether a folder is a scan: it has ``auxiliary/``, or ``CT/`` and ``RTst/``."""
    return scan_png.is_png_scan(folder) or scan_dicom.is_dicom_scan(folder)


def find_scans(root: Path) -> list[Path]:
    """Return the scans of a folder by name: itself, or its sub-folders; none gives an empty list.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    if is_scan(root):
        return [root]
    if not root.is_dir():
        return []
    try:
        return sorted(path for path in root.iterdir() if not path.name.startswith(".") and is_scan(path))
    except OSError as error:
        raise ReadError(f"{root}: {error.strerror or error}") from error


def scan_id(folder: Path) -> str:
    """Return the id of a scan: the name of its folder."""
    return folder.resolve().name


def read_scan(folder: Path) -> tuple[Scan, list[Finding]]:
    """Return a scan without its pixels, and its findings.

    Raises
    ------
    ReadError
        If it cannot be listed, holds links that lead out of it, or its images make no volume.
    """
    _refuse_links(folder)
    scan = scan_png.read_png_scan(folder) if scan_png.is_png_scan(folder) else scan_dicom.read_dicom_scan(folder)
    return scan, list(scan.findings)


def read_scan_volume(scan: Path | Scan) -> tuple[Volume, list[Finding]]:
    """Return the image of a scan, (columns, rows, slices) along the normal, in HU where the files say how.

    Parameters
    ----------
    scan : Path or Scan
        The folder, or what `read_scan` gave.

    Raises
    ------
    ReadError, MissingDependencyError
        If the image is missing or damaged, or a package that decodes it is not installed.
    """
    folder = scan.folder if isinstance(scan, Scan) else scan
    _refuse_links(folder)
    if not scan_png.is_png_scan(folder):
        return scan_dicom.read_dicom_volume(folder)
    return scan_png.read_png_volume(scan if isinstance(scan, Scan) else scan_png.read_png_scan(folder))


def slice_numbers(folder: Path) -> Collection[int]:
    """Return the numbers of a scan's slices; of a scan that cannot be read, every number.

    What is wrong with a scan is told where it is read: it must not make a submission malformed.
    """
    try:
        if scan_png.is_png_scan(folder):
            return scan_png.png_slice_numbers(folder)
        return scan_dicom.dicom_slice_numbers(folder)
    except ReadError:
        return _ANY_SLICE


def scan_slices(root: Path) -> dict[str, Collection[int]]:
    """Return the ids of the scans of a folder, to the numbers of their slices.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    return {scan_id(folder): slice_numbers(folder) for folder in find_scans(root)}


def image_folder(folder: Path) -> Path:
    """Return where a scan's pictures or images are."""
    return folder / (scan_png.PICTURES if scan_png.is_png_scan(folder) else scan_dicom.IMAGES)


def contour_folder(folder: Path) -> Path | None:
    """Return where a scan's contours are; None where nothing was drawn."""
    return scan_png.contour_folder(folder) if scan_png.is_png_scan(folder) else folder / scan_dicom.CONTOURS


def _refuse_links(folder: Path) -> None:
    """Refuse a scan that would make its readers open files elsewhere."""
    parts = (scan_png.TAGS, scan_png.PICTURES, *scan_png.CONTOURS, scan_dicom.IMAGES, scan_dicom.CONTOURS)
    confined = Confined(folder)
    for part in (folder, *(folder / name for name in parts)):
        if (name := confined.leaving(part)) is not None:
            raise ReadError(f"{part / name}: a link that leads out of the scan, or nowhere; put the file in its place")
