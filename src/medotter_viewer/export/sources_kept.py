"""An export never replaces what it was made from, nor puts a file among the images of a series or scan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import WriteError

_Identity = tuple[int, int]  # device and file: the same however a path is written

_PREDICTION = "the prediction"
_IMAGE, _TRUTH, _SCAN = "an image", "a ground truth", "a scan"


def check_not_a_source(
    paths: Iterable[Path], entries: Iterable[CaseEntry], *, own_points_of: CaseEntry | None = None
) -> None:
    """Refuse names of files that cases are read from, and of any in their folders, however they are written.

    Parameters
    ----------
    paths : iterable of Path
        Files to be written.
    entries : iterable of CaseEntry
        Every case that is reviewed, not only those that are written.
    own_points_of : CaseEntry, optional
        The case whose predicted points are written: their own file may be replaced, as long as it is nothing else.

    Raises
    ------
    WriteError
        If one is an image, a ground truth or a prediction; if it lies in a folder that is one, or in that of a scan,
        whether it is there already or new; or if it is there already beside scans, where their lists are.
    """
    wanted = [_Wanted.of(path) for path in paths]
    is_there = any(one.path.exists() for one in wanted)
    for entry in entries:
        beside = None if entry.scan is None else _identity(entry.scan.folder.resolve().parent)
        for one in wanted:
            if beside is not None and one.path.exists() and beside in one.parents:
                raise WriteError(f"{one.path}: is a file beside the scans; it stays as it is: choose another name")
        own = own_points_of is not None and own_points_of.case_id == entry.case_id
        for part, source in _sources(entry, with_points=not own):
            for one in wanted:
                one.refuse(part, source)
            if is_there and source.is_dir():
                for linked in _linked_from(source):
                    for one in wanted:
                        one.refuse(part, linked)


def _sources(entry: CaseEntry, *, with_points: bool) -> Iterator[tuple[str, Path]]:
    """What a case is read from, and what it is; the most telling word first."""
    scan = entry.scan
    parts = {
        _IMAGE: tuple(entry.channels.values()),
        _TRUTH: (entry.gt_path, entry.gt_landmarks_path),
        _PREDICTION: (
            entry.pred_path,
            entry.pred_landmarks_path if with_points else None,
            None if scan is None else scan.prediction,
        ),
        _SCAN: (None if scan is None else scan.folder,),
    }
    for part, sources in parts.items():
        for source in sources:
            if source is not None:
                yield part, source


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A file to be written: the places that it and, where it is a link, its target have, and where these lie."""

    path: Path
    places: frozenset[Path]
    itself: frozenset[_Identity]
    parents: frozenset[_Identity]
    above: frozenset[_Identity]

    @classmethod
    def of(cls, path: Path) -> _Wanted:
        places = frozenset((path.parent.resolve() / path.name, path.resolve()))  # a link is replaced, not its target
        itself, parents = _identities(places), _identities(place.parent for place in places)
        return cls(path, places, itself, parents, _identities(up for place in places for up in place.parents))

    def refuse(self, part: str, source: Path) -> None:
        """Raise WriteError if this is a source, or lies in one that is a folder."""
        found = _identity(source)
        if source.resolve() in self.places or found in self.itself:
            raise WriteError(f"{self.path}: is {part} that is being reviewed; it stays as it is: choose another name")
        if found in self.above:
            raise WriteError(
                f"{self.path}: lies in {source}, {part} that is being reviewed; its files stay as they are, and no "
                "other is put among them: choose another folder"
            )


def _linked_from(folder: Path) -> Iterator[Path]:
    """Targets of the links in a folder, at any depth: files elsewhere that are its own."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink():
                yield path.resolve()


def _identities(paths: Iterable[Path]) -> frozenset[_Identity]:
    return frozenset(found for path in paths if (found := _identity(path)) is not None)


def _identity(path: Path) -> _Identity | None:
    """Device and number of a file; None where it is not there or nothing may be known of it."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
