"""Arrays about objects that are worked out slice by slice where they are looked at: a ring, and classes. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.surface import bounding_box

INNER, OUTER = 1, 2
_VARIANTS = 32  # numbers that stand for one class: outlines between objects of one class are drawn where these differ
_WIDTH_SHARE = 40  # a ring is this part of its object wide, a pixel at least


class HaloView:
    """A double ring around an object of either side, or around both together.

    Parameters
    ----------
    gt, pred : (i, p, l) array of int
        Instance masks in displayed order.
    gt_id, pred_id : int or None
        Whom it surrounds.

    Examples
    --------
    >>> gt = np.zeros((1, 9, 9), dtype=int); gt[0, 4, 4] = 7
    >>> HaloView(gt, gt, 7, None)[0][4].tolist()
    [0, 2, 1, 0, 0, 0, 1, 2, 0]
    """

    dtype = np.dtype(np.uint8)
    ndim = 3

    def __init__(self, gt: Any, pred: Any, gt_id: int | None, pred_id: int | None) -> None:
        self.gt, self.pred, self.gt_id, self.pred_id = gt, pred, gt_id, pred_id

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of both masks."""
        return tuple(self.gt.shape)

    @property
    def size(self) -> int:
        """Number of voxels."""
        return int(np.prod(self.shape, dtype=np.int64))

    def same_as(self, other: HaloView, same_data: Any) -> bool:
        """Tell whether another one is around the same objects of the same masks."""
        ids = (self.gt_id, self.pred_id) == (other.gt_id, other.pred_id)
        return ids and bool(same_data(self.gt, other.gt) and same_data(self.pred, other.pred))

    def __getitem__(self, key: Any) -> NDArray[np.uint8]:
        mask: NDArray[np.bool_] | None = None
        for data, one in ((self.gt, self.gt_id), (self.pred, self.pred_id)):
            if one is not None:
                here = np.asarray(data[key]) == one
                mask = here if mask is None else mask | here
        if mask is None:
            return np.zeros(np.asarray(self.gt[key]).shape, dtype=np.uint8)
        return ring_around(mask)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)


def ring_around(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return a ring around a mask: `INNER`, then `OUTER`, with a gap as wide as each between it and the mask."""
    ring = np.zeros(mask.shape, dtype=np.uint8)
    box = bounding_box(mask) if mask.ndim else None
    if box is None:
        return ring
    from scipy.ndimage import distance_transform_edt

    width = max(1, round(max(s.stop - s.start for s in box) / _WIDTH_SHARE))
    margin = 3 * width + 1
    near = tuple(slice(max(s.start - margin, 0), s.stop + margin) for s in box)
    away = distance_transform_edt(~mask[near])
    # Half a pixel: a distance across a corner belongs to the ring that most of its pixel lies in.
    inner = (away > width + 0.5) & (away <= 2 * width + 0.5)
    outer = (away > 2 * width + 0.5) & (away <= 3 * width + 0.5)
    ring[near] = INNER * inner + OUTER * outer
    return ring


class KindView:
    """A label map in which every object is one of a few numbers of its class: a table of colours stays small.

    Parameters
    ----------
    data : (i, p, l) array of int
        Instance mask in displayed order.
    ids : (n,) ndarray of int64
        Its ids, ascending.
    codes : (n,) ndarray of int
        The class of each, from 0.

    Examples
    --------
    >>> view = KindView(np.array([[[0, 7, 70000, 5]]]), np.array([7, 70000]), np.array([1, 0]))
    >>> [view.code(int(n)) for n in view[0].ravel()]
    [None, 1, 0, None]
    """

    dtype = np.dtype(np.uint16)
    ndim = 3

    def __init__(self, data: Any, ids: NDArray[np.int64], codes: NDArray[Any]) -> None:
        self.data, self.ids = data, ids
        self.numbers = (1 + codes.astype(np.int64) * _VARIANTS + np.arange(ids.size) % _VARIANTS).astype(np.uint16)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the label map."""
        return tuple(self.data.shape)

    @property
    def size(self) -> int:
        """Number of voxels."""
        return int(np.prod(self.shape, dtype=np.int64))

    @staticmethod
    def code(number: int) -> int | None:
        """Return the class that a number stands for; None for background and for ids without class."""
        return None if number in (0, _UNKNOWN) else (number - 1) // _VARIANTS

    @staticmethod
    def numbers_of(code: int) -> range:
        """Return the numbers that stand for a class."""
        return range(1 + code * _VARIANTS, 1 + (code + 1) * _VARIANTS)

    def same_as(self, other: KindView, same_data: Any) -> bool:
        """Tell whether another one shows the same objects in the same classes."""
        same = np.array_equal(self.ids, other.ids) and np.array_equal(self.numbers, other.numbers)
        return same and bool(same_data(self.data, other.data))

    def __getitem__(self, key: Any) -> NDArray[np.uint16]:
        labels = np.asarray(self.data[key]).astype(np.int64)
        if not self.ids.size:
            return np.where(labels == 0, 0, _UNKNOWN).astype(np.uint16)
        place = np.clip(np.searchsorted(self.ids, labels), 0, self.ids.size - 1)
        numbers = np.where(self.ids[place] == labels, self.numbers[place], _UNKNOWN)
        return np.where(labels == 0, 0, numbers).astype(np.uint16)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)


_UNKNOWN = 65535
