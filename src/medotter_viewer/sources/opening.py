"""From what a person typed to the cases it holds."""

from __future__ import annotations

import os
from pathlib import Path

from medotter_viewer.errors import BundleNotFoundError
from medotter_viewer.sources.bundle import MANIFEST, Bundle, find_bundle
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.sources.user_remap import load_user_remap


def open_source(
    target: str | os.PathLike[str] | Bundle,
    *,
    predictions: str | os.PathLike[str] | None = None,
    model_name: str | None = None,
    data_root: str | os.PathLike[str] | None = None,
    pattern: str | None = None,
    remap: str | None = None,
    resample_prediction: bool = False,
) -> CaseSource:
    """Return the cases of a target.

    Parameters
    ----------
    target : path or Bundle
        A bundle folder, or a folder with a sub-folder ``bundle``.
    predictions : path, optional
        Folder of one model's predictions.
    model_name : str, optional
        What to call the model; the folder's name by default.
    data_root : path, optional
        Where the manifest's paths start; by default the environment variable ``MEDOTTER_VIEWER_DATA_ROOT``, then
        ``data/`` beside the bundle folder, then the bundle folder.
    pattern : str, optional
        Template of a prediction's path, e.g. ``"{dataset}/{stem}_pred.nii.gz"``.
    remap : str, optional
        File of a label remap that replaces the bundle's own, or ``"identity"``.
    resample_prediction : bool
        Whether predictions on another grid are resampled instead of refused.

    Raises
    ------
    BundleNotFoundError
        If the target is no bundle.
    UsageError
        If a folder that was named is not there.
    """
    if isinstance(target, Bundle):
        bundle = target
    else:
        found = find_bundle(Path(target))
        if found is None:
            there = "is not there" if not Path(target).exists() else f"holds no {MANIFEST}"
            raise BundleNotFoundError(f"{target} {there}; expected a bundle folder")
        bundle = Bundle(found)
    folder = None
    if predictions is not None:
        path = Path(predictions)
        folder = PredictionFolder(path, model_name or path.resolve().name, pattern)
    return BundleSource(
        bundle,
        data_root=None if data_root is None else Path(data_root),
        predictions=folder,
        user_remap=None if remap is None else load_user_remap(remap),
        resample_prediction=resample_prediction,
    )
