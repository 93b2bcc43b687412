"""From a case to the rings of one region on its axial slices: what a submission has lines for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Origin, Ring, ScanContours
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import GridMismatchError, LabelError, WriteError
from medotter_viewer.geometry.axial_slices import AxialSlices, axial_slices
from medotter_viewer.geometry.polygons import even_odd_area, shoelace
from medotter_viewer.geometry.traced_rings import traced_rings
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.scoring.lung import MODEL, predicted_contours, target_ids
from medotter_viewer.scoring.segmentation import is_labelled

_FORBIDDEN = ',"'
_SAME = 1e-9  # relative, of the area of a slice's rings and of its pixels


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
    origins : mapping of int to sequence of {"model", "edited", "imported"}
        Who made each.
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
    origins: Mapping[int, Sequence[Origin]]
    traced: bool
    gt: Mapping[int, list[Ring]] | None = None
    thickness_mm: Mapping[int, float] = field(default_factory=dict)

    def without_edited(self) -> tuple[CaseRings, int]:
        """Return it without the polygons that a person drew or changed, and how many these are."""
        kept = {n: [place for place, who in enumerate(o) if who != "edited"] for n, o in self.origins.items()}
        chosen = replace(
            self,
            pred={n: [self.pred[n][place] for place in places] for n, places in kept.items()},
            areas_mm2={n: [self.areas_mm2[n][place] for place in places] for n, places in kept.items()},
            origins={n: [self.origins[n][place] for place in places] for n, places in kept.items()},
        )
        return chosen, sum(map(len, self.origins.values())) - sum(map(len, kept.values()))


def case_rings(case: Case, region: str, spec: EvalSpec) -> CaseRings:
    """Return the rings of a region of a case: its polygons, or its predicted label map traced along pixel edges.

    Parameters
    ----------
    case : Case
        With `pred_contours`, or `pred`; polygons come first, and are of this region.
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
    if case.pred is None and case.pred_contours is None:
        raise WriteError(f"case {case.case_id}: not written: {why_no_prediction(case)}")
    try:
        _check_id(case.case_id)
        is_scan = case.stack is not None or (case.pred is None and case.gt is None)
        return _scan_rings(case, spec) if is_scan else _plain_rings(case, spec.regions[region], spec)
    except (WriteError, GridMismatchError, LabelError) as error:
        raise WriteError(f"case {case.case_id!a}: not written: {error}") from error


def _scan_rings(case: Case, spec: EvalSpec) -> CaseRings:
    """Rings of a scan, whose slices have numbers and thickness of their own."""
    contours = predicted_contours(case, spec) or ScanContours()
    traced = case.pred_contours is None
    if traced and case.pred is not None:
        slices = axial_slices(case.pred.grid, stack=case.stack)
        _check_pixels(contours, id_mask(case.pred.data, target_ids(spec)), slices)
    gt = None if case.gt_contours is None or case.errors else _listed(case.gt_contours)
    return _with_areas(case, contours, traced, gt, case.slice_thickness_mm)


def _plain_rings(case: Case, ids: tuple[int, ...], spec: EvalSpec) -> CaseRings:
    """Rings of label maps, or of polygons that were drawn on their slices."""
    labels = case.pred or case.gt
    if labels is None:
        raise WriteError("no label map")
    slices = axial_slices(labels.grid, thickness_mm=case.slice_thickness_mm)
    gt = None
    if case.gt is not None and not case.errors and is_labelled(case.entry, spec, ids):
        drawn = case.gt_contours
        gt = traced_rings(id_mask(case.gt.data, ids), slices)[0] if drawn is None else _listed(drawn)
    if case.pred_contours is not None:
        return _with_areas(case, case.pred_contours, False, gt, slices.thickness_mm)
    pred, areas = traced_rings(id_mask(labels.data, ids), slices)
    origins = {number: [MODEL] * len(rings) for number, rings in pred.items()}
    return CaseRings(case.case_id, pred, areas, origins, True, gt, slices.thickness_mm)


def _with_areas(
    case: Case,
    contours: ScanContours,
    traced: bool,
    gt: Mapping[int, list[Ring]] | None,
    thickness_mm: Mapping[int, float],
) -> CaseRings:
    rings = _listed(contours)
    area_of = (lambda ring: abs(shoelace(ring))) if traced else even_odd_area
    areas = {number: [area_of(ring) for ring in found] for number, found in rings.items()}
    origins = {number: contours.origins_of(number, "model" if traced else "imported") for number in rings}
    return CaseRings(case.case_id, rings, areas, origins, traced, gt, thickness_mm)


def _check_pixels(contours: ScanContours, mask: NDArray[np.bool_], slices: AxialSlices) -> None:
    """Refuse rings whose area is not that of the pixels they were traced around: a defect."""
    counts = dict(zip(slices.numbers, np.count_nonzero(mask, axis=(0, 1)).tolist(), strict=True))
    for number, count in counts.items():
        area = sum(abs(shoelace(ring)) for ring in contours.rings.get(number, ()))
        if abs(area - count * slices.pixel_area_mm2) > _SAME * max(count, 1) * slices.pixel_area_mm2:
            raise WriteError(f"slice {number}: rings of {area:.6g} mm2 around {count} pixels; this is a defect")


def why_no_prediction(case: Case) -> str:
    """Return in words that a case has no prediction: what is wrong with it, or where it was looked for."""
    reasons = "; ".join(finding.message for finding in case.errors)
    if not reasons and case.entry.pred_sought:
        return f"no prediction, looked for {case.entry.pred_sought}"
    return "no prediction" + (f": {reasons}" if reasons else "")


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
