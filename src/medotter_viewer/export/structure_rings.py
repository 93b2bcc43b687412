"""From a case to the rings of its regions on the images of a series: what an RTSTRUCT has contours for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Origin, ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import PASS_FRACTION, Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import GridMismatchError, MetricInputError, WriteError
from medotter_viewer.geometry.axial_slices import axial_slices
from medotter_viewer.geometry.lattice import common_grid, embedded
from medotter_viewer.geometry.placed_rings import pixels_on
from medotter_viewer.geometry.polygons import fill, trace, trace_slices, union_polygons
from medotter_viewer.metrics.overlap import id_mask

Pixels = NDArray[np.float64]
_PIXEL_PARTS = 1 << 16  # as where contours are read


@dataclass(frozen=True, slots=True, eq=False)
class StructureRings:
    """A region on the slices of a stack.

    Parameters
    ----------
    name : str
        Of the region.
    rings : mapping of int to sequence of (n, 2) ndarray
        Slice index (0-based) to column, row of rings without common area; a hole is a keyhole.
    origins : sequence of {"model", "edited", "imported"}
        Who made its polygons, each word once.
    mask : callable
        Slice index to the (columns, rows) mask that must come back.
    findings : list of Finding
        What was noticed.
    """

    name: str
    rings: Mapping[int, Sequence[Pixels]]
    origins: frozenset[Origin]
    mask: Callable[[int], NDArray[np.bool_]]
    findings: Sequence[Finding] = field(default_factory=tuple)


def label_rings(labels: LabelMap, ids: tuple[int, ...], name: str) -> StructureRings:
    """Return a region of a label map on the voxels of a stack, traced along the edges of its pixels."""
    mask = id_mask(labels.data, ids)
    traced = trace_slices(mask.transpose(1, 0, 2), axis=2)  # rows run along the second axis
    rings = {index: [polygon.keyhole() for polygon in traced.polygons(index)] for index, _ in traced.places()}
    return StructureRings(name, rings, frozenset(("model",)), lambda index: np.asarray(mask[:, :, index]))


def polygon_rings(
    contours: ScanContours,
    name: str,
    stack: SliceStack,
    index_of: Mapping[int, int],
    *,
    file: str,
    generated_only: bool = False,
) -> StructureRings:
    """Return polygons on the slices of a stack.

    Parameters
    ----------
    contours : ScanContours
        x, y mm LPS by slice number; rings of a slice are united.
    name : str
        Of the region.
    stack : SliceStack
        The slices.
    index_of : mapping of int to int
        Slice number to index in the stack.
    file : str
        For findings.
    generated_only : bool
        Leave out what a person edited.

    Raises
    ------
    WriteError
        If a polygon lies on a slice that is not there.

    Notes
    -----
    An RTSTRUCT is read by even-odd, so that rings which overlap would cut each other out: one within another is left
    out, as it adds nothing; where rings cross, the slice is written along the edges of its pixels, with a warning.
    """
    columns, rows, _ = stack.grid.shape
    rings: dict[int, Sequence[Pixels]] = {}
    masks: dict[int, NDArray[np.bool_]] = {}
    origins: set[Origin] = set()
    retraced: list[str] = []
    n_left_out = 0
    for number, found in sorted(contours.rings.items()):
        made_by = contours.origins_of(number)
        kept = [ring for ring, who in zip(found, made_by, strict=True) if not generated_only or who != "edited"]
        n_left_out += len(found) - len(kept)
        origins |= {who for who in made_by if not generated_only or who != "edited"}
        if not kept:
            continue
        if number not in index_of:
            raise WriteError(f"{name}: slice {number} is not among the images of the series, {len(stack)} slices")
        index = index_of[number]
        pixels = [np.round(pixels_on(ring, stack, index) * _PIXEL_PARTS) / _PIXEL_PARTS for ring in kept]
        masks[index] = fill(pixels, (rows, columns), rule="union").T
        try:
            chosen: Sequence[Pixels] = union_polygons([pixels_on(ring, stack, index) for ring in kept])
        except MetricInputError as error:
            retraced.append(f"{number} ({error})")
            chosen = [polygon.keyhole() for polygon in trace(masks[index].T)]
        if chosen:
            rings[index] = chosen
    findings = []
    if retraced:
        message = (
            f"{name}: rings overlap on slice {', '.join(retraced[:4])}{' and more' if len(retraced) > 4 else ''}: "
            "written there along the edges of pixels, as readers of RTSTRUCT would cut overlapping ones out of each "
            "other"
        )
        findings.append(Finding("warning", "contours-retraced", message, file))
    if n_left_out:
        words = "1 polygon is" if n_left_out == 1 else f"{n_left_out} polygons are"
        message = f"{name}: {words} left out, as asked: drawn or changed by a person"
        findings.append(Finding("info", "edited-left-out", message, file))
    nothing = np.zeros((columns, rows), dtype=np.bool_)
    return StructureRings(name, rings, frozenset(origins), lambda index: masks.get(index, nothing), findings)


def numbered_on(grid: Grid, stack: SliceStack) -> dict[int, int]:
    """Return the numbers of a volume's axial slices with the index of the slice of a stack in the same place.

    Raises
    ------
    GridMismatchError
        As `axial_slices`.
    """
    slices = axial_slices(grid)
    corner = np.zeros((len(slices.numbers), 3))
    corner[:, slices.axis] = np.arange(len(corner))
    heights = (grid.voxel_to_world(corner) * (-1, -1, 1)) @ stack.normal_lps
    apart = np.abs(heights[:, None] - stack.positions_mm)
    near = PASS_FRACTION * min(stack.grid.spacing)
    return {
        number: int(apart[place].argmin()) for place, number in enumerate(slices.numbers) if apart[place].min() <= near
    }


def on_stack(labels: LabelMap, stack: SliceStack) -> LabelMap:
    """Return a label map on the voxels of a stack: with its axes in the same order and direction.

    Raises
    ------
    GridMismatchError
        If its voxels are others than those of the stack.
    """
    grid = stack.grid
    placed = labels.grid.has_world
    near = PASS_FRACTION * min(grid.spacing)
    if placed and labels.grid.shape == grid.shape and labels.grid.corner_displacement_mm(grid) <= near:
        return LabelMap(labels.data, grid)
    turned = _turned(labels, grid) if placed else None
    common = None if turned is None else common_grid(grid, turned.grid)
    if turned is None or common is None or common.shape != grid.shape:
        raise GridMismatchError(
            f"the label map is {labels.grid.describe()}, the series {grid.describe()}: their voxels do not coincide; "
            "write the label map on the grid of the series"
        )
    return embedded(turned, grid)


def _turned(labels: LabelMap, grid: Grid) -> LabelMap | None:
    """With its axes in the order and direction of another grid; None where they are not parallel."""
    steps = np.linalg.inv(grid.affine[:3, :3]) @ labels.grid.affine[:3, :3]
    order = np.abs(steps).argmax(axis=1)
    if sorted(order.tolist()) != [0, 1, 2]:
        return None
    data, affine = np.transpose(labels.data, order), labels.grid.affine.copy()
    affine[:3, :3] = affine[:3, order]
    for axis in range(3):
        if steps[axis, order[axis]] < 0:
            affine[:3, 3] += affine[:3, axis] * (data.shape[axis] - 1)
            affine[:3, axis] *= -1
            data = np.flip(data, axis)
    return LabelMap(data, Grid(data.shape, affine))
