"""Areas of the structures of an RTSTRUCT, without any image: even-odd over the rings of a plane, summed over planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.structures import XOR_TYPE, Contour, Roi, without_area
from medotter_viewer.errors import MetricInputError, ReadError
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.geometry.polygons import Ring, combined_area, overlap_areas

FLAT_MM, ONE_PLANE_MM = 0.1, 0.05
"""How far points may lie from the plane of their contour; how far apart two contours of one plane may lie."""
_SIDE_BY_SIDE, _MOST_BOXES = 64, 1000
_NESTED = 1e-9  # of the area: what rounding makes of rings that do not overlap


@dataclass(frozen=True, slots=True)
class RoiArea:
    """What the contours of one structure enclose.

    Parameters
    ----------
    area_mm2 : float
        Summed over planes; 0 without contours.
    n_nested : int
        Planes on which rings overlap, so that even-odd makes holes, though their type does not say so.
    reasons : tuple of str
        Why contours have no area, one for each.
    n_warped : int
        Contours that lie in no plane, and are left out.
    """

    area_mm2: float
    n_nested: int = 0
    reasons: tuple[str, ...] = ()
    n_warped: int = 0


@dataclass(slots=True)
class _Plane:
    """Rings at one height along one normal."""

    normal: NDArray[np.float64]
    height: float
    contours: list[Contour] = field(default_factory=list)


def roi_items(path: Path) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return what `info` shows of an RTSTRUCT, and what was noticed.

    Returns
    -------
    items : list of dict
        ``{"kind": "roi", "number", "name", "contours", "area_mm2"}`` for each structure in the order of the file;
        `contours` counts all that the file holds. A name that stands twice has its number added.

    Raises
    ------
    ReadError
        As `read_structures`, or if contours are such a tangle that they cannot be measured.
    """
    structures, findings = read_structures(path)
    items: list[dict[str, Any]] = []
    for roi in structures.rois:
        name = structures.names[roi.number]
        try:
            measured = measure(roi)
        except MetricInputError as error:
            raise ReadError(f"{path}: {name}: {error}") from error
        found = {"kind": "roi", "number": roi.number, "name": name, "contours": roi.n_contours}
        items.append({**found, "area_mm2": measured.area_mm2})
        findings += [Finding(f.severity, f.code, f"{name}: {f.message}", str(path), name) for f in _remarks(measured)]
    return items, findings


def measure(roi: Roi) -> RoiArea:
    """Return the area of a structure, each contour measured in its own plane.

    Raises
    ------
    MetricInputError
        As `overlap_areas`.
    """
    closed = [contour for contour in roi.contours if contour.no_area is None]
    reasons = tuple(reason for contour in roi.contours if (reason := contour.no_area))
    planes, n_warped = _planes(closed)
    alone: list[Ring] = []
    area, n_nested = 0.0, 0
    for plane in planes:
        rings = _in_plane(plane)
        if len(rings) == 1 or _apart(rings):
            alone += rings
            continue
        here, overlap = _overlapping_area(rings)
        area += here
        n_nested += overlap and any(c.geometric_type != XOR_TYPE for c in plane.contours)
    area += _sum_of_areas(alone)
    return RoiArea(area, n_nested, reasons, n_warped)


def _remarks(measured: RoiArea) -> list[Finding]:
    found: list[Finding] = []
    if measured.reasons:
        n = len(measured.reasons)
        message = f"{n} {'contour has' if n == 1 else 'contours have'} no area: {without_area(measured.reasons)}"
        found.append(Finding("info", "contour-without-area", message))
    if measured.n_warped:
        lie = "1 contour lies" if measured.n_warped == 1 else f"{measured.n_warped} contours lie"
        message = f"{lie} in no plane (points more than {FLAT_MM:g} mm off): no area"
        found.append(Finding("warning", "contour-not-flat", message))
    if measured.n_nested:
        planes = "1 plane" if measured.n_nested == 1 else f"{measured.n_nested} planes"
        message = (
            f"on {planes} rings overlap and were combined by even-odd: a ring within another is a hole. DICOM reserves "
            f"that for {XOR_TYPE}, but most writers mean it"
        )
        found.append(Finding("info", "contour-nested", message))
    return found


