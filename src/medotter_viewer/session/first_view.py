"""What of a case is looked at first. Pure."""

from __future__ import annotations

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.scoring.slices import slice_profile
from medotter_viewer.scoring.vertebra_points import landmarks_of

_SAGITTAL = 2


def first_view(case: Case, spec: EvalSpec, region: str | None = None) -> tuple[int | None, int]:
    """Return the displayed slice and the displayed axis (0 axial, 1 coronal, 2 sagittal) that a case opens on.

    Parameters
    ----------
    case : Case
        Which case.
    spec : EvalSpec
        Its regions.
    region : str, optional
        The region that is looked at alone; None takes the headline's.

    Returns
    -------
    slice : int or None
        The slice that is most wrong; the middle of the labelled points where there are any, as these are named along
        the spine. None where nothing says which.
    axis : int
        Sagittal for labelled points, across the slices for contours, else axial.
    """
    if has_contours(case):
        stack = contour_stack(case)
        axis = 0 if stack is None else display_order(stack.grid).axes.index(2)
        profile = slice_profile(case, spec, axis=axis)
        return (None if profile is None else profile.worst), axis
    sides = landmarks_of(case) if spec.is_vertebrae else (case.gt_landmarks, case.pred_landmarks)
    points = [p for side in sides if side is not None for p in side.points_world.values()]
    if points:
        grid = case.grid
        if grid is None:
            return None, _SAGITTAL
        middle = np.median(display_order(grid).displayed_index(grid.world_to_voxel(points), grid.shape), axis=0)
        last = grid.shape[display_order(grid).axes[_SAGITTAL]] - 1
        return int(np.clip(round(float(middle[_SAGITTAL])), 0, last)), _SAGITTAL
    wanted = region or spec.headline.region
    region = wanted if wanted in spec.regions else None
    profile = slice_profile(case, spec, region=region) if spec.regions else None
    return (None if profile is None else profile.worst), 0


def has_contours(case: Case) -> bool:
    """Tell whether either side of a case is drawn as contours."""
    return case.gt_contours is not None or case.pred_contours is not None
