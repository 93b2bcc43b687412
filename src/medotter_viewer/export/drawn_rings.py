"""A prediction that was drawn as contours is written as it was drawn: not filled with voxels and traced again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import PASS_FRACTION
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import GridMismatchError, LabelError, MedotterViewerError, MetricInputError
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.polygons import even_odd_polygons, fill
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.sources.drawn_structures import DrawnStructures, read_drawn_structures
from medotter_viewer.sources.segment_files import series_choice

_AXIAL = 2  # world axis across such slices


def with_drawn_rings(case: Case, region: str, ids: tuple[int, ...]) -> tuple[Case, list[Finding]]:
    """Return a case with the polygons of a region as its RTSTRUCT has them, in place of its voxels.

    Parameters
    ----------
    case : Case
        As its files say, or with a label map that was changed since: then the file is not what is predicted.
    region : str
        Name of the structure.
    ids : tuple of int
        Its ids in the label map.

    Returns
    -------
    case : Case
        With `pred_contours`, slices counted from 1 in the order of the series, and with `gt_contours` where the ground
        truth is an RTSTRUCT too; the same case where its prediction is none, or has no structure of that name.
    findings : list of Finding
        A warning where it has contours that cannot be written as they are: then its voxels are to be traced.
    """
    entry = case.entry
    if case.pred is None or case.pred_contours is not None or entry.pred_path is None or entry.scan is not None:
        return case, []
    try:
        pred = _drawn(entry.pred_path, entry, region, case.pred, ids)
    except MedotterViewerError as error:
        message = f"case {case.case_id}: {region}: written along the edges of pixels, not as it was drawn: {error}"
        return case, [Finding("warning", "contours-retraced", message, str(entry.pred_path), case.case_id)]
    if pred is None:
        return case, []
    case = replace(case, pred_contours=pred)
    if case.gt is None or entry.gt_path is None:
        return case, []
    try:
        return replace(case, gt_contours=_drawn(entry.gt_path, entry, region, case.gt, ids)), []
    except MedotterViewerError as error:
        message = f"case {case.case_id}: {region}: scored against the voxels of the ground truth: {error}"
        return case, [Finding("warning", "contours-retraced", message, str(entry.gt_path), case.case_id)]


def _drawn(path: Path, entry: CaseEntry, region: str, labels: LabelMap, ids: tuple[int, ...]) -> ScanContours | None:
    """Polygons of a region of an RTSTRUCT; None of another file, and of one without such a structure."""
    image = next(iter(entry.channels.values()), None)
    drawn = read_drawn_structures(path, image=image, series=series_choice(entry))
    rings = None if drawn is None else _rings(drawn, region, labels, ids)
    return None if rings is None else ScanContours(rings)


def _rings(drawn: DrawnStructures, region: str, pred: LabelMap, ids: tuple[int, ...]) -> dict[int, list[Ring]] | None:
    """Polygons by slice number; None where no structure has the name."""
    grid = pred.grid
    number = next((n for n, name in drawn.structures.names.items() if name == region), None)
    if number is None:
        return None
    ours = drawn.stack.grid
    if grid.shape != ours.shape or grid.corner_displacement_mm(ours) > PASS_FRACTION * min(grid.spacing):
        raise GridMismatchError(f"its voxels are {grid.describe()}, those of its series {ours.describe()}")
    if grid.world_axes[2][0] != _AXIAL or not slice_indices(drawn.stack):
        raise GridMismatchError("its slices are not axial, so that x and y do not say where on them a point is")
    placed = drawn.placed[number]
    mask = id_mask(pred.data, ids)
    columns, rows, _ = grid.shape
    for index in range(len(drawn.stack)):
        filled = fill(placed.pixels(index), (rows, columns))
        if not np.array_equal(filled.T, mask[:, :, index]):
            raise LabelError(f"slice {index + 1} of the label map differs from what is drawn")
    rings: dict[int, list[Ring]] = {}
    for index in placed.points_lps:
        try:
            found = even_odd_polygons(placed.xy_lps(index))
        except MetricInputError as error:
            raise MetricInputError(f"slice {index + 1}: {error}") from error
        if found:
            rings[index + 1] = found
    return rings
