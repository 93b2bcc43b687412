"""On which slice of which grid each frame of a DICOM SEG lies; frames that a writer left out are empty slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import LPS_TO_RAS, Grid
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats.dicom.planes import axes_of, length_of, origin_of, size_of, spacing_of
from medotter_viewer.formats.dicom.values import Header

_SAME_MM = 0.01  # frames so near each other lie on one slice
_LATTICE = 0.05  # of a step: how far a frame may lie from a whole number of steps
_SAME_DIRECTION, _SAME_SPACING = 1e-3, 1e-3
_MOST_VOXELS, _SPARSEST = 1 << 28, 64
"""A file that holds few frames far apart may not ask for more voxels than this, or this many times those it holds."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameLayout:
    """Where frames lie.

    Parameters
    ----------
    grid : Grid
        Column, row, slice; from the first to the last slice that has a frame.
    slices : (n,) ndarray of int
        Slice of each frame.
    numbers : sequence of int or None
        Segment of each frame; None where the frame does not name one.
    """

    grid: Grid
    slices: NDArray[np.int64]
    numbers: Sequence[int | None]


def frame_layout(header: Header) -> tuple[FrameLayout, list[Finding]]:
    """Return where the frames of a SEG lie, and what was noticed.

    Raises
    ------
    ReadError
        If positions, orientation or spacing are missing, malformed or differ, or lie on no straight line.
    """
    rows, columns, _ = size_of(header)
    shared = header.items("SharedFunctionalGroupsSequence")
    frames = header.items("PerFrameFunctionalGroupsSequence", "frame")
    if not frames:
        raise ReadError(f"{header.place}no PerFrameFunctionalGroupsSequence: nothing says where its frames lie")
    groups = [_Groups(frame, shared[0] if shared else None) for frame in frames]
    origins = np.array([group.origin() for group in groups])
    axes, spacing = groups[0].axes(), groups[0].spacing()
    for group in groups[1:]:
        if np.abs(group.axes() - axes).max() > _SAME_DIRECTION:
            raise ReadError(f"{group.frame.place}another orientation than the first frame: no volume can be made of it")
        if not np.allclose(group.spacing(), spacing, rtol=_SAME_SPACING, atol=0):
            raise ReadError(f"{group.frame.place}another pixel spacing than the first frame")
    normal = np.cross(axes[0], axes[1])
    positions = origins @ normal
    places, slices, findings = _slices(positions, groups[0], header)
    n_slices = int(slices.max()) + 1
    if rows * columns * n_slices > max(_MOST_VOXELS, _SPARSEST * rows * columns * len(frames)):
        raise ReadError(
            f"{header.place}{len(frames)} frames spread over {n_slices} slices of {columns} x {rows} pixels: "
            "more than can be held; are their positions right?"
        )
    first, last = int(slices.argmin()), int(slices.argmax())
    step = (origins[last] - origins[first]) / (n_slices - 1) if n_slices > 1 else normal * places
    off = np.linalg.norm(origins - origins[first] - np.outer(slices, step), axis=1)
    worst = int(off.argmax())
    if not findings and off[worst] > min(spacing) / 2:
        raise ReadError(
            f"{frames[worst].place}lies {off[worst]:.3g} mm beside the line of the other frames, expected slices that "
            "are stacked straight"
        )
    lps = np.eye(4)
    lps[:3, 0], lps[:3, 1] = axes[0] * spacing[1], axes[1] * spacing[0]
    lps[:3, 2], lps[:3, 3] = step, origins[first]
    try:
        grid = Grid((columns, rows, n_slices), LPS_TO_RAS @ lps, is_uneven=bool(findings))
    except GridMismatchError as error:
        raise ReadError(f"{header.place}no volume can be made of its frames: {error}") from error
    return FrameLayout(grid, slices, [group.segment() for group in groups]), findings


def _slices(
    positions: NDArray[np.float64], first: _Groups, header: Header
) -> tuple[float, NDArray[np.int64], list[Finding]]:
    """Distance of slices, the slice of each frame, and a finding where distances are uneven."""
    ordered = np.sort(positions)
    distinct = ordered[np.concatenate([[True], np.diff(ordered) > _SAME_MM])]
    gaps = np.diff(distinct)
    told, thickness = first.length("SpacingBetweenSlices"), first.length("SliceThickness")
    if len(gaps) == 0:
        return told or thickness or 1.0, np.zeros(len(positions), dtype=np.int64), []
    least = float(gaps.min())
    for step in (told, least, thickness):
        if step is None or step < _SAME_MM:
            continue
        times = (distinct - distinct[0]) / step
        whole = np.rint(times)
        if np.abs(times - whole).max() <= _LATTICE and whole[-1] < 1 << 31 and np.diff(whole).min() >= 1:
            return step, np.rint((positions - distinct[0]) / step).astype(np.int64), []
    message = (
        f"frames lie {least:.4g} to {gaps.max():.4g} mm apart, expected multiples of one distance; the mean is used"
    )
    slices = np.clip(np.searchsorted(distinct, positions + _SAME_MM / 2, side="right") - 1, 0, None)
    finding = Finding("warning", "uneven-slices", message, file=str(header.path))
    return float(gaps.mean()), slices.astype(np.int64), [finding]


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """What one frame says of itself, and all frames in common."""

    frame: Header
    shared: Header | None

    def find(self, sequence: str) -> Header | None:
        for place in (self.frame, self.shared):
            if place is not None and (found := place.items(sequence, self.frame.where)):
                return found[0]
        return None

    def need(self, sequence: str) -> Header:
        found = self.find(sequence)
        if found is None:
            raise ReadError(f"{self.frame.place}no {sequence}: it does not say where it lies in the patient")
        return found

    def origin(self) -> NDArray[np.float64]:
        found = origin_of(self.need("PlanePositionSequence"))
        if found is None:
            raise ReadError(f"{self.frame.place}no (0020,0032) ImagePositionPatient")
        return found

    def axes(self) -> NDArray[np.float64]:
        found = axes_of(self.need("PlaneOrientationSequence"))
        if found is None:
            raise ReadError(f"{self.frame.place}no (0020,0037) ImageOrientationPatient")
        return found

    def spacing(self) -> tuple[float, float]:
        found = spacing_of(self.need("PixelMeasuresSequence"))
        if found is None:
            raise ReadError(f"{self.frame.place}no (0028,0030) PixelSpacing")
        return found

    def length(self, keyword: str) -> float | None:
        measures = self.find("PixelMeasuresSequence")
        return None if measures is None else length_of(measures, keyword)

    def segment(self) -> int | None:
        named = self.find("SegmentIdentificationSequence")
        return None if named is None else named.whole("ReferencedSegmentNumber")
