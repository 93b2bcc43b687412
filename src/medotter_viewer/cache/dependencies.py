"""On which files the score of a case depends, and whether they are still as they were."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.cache.looks import Looks
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.formats import registry
from medotter_viewer.formats.landmark_provenance import provenance_path
from medotter_viewer.sources.scans import image_folder

State = tuple[str, int, int, int]
"""Path, size, time and number of a file; zeros where there is none."""

_HEAD = 1 << 16
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Files on which the score of a case depends.

    Parameters
    ----------
    whole : tuple of Path
        Those of which every byte counts.
    images : tuple of Path
        Those that only say where labels lie: their first 64 KB count, where headers are, with size and time.
    """

    whole: tuple[Path, ...]
    images: tuple[Path, ...]

    @classmethod
    def of(cls, entry: CaseEntry, looks: Looks | None = None) -> Dependencies:
        """Return the files of a case, those of its folders too.

        Parameters
        ----------
        entry : CaseEntry
            The case.
        looks : Looks, optional
            Takes what is seen of them.

        Raises
        ------
        OSError
            If a folder cannot be listed.
        """
        looks = looks or Looks()
        return cls(tuple(dict.fromkeys(_whole_files(entry, looks))), tuple(dict.fromkeys(_image_files(entry, looks))))

    def states(self, looks: Looks | None = None) -> tuple[State, ...]:
        """Return what a look at the folders says of each file: now, unless a look of just now is given."""
        looks = looks or Looks()
        return tuple(_state(file, looks) for file in (*self.whole, *self.images))

    def digest(self) -> str:
        """Return a digest of what the files hold.

        Raises
        ------
        OSError
            If one cannot be read.
        """
        digest, looks = hashlib.sha256(), Looks()
        for file in self.whole:
            digest.update(repr(_state(file, looks)[:2]).encode())
            if file.is_file():
                with file.open("rb") as stream:
                    while chunk := stream.read(_CHUNK):
                        digest.update(chunk)
        for file in self.images:
            digest.update(repr(_state(file, looks)).encode())
            if file.is_file():
                with file.open("rb") as stream:
                    digest.update(stream.read(_HEAD))
        return digest.hexdigest()


def named_paths(entry: CaseEntry) -> list[Path]:
    """Return the files and folders that a case names."""
    paths = [*entry.channels.values(), entry.gt_path, entry.pred_path]
    paths += [entry.gt_landmarks_path, entry.pred_landmarks_path]
    if entry.scan is not None:
        paths += [entry.scan.folder, entry.scan.prediction]
    return [path for path in paths if path is not None]


def _whole_files(entry: CaseEntry, looks: Looks) -> Iterator[Path]:
    for path in (entry.gt_path, entry.pred_path):
        if path is not None:
            yield from _files(path, looks)
            yield from _detached(path, looks)
    for path in (entry.gt_landmarks_path, entry.pred_landmarks_path):
        if path is not None:
            yield from (path, provenance_path(path))
    if entry.scan is not None:
        images = image_folder(entry.scan.folder)
        yield from (file for file in _files(entry.scan.folder, looks) if not file.is_relative_to(images))
        if entry.scan.prediction is not None:
            yield from _files(entry.scan.prediction, looks)
            yield from _detached(entry.scan.prediction, looks)


def _image_files(entry: CaseEntry, looks: Looks) -> Iterator[Path]:
    for path in entry.channels.values():
        yield from _files(path, looks)
    if entry.scan is not None:
        yield from _files(image_folder(entry.scan.folder), looks)


def _files(path: Path, looks: Looks) -> list[Path]:
    """The file, or every file below the folder, in one order on all machines."""
    return sorted(file for file in path.rglob("*") if not file.is_dir()) if looks.is_dir(path) else [path]


def _detached(path: Path, looks: Looks) -> tuple[Path, ...]:
    """Files that the header of a single file names besides itself; none where it cannot be read."""
    try:
        return registry.files_of(path)[1:] if looks.is_file(path) and not looks.is_nifti(path) else ()
    except (OSError, ValueError):  # of ours: whoever reads the case says what is wrong
        return ()


def _state(file: Path, looks: Looks) -> State:
    at = looks.stat(file)
    return (str(file), 0, 0, 0) if at is None else (str(file), at.st_size, at.st_mtime_ns, at.st_ino)
