"""The distances between neighbouring slices: even, uneven, with gaps, or sheared by a tilted gantry.

What is uneven, `geometry.slice_distances` decides. Distances that differ by less (positions are often written with one
decimal) are told and taken as even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.planes import Plane
from medotter_viewer.geometry.slice_distances import (
    EVEN_FRACTION,
    EVEN_MM,
    are_uneven,
    differ,
    off_even_mm,
    usual_distance,
)

_STRAIGHT_FRACTION = 0.01  # of a pixel: slices that lie so far off a line are said to be even
_REFUSED_FRACTION = 0.5  # of a pixel: farther off, no affine can describe the volume
_WHOLE = 0.05  # how far a gap may be from a multiple of the usual distance, as a part of it


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The way from a slice to the next, mm LPS (the mean where uneven), and whether it varies."""

    step: NDArray[np.float64]
    is_uneven: bool


def measured_steps(
    planes: Sequence[Plane], origins: NDArray[np.float64], normal: NDArray[np.float64], source: Path
) -> tuple[Steps, list[Finding]]:
    """Return the step between slices, and what was noticed about it.

    Parameters
    ----------
    planes : sequence of Plane
        Sorted along the normal, no two at one position.
    origins : (n, 3) ndarray
        Their first pixels, mm LPS.
    normal : (3,) ndarray
        Unit vector across the slices.
    source : Path
        For messages.

    Raises
    ------
    ReadError
        If the slices are shifted against each other by more than half a pixel from a straight line.
    """
    if len(planes) == 1:
        return _single(planes[0], normal)
    findings: list[Finding] = []
    positions = origins @ normal
    mean = (origins[-1] - origins[0]) / (len(planes) - 1)
    gaps = np.diff(positions)
    usual, is_uneven = usual_distance(gaps), are_uneven(positions)
    if is_uneven:
        findings.append(_uneven(planes, gaps, usual, source))
    elif differ(gaps):
        findings.append(_nearly_even(gaps, off_even_mm(positions), source))
    across = origins - np.outer(positions, normal)
    pixel = min(planes[0].spacing_mm or (1.0, 1.0))
    if np.linalg.norm(across - across[0], axis=1).max() <= max(_STRAIGHT_FRACTION * pixel, 1e-3):
        step = normal * (normal @ mean)
    else:
        step = mean
        line = across[0] + np.outer((positions - positions[0]) / (positions[-1] - positions[0]), across[-1] - across[0])
        off = np.linalg.norm(across - line, axis=1)
        worst = int(off.argmax())
        if off[worst] > _REFUSED_FRACTION * pixel:
            raise ReadError(
                f"{source}: {planes[worst].name} lies {off[worst]:.3g} mm beside the line through the first pixels of "
                "its neighbours, expected slices that are stacked straight; put them into folders of their own"
            )
        degrees = float(np.degrees(np.arccos(np.clip(normal @ step / np.linalg.norm(step), -1, 1))))
        message = (
            f"the slices are stacked {degrees:.2f} deg off their normal (a tilted gantry): the volume is sheared, as "
            "its positions say; distances across slices are measured along the sheared edge"
        )
        findings.append(Finding("warning", "gantry-tilt", message, file=str(source)))
    thickness = [p.thickness_mm for p in planes if p.thickness_mm]
    if thickness and not is_uneven and abs(float(np.median(thickness)) - usual) > max(EVEN_FRACTION * usual, EVEN_MM):
        kind = "overlap" if float(np.median(thickness)) > usual else "leave gaps"
        message = (
            f"slices of {np.median(thickness):g} mm thickness (0018,0050) lie {usual:g} mm apart and {kind}: "
            "the distance counts"
        )
        findings.append(Finding("info", "thickness-is-not-distance", message, file=str(source)))
    return Steps(step, is_uneven), findings


def _single(plane: Plane, normal: NDArray[np.float64]) -> tuple[Steps, list[Finding]]:
    """The step of a single slice: nothing but what its header says of neighbours or thickness."""
    length, file = plane.between_mm or plane.thickness_mm, str(plane.header.path)
    if length is not None:
        return Steps(normal * length, False), []
    message = "a single slice without thickness (0018,0050): it is taken as 1 mm thick; its volume in mm3 means nothing"
    return Steps(normal, False), [Finding("warning", "no-slice-thickness", message, file=file)]


def _uneven(planes: Sequence[Plane], gaps: NDArray[np.float64], usual: float, source: Path) -> Finding:
    """What to say about distances that differ: slices are missing, or they are irregular."""
    consequence = "volumes use the mean distance; hd95 is not defined"
    times = gaps / usual
    if np.abs(times - np.rint(times)).max() <= _WHOLE and np.rint(times).min() >= 1 and np.rint(times).max() > 1:
        missing = int((np.rint(times) - 1).sum())
        worst = int(times.argmax())
        message = (
            f"{missing} slice{'s' if missing > 1 else ''} missing: {usual:.4g} mm apart elsewhere, but "
            f"{gaps[worst]:.4g} mm between {planes[worst].name} and {planes[worst + 1].name}; {consequence}"
        )
        return Finding("warning", "missing-slices", message, file=str(source))
    message = f"slices lie {gaps.min():.4g} to {gaps.max():.4g} mm apart, expected equal distances; {consequence}"
    return Finding("warning", "uneven-slices", message, file=str(source))


def _nearly_even(gaps: NDArray[np.float64], off: float, source: Path) -> Finding:
    message = (
        f"slices lie {gaps.min():.4g} to {gaps.max():.4g} mm apart; taken as equal distances, which moves no slice by "
        f"more than {off:.2g} mm"
    )
    return Finding("info", "nearly-even-slices", message, file=str(source))
