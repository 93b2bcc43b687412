"""Read the files of a case, put prediction and ground truth on one grid, apply the remap.

The only place that decides whether two files of a case lie on the same grid. Nothing raises for bad data: what is
wrong becomes a finding of the case, so that the other cases go on and the window can still show the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import PASS_FRACTION, Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.segments import Segments
from medotter_viewer.core.volume import Volume
from medotter_viewer.engine.remapping import remapped
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.formats import registry
from medotter_viewer.formats.dicom.choice import SeriesChoice
from medotter_viewer.formats.landmark_files import read_landmarks
from medotter_viewer.geometry.orientation import drawing_error_mm
from medotter_viewer.sources.label_grids import adopted, no_position, on_grid
from medotter_viewer.sources.label_names import unnamed_ids
from medotter_viewer.sources.named_pair import named_pair
from medotter_viewer.sources.scan_cases import load_scan_case
from medotter_viewer.sources.segment_files import label_series, read_segment_file, series_choice

T = TypeVar("T")


def load_case(entry: CaseEntry, *, images: bool = True, resample_prediction: bool = False) -> Case:
    """Return a case with its files read.

    Parameters
    ----------
    entry : CaseEntry
        What to read.
    images : bool
        Whether to read the channels too; scoring does not need them.
    resample_prediction : bool
        Whether a prediction on another grid of the same world is brought onto the ground truth's by nearest neighbour
        (with a warning) instead of being refused.

    Returns
    -------
    Case
        With what could be read. `Case.errors` says what keeps it from being scored.
    """
    if entry.scan is not None:
        return load_scan_case(entry, entry.scan, images=images)
    reader = _Reader(entry)
    series = series_choice(entry)
    read_part = partial(_labels_or_segments, entry=entry, series=series)
    read_volume = partial(registry.read_volume, series=series)
    read_grid = partial(registry.read_grid, series=series)
    gt, pred, regions, unscorable = named_pair(
        reader.read(entry.gt_path, read_part, "ground truth", "error"),
        reader.read(entry.pred_path, read_part, "prediction", "error"),
        entry,
        reader.findings,
    )
    channels: dict[str, Volume] = {}
    image_grids: dict[str, Grid] = {}
    for name, path in entry.channels.items():
        if images:
            volume = reader.read(path, read_volume, f"channel {name}", "warning")
            if volume is not None:
                channels[name] = volume
                image_grids[name] = volume.grid
            elif (image := reader.grid_alone(path, read_grid)) is not None:
                image_grids[name] = image  # its header may still say where labels without a position lie
        elif (image := reader.read(path, read_grid, f"channel {name}", "warning")) is not None:
            image_grids[name] = image
    image_grid = next(iter(image_grids.values()), None)
    if gt is not None and not gt.grid.has_world:
        gt = reader.adopt(gt, [pred.grid if pred else None, image_grid], "ground truth")
    if pred is not None and gt is not None:
        pred = reader.match_prediction(gt.grid, pred, resample=resample_prediction)
    elif pred is not None and not pred.grid.has_world:
        pred = reader.adopt(pred, [image_grid], "prediction")
    shown = gt or pred
    channels = {name: reader.place_image(name, volume, shown) for name, volume in channels.items()}
    if not images and shown is not None:
        for name, image in image_grids.items():
            reader.note_image(name, image, shown.grid)
    canonical = None
    if regions is not None and entry.remap is not None and not entry.remap.is_identity:
        message = "a label remap is for ids, but the ground truth names its structures; leave it out"
        reader.add("error", "remap-of-names", message, entry.gt_path)
    elif gt is not None and entry.remap is not None:
        canonical = LabelMap(remapped(entry.remap, gt.data), gt.grid)
        if regions is None:
            reader.findings += unnamed_ids(canonical, entry)
    read_points = partial(read_landmarks, grid=shown.grid if shown is not None else image_grid)
    gt_points = reader.read(entry.gt_landmarks_path, read_points, "ground-truth points", "error")
    pred_points = reader.read(entry.pred_landmarks_path, read_points, "predicted points", "error")
    findings = tuple(reader.findings)
    return Case(
        entry, channels, gt, canonical, pred, findings, gt_points, pred_points, regions=regions, unscorable=unscorable
    )


def _labels_or_segments(
    path: Path, *, entry: CaseEntry, series: SeriesChoice
) -> tuple[LabelMap | Segments, list[Finding]]:
    """Named segments where the file has names, else its ids."""
    image = next(iter(entry.channels.values()), None)
    return read_segment_file(path, image=image, series=series) or registry.read_labels(path, label_series(entry))


class _Reader:
    """Collects the findings of one case."""

    def __init__(self, entry: CaseEntry) -> None:
        self.case_id = entry.case_id
        self.findings = list(entry.findings)

    def add(self, severity: str, code: str, message: str, path: Path | None = None) -> None:
        file = None if path is None else str(path)
        self.findings.append(
            Finding(severity, code, message, file, self.case_id)  # type: ignore[arg-type]
        )

    def read(
        self, path: Path | None, read: Callable[[Path], tuple[T, list[Finding]]], part: str, severity: str
    ) -> T | None:
        if path is None:
            return None  # the entry's own findings say so
        if not registry.is_there(path):
            if not any(f.code == "missing-file" and str(path) in f.message for f in self.findings):
                message = f"{part}: {path} is not there, or is neither a file nor a folder"
                self.add(severity, "missing-file", message, path)
            return None
        try:
            value, findings = read(path)
        except MedotterViewerError as error:
            self.add(severity, "unreadable-file", f"{part}: {error}", path)
            return None
        self.findings += [replace(f, where=self.case_id, message=f"{part}: {f.message}") for f in findings]
        return value

    def grid_alone(self, path: Path, read_grid: Callable[[Path], tuple[Grid, list[Finding]]]) -> Grid | None:
        """Return where an image lies whose voxels could not be read; what is wrong was said already."""
        try:
            return read_grid(path)[0] if registry.is_there(path) else None
        except MedotterViewerError:
            return None

    def adopt(self, labels: LabelMap, partners: list[Grid | None], part: str) -> LabelMap:
        """Give a label map without position the grid of a partner of the same shape."""
        return adopted(labels, partners, part, self.add)

    def match_prediction(self, grid: Grid, pred: LabelMap, *, resample: bool) -> LabelMap | None:
        """Return the prediction on the ground truth's grid, or None with an error."""
        return on_grid(pred, grid, self.add, resample=resample)

    def place_image(self, name: str, volume: Volume, shown: LabelMap | None) -> Volume:
        """Give an image without position the labels' grid where the shapes agree; note one that lies elsewhere."""
        if shown is None:
            return volume
        if not volume.grid.has_world and volume.grid.shape == shown.grid.shape:
            if volume.grid.unit == "mm" or shown.grid.has_world:
                message = f"channel {name}: {no_position(volume.grid)}; drawn on the labels' grid"
                self.add("info", "no-form-codes", message)
            return replace(volume, grid=shown.grid)
        self.note_image(name, volume.grid, shown.grid)
        if volume.grid.shape == shown.grid.shape and volume.grid.has_world and shown.grid.has_world:
            apart = volume.grid.corner_displacement_mm(shown.grid)
            if apart <= PASS_FRACTION * min(shown.grid.spacing):  # one grid: drawn by one affine
                return replace(volume, grid=shown.grid)
        return volume

    def note_image(self, name: str, image: Grid, labels: Grid) -> None:
        """Image against labels decides only drawing: a remark, never a refusal."""
        if image.shape == labels.shape:
            apart = image.corner_displacement_mm(labels)
            if apart <= PASS_FRACTION * min(labels.spacing) or not (image.has_world and labels.has_world):
                return
            message = f"channel {name} lies up to {apart:.1f} mm from the labels: drawn where its file says"
        else:
            message = f"channel {name} is {image.describe()}, the labels are {labels.describe()}"
        off = drawing_error_mm(image) + drawing_error_mm(labels)
        if off > PASS_FRACTION * min(labels.spacing):
            message += (
                "; oblique grids are drawn along their own axes: picture and labels may be up to "
                f"{off:.1f} mm apart (the read-out is exact)"
            )
        self.add("warning", "image-grid-differs", message)
