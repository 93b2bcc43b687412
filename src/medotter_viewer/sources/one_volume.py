"""Which paths stand for one volume: files, and folders that a reader takes whole."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from medotter_viewer.errors import ReadError
from medotter_viewer.formats import images, nifti, registry, seg_nrrd
from medotter_viewer.formats.dicom.files import dicom_files, is_dicom, sop_kind

OBJECT_MASKS = "mask_folder"
"""Name of the format of folders with one mask for each object."""
_NEVER_NAMED = (*nifti.SUFFIXES, *images.SUFFIXES)


def is_one_volume(path: Path, *, instances: bool = False) -> bool:
    """Whether a path is one volume: a file, or a folder that a reader takes whole.

    Parameters
    ----------
    path : Path
        Which.
    instances : bool
        Whether a folder of one mask for each object counts too: without it, pictures are label maps of their own.
    """
    if path.is_file():
        return True
    formats = (one for one in registry.FOLDERS if instances or one.NAME != OBJECT_MASKS)
    return path.is_dir() and any(one.matches_folder(path) for one in formats)


def stands_for_itself(folder: Path, *, instances: bool = False) -> bool:
    """Whether a folder among others is one volume, or holds an RTSTRUCT or SEG and nothing else."""
    return is_one_volume(folder, instances=instances) or _holds_one_file_of_segments(folder)


def names_segments(path: Path) -> bool:
    """Whether a path names its structures: an RTSTRUCT, a SEG, a segmentation of Slicer, or a folder of a single one.

    Only the start of a file is read, and of files that by their name cannot be such, nothing.
    """
    try:
        if path.is_dir():
            return sum(sop_kind(file) in ("rtstruct", "seg") for file in dicom_files(path)) == 1
        if path.name.lower().endswith(_NEVER_NAMED) or not path.is_file():
            return False
        start = registry.start_of(path)
        return seg_nrrd.matches(start) or (is_dicom(start) and sop_kind(path) in ("rtstruct", "seg"))
    except ReadError:
        return False


def _holds_one_file_of_segments(folder: Path) -> bool:
    try:
        first = list(islice((path for path in folder.iterdir() if not path.name.startswith(".")), 2))
    except OSError:
        return False
    return len(first) == 1 and first[0].is_file() and not first[0].is_symlink() and names_segments(first[0])
