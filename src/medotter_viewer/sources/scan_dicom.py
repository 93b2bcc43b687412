"""Read a scan folder with DICOM files: ``CT/`` and ``RTst/``; a slice's number is its Instance Number, literally."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import OBLIQUE_DEG
from medotter_viewer.core.scans import Scan, ScanStructure
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import StructureSet
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats.dicom.choice import SeriesChoice
from medotter_viewer.formats.dicom.files import dicom_files, sop_kind
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.formats.dicom.series import read_stack, read_volume
from medotter_viewer.geometry.contour_planes import PlacedContours, place_contours

IMAGES, CONTOURS = "CT", "RTst"
_AXIAL_COSINE = float(np.cos(np.radians(OBLIQUE_DEG)))


def is_dicom_scan(folder: Path) -> bool:
    """Tell whether a folder is a scan of this layout."""
    return (folder / IMAGES).is_dir() and (folder / CONTOURS).is_dir()


def _series(folder: Path) -> SeriesChoice:
    """Of several series the one on which the contours say they were drawn."""
    return SeriesChoice(None, (folder / CONTOURS,))


def dicom_slice_numbers(folder: Path) -> set[int]:
    """Return the Instance Numbers of the slices.

    Raises
    ------
    ReadError
        If the images make no volume, or two have one number, or one has none.
    """
    stack, _ = read_stack(folder / IMAGES, _series(folder))
    return set(_numbers(stack, folder))


def read_dicom_scan(folder: Path) -> Scan:
    """Return a scan without its pixels.

    Raises
    ------
    ReadError
        If the images make no volume, or two have one number, or one has none.
    """
    stack, findings = read_stack(folder / IMAGES, _series(folder))
    numbers = _numbers(stack, folder)
    thickness = dict(sorted(zip(numbers, stack.thickness_mm, strict=True)))
    if lacking := [n for n, value in thickness.items() if value is None]:
        slices = ", ".join(map(str, lacking[:8])) + (f" and {len(lacking) - 8} more" if len(lacking) > 8 else "")
        message = f"{folder}: no (0018,0050) in slice {slices}: polygons there are shown, not scored"
        findings.append(Finding("warning", "scan-without-thickness", message, str(folder)))
    if abs(stack.normal_lps[2]) < _AXIAL_COSINE:
        message = f"{folder}: its slices are not axial: areas are those of x and y alone, as the contest computes them"
        findings.append(Finding("warning", "scan-not-axial", message, str(folder)))
    structures, noticed = _structures(folder, stack, numbers)
    return Scan(folder.resolve().name, folder, thickness, structures, stack, (*findings, *noticed))


def read_dicom_volume(folder: Path) -> tuple[Volume, list[Finding]]:
    """Return the image of a scan, (columns, rows, slices).

    Raises
    ------
    ReadError, MissingDependencyError
        As the reader of series does.
    """
    return read_volume(folder / IMAGES, _series(folder))


def _numbers(stack: SliceStack, folder: Path) -> list[int]:
    """Instance Number of each slice, in the order of the volume."""
    numbers = [number for number in stack.numbers if number is not None]
    if len(numbers) < len(stack):
        file = next(file for file, number in zip(stack.files, stack.numbers, strict=True) if number is None)
        raise ReadError(f"{file}: no Instance Number (0020,0013): nothing says which slice of {folder.name} it is")
    number, count = Counter(numbers).most_common(1)[0]
    if count > 1:
        files = [file.name for file, n in zip(stack.files, numbers, strict=True) if n == number]
        raise ReadError(
            f"{folder}: Instance Number {number} stands in {count} images ({', '.join(files[:4])}): which of them is "
            "the slice of that number?"
        )
    return numbers


def _structures(
    folder: Path, stack: SliceStack, numbers: list[int]
) -> tuple[tuple[ScanStructure, ...] | None, list[Finding]]:
    """Structures with their rings, None where nothing was drawn; and what was noticed."""
    files = [path for path in dicom_files(folder / CONTOURS) if _may_be_structures(path)]
    if not files:
        return None, []
    if len(files) > 1:
        names = ", ".join(path.name for path in files[:4])
        message = f"{folder / CONTOURS}: {len(files)} RTSTRUCTs ({names}), expected one; keep the right one"
        return (), [Finding("error", "scan-several-structure-sets", message, str(folder / CONTOURS))]
    try:
        found, findings = read_structures(files[0])
        placed, noticed = place_contours(found.rois, stack, names=found.names, file=files[0])
    except (ReadError, GridMismatchError) as error:
        message = str(error) if str(files[0]) in str(error) else f"{files[0]}: {error}"
        return (), [Finding("error", "unreadable-contours", message, str(files[0]))]
    damage = {f.where: f.message for f in findings if f.severity == "error"}
    kept = [f for f in findings if f.severity != "error" or f.where is None]
    return _named(found, placed, numbers, damage), [*kept, *noticed]


def _may_be_structures(path: Path) -> bool:
    """Whether a DICOM file is an RTSTRUCT; a damaged one is left to its reader, which says what is damaged."""
    try:
        return sop_kind(path) == "rtstruct"
    except ReadError:
        return True


def _named(
    found: StructureSet, placed: dict[int, PlacedContours], numbers: list[int], damage: dict[str | None, str]
) -> tuple[ScanStructure, ...]:
    structures = []
    for roi in found.rois:
        rings = {numbers[i]: placed[roi.number].xy_lps(i) for i in placed[roi.number].points_lps}
        contours = ScanContours(dict(sorted(rings.items())))
        structures.append(ScanStructure(roi.number, roi.name, contours, damage.get(roi.name)))
    return tuple(structures)
