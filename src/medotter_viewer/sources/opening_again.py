"""The cases of a source with the predictions of a folder, as if it had been opened with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medotter_viewer.errors import UsageError
from medotter_viewer.sources.opened_as import opened_as
from medotter_viewer.sources.opening import Place, open_source
from medotter_viewer.sources.other_predictions import nothing_found
from medotter_viewer.sources.source import CaseSource

_OF_MODELS = ("predictions", "pred", "model_name", "second", "second_name")


def open_again(source: CaseSource, predictions: Place) -> CaseSource:
    """Return the cases of a source, opened anew with a folder of predictions in place of its own, if it has any.

    Parameters
    ----------
    source : CaseSource
        From `open_source`; all its other options hold, a template for the paths of predictions too.
    predictions : path
        Folder of one model's predictions, which gives the model its name.

    Raises
    ------
    UsageError
        If the cases come from no files, or the folder holds a prediction for none of them.
    BundleNotFoundError, ReadError, BundleError
        As `open_source`.
    """
    options = opened_as(source)
    if options is None:
        raise UsageError(f"{source.name}: its cases were not opened from files: no predictions can be added to them")
    kept: dict[str, Any] = {key: value for key, value in options.items() if key not in _OF_MODELS}
    kept["predictions" if "target" in kept else "pred"] = predictions
    found = open_source(**kept)
    if (nothing := nothing_found(found, Path(predictions))) is not None:
        raise UsageError(nothing)
    return found
