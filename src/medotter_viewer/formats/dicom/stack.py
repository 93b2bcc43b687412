"""From image planes to one stack of parallel slices: sorted by position, and what does not belong left out aloud.

File names, Instance Numbers and Slice Thickness never order or space anything. Distances are those between positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import LPS_TO_RAS, Grid
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats.dicom.duplicates import without_copies
from medotter_viewer.formats.dicom.planes import Plane
from medotter_viewer.formats.dicom.steps import Steps, measured_steps

SAME_DIRECTION = 1e-3
"""Largest difference of a direction cosine between slices of one stack (0.06 degrees)."""
SAME_SPACING = 1e-3
"""Largest relative difference of the pixel spacing between slices of one stack."""

_NAMES = 5  # that are listed in a message


@dataclass(frozen=True, slots=True, eq=False)
class PlaneStack:
    """A stack, and the planes it was made from, in its order."""

    stack: SliceStack
    planes: tuple[Plane, ...]


def stacked(planes: Sequence[Plane], source: Path) -> tuple[PlaneStack, list[Finding]]:
    """Return the stack of slices that most of the planes belong to, and what was left out or noticed.

    Parameters
    ----------
    planes : sequence of Plane
        Of one series or file, in any order; at least one.
    source : Path
        Folder or file, for messages.

    Raises
    ------
    ReadError
        If two different slices lie at one position, the planes belong to several stacks of the same size, have
        several frames of reference, or lie on no straight line.
    """
    findings: list[Finding] = []
    kept, left = _largest_group(planes, source)
    findings += _left_out(kept, left, source)
    if kept[0].origin_lps is None:
        if len(kept) > 1:
            raise ReadError(
                f"{source}: {len(kept)} images without (0020,0032) ImagePositionPatient ({_names(kept)}): nothing "
                "says how they are stacked; give one of the files"
            )
        return _placeless(kept[0], source, findings)
    frames = {p.frame_of_reference_uid for p in kept if p.frame_of_reference_uid}
    if len(frames) > 1:
        example = [next(p.name for p in kept if p.frame_of_reference_uid == uid) for uid in sorted(frames)[:2]]
        raise ReadError(
            f"{source}: one series with {len(frames)} frames of reference (0020,0052), e.g. {example[0]} and "
            f"{example[1]}: their positions cannot be compared; put the slices of each into a folder of their own"
        )
    kept, copies = without_copies(kept, source)
    findings += copies
    axes = kept[0].axes_lps
    if axes is None:
        raise ReadError(f"{source}: {kept[0].name} has no (0020,0037) ImageOrientationPatient")
    normal = np.cross(axes[0], axes[1])
    order = np.argsort([p.origin_lps @ normal for p in kept if p.origin_lps is not None], kind="stable")
    kept = [kept[i] for i in order]
    origins = np.array([p.origin_lps for p in kept])
    steps, noticed = measured_steps(kept, origins, normal, source)
    findings += noticed
    return _plane_stack(kept, origins, axes, steps, source, has_world=True), findings


def _largest_group(planes: Sequence[Plane], source: Path) -> tuple[list[Plane], list[list[Plane]]]:
    """Planes of one size, orientation and spacing: the group with most of them, and the others."""
    groups: list[list[Plane]] = []
    for plane in planes:
        for group in groups:
            if _differences(group[0], plane) == []:
                group.append(plane)
                break
        else:
            groups.append([plane])
    groups.sort(key=len, reverse=True)
    if len(groups) > 1 and len(groups[0]) == len(groups[1]):
        first, second = groups[0], groups[1]
        raise ReadError(
            f"{source}: two stacks of {len(first)} slices in one series, with different "
            f"{' and '.join(_differences(first[0], second[0]))}: {_names(first)}; {_names(second)}; put the slices "
            "of each stack into a folder of their own"
        )
    return groups[0], groups[1:]


def _differences(a: Plane, b: Plane) -> list[str]:
    """In what two planes differ so that they cannot be slices of one volume."""
    found = []
    if (a.origin_lps is None) != (b.origin_lps is None):
        found.append("position (one has none)")
    elif a.axes_lps is not None and b.axes_lps is not None and np.abs(a.axes_lps - b.axes_lps).max() > SAME_DIRECTION:
        found.append("orientation")
    if a.size != b.size:
        found.append("size")
    if (a.spacing_mm is None) != (b.spacing_mm is None) or (
        a.spacing_mm and b.spacing_mm and not np.allclose(a.spacing_mm, b.spacing_mm, rtol=SAME_SPACING, atol=0)
    ):
        found.append("pixel spacing")
    return found


def _left_out(kept: Sequence[Plane], left: Sequence[Sequence[Plane]], source: Path) -> list[Finding]:
    findings = []
    for group in left:
        rows, columns, _ = group[0].size
        message = (
            f"{_names(group)}: left out, of another {' and '.join(_differences(kept[0], group[0]))} "
            f"({columns} x {rows} pixels) than the {len(kept)} other slices of its series (a localizer?)"
        )
        file = group[0].header.path if len(group) == 1 else source
        findings.append(Finding("warning", "slice-left-out", message, file=str(file)))
    return findings


def _placeless(plane: Plane, source: Path, findings: list[Finding]) -> tuple[PlaneStack, list[Finding]]:
    """The stack of one image that does not say where it lies."""
    axes = np.eye(3)[:2]
    thickness = plane.between_mm or plane.thickness_mm or 1.0
    steps = Steps(np.array([0.0, 0.0, thickness]), False)
    kept = _plane_stack([plane], np.zeros((1, 3)), axes, steps, source, has_world=False)
    return kept, findings


def _plane_stack(
    planes: Sequence[Plane],
    origins: NDArray[np.float64],
    axes: NDArray[np.float64],
    steps: Steps,
    source: Path,
    *,
    has_world: bool,
) -> PlaneStack:
    rows, columns, _ = planes[0].size
    between_rows, between_columns = planes[0].spacing_mm or (1.0, 1.0)
    lps = np.eye(4)
    lps[:3, 0], lps[:3, 1], lps[:3, 2], lps[:3, 3] = (
        axes[0] * between_columns,
        axes[1] * between_rows,
        steps.step,
        origins[0],
    )
    try:
        grid = Grid(
            (columns, rows, len(planes)),
            LPS_TO_RAS @ lps,
            has_world=has_world,
            unit="mm" if planes[0].spacing_mm else "px",
            is_uneven=steps.is_uneven,
        )
    except GridMismatchError as error:
        raise ReadError(f"{source}: no volume can be made of its slices: {error}") from error
    stack = SliceStack(
        grid,
        origins,
        [p.number for p in planes],
        [p.thickness_mm for p in planes],
        [p.sop_uid for p in planes],
        [p.header.path for p in planes],
        next((p.frame_of_reference_uid for p in planes if p.frame_of_reference_uid), None),
        steps.is_uneven,
    )
    return PlaneStack(stack, tuple(planes))


def _names(planes: Sequence[Plane]) -> str:
    more = len(planes) - _NAMES
    return ", ".join(p.name for p in planes[:_NAMES]) + (f" and {more} more" if more > 0 else "")
