"""How wrong each slice is: what a case opens on, what the per-slice plot shows, where a region is centred."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.labels import IntArray
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.errors import MedotterViewerError, MetricInputError
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.orientation import display_order, plane_of
from medotter_viewer.metrics.lung import slice_areas
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.metrics.surface import bounding_box
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.scoring.lung import predicted_contours
from medotter_viewer.scoring.segmentation import is_labelled


@dataclass(frozen=True, slots=True, eq=False)
class SliceProfile:
    """Overlap of every slice along one displayed axis.

    Parameters
    ----------
    gt, pred, both : (n,) ndarray of int64 or float64
        Voxels of the region in ground truth, prediction and both, in displayed order; mm2 of contours.
    pixel_area_mm2 : float
        Area of one voxel's face in the slice; 1 for contours.
    """

    gt: NDArray[np.int64] | NDArray[np.float64]
    pred: NDArray[np.int64] | NDArray[np.float64]
    both: NDArray[np.int64] | NDArray[np.float64]
    pixel_area_mm2: float

    @property
    def dice(self) -> NDArray[np.float64]:
        """Dice of each slice; NaN where the region is on neither side."""
        total = self.gt + self.pred
        dice: NDArray[np.float64] = np.divide(2.0 * self.both, total, out=np.full(total.shape, np.nan), where=total > 0)
        return dice

    @property
    def error_mm2(self) -> NDArray[np.float64]:
        """Area in mm2 that is missed or invented in each slice."""
        return np.asarray((self.gt + self.pred - 2 * self.both) * self.pixel_area_mm2)

    @property
    def worst(self) -> int:
        """The slice with the largest error area; without any error the one with most of the region; else the middle."""
        for amount in (self.error_mm2, self.gt + self.pred):
            if amount.size and amount.max() > 0:
                return int(amount.argmax())
        return self.gt.size // 2


def scored_ids(case: Case, spec: EvalSpec, region: str | None = None) -> list[int]:
    """Return the canonical ids of a region, or (None or ``macro_avg``) of every region this case is scored for."""
    if region is not None and region != MACRO:
        return list(spec.regions[region])
    ids = {i for ids in spec.regions.values() if is_labelled(case.entry, spec, ids) for i in ids}
    return sorted(ids - {0})


def slice_profile(case: Case, spec: EvalSpec, *, region: str | None = None, axis: int = 0) -> SliceProfile | None:
    """Return the profile of a region along a displayed axis (0 axial, 1 coronal, 2 sagittal).

    Parameters
    ----------
    region : str, optional
        None (or ``macro_avg``) takes all scored ids together: a voxel is right when its label is.

    Returns
    -------
    SliceProfile or None
        None when the case has neither ground truth nor prediction. A missing side counts as empty. Of a scan with
        contours see `contour_profile`.
    """
    if case.gt_contours is not None or case.pred_contours is not None:
        return contour_profile(case, spec, axis=axis)
    labels = case.gt or case.pred
    if labels is None:
        return None
    order = display_order(labels.grid)
    ids = scored_ids(case, spec, region)
    one = region is not None and region != MACRO
    objects = spec.is_instances  # every id is an object of its own: foreground against foreground
    one = one or objects
    masks = [
        None if part is None else part.data != 0 if objects else id_mask(part.data, ids)
        for part in (case.gt, case.pred)
    ]
    others = tuple(a for a in range(3) if a != order.axes[axis])

    def count(mask: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        if mask is None:
            return np.zeros(labels.data.shape[order.axes[axis]], dtype=np.int64)
        return np.asarray(np.count_nonzero(mask, axis=others), dtype=np.int64)

    gt, pred = masks
    both = None
    if case.gt is not None and case.pred is not None and gt is not None and pred is not None:
        both = gt & pred if one else gt & (case.gt.data == case.pred.data)
    step = -1 if order.flips[axis] else 1
    area = labels.grid.voxel_volume_mm3 / labels.grid.spacing[order.axes[axis]]
    return SliceProfile(count(gt)[::step], count(pred)[::step], count(both)[::step], area)


def contour_profile(case: Case, spec: EvalSpec, *, axis: int = 0) -> SliceProfile | None:
    """Return the exact areas of a scan's contours on every slice, in displayed order.

    Parameters
    ----------
    axis : int
        Displayed axis (0 axial, 1 coronal, 2 sagittal).

    Returns
    -------
    SliceProfile or None
        None for an axis that does not run across the slices, and where the files do not say where these lie. A slice
        with rings that cannot be read counts as empty, and so does a label map that is refused: the score says what is
        wrong with them.
    """
    stack = contour_stack(case)
    if stack is None:
        return None
    order = display_order(stack.grid)
    if order.axes[axis] != 2:
        return None
    overlap = (spec.contours or ContourRules()).overlap
    try:
        predicted = predicted_contours(case, spec)
    except MedotterViewerError:
        predicted = None
    gt_rings, pred_rings = ({} if c is None else c.rings for c in (case.gt_contours, predicted))
    areas = np.zeros((3, len(stack)))
    for number, index in slice_indices(stack).items():
        try:
            found = slice_areas(gt_rings.get(number, ()), pred_rings.get(number, ()), overlap=overlap)
        except MetricInputError:
            continue
        areas[:, index] = found.tp_mm2 + found.fn_mm2, found.tp_mm2 + found.fp_mm2, found.tp_mm2
    gt, pred, both = areas[:, ::-1] if order.flips[axis] else areas
    return SliceProfile(gt, pred, both, 1.0)


def region_centre(case: Case, spec: EvalSpec, *, region: str | None, axis: int, index: int) -> tuple[float, ...] | None:
    """Return the displayed index at the middle of a region's box in one displayed slice; None where it is not there.

    Ground truth and prediction both count.
    """
    labels = case.gt or case.pred
    if labels is None:
        return None
    order = display_order(labels.grid)
    ids = scored_ids(case, spec, region)
    there: NDArray[np.bool_] | None = None
    for part in (case.gt, case.pred):
        if part is not None:
            plane: IntArray = plane_of(order.apply(part.data), axis, index)
            mask = plane != 0 if spec.is_instances else id_mask(plane, ids)
            there = mask if there is None else there | mask
    box = None if there is None else bounding_box(there)
    if box is None:
        return None
    middle = [(s.start + s.stop - 1) / 2 for s in box]
    middle.insert(axis, float(index))
    return tuple(middle)
