"""Which paths stand for one volume: files, and folders that a reader takes whole."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from medotter_viewer.formats import registry
from medotter_viewer.sources.segment_files import is_segment_file

OBJECT_MASKS = "mask_folder"
"""Name of the format of folders with one mask for each object."""


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


def holds_segments(path: Path) -> bool:
    """Whether a path is a folder that holds one RTSTRUCT or SEG, whatever lies beside it."""
    return path.is_dir() and is_segment_file(path)


def stands_for_itself(folder: Path, *, instances: bool = False) -> bool:
    """Whether a folder among others is one volume, or holds an RTSTRUCT or SEG and nothing else."""
    return is_one_volume(folder, instances=instances) or _holds_one_file_of_segments(folder)


def _holds_one_file_of_segments(folder: Path) -> bool:
    try:
        first = list(islice((path for path in folder.iterdir() if not path.name.startswith(".")), 2))
    except OSError:
        return False
    return len(first) == 1 and first[0].is_file() and not first[0].is_symlink() and is_segment_file(first[0])
