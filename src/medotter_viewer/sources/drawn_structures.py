"""The contours of an RTSTRUCT on slices, as they were drawn: not filled with voxels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import StructureSet
from medotter_viewer.errors import ReadError
from medotter_viewer.formats import registry
from medotter_viewer.formats.dicom.choice import ANY, SeriesChoice
from medotter_viewer.formats.dicom.files import is_dicom, sop_kind
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.formats.dicom.series import read_stack
from medotter_viewer.geometry.contour_planes import PlacedContours, place_contours
from medotter_viewer.sources.segment_files import structure_file


@dataclass(frozen=True, slots=True, eq=False)
class DrawnStructures:
    """The contours of an RTSTRUCT on the slices of its series, as they were drawn.

    Parameters
    ----------
    structures : StructureSet
        What the file holds.
    placed : mapping of int to PlacedContours
        ROI Number to its contours by slice.
    stack : SliceStack
        The slices.
    findings : tuple of Finding
        What was noticed in the file, and where contours lie.
    """

    structures: StructureSet
    placed: Mapping[int, PlacedContours]
    stack: SliceStack
    findings: tuple[Finding, ...] = ()


def drawn_file(path: Path) -> Path | None:
    """Return the RTSTRUCT that a path is, or that is the only one of a folder; None for everything else.

    Raises
    ------
    ReadError
        If it cannot be opened.
    """
    file = structure_file(path) if path.is_dir() else path
    if file is None or not file.is_file() or not is_dicom(registry.start_of(file)):
        return None
    return file if sop_kind(file) == "rtstruct" else None


def read_drawn_structures(
    path: Path, *, image: Path | None = None, series: SeriesChoice = ANY
) -> DrawnStructures | None:
    """Return the contours of an RTSTRUCT as they were drawn, or None where a path is none.

    Parameters
    ----------
    path, image, series
        As for `read_segment_file`.

    Raises
    ------
    ReadError, GridMismatchError
        As `read_segment_file` does.
    """
    file = drawn_file(path)
    if file is None:
        return None
    image = image or (path if path.is_dir() else None)
    if image is None:
        raise ReadError(f"{path}: an RTSTRUCT needs the series it was drawn on: give its folder by --image")
    stack, _ = read_stack(image, SeriesChoice(None, (path,)) if series == ANY else series)
    return place_structures(file, stack)


def place_structures(file: Path, stack: SliceStack) -> DrawnStructures:
    """Return the contours of an RTSTRUCT on slices that are known.

    Raises
    ------
    ReadError, GridMismatchError
        As `read_structures` and `place_contours` do.
    """
    structures, findings = read_structures(file)
    placed, noticed = place_contours(structures.rois, stack, names=structures.names, file=file)
    return DrawnStructures(structures, placed, stack, (*findings, *noticed))
