"""Scans that belong together: their folders, the lists beside them, and one model's submission, each read once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scans import ScanInputs
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.scan_lists import ScanLists, read_scan_lists
from medotter_viewer.sources.scans import slice_numbers
from medotter_viewer.sources.submissions import SubmittedScans, load_submission


@dataclass(frozen=True, eq=False)
class ScanSet:
    """Scans, and what is known of each without reading it.

    Parameters
    ----------
    root : Path
        Folder of the lists.
    folders : mapping of str to Path
        Scan id to scan folder.
    rules : ContourRules
        Target and rules.
    submission : Path or None
        A model's submission, or the folder that holds it. A folder without one may hold a file for each scan, named
        by its id: a label map, RTSTRUCT or SEG.
    structure_dict : Path or None
        Dictionary of structures that replaces the one in `root`.
    pattern : str or None
        Template of the path of a scan's file in the folder, see `PredictionFolder`.
    resample_prediction : bool
        Whether a label map on another grid is brought onto the scan's slices.
    """

    root: Path
    folders: Mapping[str, Path]
    rules: ContourRules = field(default_factory=ContourRules)
    submission: Path | None = None
    structure_dict: Path | None = None
    pattern: str | None = None
    resample_prediction: bool = False

    @cached_property
    def lists(self) -> ScanLists:
        """The lists beside the scans."""
        return read_scan_lists(self.root, self.rules, self.structure_dict)

    @cached_property
    def submitted(self) -> SubmittedScans:
        """The model's polygons; nothing without a model."""
        if self.submission is None:
            return SubmittedScans()
        return load_submission(self.submission, self.rules.submission, _Slices(self.folders))

    def completed(self, entry: CaseEntry) -> CaseEntry:
        """Return a case with what its scan is read from; as it is where no folder is known."""
        folder = self.folders.get(entry.case_id)
        if folder is None:
            return entry
        lists, submitted = self.lists, self.submitted
        own, found = (None, []) if self.files is None else self.files.find(entry, folders=True)
        inputs = ScanInputs(
            folder,
            self.rules,
            lists.names,
            submitted.of(entry.case_id),
            lists.seeds.get(entry.case_id, ()),
            lists.contrast.get(entry.case_id),
            own,
            self.resample_prediction,
        )
        noticed = [f for f in (*lists.findings, submitted.error) if f is not None and f.severity == "error"]
        sought = None if self.files is None else f"{self.rules.submission} and {self.files.sought(entry)}"
        findings = (*entry.findings, *noticed, *found)
        return replace(entry, pred_path=submitted.file or own, scan=inputs, findings=findings, pred_sought=sought)

    @cached_property
    def files(self) -> PredictionFolder | None:
        """Where the scans' own files are; None where a submission serves all scans, and without a model."""
        if self.submission is None or not self.submission.is_dir() or self.submitted.file is not None:
            return None
        return PredictionFolder(self.submission, self.submission.name, self.pattern)

    def check(self) -> Iterator[Finding]:
        """Yield what was noticed about lists and submission."""
        yield from self.lists.findings
        yield from self.submitted.findings
        for name, seeds in self.lists.seeds.items():
            if seeds and name not in self.folders:
                yield Finding("info", "scan-unknown", f"seed locations name {name}, which is no scan here", where=name)


class _Slices(Mapping[str, Collection[int]]):
    """Scan id to the numbers of its slices, looked up when asked for: a submission need not mention every scan."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def __getitem__(self, scan_id: str) -> Collection[int]:
        return slice_numbers(self._folders[scan_id])

    def __contains__(self, scan_id: object) -> bool:
        return scan_id in self._folders

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)
