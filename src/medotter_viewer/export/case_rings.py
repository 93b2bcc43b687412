"""From a case to the rings of one region on its axial slices: what a submission has lines for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Origin, Ring, ScanContours
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import WriteError
from medotter_viewer.export.axial_slices import AxialSlices, axial_slices
from medotter_viewer.geometry.polygons import even_odd_area, trace
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.scoring.segmentation import is_labelled

Provenance = Callable[[str, int, int], Origin]
"""Case id, slice number and place on the slice (0-based) to who made the polygon."""

_FORBIDDEN = ',"'


@dataclass(frozen=True, slots=True, eq=False)
class CaseRings:
    """What is written of one case.

    Parameters
    ----------
    case_id : str
        Scan id.
    pred : mapping of int to list of (n, 2) ndarray
        Slice number to rings of the prediction, x, y in mm LPS; a hole is a keyhole.
    areas_mm2 : mapping of int to list of float
        Their areas: pixels where they were traced, else by the even-odd rule.
    traced : bool
        Whether the rings follow pixels, and so cannot cross themselves.
    gt : mapping of int to list of (n, 2) ndarray, or None
        The same of the ground truth; None where there is nothing to score against.
    thickness_mm : mapping of int to float
        By slice number.
    """

    case_id: str
    pred: Mapping[int, list[Ring]]
    areas_mm2: Mapping[int, list[float]]
    traced: bool
    gt: Mapping[int, list[Ring]] | None = None
    thickness_mm: Mapping[int, float] = field(default_factory=dict)


def case_rings(case: Case, region: str, spec: EvalSpec) -> CaseRings:
    """Return the rings of a region of a case: its predicted label map traced along pixel edges, or its polygons.

    Parameters
    ----------
    case : Case
        With `pred`, or `pred_contours`; a label map comes first.
    region : str
        Of the specification.
    spec : EvalSpec
        Gives the ids of the region, and whether only some regions are annotated.

    Raises
    ------
    WriteError
        If the id cannot be a scan id, there is no prediction, or `axial_slices` refuses its grid. The message names
        the case.
    """
    try:
        _check_id(case.case_id)
        ids = spec.regions[region]
        if case.pred is not None:
            slices = axial_slices(case.pred.grid, stack=case.stack, thickness_mm=case.slice_thickness_mm)
            pred, areas = traced_rings(case.pred, ids, slices)
            return CaseRings(case.case_id, pred, areas, True, _gt_rings(case, spec, ids, slices), slices.thickness_mm)
    except WriteError as error:
        raise WriteError(f"case {case.case_id!a}: not written: {error}") from error
    if case.pred_contours is None:
        reasons = "; ".join(finding.message for finding in case.errors)
        raise WriteError(f"case {case.case_id}: not written: no prediction{': ' + reasons if reasons else ''}")
    rings = _listed(case.pred_contours)
    areas = {number: [even_odd_area(ring) for ring in found] for number, found in rings.items()}
    gt = None if case.gt_contours is None or case.errors else _listed(case.gt_contours)
    return CaseRings(case.case_id, rings, areas, False, gt, case.slice_thickness_mm)


def traced_rings(
    labels: LabelMap, ids: tuple[int, ...], slices: AxialSlices
) -> tuple[dict[int, list[Ring]], dict[int, list[float]]]:
    """Return the rings of a region by slice number, and their areas in mm2: pixels times the area of a pixel.

    Parameters
    ----------
    labels : LabelMap
        The region's label map.
    ids : tuple of int
        Ids of the region.
    slices : AxialSlices
        Of the label map's grid.
    """
    mask = id_mask(labels.data, ids)
    across = tuple(axis for axis in range(3) if axis != slices.axis)
    rings: dict[int, list[Ring]] = {}
    areas: dict[int, list[float]] = {}
    for index in np.flatnonzero(mask.any(axis=across)).tolist():
        polygons = trace(slices.mask(mask, index))
        number = slices.numbers[index]
        rings[number] = [slices.to_lps(polygon.keyhole(), index) for polygon in polygons]
        areas[number] = [polygon.area * slices.pixel_area_mm2 for polygon in polygons]
    return dict(sorted(rings.items())), areas


def _gt_rings(case: Case, spec: EvalSpec, ids: tuple[int, ...], slices: AxialSlices) -> Mapping[int, list[Ring]] | None:
    """The ground truth's rings; None where there is none, or it does not say what belongs to the region."""
    if case.errors or not is_labelled(case.entry, spec, ids):
        return None
    if case.gt is not None:
        return traced_rings(case.gt, ids, slices)[0]
    return None if case.gt_contours is None else _listed(case.gt_contours)


def _listed(contours: ScanContours) -> dict[int, list[Ring]]:
    return {number: list(rings) for number, rings in sorted(contours.rings.items()) if len(rings)}


def _check_id(case_id: str) -> None:
    """Refuse what would not be read back as a scan id."""
    if not case_id.isprintable() or case_id != case_id.strip() or any(letter in case_id for letter in _FORBIDDEN):
        raise WriteError("its id would be a scan id, which has no comma, quotation mark, line end or blanks around it")
    try:
        case_id.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WriteError("its id would be a scan id, which is UTF-8 text") from error
