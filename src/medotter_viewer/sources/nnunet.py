"""A dataset in the layout of nnU-Net: ``dataset.json`` with ``imagesTr``, ``labelsTr``, ``imagesTs``, ``labelsTs``.

Both versions of dataset.json are read, and the Medical Segmentation Decathlon's, which has images without a channel
number. The training cases are the split ``train``, those of ``labelsTs`` the split ``test``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.paths import resolve_inside
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.sources.channel_files import ChannelFiles
from medotter_viewer.sources.folder_listing import Listing, list_volumes
from medotter_viewer.sources.folder_source import FolderSource, check_datasets, remap_for
from medotter_viewer.sources.inferred_spec import regions_spec
from medotter_viewer.sources.nnunet_dataset import DatasetFile, read_dataset_file
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.user_remap import UserRemap

DATASET = "dataset.json"
SPLITS = {"train": "Tr", "test": "Ts"}
_IN_FILES = Remap(None, "none", f"{DATASET} has no remap: ids are as in the files")


def is_nnunet(folder: Path) -> bool:
    """Whether a folder has a dataset.json beside folders of nnU-Net's names; nothing is opened."""
    names = [f"{kind}{tail}" for kind in ("labels", "images") for tail in SPLITS.values()]
    return (folder / DATASET).is_file() and any((folder / name).is_dir() for name in names)


def open_nnunet(
    folder: Path,
    *,
    predictions: Path | None = None,
    model_name: str | None = None,
    pattern: str | None = None,
    user_remap: UserRemap | None = None,
    resample_prediction: bool = False,
) -> FolderSource:
    """Return the cases of a dataset folder.

    Parameters
    ----------
    folder : Path
        Holds dataset.json.
    predictions : Path, optional
        Folder of one model's predictions, ``<case><file_ending>``.
    model_name, pattern
        As for `open_source`.
    user_remap : UserRemap, optional
        Applied to ground truths.
    resample_prediction : bool
        As for `load_case`.

    Raises
    ------
    BundleError, ReadError
        If dataset.json or a folder cannot be used.
    UnsafePathError
        If one of its folders is a link that leaves it.
    UsageError
        If the predictions are not there.
    """
    told = read_dataset_file(folder / DATASET)
    model = None
    if predictions is not None:
        name = model_name or predictions.resolve().name
        model = PredictionFolder(predictions, name, pattern or "{case_id}" + told.ending)
    cases: dict[str, CaseEntry] = {}
    noticed: list[Finding] = []
    for split, tail in SPLITS.items():  # test last: a case of both splits is kept as a test case
        for entry in _cases(folder, told, split, tail, user_remap, noticed):
            if entry.case_id in cases:
                message = f"case {entry.case_id} is in labelsTr and in labelsTs; it is kept as a test case"
                finding = Finding("warning", "split-clash", message, where=entry.case_id)
                entry = replace(entry, findings=(*entry.findings, finding))
            cases[entry.case_id] = entry
    if model is not None:
        for case_id, entry in cases.items():
            path, found = model.find(entry)
            findings, sought = (*entry.findings, *found), model.sought(entry)
            cases[case_id] = replace(entry, pred_path=path, findings=findings, pred_sought=sought)
        noticed += _unused(model, cases, told.ending)
    check_datasets(user_remap, cases)
    if told.lists_files:
        message = f"{told.path}: 'dataset' names the files of cases: not used, cases are found by their names"
        noticed.append(Finding("warning", "files-not-by-name", message, str(told.path), "dataset"))

    def rules() -> EvalSpec:
        return replace(
            regions_spec(told.regions), label_space=frozenset({0, *told.ignored}.union(*told.regions.values()))
        )

    return FolderSource(
        target=str(folder),
        name=told.name or folder.resolve().name,
        cases=cases,
        rules=rules,
        model=None if model is None else model.name,
        modality=next(iter(told.channels.values()), None),
        resample_prediction=resample_prediction,
        chosen={
            "layout": "nnU-Net",
            "predictions": None if model is None else str(model.folder),
            "pattern": None if model is None else model.pattern,
            "user_remap": None if user_remap is None else user_remap.record(),
        },
        noticed=tuple(noticed),
        other=lambda path, called: open_nnunet(
            folder,
            predictions=path,
            model_name=called,
            pattern=pattern,
            user_remap=user_remap,
            resample_prediction=resample_prediction,
        ),
    )


def _cases(
    folder: Path, told: DatasetFile, split: str, tail: str, user_remap: UserRemap | None, noticed: list[Finding]
) -> Iterator[CaseEntry]:
    """The cases of one split: of its label maps, and of its images where it has no label maps."""
    labels, images = _listed(folder, f"labels{tail}"), _listed(folder, f"images{tail}")
    noticed += [*labels.noticed, *images.noticed]
    has_labels = bool(labels.ids)
    channels = ChannelFiles(images, labels.ids if has_labels else None, told.channels)
    if has_labels and (unused := channels.unused(labels.ids)):
        some = ", ".join(unused[:5]) + (f", ... ({len(unused)} in all)" if len(unused) > 5 else "")
        message = f"images{tail}: images without a label map in labels{tail}: {some}: they are no cases"
        noticed.append(Finding("info", "unused-image", message, file=str(images.root)))
    remap = remap_for(None, user_remap, _IN_FILES)
    for case_id in labels.ids if has_labels else channels.case_ids:
        found, findings = channels.of(case_id)
        if case_id in labels.refused:
            findings.append(replace(labels.refused[case_id], where=case_id))
        elif case_id not in labels.paths:
            message = f"case {case_id}: no label map in labels{tail}: there is no ground truth, it is not scored"
            findings.append(Finding("error", "no-ground-truth", message, str(images.root), case_id))
        if not found and not findings:
            message = f"case {case_id}: no image {case_id}_0000{told.ending} in images{tail}"
            findings.append(Finding("warning", "missing-file", message, str(images.root), case_id))
        findings += _on_ignored(case_id, told, remap)
        yield CaseEntry(
            case_id,
            split=split,
            channels=found,
            gt_path=labels.paths.get(case_id),
            remap=remap,
            findings=tuple(findings),
        )


def _on_ignored(case_id: str, told: DatasetFile, remap: Remap) -> Iterator[Finding]:
    """Voxels to be ignored would be scored as background: refused, unless the user's remap says what they are."""
    if not told.ignored or all(remap.table is not None and remap.is_listed(i) for i in told.ignored):
        return
    ids = ", ".join(map(str, told.ignored))
    message = (
        f"case {case_id}: {DATASET} has an ignore label ({ids}): leaving voxels out of the score is not supported, so "
        "it is not scored; to count them as something, list every id in --remap FILE"
    )
    yield Finding("error", "ignore-label", message, str(told.path), case_id)


def _listed(folder: Path, name: str) -> Listing:
    inner = folder / name
    if inner.is_symlink():  # links in it are looked at one by one
        resolve_inside(folder, name, where=str(folder))
    return list_volumes(inner, name) if inner.is_dir() else Listing(inner)


def _unused(model: PredictionFolder, cases: Mapping[str, CaseEntry], ending: str) -> Iterator[Finding]:
    """Label maps among the predictions that no case uses; what nnU-Net writes beside them is no prediction."""
    for path in model.unused(entry.pred_path for entry in cases.values() if entry.pred_path is not None):
        if path.name.lower().endswith(ending.lower()):
            message = f"no case of this dataset uses the prediction file {path.name}"
            yield Finding("warning", "unused-prediction", message, file=str(path))
