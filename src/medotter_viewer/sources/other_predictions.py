"""The same cases with the predictions of another folder, and which folder was meant by one that holds none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import MedotterViewerError, UsageError
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.folder_source import FolderSource
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.scan_source import ScanSource
from medotter_viewer.sources.source import CaseSource

_DEPTH, _MOST_FOLDERS, _MOST_CASES, _NAMED = 2, 20, 50, 3


def is_predicted(entry: CaseEntry) -> bool:
    """Tell whether a file was found that holds the prediction of a case, or its points."""
    return entry.pred_path is not None or entry.pred_landmarks_path is not None


def with_folder(source: CaseSource, path: Path, name: str, what: str = "predictions") -> CaseSource:
    """Return a source of the same cases and the same rules with the predictions of another folder, found or not.

    Parameters
    ----------
    source : CaseSource
        The cases; a template for the paths of their predictions holds for the other folder, too.
    path : Path
        The folder.
    name : str
        What to call its model.
    what : str
        What the predictions are, for messages.

    Raises
    ------
    UsageError
        If predictions of this source are not found in a folder, or the files name their structures: the ids of these
        are made for one model's files.
    """
    if isinstance(source, BundleSource):
        pattern = None if source.predictions is None else source.predictions.pattern
        return replace(source, predictions=PredictionFolder(path, name, pattern))
    if isinstance(source, ScanSource):
        return replace(source, predictions=path, model_name=name)
    if isinstance(source, FolderSource) and source.other is not None:
        other = source.other(path, name)
        if source.segment_ids is not None or other.segment_ids is not None:
            raise UsageError(
                f"{what}: files that name their structures (RTSTRUCT, SEG) get ids made for one model; two of them "
                "cannot be compared; write both as label maps"
            )
        return replace(other, rules=lambda: source.spec)
    raise UsageError(f"{what}: the predictions of {source.target} cannot be replaced by those of a folder")


def nothing_found(source: CaseSource, path: Path, what: str = "predictions") -> str | None:
    """Return in words that no case has a prediction, what was looked for and what was meant; None where one has.

    Something of which it cannot be told what it is counts as one: each case then says it.

    Parameters
    ----------
    source : CaseSource
        With the predictions of a folder.
    path : Path
        That folder.
    what : str
        What the predictions are.
    """
    entries = list(source.entries())
    if any(is_predicted(entry) or _is_unclear(entry) for entry in entries):
        return None
    first = next((entry for entry in entries if entry.pred_sought), None)
    sought = "" if first is None else f"; of {first.case_id}, for example, it was looked for {first.pred_sought}"
    meant = meant_text(source)  # before an example: the line of a window is cut off at its end
    said = f"{what}: {path} holds nothing for any of the {len(entries)} cases"
    return said + (f"; {meant}" if meant else "") + sought


def meant_text(source: CaseSource) -> str:
    """Return what was probably meant by a folder of predictions that holds none of the cases.

    Parameters
    ----------
    source : CaseSource
        Opened with a folder of predictions.

    Returns
    -------
    str
        ``"did you mean …/mixed?"``; empty where a case has a prediction, and where no folder below holds any. Folders
        are listed and names are looked up; no prediction is read.
    """
    named = None if source.model is None else source.record().get("predictions")
    if named is None or any(is_predicted(entry) for entry in source.entries()):
        return ""
    meant = [path for path in _folders_below(Path(str(named))) if _holds_any(source, path)]
    if not meant:
        return ""
    more = f", ... ({len(meant)} in all)" if len(meant) > _NAMED else ""
    return f"did you mean {' or '.join(map(str, meant[:_NAMED]))}{more}?"


def _is_unclear(entry: CaseEntry) -> bool:
    return any(finding.code == "ambiguous-prediction" for finding in entry.findings)


def _folders_below(folder: Path) -> Iterator[Path]:
    """The folders in a folder, then those in them; by name, hidden ones and links left out."""
    level = [folder]
    found: list[Path] = []
    for _ in range(_DEPTH):
        level = [inner for one in level[:_MOST_FOLDERS] for inner in _inner(one)]
        found += level
    return islice(found, _MOST_FOLDERS)


def _inner(folder: Path) -> list[Path]:
    try:
        inner = [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
    except OSError:  # a folder that cannot be listed was hardly meant
        return []
    return sorted(path for path in inner if not path.name.startswith("."))


def _holds_any(source: CaseSource, path: Path) -> bool:
    try:
        entries = with_folder(source, path, path.name).entries()
        return any(is_predicted(entry) and not _is_own(entry) for entry in islice(entries, _MOST_CASES))
    except MedotterViewerError:  # nothing that this source could use
        return False


def _is_own(entry: CaseEntry) -> bool:
    """Whether what was found as a prediction is the case's own image or ground truth."""
    own = {path.resolve() for path in (*entry.channels.values(), entry.gt_path, entry.gt_landmarks_path) if path}
    found = [path.resolve() for path in (entry.pred_path, entry.pred_landmarks_path) if path]
    return all(path in own for path in found)
