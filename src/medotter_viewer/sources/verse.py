"""The vertebrae of VerSe as they are published: CT, mask and points of each scan, tied by their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.landmarks import LandmarkRules
from medotter_viewer.core.spec import MACRO, EvalSpec, Headline
from medotter_viewer.core.vertebra_names import in_anatomical_order, is_scored, vertebra_name
from medotter_viewer.errors import MedotterViewerError, ReadError
from medotter_viewer.formats.landmark_files import read_landmark_file
from medotter_viewer.sources.folder_source import FolderSource, check_datasets, remap_for
from medotter_viewer.sources.inferred_spec import Progress, ids_that_occur
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.user_remap import UserRemap
from medotter_viewer.sources.verse_files import IMAGE, MASK, POINTS, ScanFiles, find_verse_scans

METRICS = ("dice", "hd95", "id_rate", "d_mean")
_LAYOUT = "miccai20"  # of points without direction; only their labels are looked at here


def open_verse(
    folder: Path,
    *,
    predictions: Path | None = None,
    model_name: str | None = None,
    pattern: str | None = None,
    user_remap: UserRemap | None = None,
    resample_prediction: bool = False,
    progress: Progress | None = None,
) -> FolderSource:
    """Return the scans of a folder as cases of vertebrae.

    Parameters
    ----------
    folder : Path
        One dataset, a subject of it, or the folder that holds several datasets: then the name of each is its cases'
        dataset, and those with ``train`` in it are the split ``train``.
    predictions : Path, optional
        Folder of one model's predictions: ``<case>.nii.gz``, ``<case>_ctd.json`` or both.
    model_name, pattern
        As for `open_source`.
    user_remap : UserRemap, optional
        Applied to masks; points keep their labels.
    resample_prediction : bool
        As for `load_case`.
    progress : callable, optional
        Told how many masks have been read, where a scan has no points that say its vertebrae.

    Returns
    -------
    FolderSource
        Of each scan those vertebrae are scored that have a point: those that the image cuts off have none.

    Raises
    ------
    ReadError
        If the folder cannot be listed, or holds no such scan.
    UsageError
        If the predictions are not there.
    """
    noticed: list[Finding] = []
    scans = find_verse_scans(folder, noticed)
    if not scans:
        raise ReadError(f"{folder}: no scan named as VerSe's, expected sub-<name>_seg-vert_msk.nii.gz and the like")
    model = None
    if predictions is not None:
        model = PredictionFolder(predictions, model_name or predictions.resolve().name, pattern)
    labels: dict[str, list[int]] = {}
    cases: dict[str, CaseEntry] = {}
    for scan in scans:
        entry = _entry(scan, folder, user_remap, labels)
        cases[scan.case_id] = entry if model is None else _with_prediction(entry, model)
    check_datasets(user_remap, cases)
    if model is not None:
        paths = [p for e in cases.values() for p in (e.pred_path, e.pred_landmarks_path) if p is not None]
        for path in model.unused(paths):
            message = f"no scan uses the prediction file {path.name}"
            noticed.append(Finding("warning", "unused-prediction", message, file=str(path)))

    def rules() -> EvalSpec:
        of_masks = [replace(entry, pred_path=None) for i, entry in cases.items() if i not in labels]
        found = {i for listed in labels.values() for i in listed} | set(ids_that_occur(of_masks, progress))
        return _spec(found)

    return FolderSource(
        target=str(folder),
        name=folder.resolve().name,
        cases=cases,
        rules=rules,
        model=None if model is None else model.name,
        modality="CT",
        resample_prediction=resample_prediction,
        chosen={
            "layout": "VerSe",
            "predictions": None if model is None else str(model.folder),
            "pattern": None if model is None else model.pattern,
            "user_remap": None if user_remap is None else user_remap.record(),
        },
        noticed=tuple(noticed),
        other=lambda path, called: open_verse(
            folder,
            predictions=path,
            model_name=called,
            pattern=pattern,
            user_remap=user_remap,
            resample_prediction=resample_prediction,
        ),
    )


def _spec(labels: Iterable[int]) -> EvalSpec:
    """A region for each vertebra, from the head to the feet; one that a scan does not have is not scored there."""
    regions = {vertebra_name(i): (i,) for i in in_anatomical_order(labels) if is_scored(i)}
    headline = Headline(MACRO, "id_rate")
    return EvalSpec("vertebra", regions, METRICS, headline, partial_label=True, landmarks=LandmarkRules())


def _entry(scan: ScanFiles, folder: Path, user_remap: UserRemap | None, labels: dict[str, list[int]]) -> CaseEntry:
    """One scan; `labels` gets the vertebrae that its points name."""
    findings: list[Finding] = []
    image, mask, points = (_file(scan, kind, findings) for kind in (IMAGE, MASK, POINTS))
    where = {"file": str(folder), "where": scan.case_id}
    if image is None:
        findings.append(Finding("warning", "missing-file", f"case {scan.case_id}: no image ..._ct.nii.gz", **where))
    if mask is None and points is None:
        message = f"case {scan.case_id}: neither mask nor points: there is no ground truth, it is not scored"
        findings.append(Finding("error", "no-ground-truth", message, **where))
    elif mask is None:
        message = f"case {scan.case_id}: no mask ..._seg-vert_msk.nii.gz: only the points are scored"
        findings.append(Finding("warning", "no-mask", message, **where))
    named = None if points is None else _labels(points)
    remap = Remap(None, "none", "no points say which vertebrae are whole: every id stays")
    if points is not None and named is not None:
        labels[scan.case_id] = named
        remap = Remap({i: i for i in named}, "per_case", f"vertebrae with a point in {points.name}")
        if mask is not None:
            names = ", ".join(vertebra_name(i) for i in named) or "none"
            message = f"case {scan.case_id}: vertebrae with a point are scored ({names}); others in the mask are not"
            findings.append(Finding("info", "scored-vertebrae", message, **where))
    return CaseEntry(
        scan.case_id,
        dataset=scan.dataset,
        split="train" if "train" in (scan.dataset or "").lower() else "test",
        channels={} if image is None else {"image": image},
        gt_path=mask,
        gt_landmarks_path=points,
        remap=remap_for(scan.dataset, user_remap, remap),
        findings=tuple(findings),
    )


def _file(scan: ScanFiles, kind: str, findings: list[Finding]) -> Path | None:
    """The one file of a kind; what keeps it from being used is a finding, of an image a warning."""
    several = scan.files[kind]
    refused = next((found.refused for found in several if found.refused is not None), None)
    if len(several) > 1:
        names = " and ".join(str(found.path) for found in several)
        refused = Finding(
            "error", "ambiguous-file", f"case {scan.case_id}: two files for its {kind}: {names}; keep one"
        )
    if refused is not None:
        refused = refused if kind != IMAGE else replace(refused, severity="warning")
        findings.append(replace(refused, where=scan.case_id))
        return None
    return several[0].path if several else None


def _labels(points: Path) -> list[int] | None:
    """Vertebrae that a file of points names, from the head to the feet; None for one that loading will refuse."""
    try:
        named = read_landmark_file(points, layout=_LAYOUT).points
    except MedotterViewerError:
        return None
    return in_anatomical_order(i for i in named if is_scored(i))


def _with_prediction(entry: CaseEntry, model: PredictionFolder) -> CaseEntry:
    path, findings = model.find(entry)
    points, more = model.find_landmarks(entry, LandmarkRules().prediction_suffix)
    noticed, sought = (*entry.findings, *findings, *more), model.sought(entry)
    return replace(entry, pred_path=path, pred_landmarks_path=points, findings=noticed, pred_sought=sought)
