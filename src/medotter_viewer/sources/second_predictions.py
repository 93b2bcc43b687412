"""The same cases with another model's predictions: what is laid beside the first to compare two models."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import UsageError
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.folder_source import FolderSource
from medotter_viewer.sources.opened_as import note_opened, opened_as
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.scan_source import ScanSource
from medotter_viewer.sources.source import CaseSource

_WHAT = "second prediction"


def with_predictions(source: CaseSource, folder: str | os.PathLike[str], name: str | None = None) -> CaseSource:
    """Return a source of the same cases and the same rules with other predictions.

    Parameters
    ----------
    source : CaseSource
        The cases with the first model's predictions, or without any.
    folder : path
        Where the other model's predictions lie; each is found as those of the first are, by the same template too.
    name : str, optional
        What to call the other model; the folder's name by default, with that of the folder above where the first model
        has the same name.

    Returns
    -------
    CaseSource
        Its `spec` equals that of `source`: it is not inferred anew from the other files.

    Raises
    ------
    UsageError
        If there is no such folder, it holds a prediction for none of the cases, or the files name their structures:
        the ids of these are made for one model's files.
    """
    path = Path(folder)
    if not path.exists():
        raise UsageError(f"{_WHAT}: no such folder: {path}")
    found = _with(source, path, name or _name_of(path, source.model))
    if not any(is_predicted(entry) or _is_unclear(entry) for entry in found.entries()):
        raise UsageError(f"{_WHAT}: {path} holds nothing for any of the {len(found.case_ids())} cases{_sought(found)}")
    note_opened(found, {**(opened_as(source) or {}), "second": path, "second_name": name})
    return found


def is_predicted(entry: CaseEntry) -> bool:
    """Tell whether a file was found that holds the prediction of a case, or its points."""
    return entry.pred_path is not None or entry.pred_landmarks_path is not None


def _is_unclear(entry: CaseEntry) -> bool:
    """Whether there is something, though it cannot be told what: each case then says it."""
    return any(finding.code == "ambiguous-prediction" for finding in entry.findings)


def _with(source: CaseSource, path: Path, name: str) -> CaseSource:
    if isinstance(source, BundleSource):
        pattern = None if source.predictions is None else source.predictions.pattern
        return replace(source, predictions=PredictionFolder(path, name, pattern))
    if isinstance(source, ScanSource):
        return replace(source, predictions=path, model_name=name)
    if isinstance(source, FolderSource) and source.other is not None:
        other = source.other(path, name)
        if source.segment_ids is not None or other.segment_ids is not None:
            raise UsageError(
                f"{_WHAT}: files that name their structures (RTSTRUCT, SEG) get ids made for one model; two of them "
                "cannot be compared; write both as label maps"
            )
        return replace(other, rules=lambda: source.spec)
    raise UsageError(f"{_WHAT}: the predictions of {source.target} cannot be replaced by those of a folder")


def _name_of(path: Path, first: str | None) -> str:
    """The folder's name; with the one above where both models would be called the same."""
    whole = path.resolve()
    name = whole.name if whole.is_dir() else whole.stem
    return f"{whole.parent.name}/{name}" if name == first else name


def _sought(source: CaseSource) -> str:
    """What was looked for, on the example of the first case."""
    entry = next(iter(source.entries()), None)
    if entry is None:
        return ""
    sought = entry.pred_sought
    if sought is None and isinstance(source, BundleSource) and source.predictions is not None:
        sought = source.predictions.sought(entry)
    return "" if sought is None else f"; of {entry.case_id}, for example, it was looked for {sought}"
