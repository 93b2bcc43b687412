"""Masks of regions, cut to where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.overlap import id_mask, is_fortran_like
from medotter_viewer.metrics.surface import bounding_box

_BOX_LIMIT = 1 << 16  # ids up to which a box for each is worth a pass


class RegionMasks:
    """Masks of regions, cut to the part of the array where their ids occur.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape, without negative ids.
    """

    def __init__(self, gt: NDArray[Any], pred: NDArray[Any]) -> None:
        self._whole = (gt, pred)
        box = bounding_box((gt != 0) | (pred != 0)) or (slice(0, 0),) * gt.ndim
        self._cut = (gt[box], pred[box])
        self._boxes = [boxes_of_ids(labels) for labels in self._cut]

    def of(self, ids: tuple[int, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the masks of a region in ground truth and prediction, cut to one box that holds both."""
        gt, pred = self._whole if 0 in ids else self._cut
        boxes = [found for side in self._boxes if side is not None for i in ids if (found := side.get(i)) is not None]
        if 0 not in ids and None not in self._boxes:
            box = tuple(slice(min(s.start for s in a), max(s.stop for s in a)) for a in zip(*boxes, strict=True))
            gt, pred = gt[box], pred[box]
        return id_mask(gt, ids), id_mask(pred, ids)


def boxes_of_ids(labels: NDArray[Any]) -> dict[int, tuple[slice, ...]] | None:
    """Return the box of every id but 0 that occurs; None where ids are too large for that to pay.

    Parameters
    ----------
    labels : ndarray of int or bool
        Without negative ids.
    """
    from scipy import ndimage

    highest = int(labels.max(initial=0))
    if highest > _BOX_LIMIT:
        return None
    if not highest:
        return {}
    ids = labels.view(np.uint8) if labels.dtype == np.bool_ else labels
    if is_fortran_like(ids):  # in memory order it is several times faster
        found = [box and box[::-1] for box in ndimage.find_objects(ids.T, highest)]
    else:
        found = ndimage.find_objects(ids, highest)
    return {i: box for i, box in enumerate(found, start=1) if box is not None}
