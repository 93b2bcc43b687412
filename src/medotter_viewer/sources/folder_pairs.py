"""Files, or folders of files with equal names, as cases: ground truths, one model's predictions and images."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.paths import Confined
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import ReadError, UsageError
from medotter_viewer.formats import registry
from medotter_viewer.sources.channel_files import ChannelFiles
from medotter_viewer.sources.folder_listing import Listing, linked_out, list_volumes
from medotter_viewer.sources.folder_source import FolderSource, check_datasets, remap_for
from medotter_viewer.sources.inferred_spec import (
    Progress,
    Regions,
    SegmentIds,
    ids_that_occur,
    instances_spec,
    named_regions,
    read_label_names,
    regions_spec,
    spec_of_ids,
)
from medotter_viewer.sources.label_names import check_names_of, ids_never_seen
from medotter_viewer.sources.named_folders import GT, IMAGE, PRED, Folders
from medotter_viewer.sources.one_volume import holds_segments, is_one_volume
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.segment_files import is_segment_file
from medotter_viewer.sources.user_remap import IDENTITY, UserRemap

AS_IN_FILE = Remap(None, "none", "no remap is given: ids are as in the files")
SHOWN_ONLY = "without ground truth"
"""Task type of cases that are looked at: nothing scores it."""
_NAMED = 5


def open_folders(
    folders: Folders,
    *,
    user_remap: UserRemap | None = None,
    resample_prediction: bool = False,
    progress: Progress | None = None,
) -> FolderSource:
    """Return the cases of files or folders.

    Parameters
    ----------
    folders : Folders
        Which.
    user_remap : UserRemap, optional
        Applied to ground truths.
    resample_prediction : bool
        As for `load_case`.
    progress : callable, optional
        Told how many label maps have been read while their ids are collected.

    Returns
    -------
    FolderSource
        A case for every ground truth; without ground truths for every prediction, else for every image. All are of
        the split ``test``; the folders above a file are its dataset.

    Raises
    ------
    ReadError, BundleError
        If a folder holds no volume, or a file of names or a remap cannot be used.
    UsageError
        If one file is named beside a folder of several, or a remap beside instances.
    """
    if folders.instances and user_remap is not None and user_remap.source != IDENTITY:
        raise UsageError("--instances: ids are names of single objects; leave --remap out")
    names = None if folders.labels is None else read_label_names(folders.labels)
    listings = _listings(folders)
    main = next(iter(listings.values()))
    target = next(iter(folders.parts.values()))
    if not main.ids:
        left_out = f" ({main.noticed[0].message})" if main.noticed else ""
        suffixes = ", ".join(registry.SUFFIXES)
        raise ReadError(f"{target}: no file that can be read{left_out}; expected files named {suffixes}")
    only_images = set(listings) == {IMAGE}
    images = ChannelFiles(listings.get(IMAGE, Listing(target)), None if only_images else main.ids)
    ids = images.case_ids if only_images else main.ids
    cases = {
        i: replace(_entry(i, listings, images, user_remap), label_regions=names, series=folders.series) for i in ids
    }
    check_datasets(user_remap, cases)
    noticed = list(_noticed(listings, images, ids))
    if folders.pred is not None and folders.gt is not None:
        cases = {i: replace(entry, pred_sought=_sought(entry, folders.pred)) for i, entry in cases.items()}
    if folders.pattern is not None and folders.pred is not None:
        model = PredictionFolder(folders.pred, str(folders.model), folders.pattern)
        cases = {i: _with_prediction(entry, model) for i, entry in cases.items()}
        noticed += _unused(model, cases)

    named = _named_by_files(cases.values(), progress)
    if named is not None and folders.instances:
        raise UsageError("--instances needs ids of single objects; the files name their structures")

    def rules() -> EvalSpec:
        if folders.instances:
            spec = instances_spec(list(main.paths.values()))
        elif named is not None:
            spec = regions_spec(named()[1])
        elif names is not None:
            if folders.gt is not None:
                check_names_of(cases.values(), names, folders.labels, progress)
            spec = regions_spec(names)
        else:
            spec = spec_of_ids(cases.values(), progress)
        return spec if folders.gt is not None else replace(spec, task_type=SHOWN_ONLY)

    def look() -> Iterator[Finding]:
        if names is not None and named is None:
            yield from ids_never_seen(names, ids_that_occur(cases.values()), "any file")

    inferred = "every id is one object" if folders.instances else "one region for each id that occurs"
    return FolderSource(
        target=str(target),
        name=target.resolve().name,
        cases=cases,
        rules=rules,
        segment_ids=None if named is None else lambda: named()[0],
        model=folders.model,
        resample_prediction=resample_prediction,
        chosen={
            "gt": _text(folders.gt),
            "predictions": _text(folders.pred),
            "pattern": folders.pattern,
            "images": _text(folders.image),
            "series": folders.series,
            "labels": _text(folders.labels) or inferred,
            "user_remap": None if user_remap is None else user_remap.record(),
        },
        noticed=tuple(noticed),
        look=look,
        other=lambda path, called: open_folders(
            replace(folders, pred=path, model_name=called),
            user_remap=user_remap,
            resample_prediction=resample_prediction,
        ),
    )


def _named_by_files(
    cases: Collection[CaseEntry], progress: Progress | None
) -> Callable[[], tuple[SegmentIds, Regions]] | None:
    """What reads, once, the names that files give their structures; None where no file does."""
    paths = (path for entry in cases for path in (entry.gt_path, entry.pred_path) if path is not None)
    return cache(lambda: named_regions(cases, progress)) if any(map(is_segment_file, paths)) else None


def _listings(folders: Folders) -> dict[str, Listing]:
    """The volumes of each part; where there is one case, under its id."""
    parts = {part: path for part, path in folders.parts.items() if part != PRED or folders.pattern is None}
    (part, main), *others = parts.items()
    is_one = partial(is_one_volume, instances=folders.instances)
    listed = partial(list_volumes, instances=folders.instances)
    has_series = any(path.is_dir() and is_one(path) for path in parts.values())
    if all(is_one(path) or (has_series and holds_segments(path)) for path in parts.values()):
        case_id = registry.stem(main) if main.is_file() else main.resolve().name
        return {name: _alone(case_id, path) for name, path in parts.items()}
    if main.is_file():
        case_id = registry.stem(main)
        return {name: _alone(case_id, path) if is_one(path) else listed(path, name) for name, path in parts.items()}
    for name, path in others:
        if path.is_file():
            raise UsageError(
                f"{path} is one file, {main} a folder of several; expected a folder of {name}s, or one file as {part}"
            )
    return {name: listed(path, name) for name, path in parts.items()}


def _alone(case_id: str, path: Path) -> Listing:
    """One volume under the id of its case."""
    refused = linked_out(path, Confined(path)) if path.is_dir() else None
    return Listing(path.parent, {case_id: path}) if refused is None else Listing(path.parent, {}, {case_id: refused})


def _entry(
    case_id: str, listings: Mapping[str, Listing], images: ChannelFiles, user_remap: UserRemap | None
) -> CaseEntry:
    """One case with the files of its name; what is refused is a finding."""
    gt, pred = (listings.get(part, Listing(Path())) for part in (GT, PRED))
    dataset = case_id.rpartition("/")[0] or None
    channels, findings = images.of(case_id)
    refused = [replace(one.refused[case_id], where=case_id) for one in (gt, pred) if case_id in one.refused]
    return CaseEntry(
        case_id,
        dataset=dataset,
        split="test",
        channels=channels,
        gt_path=gt.paths.get(case_id),
        pred_path=pred.paths.get(case_id),
        remap=remap_for(dataset, user_remap, AS_IN_FILE),
        findings=(*refused, *findings),
    )


def _sought(entry: CaseEntry, pred: Path) -> str:
    """What the prediction of a case would be called, were it of the ground truth's format."""
    name = "" if entry.gt_path is None else entry.gt_path.name[len(registry.stem(entry.gt_path)) :]
    return f"{pred / entry.case_id}{name} (or another suffix)"


