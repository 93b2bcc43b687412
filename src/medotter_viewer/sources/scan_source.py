"""A scan folder, or a folder of them, as cases: the id of a case is the name of its folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec, TaskSpec
from medotter_viewer.errors import BundleNotFoundError, CaseNotFoundError, UsageError
from medotter_viewer.sources.scan_cases import load_scan_case
from medotter_viewer.sources.scan_set import ScanSet
from medotter_viewer.sources.scans import contour_folder, find_scans, image_folder, scan_id
from medotter_viewer.sources.source import Split

SCALE = 1_000_000
"""What the contest multiplies the mean of the scans with."""


@dataclass(frozen=True, eq=False)
class ScanSource:
    """The cases of a folder of scans.

    Parameters
    ----------
    root : Path
        A scan folder, or the folder of several.
    predictions : Path or None
        A model's submission, or the folder that holds it, or a folder with a file for each scan, named by its id: a
        label map, RTSTRUCT or SEG.
    model_name : str or None
        What to call the model; by default the folder's or file's name.
    rules : ContourRules
        Target and rules; by default the contest's.
    structure_dict : Path or None
        Dictionary of structures that replaces the one in `root`.
    resample_prediction : bool
        Whether a label map on another grid is brought onto the scan's slices.
    pattern : str or None
        Template of the path of a scan's file in `predictions`, see `PredictionFolder`.

    Raises
    ------
    BundleNotFoundError
        If there is no scan.
    UsageError
        If predictions or dictionary are not there.
    """

    root: Path
    predictions: Path | None = None
    model_name: str | None = None
    rules: ContourRules = field(default_factory=ContourRules)
    structure_dict: Path | None = None
    resample_prediction: bool = False
    pattern: str | None = None

    def __post_init__(self) -> None:
        for what, path in (("predictions", self.predictions), ("structure dictionary", self.structure_dict)):
            if path is not None and not path.exists():
                raise UsageError(f"{what}: no such file or folder: {path}")
        if not self._scans.folders:
            raise BundleNotFoundError(f"{self.root}: no scan; expected folders with auxiliary/, or with CT/ and RTst/")

    @property
    def target(self) -> str:
        """The folder, as given."""
        return str(self.root)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return scan_id(self.root)

    @property
    def version(self) -> str | None:
        """None: a folder has no version."""
        return None

    @property
    def hash(self) -> str | None:
        """None: a folder has no hash."""
        return None

    @property
    def model(self) -> str | None:
        """Name of the model."""
        if self.predictions is None or self.model_name:
            return self.model_name
        path = self.predictions.resolve()
        return path.name if path.is_dir() else path.parent.name if path.stem == "submission" else path.stem

    @property
    def modality(self) -> str | None:
        """The contest's scans are CT."""
        return "CT"

    @property
    def task(self) -> TaskSpec | None:
        """None: nothing here has label ids."""
        return None

    @cached_property
    def spec(self) -> EvalSpec:
        """The contest's rules, with this source's target."""
        rules = {"target": self.rules.target, "overlap": self.rules.overlap}
        raw = {
            "task_type": "lung_contour",
            "eval_regions": {self.rules.target: [1]},
            "metrics": ["scan_score"],
            "lung_contour": {**rules, "error_length_mm": self.rules.error_length_mm},
            "aggregation": {"unit": "scan", "scale": SCALE, "headline": {"region": self.rules.target}},
        }
        return EvalSpec.from_mapping(raw, where="rules of scan folders")

    def record(self) -> dict[str, Any]:
        """Return what was chosen about the source, for the definitions of a report."""
        path = self._scans.lists.structure_dict
        return {
            "predictions": None if self.predictions is None else str(self.predictions),
            "target": self.rules.target,
            "overlap": self.rules.overlap,
            "pattern": self.pattern,
            "resample_prediction": self.resample_prediction,
            "structure_dict": None if path is None else str(path),
        }

    def case_ids(self, split: Split = "all") -> list[str]:
        """Return the ids of the scans, by name; all are in ``test``."""
        return [] if split == "train" else list(self._scans.folders)

    def entries(self, split: Split = "all") -> Iterator[CaseEntry]:
        """Yield every scan, without opening its files."""
        for case_id in self.case_ids(split):
            yield self.entry(case_id)

    def entry(self, case_id: str) -> CaseEntry:
        """Return one scan, without opening its files.

        Raises
        ------
        CaseNotFoundError
            If there is none of that name.
        """
        folder = self._scans.folders.get(case_id)
        if folder is None:
            raise CaseNotFoundError(f"{self.root}: no scan {case_id!r}; 'medotter-viewer cases' lists them")
        channels = {"image": image_folder(folder)}
        return self._scans.completed(
            CaseEntry(case_id, split="test", channels=channels, gt_path=contour_folder(folder))
        )

    def load(self, case_id: str, *, images: bool = True) -> Case:
        """Return a scan with its files read; what is wrong with them is a finding of the case."""
        entry = self.entry(case_id)
        return Case(entry) if entry.scan is None else load_scan_case(entry, entry.scan, images=images)

    def check(self) -> Iterator[Finding]:
        """Yield what was noticed about the lists beside the scans and the submission, and files that no scan uses."""
        yield from self._scans.check()
        if self._scans.files is not None:
            used = [entry.pred_path for entry in self.entries() if entry.pred_path is not None]
            for path in self._scans.files.unused(used):
                message = f"no scan uses the prediction file {path.name}"
                yield Finding("warning", "unused-prediction", message, file=str(path))

    @property
    def submission_findings(self) -> tuple[Finding, ...]:
        """What was noticed in the submission."""
        return tuple(self._scans.submitted.findings)

    @property
    def submission_error(self) -> Finding | None:
        """Why the submission cannot be used at all."""
        return self._scans.submitted.error

    @property
    def list_findings(self) -> tuple[Finding, ...]:
        """What was noticed in the lists beside the scans."""
        return self._scans.lists.findings

    @cached_property
    def _scans(self) -> ScanSet:
        folders = {scan_id(folder): folder for folder in find_scans(self.root)}
        return ScanSet(
            self.root,
            folders,
            self.rules,
            self.predictions,
            self.structure_dict,
            self.pattern,
            self.resample_prediction,
        )
