"""Where the slices of a scan folder with PNGs lie, from the tags beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import LPS_TO_RAS, Grid
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.formats.scan_aux import SliceTags
from medotter_viewer.geometry.slice_distances import are_uneven

_AXIAL = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
_SAME = 1e-3  # of a direction cosine; relative of a spacing
_ONE_PLACE_MM = 1e-3


@dataclass(frozen=True, slots=True)
class TaggedSlice:
    """A slice, what its tags say, and the file that is named for it."""

    number: int
    tags: SliceTags
    file: Path


def stack_of(
    slices: Sequence[TaggedSlice], size: tuple[int, int] | None, folder: Path
) -> tuple[SliceStack | None, list[Finding]]:
    """Return where slices lie, or None with the reason, and what was noticed.

    Parameters
    ----------
    slices : sequence of TaggedSlice
        In any order.
    size : (int, int) or None
        Columns and rows of the pictures; None where there is none: the tags say it then.
    folder : Path
        The scan, for messages.

    Notes
    -----
    Without (0020,0037) slices are axial: the contest's coordinates take it for granted. Pixel spacing is read in the
    order of DICOM, between rows first.
    """
    placed = [one for one in slices if one.tags.origin_lps is not None and one.tags.spacing_mm is not None]
    if len(placed) < len(slices) or not placed:
        lacking = ", ".join(str(one.number) for one in slices if one not in placed)[:60]
        return None, [_unplaced(folder, f"no (0020.0032) or (0028.0030) in slice {lacking or 'none at all'}")]
    size, findings = _size(placed, size, folder)
    if size is None:
        return None, [*findings, _unplaced(folder, "neither pictures nor (0028.0010), (0028.0011) say its size")]
    first = placed[0]
    axes = np.array(first.tags.axes_lps or _AXIAL).reshape(2, 3)
    lengths = np.linalg.norm(axes, axis=1)
    if np.abs(lengths - 1).max() > _SAME or abs(axes[0] @ axes[1]) > _SAME:
        reason = (
            f"(0020.0037) in slice {first.number} is {axes.ravel().tolist()}, expected two unit vectors at right angles"
        )
        return None, [*findings, _unplaced(folder, reason)]
    for one in placed[1:]:
        if what := _difference(first.tags, one.tags):
            reason = f"slices {first.number} and {one.number} have different {what}"
            return None, [*findings, _unplaced(folder, reason)]
    findings += _order_note(first, folder)
    return _stacked(placed, axes, size, folder, findings)


def _stacked(
    placed: list[TaggedSlice], axes: NDArray[np.float64], size: tuple[int, int], folder: Path, findings: list[Finding]
) -> tuple[SliceStack | None, list[Finding]]:
    """Sorted along the normal."""
    normal = np.cross(axes[0], axes[1])
    heights = np.array([np.asarray(one.tags.origin_lps) @ normal for one in placed])
    order = np.argsort(heights, kind="stable")
    placed, heights = [placed[i] for i in order], heights[order]
    gaps = np.diff(heights)
    if len(gaps) and gaps.min() <= _ONE_PLACE_MM:
        at = int(gaps.argmin())
        reason = f"slices {placed[at].number} and {placed[at + 1].number} lie at one position"
        return None, [*findings, _unplaced(folder, reason)]
    origins = np.array([one.tags.origin_lps for one in placed])
    step = normal * (placed[0].tags.thickness_mm or 1.0)
    if len(placed) > 1:
        mean = (origins[-1] - origins[0]) / (len(placed) - 1)
        sideways = origins - np.outer(heights, normal)
        straight = np.abs(sideways - sideways[0]).max() < _ONE_PLACE_MM
        step = normal * (normal @ mean) if straight else mean
    uneven = are_uneven(heights)
    if uneven:
        message = (
            f"{folder}: slices lie {gaps.min():g} to {gaps.max():g} mm apart: drawn at their mean distance, scored by "
            "their own thickness"
        )
        findings.append(Finding("warning", "uneven-slices", message, str(folder)))
    between_rows, between_columns = placed[0].tags.spacing_mm or (1.0, 1.0)
    lps = np.eye(4)
    lps[:3, 0], lps[:3, 1], lps[:3, 2], lps[:3, 3] = axes[0] * between_columns, axes[1] * between_rows, step, origins[0]
    try:
        grid = Grid((*size, len(placed)), LPS_TO_RAS @ lps, is_uneven=uneven)
    except GridMismatchError as error:
        return None, [*findings, _unplaced(folder, str(error))]
    stack = SliceStack(
        grid,
        origins,
        [one.number for one in placed],
        [one.tags.thickness_mm for one in placed],
        [None] * len(placed),
        [one.file for one in placed],
        is_uneven=uneven,
    )
    return stack, findings


def _size(
    placed: Sequence[TaggedSlice], size: tuple[int, int] | None, folder: Path
) -> tuple[tuple[int, int] | None, list[Finding]]:
    """Columns and rows: of the pictures, else of the tags."""
    told = next(((t.columns, t.rows) for one in placed if (t := one.tags).columns and t.rows), None)
    if size is None or told is None or size == told:
        return size or told, []
    message = (
        f"{folder}: the tags say {told[0]} columns and {told[1]} rows, the pictures are {size[0]} x {size[1]}: "
        "the pictures count"
    )
    return size, [Finding("warning", "scan-size-differs", message, str(folder))]


def _difference(a: SliceTags, b: SliceTags) -> str | None:
    axes_a, axes_b = (np.array(tags.axes_lps or _AXIAL) for tags in (a, b))
    if np.abs(axes_a - axes_b).max() > _SAME:
        return "orientation (0020.0037)"
    if not np.allclose(a.spacing_mm or (), b.spacing_mm or (), rtol=_SAME, atol=0):
        return "pixel spacing (0028.0030)"
    return "size (0028.0010), (0028.0011)" if (a.rows, a.columns) != (b.rows, b.columns) else None


def _order_note(first: TaggedSlice, folder: Path) -> list[Finding]:
    rows, columns = first.tags.spacing_mm or (1.0, 1.0)
    if abs(rows - columns) <= _SAME * rows:
        return []
    message = (
        f"{folder}: pixels of {columns:g} x {rows:g} mm: (0028.0030) is read in the order of DICOM, between rows "
        "first; the contest's own tools take the first value for x"
    )
    return [Finding("info", "scan-spacing-order", message, str(folder))]


def _unplaced(folder: Path, reason: str) -> Finding:
    message = f"{folder}: {reason}: nothing says where its slices lie; polygons are scored in mm, not drawn on an image"
    return Finding("warning", "scan-without-position", message, str(folder))
