"""One entry of a manifest, before and after its files are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.reprs import html_pairs
from medotter_viewer.core.scans import ScanInputs, Seed
from medotter_viewer.core.segments import Names
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.volume import Volume


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """What is known of a case before any of its files is opened.

    Parameters
    ----------
    case_id : str
        Full id, e.g. ``"BTCV/0001"``.
    channels : mapping of str to Path
        Channel name to file, in the manifest's order; ``{"image": path}`` for a single image; may be empty.
    gt_path, pred_path : Path or None
        Files of ground truth and prediction; None when the manifest names none, or no prediction was found.
    gt_landmarks_path, pred_landmarks_path : Path or None
        Files of labelled points, for tasks that have them.
    remap : Remap or None
        None when the bundle does not say what this case's native ids mean: shown as they are, not scored.
    findings : tuple of Finding
        What was noticed without opening a file: a missing file, an unsafe path, an ambiguous prediction.
    scan : ScanInputs or None
        Of a case that is a scan folder with contours; it is read instead of the other files.
    segment_ids : mapping of frozenset of str to int, or None
        Of files that name their structures (RTSTRUCT, SEG): the id of every combination of names that may share a
        voxel. None makes ids for the names of this case.
    label_regions : mapping of str to tuple of int, or None
        Names of the ids of plain label maps: what matches them with a file that names its structures.
    series : str or None
        Which image series, where a folder of DICOM holds several: its UID or the end of it, number or description.
    pred_sought : str or None
        What was looked for as the prediction, for the message that there is none.
    """

    case_id: str
    dataset: str | None = None
    split: str | None = None
    tier: str | None = None
    patient_uid: str | None = None
    channels: Mapping[str, Path] = field(default_factory=dict)
    gt_path: Path | None = None
    pred_path: Path | None = None
    gt_landmarks_path: Path | None = None
    pred_landmarks_path: Path | None = None
    remap: Remap | None = None
    findings: tuple[Finding, ...] = ()
    scan: ScanInputs | None = None
    segment_ids: Mapping[Names, int] | None = None
    label_regions: Mapping[str, tuple[int, ...]] | None = None
    series: str | None = None
    pred_sought: str | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the parts whose files are not there: channel names, ``"gt"``, ``"prediction"``."""
        paths = {**self.channels, "gt": self.gt_path, "prediction": self.pred_path or self.pred_landmarks_path}
        return tuple(name for name, path in paths.items() if path is None or not path.exists())


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A case with its files read.

    Parameters
    ----------
    entry : CaseEntry
        Where it comes from.
    channels : mapping of str to Volume
        The images that could be read, in order. Their grids may differ from that of `gt`: then a finding says so.
    gt_native, gt : LabelMap or None
        Ground truth in the dataset's own ids, and after the remap (None when the remap is unknown).
    pred : LabelMap or None
        Prediction in canonical ids, on the grid of `gt`.
    findings : tuple of Finding
        Those of the entry and those met while reading. An error keeps the case from being scored.
    gt_landmarks, pred_landmarks : Landmarks or None
        Labelled points, for tasks that have them.
    gt_contours, pred_contours : ScanContours or None
        Polygons of the target, for scans that have them.
    slice_thickness_mm : mapping of int to float
        DICOM's (0018,0050) by slice number, for scans.
    stack : SliceStack or None
        Where the slices of a scan lie: what places its contours, which are x, y on a slice of a number.
    structures : mapping of str to ScanContours
        Every structure of a scan, those of the target too, by a name that no other has.
    structure_numbers : mapping of str to int
        The same names to the structures' numbers in the scan's files.
    seeds : tuple of (int, float, float)
        Slice number and x, y in mm LPS of known points inside tumours.
    regions : mapping of str to tuple of int, or None
        Name to ids of `gt` and `pred`, where their files name their structures.
    unscorable : mapping of str to str
        Name of a region to the rule why it has no score, though the case has one.
    """

    entry: CaseEntry
    channels: Mapping[str, Volume] = field(default_factory=dict)
    gt_native: LabelMap | None = None
    gt: LabelMap | None = None
    pred: LabelMap | None = None
    findings: tuple[Finding, ...] = ()
    gt_landmarks: Landmarks | None = None
    pred_landmarks: Landmarks | None = None
    gt_contours: ScanContours | None = None
    pred_contours: ScanContours | None = None
    slice_thickness_mm: Mapping[int, float] = field(default_factory=dict)
    stack: SliceStack | None = None
    structures: Mapping[str, ScanContours] = field(default_factory=dict)
    structure_numbers: Mapping[str, int] = field(default_factory=dict)
    seeds: tuple[Seed, ...] = ()
    regions: Mapping[str, tuple[int, ...]] | None = None
    unscorable: Mapping[str, str] = field(default_factory=dict)

    @property
    def case_id(self) -> str:
        """Full id."""
        return self.entry.case_id

    @property
    def first_image(self) -> Volume | None:
        """The image that is shown where none is chosen."""
        return next(iter(self.channels.values()), None)

    @property
    def grid(self) -> Grid | None:
        """Grid of the labels, without labels that of the first image; None where nothing could be read."""
        part = self.gt or self.gt_native or self.pred or self.first_image
        return None if part is None else part.grid

    @property
    def errors(self) -> list[Finding]:
        """What keeps this case from being scored."""
        return errors_of(self.findings)

    def _repr_html_(self) -> str:
        entry = self.entry
        known = {"dataset": entry.dataset, "split": entry.split, "tier": entry.tier, "patient": entry.patient_uid}
        parts = {**self.channels, "ground truth": self.gt_native, "prediction": self.pred}
        grids = {name: "not there" if part is None else part.grid.describe() for name, part in parts.items()}
        if entry.remap is None:
            remap = "unknown: native ids are shown, not scored"
        else:
            ids = "every id stays" if entry.remap.table is None else f"{len(entry.remap.table)} native ids listed"
            remap = f"{ids} ({entry.remap.source or entry.remap.form})"
        pairs = {**{name: text for name, text in known.items() if text}, **grids, "label remap": remap}
        return html_pairs(pairs, self.case_id, [f"{f.severity}: {f.message}" for f in self.findings])
