"""Files that name their structures: an RTSTRUCT, a DICOM SEG, a segmentation of Slicer. All become `Segments`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.segments import Segment, Segments
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats import images, nifti, registry, seg_nrrd
from medotter_viewer.formats.dicom.choice import ANY, SeriesChoice
from medotter_viewer.formats.dicom.files import SopKind, dicom_files, has_images, is_dicom, sop_kind
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.formats.dicom.seg import read_segments
from medotter_viewer.formats.dicom.series import read_stack
from medotter_viewer.geometry.contour_masks import fill_structures
from medotter_viewer.geometry.lattice import common_grid

Found = tuple[Segments, list[Finding]]

_NEVER_NAMED = (*nifti.SUFFIXES, *images.SUFFIXES)

OTHER_FRAME = "other-frame-of-reference"
"""Code of what is said of files whose coordinate systems have different names."""


def series_choice(entry: CaseEntry) -> SeriesChoice:
    """Return which series a case belongs to, where a folder holds several: the one given, else what its files say."""
    return SeriesChoice(entry.series, tuple(p for p in (entry.gt_path, entry.pred_path) if p is not None))


def label_series(entry: CaseEntry) -> SeriesChoice:
    """Return which series the plain label maps of a case are: with an image, what was given is the image's."""
    return ANY if entry.channels else SeriesChoice(entry.series)


def read_segment_file(path: Path, *, image: Path | None = None, series: SeriesChoice = ANY) -> Found | None:
    """Return the named segments of a file, or None where it is a plain label map or an image.

    Parameters
    ----------
    path : Path
        A file, or a folder that holds a single RTSTRUCT or DICOM SEG (its images may lie there too).
    image : Path, optional
        Folder of the series that an RTSTRUCT was drawn on; by default the folder, if its images lie there. What is
        wrong with a series that was given is told by whoever reads it as an image.
    series : SeriesChoice, optional
        Which one, where the folder holds several; by default that to which the file refers.

    Raises
    ------
    ReadError
        If it is damaged, or an RTSTRUCT comes without its series.
    GridMismatchError
        If it belongs to another frame of reference than the series; a SEG whose voxels are those of the series is
        taken all the same.
    """
    if series == ANY:
        series = SeriesChoice(None, (path,))
    if not path.is_dir():
        return _read(path, image, series)
    found, has_images = _segment_files(path)
    if len(found) != 1:
        return None
    if image is not None or not has_images:
        return _read(found[0], image, series)
    return _read(found[0], path, series, own_series=True)


def is_segment_file(path: Path) -> bool:
    """Tell whether `read_segment_file` would take a path: a file that names structures, or a folder of a single one.

    Only the start of a file is read, and of files that by their name cannot be such, nothing. What cannot be read is
    none.
    """
    try:
        if path.is_dir():
            return structure_file(path) is not None
        if path.name.lower().endswith(_NEVER_NAMED) or not path.is_file():
            return False
        start = registry.start_of(path)
    except ReadError:
        return False
    return seg_nrrd.matches(start) or (is_dicom(start) and _kind(path) in ("seg", "rtstruct"))


def named_labels(labels: LabelMap, regions: Mapping[str, tuple[int, ...]], part: str) -> Found:
    """Return a plain label map as segments, by the names of its ids; ids without a name become background.

    Parameters
    ----------
    labels : LabelMap
        With ids of 0 or more.
    regions : mapping of str to tuple of int
        Name to its ids.
    part : str
        What the labels are, for messages.
    """
    members: dict[int, tuple[int, ...]] = {}
    for number, ids in enumerate(regions.values(), 1):
        for one in ids:
            members[one] = (*members.get(one, ()), number)
    occurring = np.unique(labels.data).tolist()
    kept = {one: members[one] for one in occurring if one in members}
    unnamed = [one for one in occurring if one and one not in members]
    findings = []
    if unnamed:
        shown = ", ".join(map(str, unnamed[:10])) + (", ..." if len(unnamed) > 10 else "")
        message = f"{part}: ids {shown} have no name: taken as background"
        findings.append(Finding("warning", "id-without-name", message))
    codes = labels.data
    if unnamed:
        codes = np.where(np.isin(codes, list(kept)), codes, 0)
    segments = tuple(Segment(number, name) for number, name in enumerate(regions, 1))
    return Segments(codes, labels.grid, segments, kept), findings


def structure_file(folder: Path) -> Path | None:
    """Return the only RTSTRUCT or DICOM SEG of a folder; None where there is none, or more than one."""
    found, _ = _segment_files(folder)
    return found[0] if len(found) == 1 else None


def _segment_files(folder: Path) -> tuple[list[Path], bool]:
    """RTSTRUCTs and SEGs of a folder, no more than two, and whether there are images too."""
    found: list[Path] = []
    has_images = False
    for path in dicom_files(folder):
        kind = _kind(path)
        if kind == "image":
            has_images = True
        elif kind in ("rtstruct", "seg"):
            found.append(path)
            if len(found) > 1:
                break
    return found, has_images


def _kind(path: Path) -> SopKind:
    try:
        return sop_kind(path)
    except ReadError:
        return "other"


def _read(file: Path, image: Path | None, series: SeriesChoice, *, own_series: bool = False) -> Found | None:
    """Segments of a file; None for all that is no such file, or not there."""
    if not file.is_file():
        return None
    start = registry.start_of(file)
    if seg_nrrd.matches(start):
        return seg_nrrd.read_segments(file)
    if not is_dicom(start):
        return None
    kind = _kind(file)
    if kind == "seg":
        segments, findings = read_segments(file)
        return segments, [*findings, *_other_frame(segments, file, image, series)]
    return _rtstruct(file, image, series, own_series=own_series) if kind == "rtstruct" else None


def _other_frame(segments: Segments, file: Path, image: Path | None, series: SeriesChoice) -> list[Finding]:
    """What is to be said of a SEG of another frame of reference than its series; unless they coincide, an error."""
    ours = segments.frame_of_reference_uid
    if ours is None or image is None or not is_image_series(image):
        return []
    try:
        stack, _ = read_stack(image, series)
    except ReadError:
        return []  # whoever reads it as an image says so
    theirs = stack.frame_of_reference_uid
    if theirs is None or theirs == ours:
        return []
    message = f"{file}: frame of reference {ours}, but the series in {image} has {theirs}"
    if common_grid(segments.grid, stack.grid) is None:
        raise GridMismatchError(
            f"{message}, and their voxels do not coincide: their coordinates have nothing to do with each other; give "
            "the series that was segmented (or register them first)"
        )
    message += "; their voxels coincide, so that they are taken for one"
    return [Finding("warning", OTHER_FRAME, message, file=str(file))]


def is_image_series(image: Path) -> bool:
    """Tell whether a path is a DICOM image, or a folder that holds some."""
    if image.is_dir():
        return has_images(image)
    return image.is_file() and is_dicom(registry.start_of(image)) and _kind(image) == "image"


def _rtstruct(path: Path, image: Path | None, series: SeriesChoice, *, own_series: bool) -> Found:
    if image is None:
        raise ReadError(f"{path}: an RTSTRUCT needs the series it was drawn on: give its folder by --image")
    structures, findings = read_structures(path)
    stack, noticed = read_stack(image, series)
    segments, more = fill_structures(structures, stack)
    return segments, [*findings, *(noticed if own_series else ()), *more]
