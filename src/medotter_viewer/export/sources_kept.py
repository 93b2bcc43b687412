"""An export never replaces what cases are read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import WriteError


def check_not_a_source(
    paths: Iterable[Path], entries: Iterable[CaseEntry], *, own_points_of: str | None = None
) -> None:
    """Refuse names of files that cases are read from, however they are written.

    Parameters
    ----------
    paths : iterable of Path
        Files to be written.
    entries : iterable of CaseEntry
        Every case that is reviewed, not only those that are written.
    own_points_of : str, optional
        Case whose file of predicted points may be replaced: its corrected points are saved.

    Raises
    ------
    WriteError
        If one is an image, a ground truth or a prediction, lies in a folder that is read as one of these (a series, a
        scan), be it new or not, or is there already beside scans, where their lists are.
    """
    wanted = {path.resolve(): path for path in paths}
    folders = {path: {path, *path.parents} for path in wanted}
    there = [path for path in wanted if path.exists()]
    for entry in entries:
        for part, source in _sources(entry, own_points=entry.case_id == own_points_of):
            read = source.resolve()
            for path, given in wanted.items():
                if read == path:
                    raise _refused(given, f"is {part}")
                if read in folders[path] and read.is_dir():
                    raise _refused(given, f"lies in {read}, which is {part}")
        beside = None if entry.scan is None else entry.scan.folder.resolve().parent
        for found in there:
            if found.parent == beside:
                raise _refused(wanted[found], "is a file beside the scans")


def _sources(entry: CaseEntry, *, own_points: bool) -> Iterator[tuple[str, Path]]:
    """Every file and folder that a case is read from, and what it is."""
    parts = {
        "the prediction": (entry.pred_path, None if own_points else entry.pred_landmarks_path),
        "a ground truth": (entry.gt_path, entry.gt_landmarks_path),
        "an image": tuple(entry.channels.values()),
        "a scan": (None if entry.scan is None else entry.scan.folder,),
    }
    for part, sources in parts.items():
        for source in sources:
            if source is not None:
                yield part, source


def _refused(path: Path, why: str) -> WriteError:
    return WriteError(f"{path}: {why} that is being reviewed; it stays as it is: choose another name")