def _planes(contours: Sequence[Contour]) -> tuple[list[_Plane], int]:
    """Contours by plane, and how many lie in none.

    Nearly always all are parallel: then the normal is that of the largest, because a small ring's is mostly rounding.
    """
    ordered = sorted(contours, key=lambda c: -float(np.linalg.norm(_doubled_area(c.points_lps))))
    normals: list[NDArray[np.float64]] = []
    placed: list[tuple[int, float, Contour]] = []
    n_warped = 0
    for contour in ordered:
        which = next((i for i, normal in enumerate(normals) if _is_flat(contour.points_lps, normal)), None)
        if which is None:
            normal = _normal(contour.points_lps)
            if not _is_flat(contour.points_lps, normal):
                n_warped += 1
                continue
            which = len(normals)
            normals.append(normal)
        placed.append((which, float((contour.points_lps @ normals[which]).mean()), contour))
    planes: list[_Plane] = []
    for which, height, contour in sorted(placed, key=lambda p: p[:2]):
        normal = normals[which]
        if not planes or planes[-1].normal is not normal or height - planes[-1].height > ONE_PLANE_MM:
            planes.append(_Plane(normal, height))
        planes[-1].contours.append(contour)
    return planes, n_warped


def _doubled_area(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newell's vector: along the normal, twice the area long."""
    around = points - points[0]
    return np.asarray(np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0))


def _normal(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vector across the plane next to all points: a figure of eight has no other."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.asarray(axes[2])


def _is_flat(points: NDArray[np.float64], normal: NDArray[np.float64]) -> bool:
    return float(np.ptp((points - points[0]) @ normal)) <= 2 * FLAT_MM


def _sum_of_areas(rings: Sequence[Ring]) -> float:
    """Sum of the areas of rings, each by itself: set side by side and measured in one sweep, which is much faster."""
    total = 0.0
    for first in range(0, len(rings), _SIDE_BY_SIDE):
        some = rings[first : first + _SIDE_BY_SIDE]
        heights = np.array([np.ptp(ring[:, 1]) + 1 for ring in some])
        shifts = np.cumsum(heights) - heights
        moved = [ring - ring.min(axis=0) + (0, shift) for ring, shift in zip(some, shifts, strict=True)]
        _, area, _ = overlap_areas(moved, [])
        total += area
    return total


def _overlapping_area(rings: Sequence[Ring]) -> tuple[float, bool]:
    """Area by even-odd over all rings of a plane, and whether they do overlap."""
    single = _sum_of_areas(rings)
    _, union, _ = overlap_areas(rings, [])
    if single - union <= _NESTED * single:
        return single, False
    return combined_area(rings), True


def _in_plane(plane: _Plane) -> list[Ring]:
    """(n, 2) coordinates within the plane: x and y as they are where it is axial, so that no digit is lost."""
    normal = plane.normal
    if abs(normal[2]) > 1 - 1e-12:
        return [contour.points_lps[:, :2] for contour in plane.contours]
    along = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, along)
    first /= np.linalg.norm(first)
    axes = np.stack([first, np.cross(normal, first)], axis=1)
    return [contour.points_lps @ axes for contour in plane.contours]


def _apart(rings: Sequence[Ring]) -> bool:
    """Whether no two boxes around rings meet; of very many rings nobody looks."""
    if len(rings) > _MOST_BOXES:
        return False
    low, high = np.array([r.min(axis=0) for r in rings]), np.array([r.max(axis=0) for r in rings])
    meet = ((low[:, None] < high[None]) & (low[None] < high[:, None])).all(axis=2)
    return int(meet.sum()) <= len(rings)
