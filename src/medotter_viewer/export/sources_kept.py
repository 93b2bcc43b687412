"""An export never replaces what it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import WriteError


def check_not_a_source(paths: Iterable[Path], entries: Iterable[CaseEntry]) -> None:
    """Refuse names of files that cases are read from, however they are written.

    Parameters
    ----------
    paths : iterable of Path
        Files to be written.
    entries : iterable of CaseEntry
        Every case that is reviewed, not only those that are written.

    Raises
    ------
    WriteError
        If one is an image, a ground truth or a prediction, or is there already beside scans, where their lists are.
    """
    wanted = {path.resolve(): path for path in paths}
    there = [path for path in wanted if path.exists()]
    for entry in entries:
        beside = None if entry.scan is None else entry.scan.folder.resolve().parent
        for found in there:
            if found.parent == beside:
                raise WriteError(f"{wanted[found]}: is a file beside the scans; it stays as it is: choose another name")
        parts = {
            "the prediction": (entry.pred_path, entry.pred_landmarks_path),
            "a ground truth": (entry.gt_path, entry.gt_landmarks_path),
            "an image": tuple(entry.channels.values()),
        }
        for part, sources in parts.items():
            for source in sources:
                if source is not None and (path := wanted.get(source.resolve())) is not None:
                    raise WriteError(
                        f"{path}: is {part} that is being reviewed; it stays as it is: choose another name"
                    )
