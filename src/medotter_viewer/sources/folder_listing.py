"""What lies in a folder of volumes, by name: nothing is opened, nothing outside the folder is followed.

The name of a file without its known suffix, with the folders above it, is its id: ``site1/0001``. A folder that a
reader takes for one volume (a DICOM series) stands for itself. What cannot be used keeps its id and says why, so that
no case disappears.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.paths import Confined
from medotter_viewer.errors import ReadError, UnsafePathError
from medotter_viewer.formats import registry
from medotter_viewer.sources.one_volume import stands_for_itself

DEEPEST = 16
"""Folders in folders that are gone through."""
_MASKS = "masks"  # a folder of this name is one volume of the case that its folder is called as
_NAMED = 3  # files that one remark names


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The volumes of a folder.

    Parameters
    ----------
    root : Path
        The folder.
    paths : mapping of str to Path
        Id to file, or to a folder that is one volume; by id.
    refused : mapping of str to Finding
        Ids that are there but cannot be used, and why.
    noticed : tuple of Finding
        What was left out.
    """

    root: Path
    paths: Mapping[str, Path] = field(default_factory=dict)
    refused: Mapping[str, Finding] = field(default_factory=dict)
    noticed: tuple[Finding, ...] = ()

    @property
    def ids(self) -> list[str]:
        """All ids, those that cannot be used too, sorted."""
        return sorted({*self.paths, *self.refused})


@dataclass(frozen=True, slots=True)
class Found:
    """One entry of a folder: its path from the root with ``/``, what it is called, and why it is refused, if it is."""

    relative: str
    name: str
    path: Path
    is_volume_folder: bool = False
    refused: Finding | None = None


def list_volumes(root: Path, part: str, *, instances: bool = False) -> Listing:
    """Return the volumes below a folder.

    Parameters
    ----------
    root : Path
        The folder; it may itself be a link.
    part : str
        What it holds, for messages: ``"ground truth"``.
    instances : bool
        Whether a folder ``masks`` with one mask for each object is one volume, called as the folder above it.

    Returns
    -------
    Listing
        An empty folder gives an empty one. Hidden files, files of unknown suffix, links to folders and folders more
        than `DEEPEST` deep are left out with a remark; two files of one id, links that leave the folder, and pipes
        and devices are refused.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    paths: dict[str, list[Path]] = {}
    refused: dict[str, Finding] = {}
    noticed: list[Finding] = []
    unknown: dict[str, list[str]] = {}
    for found in walk(root, noticed, stands_alone=partial(stands_for_itself, instances=instances)):
        known = found.is_volume_folder or found.name.lower().endswith(registry.SUFFIXES)
        if found.refused is not None and not known:  # no volume by its name: said, but no case is missing
            noticed.append(replace(found.refused, severity="warning"))
            continue
        if found.name.startswith(".") or not known:
            hidden = found.name.startswith(".")
            kind = "hidden" if hidden else f"named {found.path.suffix or 'without a suffix'}"
            unknown.setdefault(kind, []).append(found.relative)
            continue
        above = found.relative[: len(found.relative) - len(found.name)]
        volume_id = above + (found.name if found.is_volume_folder else registry.stem(found.path))
        if found.is_volume_folder and above and found.name.lower() == _MASKS:
            volume_id = above[:-1]
        if found.refused is not None:
            refused[volume_id] = found.refused
        else:
            paths.setdefault(volume_id, []).append(found.path)
    for volume_id in [i for i, several in paths.items() if len(several) > 1]:
        names = " and ".join(str(path) for path in paths.pop(volume_id))
        message = f"{part} {volume_id}: two files have this name: {names}; keep one"
        refused[volume_id] = Finding("error", "ambiguous-file", message, file=str(root), where=volume_id)
    noticed += [_left_out(root, part, kind, names) for kind, names in unknown.items()]
    chosen = {i: paths[i][0] for i in sorted(paths) if i not in refused}
    return Listing(root, chosen, dict(sorted(refused.items())), tuple(noticed))


def walk(root: Path, noticed: list[Finding], *, stands_alone: Callable[[Path], bool]) -> Iterator[Found]:
    """Yield the files below a folder, by name; `noticed` gets a remark for every folder that is not gone into.

    Parameters
    ----------
    root : Path
        The folder.
    noticed : list of Finding
        Is added to.
    stands_alone : callable
        Whether a folder is one entry instead of being gone into.

    Raises
    ------
    ReadError
        If the root cannot be listed.
    """
    confined = Confined(root)

    def below(folder: Path, prefix: str, depth: int) -> Iterator[Found]:
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            message = f"{folder}: {error.strerror or error}"
            if not prefix:
                raise ReadError(message) from error
            noticed.append(Finding("error", "unreadable-folder", message, file=str(folder)))
            return
        for entry in entries:
            relative, path = prefix + entry.name, folder / entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name.startswith("."):
                    pass  # what a system keeps for itself
                elif stands_alone(path):
                    yield Found(relative, entry.name, path, True, linked_out(path, confined))
                elif depth >= DEEPEST:
                    noticed.append(_note("warning", "deep-folder", f"{path}: too deep, not gone into", path))
                else:
                    yield from below(path, f"{relative}/", depth + 1)
                continue
            problem = _problem(entry, relative, path, confined)
            if problem is None and entry.is_dir():  # a link to a folder inside: its files are listed where they lie
                if stands_alone(path):
                    yield Found(relative, entry.name, path, is_volume_folder=True)
                else:
                    noticed.append(_note("warning", "linked-folder", f"{path}: a link to a folder, not followed", path))
                continue
            yield Found(relative, entry.name, path, refused=problem)

    yield from below(root, "", 0)


def linked_out(folder: Path, confined: Confined) -> Finding | None:
    """Why a folder that is one volume cannot be used: its reader would open a link that leads out; else None."""
    if (name := confined.leaving(folder)) is None:
        return None
    message = f"{folder / name}: a link that leads out of {confined.root} or nowhere; copy the file in its place"
    return _note("error", "unsafe-path", message, folder)


def _problem(entry: os.DirEntry[str], relative: str, path: Path, confined: Confined) -> Finding | None:
    """Why an entry cannot be used; None for a file, and for a link to something inside."""
    if entry.is_symlink():
        try:
            confined.resolve(relative, where=str(confined.root))
        except UnsafePathError as error:
            message = f"{error}; copy the file, or name the folder that it lies in"
            return _note("error", "unsafe-path", message, path)
        if entry.is_dir():
            return None
    if entry.is_file():
        return None
    message = f"{path}: a link to nothing" if entry.is_symlink() else f"{path}: neither a file nor a folder"
    return _note("error", "missing-file", message, path)


def _note(severity: Severity, code: str, message: str, path: Path) -> Finding:
    return Finding(severity, code, message, file=str(path))


def _left_out(root: Path, part: str, kind: str, names: Iterable[str]) -> Finding:
    listed = list(names)
    shown = ", ".join(listed[:_NAMED]) + (", ..." if len(listed) > _NAMED else "")
    count = "1 file is" if len(listed) == 1 else f"{len(listed)} files are"
    return Finding("info", "file-left-out", f"{part}: {count} {kind} and left out: {shown}", file=str(root))
