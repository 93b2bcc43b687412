"""The cases of a bundle: every entry of its manifest with its files found and its remap chosen.

What is wrong with one case is a finding of that case; only a manifest or specification that cannot be used at all
raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.landmarks import LandmarkRules
from medotter_viewer.core.paths import Confined
from medotter_viewer.core.spec import EvalSpec, TaskSpec, parse_remap
from medotter_viewer.errors import BundleError, CaseNotFoundError, MedotterViewerError, UnsafePathError
from medotter_viewer.formats import registry
from medotter_viewer.sources.bundle import MANIFEST, Bundle, find_data_root
from medotter_viewer.sources.loading import load_case
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.scan_set import ScanSet
from medotter_viewer.sources.source import Split
from medotter_viewer.sources.user_remap import UserRemap


@dataclass(frozen=True, eq=False)
class BundleSource:
    """The cases of a bundle.

    Parameters
    ----------
    bundle : Bundle
        The task.
    data_root : Path, optional
        Where the manifest's paths start; see `find_data_root`.
    predictions : PredictionFolder, optional
        One model's predictions.
    user_remap : UserRemap, optional
        Replaces the bundle's own remaps.
    resample_prediction : bool
        Whether a prediction on another grid is brought onto the ground truth's.
    """

    bundle: Bundle
    data_root: Path | None = None
    predictions: PredictionFolder | None = None
    user_remap: UserRemap | None = None
    resample_prediction: bool = False

    @property
    def target(self) -> str:
        """The folder, as given."""
        return str(self.bundle.directory)

    @property
    def name(self) -> str:
        """Name of the task."""
        return self.bundle.task

    @property
    def version(self) -> str | None:
        """Version of the task."""
        return self.bundle.version

    @property
    def hash(self) -> str | None:
        """Hash of the task, as its manifest says."""
        return self.bundle.hash

    @property
    def model(self) -> str | None:
        """Name of the model."""
        return None if self.predictions is None else self.predictions.name

    def __post_init__(self) -> None:
        remap = self.user_remap
        known = {
            str(meta.get("dataset")) for meta in self.bundle.manifest["per_case"].values() if isinstance(meta, dict)
        }
        if remap is not None and remap.for_all is None and (unknown := sorted(set(remap.by_dataset) - known)):
            raise BundleError(
                f"{remap.source}: names datasets {unknown} that no case has; the bundle's are {sorted(known)}"
            )

    @cached_property
    def root(self) -> Path:
        """Folder that the manifest's paths are relative to."""
        return find_data_root(self.bundle.directory, self.data_root)

    @cached_property
    def task(self) -> TaskSpec | None:
        """Typed task.yaml."""
        return self.bundle.typed_task()

    @cached_property
    def spec(self) -> EvalSpec:
        """Typed eval_spec.yaml."""
        return self.bundle.typed_spec()

    @property
    def modality(self) -> str | None:
        """What the task says its images are; None where it does not say."""
        modality = self.task.identity.get("modality") if self.task is not None else None
        return None if modality is None else str(modality)

    def record(self) -> dict[str, Any]:
        """Return what was chosen about the source, for the definitions of a report."""
        return {
            "data_root": str(self.root),
            "predictions": None if self.predictions is None else str(self.predictions.folder),
            "pattern": None if self.predictions is None else self.predictions.pattern,
            "user_remap": None if self.user_remap is None else self.user_remap.record(),
            "resample_prediction": self.resample_prediction,
        }

    def case_ids(self, split: Split = "all") -> list[str]:
        """Return the ids of a split, in the manifest's order; ``all`` is train then test, each id once."""
        both = {"train": self.bundle.train, "test": self.bundle.test}
        chosen = both[split] if split != "all" else [*self.bundle.train, *self.bundle.test]
        return list(dict.fromkeys(chosen))

    def entries(self, split: Split = "all") -> Iterator[CaseEntry]:
        """Yield every case of a split, without opening its files."""
        for case_id in self.case_ids(split):
            yield self.entry(case_id)

    def entry(self, case_id: str) -> CaseEntry:
        """Return one case, without opening its files.

        Raises
        ------
        CaseNotFoundError
            If the manifest does not list it.
        """
        in_test, in_train = case_id in self._test_ids, case_id in self._train_ids
        if not in_test and not in_train:
            raise CaseNotFoundError(
                f"{self.bundle.directory / MANIFEST}: no case {case_id!r}; 'medotter-viewer cases' lists them"
            )
        split = "test" if in_test else "train"
        findings: list[Finding] = []
        if in_test and in_train:
            message = f"case {case_id} is listed in train and in test; it is kept as a test case"
            findings.append(self._finding("warning", "split-clash", message, case_id))
        try:
            meta = self.bundle.case_meta(case_id)
        except CaseNotFoundError as error:
            findings.append(self._finding("error", "no-entry", str(error), case_id))
            return CaseEntry(case_id, split=split, findings=tuple(findings))
        entry = self._with_files(case_id, split, meta, findings)
        if self._scans is not None:
            return self._scans.completed(entry)
        if self.predictions is None:
            return entry
        pred_path, found = self.predictions.find(entry)
        points_path = None
        if self._landmarks is not None:
            points_path, more = self.predictions.find_landmarks(entry, self._landmarks.prediction_suffix)
            found = [*found, *more]
        noticed, sought = (*entry.findings, *found), self.predictions.sought(entry)
        return replace(
            entry, pred_path=pred_path, pred_landmarks_path=points_path, findings=noticed, pred_sought=sought
        )

    def load(self, case_id: str, *, images: bool = True) -> Case:
        """Return a case with its files read; what is wrong with them is a finding of the case."""
        return load_case(self.entry(case_id), images=images, resample_prediction=self.resample_prediction)

    def check(self) -> Iterator[Finding]:
        """Yield entries of the manifest that no split lists, and prediction files that no case uses."""
        listed = set(self.case_ids())
        for case_id in self.bundle.manifest["per_case"]:
            if case_id not in listed:
                message = f"case {case_id} has an entry in per_case but is in neither train nor test"
                yield Finding("warning", "unlisted-case", message, where=case_id)
        if self._scans is not None:
            yield from self._scans.check()
        if self.predictions is None:
            return
        used = [path for e in self.entries() for path in (e.pred_path, e.pred_landmarks_path) if path is not None]
        for path in self.predictions.unused(used):
            message = f"no case of this bundle uses the prediction file {path.name}"
            yield Finding("warning", "unused-prediction", message, file=str(path))

    @cached_property
    def _landmarks(self) -> LandmarkRules | None:
        """Where points are; None for a task without points, and for a specification that is reported elsewhere."""
        try:
            return self.spec.landmarks
        except MedotterViewerError:
            return None

    @cached_property
    def _scans(self) -> ScanSet | None:
        """The scan folders of a task whose cases are contours; None for every other."""
        try:
            rules = self.spec.contours
        except MedotterViewerError:
            return None  # a specification that is reported elsewhere
        if rules is None:
            return None
        folders = {c: f for c in self.case_ids() if (f := self._scan_folder(c))}
        model = self.predictions
        return ScanSet(
            self.root,
            folders,
            rules,
            None if model is None else model.folder,
            pattern=None if model is None else model.pattern,
            resample_prediction=self.resample_prediction,
        )

    def _scan_folder(self, case_id: str) -> Path | None:
        """The folder that holds a case's images and contours; what is wrong with its entry is said where it is read."""
        meta = self.bundle.manifest["per_case"].get(case_id)
        named = (meta.get("seg") or meta.get("image")) if isinstance(meta, dict) else None
        try:
            path = None if named is None else self._confined.resolve(named, where=case_id)
        except UnsafePathError:
            return None
        return None if path is None or path == self.root else path.parent

    @cached_property
    def _confined(self) -> Confined:
        return Confined(self.root)

    @cached_property
    def _has_instance_masks(self) -> bool:
        """Whether ids are names of objects; False for a specification that is reported elsewhere."""
        try:
            return self.spec.is_instances
        except MedotterViewerError:
            return False

    @cached_property
    def _test_ids(self) -> frozenset[str]:
        return frozenset(self.bundle.test)

    @cached_property
    def _train_ids(self) -> frozenset[str]:
        return frozenset(self.bundle.train)

    def _finding(self, severity: Any, code: str, message: str, case_id: str) -> Finding:
        return Finding(severity, code, message, file=str(self.bundle.directory / MANIFEST), where=case_id)

    def _with_files(self, case_id: str, split: str, meta: Mapping[str, Any], findings: list[Finding]) -> CaseEntry:
        named = meta.get("chan")
        if named is None:
            named = {"image": meta["image"]} if meta.get("image") is not None else {}
        if not isinstance(named, Mapping):
            message = f"case {case_id}: chan: got {named!r}, expected an object of channel to path"
            findings.append(self._finding("warning", "bad-entry", message, case_id))
            named = {}
        channels = {}
        for channel, relative in named.items():
            key = "image" if meta.get("chan") is None else f"chan.{channel}"
            if (path := self._path(case_id, key, relative, "warning", findings)) is not None:
                channels[str(channel)] = path
        points = None if self._landmarks is None else meta.get(self._landmarks.manifest_key)
        points_path = None
        if self._landmarks is not None and points is not None:
            points_path = self._path(case_id, self._landmarks.manifest_key, points, "error", findings)
        if meta.get("seg") is None and points is not None:
            message = f"case {case_id}: seg is missing or null: only the points are scored"
            findings.append(self._finding("warning", "no-mask", message, case_id))
            gt_path = None
        elif meta.get("seg") is None:
            message = f"case {case_id}: seg is missing or null: there is no ground truth, the case is not scored"
            findings.append(self._finding("error", "no-ground-truth", message, case_id))
            gt_path = None
        else:
            gt_path = self._path(case_id, "seg", meta["seg"], "error", findings)
        dataset = _text(meta.get("dataset"))
        return CaseEntry(
            case_id,
            dataset=dataset,
            split=split,
            tier=_text(meta.get("tier")) or _text(meta.get("region")),
            patient_uid=_text(meta.get("patient_uid")),
            channels=channels,
            gt_path=gt_path,
            gt_landmarks_path=points_path,
            remap=self._remap(case_id, dataset, meta, findings),
            findings=tuple(findings),
        )

    def _path(self, case_id: str, key: str, relative: Any, severity: str, findings: list[Finding]) -> Path | None:
        """Confined path; an unsafe one is an error whatever it names, a missing file as severe as its part."""
        where = f"{self.bundle.directory / MANIFEST}: case {case_id}: {key}"
        try:
            path = self._confined.resolve(relative, where=where)
        except UnsafePathError as error:
            findings.append(self._finding("error", "unsafe-path", str(error), case_id))
            return None
        if not (path.is_dir() if self._scans is not None else registry.is_there(path)):
            message = f"case {case_id}: {key}: no such {'folder' if self._scans is not None else 'file'}: {path}"
            findings.append(self._finding(severity, "missing-file", message, case_id))
        return path

    def _remap(
        self, case_id: str, dataset: str | None, meta: Mapping[str, Any], findings: list[Finding]
    ) -> Remap | None:
        """The user's remap, else the case's own, else the dataset's; None when the bundle leaves it open."""
        if self._scans is not None:
            return Remap(None, "none", "contours have no label ids")
        if self._has_instance_masks:
            return self._instance_remap(case_id, dataset, meta, findings)
        if self.user_remap is not None and (chosen := self.user_remap.of(dataset)) is not None:
            return chosen
        if meta.get("remap") is not None:
            where = f"{self.bundle.directory / MANIFEST}: case {case_id}: remap"
            try:
                return parse_remap(meta["remap"], where=where, form="per_case")
            except BundleError as error:
                findings.append(self._finding("error", "bad-remap", str(error), case_id))
                return None
        remap = self.task.remap_of(dataset) if self.task is not None else None
        if remap is None:
            reason = (
                f"task.yaml has no label_remap for dataset {dataset!r}"
                if self.task is not None
                else "the bundle has no task.yaml (code in a bundle is never run)"
            )
            message = (
                f"case {case_id}: {reason}: native ids are shown and not scored; give --remap FILE, "
                "or --remap identity if they are canonical already"
            )
            findings.append(self._finding("error", "no-remap", message, case_id))
        return remap

    def _instance_remap(
        self, case_id: str, dataset: str | None, meta: Mapping[str, Any], findings: list[Finding]
    ) -> Remap:
        """Ids of instance masks name single objects: they stay, whatever a remap says."""
        by_user = None if self.user_remap is None else self.user_remap.of(dataset)
        by_task = None if self.task is None else self.task.remap_of(dataset)
        given = {
            "--remap": by_user is not None and not by_user.is_identity,
            f"the case in {MANIFEST}": meta.get("remap") is not None,
            "task.yaml": by_task is not None and not by_task.is_identity,
        }
        if named := [source for source, there in given.items() if there]:
            message = f"case {case_id}: instance ids name objects: the label remap of {named[0]} is not applied"
            findings.append(self._finding("warning", "remap-not-applied", message, case_id))
        return Remap(None, "none", "ids of instance masks name objects: every id stays")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
