"""Going to what a person asks for: the worst slice, a contour, a vertebra, what was just changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from medotter_viewer.core.spec import MACRO
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.scoring.slices import region_centre, slice_profile
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.places import changed_slice, contour_place
from medotter_viewer.ui.placing import Placed

_ROOM, _LEAST_MM = 1.6, 60.0  # around a box: times its size, and what is shown at least
ORDERS = ((0, 1, 2), (1, 0, 2), (2, 0, 1))
"""Order of napari's axes in axial, coronal and sagittal planes."""


class Going:
    """Which slice and place of the open case is looked at.

    Parameters
    ----------
    viewer : ViewerModel
        Where.
    session : ReviewSession
        Whose case.
    display : Display
        Knows the grid that is shown.
    placed : callable
        Returns what is drawn of the open case.
    """

    def __init__(
        self, viewer: Any, session: ReviewSession, display: Display, placed: Callable[[], Placed | None]
    ) -> None:
        self._viewer, self._session, self._display, self._placed = viewer, session, display, placed

    def to_worst_slice(self) -> None:
        """Show the slice with the largest error of the selected region (else of the headline's)."""
        session, case = self._session, self._session.working_case
        if case is None:
            return
        wanted = session.region or session.spec.headline.region
        region = wanted if wanted != MACRO and wanted in session.spec.regions else None
        axis = self._viewer.dims.order[0]
        profile = slice_profile(case, session.spec, region=region, axis=axis)
        if profile is None:
            return
        centre = None
        if session.region is not None:
            centre = region_centre(case, session.spec, region=region, axis=axis, index=profile.worst)
        if centre is None:
            self._display.set_slice(profile.worst, axis=axis)
        else:
            self._display.frame(centre)

    def to_contour(self, slice_number: int, x_mm: float, y_mm: float) -> None:
        """Show the slice of a number with a place on it, mm LPS, in the middle."""
        placed = self._placed()
        found = None if placed is None else contour_place(placed, slice_number, x_mm, y_mm)
        if found is None:
            return
        axis, index = found
        if self._viewer.dims.order[0] != axis:
            self._viewer.dims.order = ORDERS[axis]
        self._display.frame(tuple(index))

    def to_label(self, label: int) -> None:
        """Show the point of a label in the middle: that of the prediction, else that of the ground truth."""
        placed = self._placed()
        index = None if placed is None else placed.pred_points.get(label, placed.gt_points.get(label))
        if index is not None:
            self._display.frame(tuple(index))

    def to_box(self, voxel: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """Show the slices through a voxel in the middle, zoomed so that a box fits with room around it.

        Parameters
        ----------
        voxel, low, high : (3,) sequence of float
            Indices of the array of the label maps: what is in the middle, and first and last voxel of the box.
        """
        placed = self._placed()
        grid = None if placed is None else placed.grid
        if grid is None:
            return
        order = display_order(grid)
        at, *corners = order.displayed_index(np.array([voxel, low, high]), grid.shape)
        reach = np.abs(np.array(corners) - at).max(axis=0) + 0.5
        whole = np.multiply([grid.shape[axis] for axis in order.axes], order.scale)
        wanted = np.maximum(2 * _ROOM * reach * order.scale, np.minimum(_LEAST_MM, whole))
        self._display.frame(tuple(at), tuple(wanted))

    def to_change(self, before: Placed) -> None:
        """Show a slice whose predicted contours are others than they were, unless one is shown."""
        placed = self._placed()
        found = None if placed is None else changed_slice(before, placed)
        if found is not None and self.slice_place(found[0])[0] not in found[1]:
            self._display.set_slice(found[1][0], axis=found[0])

    def slice_place(self, axis: int) -> tuple[int, int]:
        """Return the displayed index that is shown along an axis, and how many there are."""
        placed = self._placed()
        grid = None if placed is None else placed.grid
        if grid is None:
            return 0, 0
        origin, step = self._display.to_mm((0.0, 0.0, 0.0))[axis], display_order(grid).scale[axis]
        count = grid.shape[display_order(grid).axes[axis]]
        index = round((self._viewer.dims.point[axis] - origin) / step)
        return int(np.clip(index, 0, count - 1)), count
