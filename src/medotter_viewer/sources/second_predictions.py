"""The same cases with another model's predictions: what is laid beside the first to compare two models."""

from __future__ import annotations

import os
from pathlib import Path

from medotter_viewer.errors import UsageError
from medotter_viewer.sources.opened_as import note_opened, opened_as
from medotter_viewer.sources.other_predictions import nothing_found, with_folder
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
    found = with_folder(source, path, name or _name_of(path, source.model), _WHAT)
    if (nothing := nothing_found(found, path, _WHAT)) is not None:
        raise UsageError(nothing)
    note_opened(found, {**(opened_as(source) or {}), "second": path, "second_name": name})
    return found


def _name_of(path: Path, first: str | None) -> str:
    """The folder's name; with the one above where both models would be called the same."""
    whole = path.resolve()
    name = whole.name if whole.is_dir() else whole.stem
    return f"{whole.parent.name}/{name}" if name == first else name
