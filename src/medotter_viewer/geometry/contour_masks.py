"""Structures drawn as contours to voxels of the series they were drawn on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.reprs import NO_OUTLINE, NO_PIXEL, NOT_PLACED
from medotter_viewer.core.segments import Segment, SegmentPainter, Segments
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import XOR_TYPE, Roi, StructureSet
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.contour_planes import PlacedContours, place_contours
from medotter_viewer.geometry.polygons import FillRule, fill

Points = NDArray[np.float64]
_EDGES_BY_ROWS = 1 << 22


def fill_structures(
    structures: StructureSet,
    stack: SliceStack,
    *,
    rule: FillRule = "even_odd",
    ignore_frame_of_reference: bool = False,
) -> tuple[Segments, list[Finding]]:
    """Return the voxels of every structure on the grid of the series, and what was noticed.

    Parameters
    ----------
    structures : StructureSet
        Of one file.
    stack : SliceStack
        Slices of the series; arrays are in its order: column, row, slice.
    rule : {"even_odd", "union"}
        What rings of one structure on one slice mean: a ring within another is a hole, or more of the same.
    ignore_frame_of_reference : bool
        As `place_contours`.

    Returns
    -------
    segments : Segments
        Every structure of the file; those without contours have no voxel. One that is drawn, but not on the image or
        smaller than a pixel, is in `Segments.unscorable`.
    findings : list of Finding
        Those of `place_contours`, and rings that leave the image, overlap, or hold no pixel centre.

    Raises
    ------
    GridMismatchError
        As `place_contours`.
    MetricInputError
        If contours are such a tangle that they cannot be filled.

    Notes
    -----
    A pixel is in when its centre is, half-open (`geometry.polygons.fill`). Off-plane contours are moved along the
    normal onto their slice; within it nothing is moved.
    """
    names = structures.names
    placed, findings = place_contours(
        structures.rois,
        stack,
        names=names,
        ignore_frame_of_reference=ignore_frame_of_reference,
        file=structures.file,
    )
    painter = SegmentPainter(stack.grid)
    unscorable: dict[int, str] = {}
    for roi in structures.rois:
        filler = _Filler(names[roi.number], rule, structures.file)
        try:
            reason = filler.fill(roi, placed[roi.number], painter)
        except MetricInputError as error:
            raise MetricInputError(f"{structures.described()}: {names[roi.number]}: {error}") from error
        findings += filler.findings
        if reason is not None:
            unscorable[roi.number] = reason
    listed = (Segment(roi.number, roi.name, roi.color) for roi in structures.rois)
    segments = painter.segments(listed)
    uid = stack.frame_of_reference_uid
    return replace(segments, unscorable=unscorable, frame_of_reference_uid=uid), findings


class _Filler:
    """Fills one structure, and collects what is noticed."""

    def __init__(self, name: str, rule: FillRule, file: Path | None) -> None:
        self.name = name
        self.rule = rule
        self.file = None if file is None else str(file)
        self.findings: list[Finding] = []

    def add(self, severity: Severity, code: str, message: str) -> None:
        self.findings.append(Finding(severity, code, f"{self.name}: {message}", self.file, self.name))

    def fill(self, roi: Roi, placed: PlacedContours, painter: SegmentPainter) -> str | None:
        """Fill it; the rule why it has no score where it is drawn and yet has no voxel."""
        columns, rows, _ = placed.stack.grid.shape
        n_voxels, n_outside, n_nested, beyond = 0, 0, 0, 0.0
        touches = False
        for index in placed.points_lps:
            rings = placed.pixels(index)
            out = [_beyond(ring, columns, rows) for ring in rings]
            n_outside += sum(o > 0 for o in out)
            touches = touches or any(_touches(ring, columns, rows) for ring in rings)
            beyond = max([beyond, *out])
            mask, at = _boxed(rings, columns, rows, self.rule)
            n_voxels += int(np.count_nonzero(mask))
            painter.add(roi.number, mask[:, :, None], (*at, slice(index, index + 1)))
            if self.rule == "even_odd" and len(rings) > 1:
                n_nested += bool((_boxed(rings, columns, rows, "union")[0] != mask).any())
        if n_outside:
            lie = "1 contour reaches" if n_outside == 1 else f"{n_outside} contours reach"
            message = f"{lie} up to {beyond:.1f} pixels beyond the image; its mask is cut off there"
            self.add("warning", "contour-outside-image", message)
        if n_nested and any(c.geometric_type != XOR_TYPE for c in roi.contours):
            slices = "1 slice" if n_nested == 1 else f"{n_nested} slices"
            message = (
                f"on {slices} rings overlap and were combined by even-odd: a ring within another is a hole. DICOM "
                f"reserves that for {XOR_TYPE}, but most writers mean it"
            )
            self.add("info", "contour-nested", message)
        if placed.n_placed and not n_voxels:
            what = "1 contour encloses" if placed.n_placed == 1 else f"{placed.n_placed} contours enclose"
            self.add("warning", "contour-without-pixels", f"{what} no pixel centre of the series: its mask is empty")
        if n_voxels or not roi.contours:
            return None
        if all(contour.no_area for contour in roi.contours):
            return NO_OUTLINE
        return NO_PIXEL if touches else NOT_PLACED


def _beyond(ring: Points, columns: int, rows: int) -> float:
    """By how many pixels a ring leaves the image."""
    (left, top), (right, bottom) = ring.min(axis=0), ring.max(axis=0)
    out = max(-0.5 - left, -0.5 - top, right - (columns - 0.5), bottom - (rows - 0.5))
    return float(out) if out > 1e-6 else 0.0  # what rounding of world positions makes of the border itself


def _touches(ring: Points, columns: int, rows: int) -> bool:
    """Whether the box around a ring and the image have anything in common."""
    (left, top), (right, bottom) = ring.min(axis=0), ring.max(axis=0)
    return bool(right > -0.5 and bottom > -0.5 and left < columns - 0.5 and top < rows - 0.5)


def _boxed(
    rings: Sequence[Points], columns: int, rows: int, rule: FillRule
) -> tuple[NDArray[np.bool_], tuple[slice, slice]]:
    """Mask (column, row) of the box around rings, and that box: structures are small, images are not."""
    points = np.concatenate(rings)
    low = np.clip(np.floor(points.min(axis=0)), 0, (columns, rows)).astype(int)
    high = np.clip(np.ceil(points.max(axis=0)) + 1, low, (columns, rows)).astype(int)
    width, height = (high - low).tolist()
    at = (slice(low[0], high[0]), slice(low[1], high[1]))
    if rule == "union" and len(rings) > 1:
        mask = np.zeros((width, height), dtype=np.bool_)
        for ring in rings:
            part, (i, j) = _boxed([ring - low], width, height, rule)
            mask[i, j] |= part
        return mask, at
    band = max(1, _EDGES_BY_ROWS // len(points))  # filling takes memory for each edge and row
    parts = [
        fill([ring - low - (0, top) for ring in rings], (min(band, height - top), width))
        for top in range(0, height, band)
    ]
    return (np.concatenate(parts).T if parts else np.zeros((width, height), dtype=np.bool_)), at
