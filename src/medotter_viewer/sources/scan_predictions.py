"""The prediction of one scan in a file of its own: a label map on its slices, or structures that are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.scans import Scan, ScanInputs
from medotter_viewer.core.segments import Segments
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import GridMismatchError, MedotterViewerError, MetricInputError, ReadError
from medotter_viewer.formats import registry
from medotter_viewer.geometry.lattice import common_grid, embedded
from medotter_viewer.geometry.polygons import drawable, even_odd_polygons
from medotter_viewer.sources.drawn_structures import drawn_file, place_structures
from medotter_viewer.sources.label_grids import on_grid
from medotter_viewer.sources.segment_files import OTHER_FRAME, read_segment_file

TARGET_ID = 1
"""Id of the target in a label map that is made of named structures."""
_NAMED = 8

Found = tuple[LabelMap | None, ScanContours | None, list[Finding]]


def read_scan_prediction(path: Path, scan: Scan, inputs: ScanInputs, entry: CaseEntry) -> Found:
    """Return what is predicted for a scan, as a label map on its slices or as polygons, and what was noticed.

    Parameters
    ----------
    path : Path
        A label map, or an RTSTRUCT, DICOM SEG or segmentation of Slicer, whose structures are known by name; or the
        folder of one.
    scan : Scan
        Its stack says where slices lie.
    inputs : ScanInputs
        Target, names of structures, and whether a label map elsewhere is brought onto the slices.
    entry : CaseEntry
        The case.

    Returns
    -------
    labels : LabelMap or None
        On the grid of the stack.
    contours : ScanContours or None
        Of an RTSTRUCT: its rings as they were drawn, combined by even-odd to separate polygons.
    findings : list of Finding
        An error where there is a file and yet no prediction.
    """
    reader = _Reader(path, scan, inputs, entry)
    try:
        labels, contours = reader.read()
    except MedotterViewerError as error:
        reader.add("error", "unreadable-file", f"prediction: {error}")
        labels, contours = None, None
    return labels, contours, reader.findings


class _Reader:
    """Collects the findings of one prediction."""

    def __init__(self, path: Path, scan: Scan, inputs: ScanInputs, entry: CaseEntry) -> None:
        self.path, self.scan, self.inputs, self.case_id = path, scan, inputs, entry.case_id
        self.names = {name.strip() for name in inputs.names.names_of(inputs.rules.target)}
        self.findings: list[Finding] = []

    def add(self, severity: Severity, code: str, message: str, /) -> None:
        self.findings.append(Finding(severity, code, message, str(self.path), self.case_id))

    def note(self, noticed: list[Finding] | tuple[Finding, ...]) -> None:
        self.findings += [replace(f, where=self.case_id, message=f"prediction: {f.message}") for f in noticed]

    def read(self) -> tuple[LabelMap | None, ScanContours | None]:
        stack = self.scan.stack
        if stack is None:
            raise ReadError(
                f"{self.path}: it cannot be tied to slices, as the scan's files do not say where these lie; give a "
                "submission of polygons instead"
            )
        if (file := drawn_file(self.path)) is not None:
            return None, self.drawn(file, stack)
        named = read_segment_file(self.path)
        if named is not None:
            segments, noticed = named
            self.note(noticed)
            return self.segmented(segments, stack), None
        labels, noticed = registry.read_labels(self.path)
        self.note(noticed)
        return on_grid(labels, stack.grid, self.add, resample=self.inputs.resample_prediction, whose="scan"), None

    def drawn(self, file: Path, stack: SliceStack) -> ScanContours:
        """Polygons of the structures that are names of the target, united."""
        found = place_structures(file, stack)
        self.note(found.findings)
        chosen = {roi.number: roi.name for roi in found.structures.rois if roi.name.strip() in self.names}
        self.check_named(chosen, {roi.name: roi.n_contours for roi in found.structures.rois})
        rings: dict[int, list[Ring]] = {}
        nested: dict[int, None] = {}
        for roi, name in chosen.items():
            for index in found.placed[roi].points_lps:
                number = stack.numbers[index]
                if number is None:
                    raise GridMismatchError(f"{self.path}: {name}: slice {index + 1} of the scan has no number")
                as_drawn = found.placed[roi].xy_lps(index)
                polygons = self.polygons(as_drawn, name, number)
                rings.setdefault(number, []).extend(polygons)
                if len(polygons) < len(drawable(as_drawn)[0]):
                    nested[number] = None
        if nested:
            which = ", ".join(map(str, list(nested)[:_NAMED])) + (", ..." if len(nested) > _NAMED else "")
            message = (
                f"prediction: rings lie within each other on slice {which}: combined by even-odd, a ring within "
                "another is a hole; rings of a scan's own contours and of a submission would be united"
            )
            self.add("info", "contour-nested", message)
        return ScanContours({number: found for number, found in sorted(rings.items()) if found})

    def polygons(self, rings: list[Ring], name: str, number: int) -> list[Ring]:
        try:
            return even_odd_polygons(rings)
        except MetricInputError as error:
            raise MetricInputError(
                f"{self.path}: {name}: slice {number}: {error}; combined by even-odd they cannot be written as "
                "polygons; correct the contours, or give the prediction as a label map"
            ) from error

    def segmented(self, segments: Segments, stack: SliceStack) -> LabelMap | None:
        """The target as a label map; files of segments leave empty slices out."""
        chosen = {segment.number: segment.name for segment in segments.segments if segment.name.strip() in self.names}
        self.check_named(chosen, {segment.name: 1 for segment in segments.segments})
        self.check_frame(segments, stack)
        codes = [code for code, members in segments.members.items() if set(members) & set(chosen)]
        labels = LabelMap(np.isin(segments.codes, codes).astype(np.uint8) * np.uint8(TARGET_ID), segments.grid)
        grid = common_grid(stack.grid, labels.grid)
        if grid is not None and grid.shape == stack.grid.shape:
            return embedded(labels, stack.grid)
        return on_grid(labels, stack.grid, self.add, resample=self.inputs.resample_prediction, whose="scan")

    def check_named(self, chosen: Mapping[int, str], drawn: Mapping[str, int]) -> None:
        """Refuse a file in which something is drawn, but nothing that is called as the target."""
        if chosen or not any(drawn.values()):
            return
        there = ", ".join(list(drawn)[:_NAMED]) + (", ..." if len(drawn) > _NAMED else "")
        raise ReadError(
            f"{self.path}: no structure is called {self.inputs.rules.target} or a variant of it (there are {there}); "
            "name it so, or list its name in the dictionary of structures"
        )

    def check_frame(self, segments: Segments, stack: SliceStack) -> None:
        """Refuse another frame of reference, unless voxels coincide."""
        ours, theirs = segments.frame_of_reference_uid, stack.frame_of_reference_uid
        if ours is None or theirs is None or ours == theirs:
            return
        message = f"prediction: frame of reference {ours}, but the scan has {theirs}"
        if common_grid(stack.grid, segments.grid) is None:
            raise GridMismatchError(f"{self.path}: {message}: their coordinates have nothing to do with each other")
        self.add("warning", OTHER_FRAME, f"{message}; their voxels coincide, so that they are taken for one")
