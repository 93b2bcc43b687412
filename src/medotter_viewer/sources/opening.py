"""From what a person typed to the cases it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medotter_viewer.errors import BundleNotFoundError, UsageError
from medotter_viewer.sources.bundle import MANIFEST, Bundle, find_bundle
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.folder_pairs import open_folders
from medotter_viewer.sources.inferred_spec import Progress
from medotter_viewer.sources.named_folders import Folders
from medotter_viewer.sources.nnunet import DATASET, is_nnunet, open_nnunet
from medotter_viewer.sources.opened_as import note_opened
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.scan_source import ScanSource
from medotter_viewer.sources.scans import find_scans
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.sources.user_remap import load_user_remap
from medotter_viewer.sources.verse import open_verse
from medotter_viewer.sources.verse_files import is_verse

Place = str | os.PathLike[str]

_EXPECTED = "a bundle folder, scans with contours, a dataset of nnU-Net or scans of VerSe"
_LOOKED_FOR = (
    f"no {MANIFEST} (a bundle), no auxiliary/ or CT/ and RTst/ (scans with contours), "
    f"no {DATASET} with labelsTr or imagesTs (nnU-Net), no sub-..._seg-vert_msk.nii.gz (VerSe)"
)
_OTHERWISE = "name files or folders of equal names by --gt, --pred and --image instead"
_NAMED = 5


def open_source(
    target: Place | Bundle | None = None,
    *,
    predictions: Place | None = None,
    model_name: str | None = None,
    data_root: Place | None = None,
    pattern: str | None = None,
    remap: str | None = None,
    resample_prediction: bool = False,
    gt: Place | None = None,
    pred: Place | None = None,
    image: Place | None = None,
    labels: Place | None = None,
    instances: bool = False,
    series: str | None = None,
    progress: Progress | None = None,
) -> CaseSource:
    """Return the cases of a target, or of files and folders without one.

    Parameters
    ----------
    target : path or Bundle, optional
        A bundle folder, a folder with a sub-folder ``bundle``, a scan with contours or a folder of such scans, a
        dataset folder of nnU-Net, or scans of VerSe.
    predictions : path, optional
        Folder of one model's predictions for the target.
    model_name : str, optional
        What to call the model; the folder's name by default.
    data_root : path, optional
        Where the manifest's paths start; by default the environment variable ``MEDOTTER_VIEWER_DATA_ROOT``, then
        ``data/`` beside the bundle folder, then the bundle folder.
    pattern : str, optional
        Template of a prediction's path in `predictions` or, with `gt`, in `pred`, e.g.
        ``"{dataset}/{stem}_pred.nii.gz"``.
    remap : str, optional
        File of a label remap that replaces the target's own, or ``"identity"``.
    resample_prediction : bool
        Whether predictions on another grid are resampled instead of refused.
    gt, pred, image : path, optional
        Instead of a target: a file each, or folders of files with equal names. Ground truths say which cases there
        are; without them every prediction, else every image is a case that is shown and not scored. An image folder
        may hold ``<case>_0000``, ``<case>_0001``, ... as the channels of a case.
    labels : path, optional
        With `gt`: file ``{id: name}`` that names the regions; by default every id that occurs is one, and all label
        maps are read when `CaseSource.spec` is first asked for.
    instances : bool
        With `gt`: ids are names of single objects.
    series : str, optional
        With `image`, or where images lie in the folder of their RTSTRUCT: which series of a folder of DICOM that holds
        several, by its Series Instance UID or the end of it, its Series Number, or its Series Description. By default
        the one to which an RTSTRUCT or SEG refers; several without that are an error that lists them.
    progress : callable, optional
        Told how many label maps have been read while their ids are collected, and how many there are.

    Raises
    ------
    BundleNotFoundError
        If the target holds nothing that is known.
    UsageError
        If options contradict each other, or a folder that was named is not there.
    ReadError, BundleError
        If what was named is not there, or cannot be used.

    Examples
    --------
    >>> source = open_source(gt="labels", pred="unet", image="images")  # doctest: +SKIP
    >>> source.case_ids(), list(source.spec.regions)  # doctest: +SKIP
    (['0001', '0002'], ['1', '2'])
    """
    options: dict[str, Any] = {
        "target": target,
        "predictions": predictions,
        "model_name": model_name,
        "data_root": data_root,
        "pattern": pattern,
        "remap": remap,
        "resample_prediction": resample_prediction,
        "gt": gt,
        "pred": pred,
        "image": image,
        "labels": labels,
        "instances": instances,
        "series": series,
    }
    source = _open(**options, progress=progress)
    note_opened(source, {**options, "target": target.directory if isinstance(target, Bundle) else target})
    return source


def _open(
    target: Place | Bundle | None,
    *,
    predictions: Place | None,
    model_name: str | None,
    data_root: Place | None,
    pattern: str | None,
    remap: str | None,
    resample_prediction: bool,
    gt: Place | None,
    pred: Place | None,
    image: Place | None,
    labels: Place | None,
    instances: bool,
    series: str | None,
    progress: Progress | None,
) -> CaseSource:
    """Return the source for the options of `open_source`."""
    folders = {"gt": gt, "pred": pred, "image": image}
    given = {name: Path(path) for name, path in folders.items() if path is not None}
    user_remap = None if remap is None else load_user_remap(remap)
    if target is None:
        of_target = {"predictions": predictions, "data_root": data_root}
        _refuse(of_target, "belongs to a TARGET; without one, name predictions by --pred")
        chosen = Folders(
            **given,
            labels=None if labels is None else Path(labels),
            instances=instances,
            series=series,
            model_name=model_name,
            pattern=pattern,
        )
        return open_folders(chosen, user_remap=user_remap, resample_prediction=resample_prediction, progress=progress)
    _refuse(
        {**folders, "labels": labels, "instances": instances or None}, "stands in place of TARGET; give one of the two"
    )
    _refuse(
        {"series": series},
        "is for --gt, --pred and --image; put the series of a TARGET into folders of their own",
    )
    if not isinstance(target, Bundle) and (bundle_dir := find_bundle(Path(target))) is not None:
        target = Bundle(bundle_dir)
    if isinstance(target, Bundle):
        folder = None
        if predictions is not None:
            path = Path(predictions)
            folder = PredictionFolder(path, model_name or path.resolve().name, pattern)
        return BundleSource(
            target,
            data_root=None if data_root is None else Path(data_root),
            predictions=folder,
            user_remap=user_remap,
            resample_prediction=resample_prediction,
        )
    place = Path(target)
    _refuse({"data_root": data_root}, f"is for a bundle; {place} is none")
    model = None if predictions is None else Path(predictions)
    if find_scans(place):
        _refuse({"remap": remap}, f"has no meaning for contours, and {place} holds scans with contours")
        return ScanSource(place, model, model_name, resample_prediction=resample_prediction, pattern=pattern)
    if is_nnunet(place):
        return open_nnunet(
            place,
            predictions=model,
            model_name=model_name,
            pattern=pattern,
            user_remap=user_remap,
            resample_prediction=resample_prediction,
        )
    if place.is_dir() and is_verse(place):
        return open_verse(
            place,
            predictions=model,
            model_name=model_name,
            pattern=pattern,
            user_remap=user_remap,
            resample_prediction=resample_prediction,
            progress=progress,
        )
    raise BundleNotFoundError(nothing_known(place))


def holds_cases(place: Path) -> bool:
    """Whether a folder is a target of `open_source`; nothing is opened."""
    return place.is_dir() and (
        find_bundle(place) is not None or bool(find_scans(place)) or is_nnunet(place) or is_verse(place)
    )


def _refuse(options: Mapping[str, object], reason: str) -> None:
    """Raise UsageError for options that are given and do not fit."""
    if named := [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]:
        raise UsageError(f"{', '.join(named)}: {reason}")


def nothing_known(place: Path) -> str:
    """Say what was looked for, what is there instead, and what to do."""
    if not place.exists():
        return f"{place} is not there; expected {_EXPECTED}"
    if not place.is_dir():
        return f"{place} is no folder; expected {_EXPECTED}; {_OTHERWISE}"
    try:
        names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in place.iterdir())
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    found = ", ".join(names[:_NAMED]) + (f", ... ({len(names)} in all)" if len(names) > _NAMED else "") or "nothing"
    return f"{place} holds {_LOOKED_FOR}; it holds {found}; {_OTHERWISE}"