def _with_prediction(entry: CaseEntry, model: PredictionFolder) -> CaseEntry:
    """A case with the prediction that a template names."""
    path, findings = model.find(entry)
    return replace(entry, pred_path=path, pred_sought=model.sought(entry), findings=(*entry.findings, *findings))


def _unused(model: PredictionFolder, cases: Mapping[str, CaseEntry]) -> Iterator[Finding]:
    """Volumes among the predictions that the template gives to no case."""
    for path in model.unused(entry.pred_path for entry in cases.values() if entry.pred_path is not None):
        if path.name.lower().endswith(registry.SUFFIXES) and not path.name.startswith("."):
            message = f"no case has the prediction {path.relative_to(model.folder)} by --pattern {model.pattern}"
            yield Finding("warning", "unused-prediction", message, file=str(path))


def _noticed(listings: Mapping[str, Listing], images: ChannelFiles, ids: Collection[str]) -> Iterator[Finding]:
    """What is to be said of the folders as a whole."""
    for listing in listings.values():
        yield from listing.noticed
    if IMAGE in listings and (unused := images.unused(ids)):
        yield Finding("info", "unused-image", f"images that belong to no case: {_some(unused)}", _root(listings[IMAGE]))
    if GT not in listings or PRED not in listings:
        return
    known, predictions = frozenset(ids), listings[PRED]
    unused = [i for i in predictions.ids if i not in known]
    if unused and len(unused) == len(predictions.ids):
        message = (
            f"no prediction has the name of a ground truth: ground truths are {_some(sorted(ids))}; predictions are "
            f"{_some(unused)}; give them equal names"
        )
        yield Finding("warning", "no-equal-names", message, _root(predictions))
    for i in unused:
        path = predictions.paths.get(i)
        message = f"no ground truth has the name of the prediction {i}: it is no case"
        yield Finding("warning", "unused-prediction", message, None if path is None else str(path))


def _root(listing: Listing) -> str:
    return str(listing.root)


def _some(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f", ... ({len(names)} in all)" if len(names) > _NAMED else "")


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
