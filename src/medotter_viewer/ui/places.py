"""Where on the canvas something of a case lies that a panel names. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.geometry.placed_rings import displayed, pixels_on
from medotter_viewer.ui.placing import Placed


def contour_place(placed: Placed, number: int, x_mm: float, y_mm: float) -> tuple[int, NDArray[np.float64]] | None:
    """Return where x, y (mm LPS) lie on the slice of a number.

    Returns
    -------
    axis : int
        Displayed axis across the slices.
    index : (3,) ndarray
        Displayed index. None instead of both where the scan lacks the slice.
    """
    stack = placed.stack
    index = None if stack is None else slice_indices(stack).get(number)
    if stack is None or index is None or not np.isfinite([x_mm, y_mm]).all():
        return None
    order = display_order(stack.grid)
    pixels = pixels_on(np.array([[x_mm, y_mm]]), stack, index)
    return order.axes.index(2), displayed(pixels, stack, order, index)[0]


def changed_slice(before: Placed, after: Placed) -> tuple[int, list[int]] | None:
    """Return on which slices two states of a prediction have other contours.

    Returns
    -------
    axis : int
        Displayed axis across the slices.
    indices : list of int
        Displayed indices, ascending; never empty. None instead of both where nothing differs.
    """
    first, second = before.case.pred_contours, after.case.pred_contours
    if first is second or after.stack is None:
        return None
    old, new = ({} if side is None else side.rings for side in (first, second))
    numbers = {n for n in old.keys() | new.keys() if old.get(n) is not new.get(n)}
    order, stack = display_order(after.stack.grid), after.stack
    axis = order.axes.index(2)
    last = len(stack) - 1
    found = [last - i if order.flips[axis] else i for n, i in slice_indices(stack).items() if n in numbers]
    return (axis, sorted(found)) if found else None
