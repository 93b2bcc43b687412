"""Where an object of an instance task lies on the canvas. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.geometry.orientation import display_order

_CONTEXT = 5.0  # times the size of the object: its neighbours tell a merge from a miss
_LEAST_STEPS = 24  # a speck is not blown up beyond recognition


@dataclass(frozen=True, slots=True, eq=False)
class ObjectPlace:
    """Where an object, or a pair of them, lies.

    Parameters
    ----------
    low, high : (3,) ndarray of int
        Displayed index of its first and last voxel along I, P, L.
    fullest : tuple of int
        Along each axis the slice that holds most of it, displayed index.
    scale : tuple of float
        Displayed mm (or pixels) per step.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    fullest: tuple[int, ...]
    scale: tuple[float, ...]

    def centre(self, axis: int) -> tuple[float, ...]:
        """Return the displayed index to look at: the middle, in the fullest slice along an axis."""
        middle = ((self.low + self.high) / 2).tolist()
        middle[axis] = float(self.fullest[axis])
        return tuple(middle)

    @property
    def extent_mm(self) -> tuple[float, ...]:
        """Displayed mm along each axis that show it with what is around."""
        steps = np.maximum((self.high - self.low + 1) * _CONTEXT, _LEAST_STEPS)
        return tuple((steps * self.scale).tolist())


def object_place(case: Case, gt_id: int | None, pred_id: int | None) -> ObjectPlace | None:
    """Return where an object lies, or both objects of a pair; None where they are not in the case."""
    labels = case.gt or case.pred
    if labels is None:
        return None
    order = display_order(labels.grid)
    found = []
    for side, one in ((case.gt, gt_id), (case.pred, pred_id)):
        if side is not None and one is not None:
            index = _where(side.data == one)
            found.append(np.stack(index, axis=-1))
    points = np.concatenate(found) if found else np.zeros((0, 3))
    if not len(points):
        return None
    shown = np.rint(order.displayed_index(points, labels.grid.shape)).astype(np.int64)
    low, high = shown.min(axis=0), shown.max(axis=0)
    fullest = tuple(int(low[a] + np.bincount(shown[:, a] - low[a]).argmax()) for a in range(3))
    return ObjectPlace(low, high, fullest, order.scale)


def _where(mask: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
    """Indices of what is true, found in memory order."""
    if mask.flags.f_contiguous:
        return np.unravel_index(np.flatnonzero(mask.T), mask.T.shape)[::-1]
    return np.unravel_index(np.flatnonzero(mask), mask.shape)
