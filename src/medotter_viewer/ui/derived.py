"""Arrays that are worked out where they are looked at: error maps, and regions of several ids as one. Pure.

A whole error map takes a second and as much memory as the label map; a slice takes a millisecond or two. napari asks
for slices only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import IntArray
from medotter_viewer.metrics.error_map import error_map
from medotter_viewer.metrics.overlap import id_mask


class ErrorView:
    """The error map of two label maps, worked out slice by slice when it is asked for.

    It costs no memory and is never out of date: after a brush stroke it is enough to draw it again.

    Parameters
    ----------
    gt, pred : (i, p, l) ndarray of int
        Label maps in displayed order.
    ids : tuple of int or None
        Ids that count; None takes all.
    as_one : bool
        Whether they are one mask.

    Examples
    --------
    >>> view = ErrorView(np.array([[[0, 1, 1]]]), np.array([[[1, 1, 0]]]), None, False)
    >>> view.shape, view[0]
    ((1, 1, 3), array([[3, 1, 2]], dtype=uint8))
    """

    dtype = np.dtype(np.uint8)
    ndim = 3

    def __init__(self, gt: IntArray, pred: IntArray, ids: tuple[int, ...] | None, as_one: bool) -> None:
        self.gt, self.pred, self.ids, self.as_one = gt, pred, ids, as_one

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of both label maps."""
        return self.gt.shape

    @property
    def size(self) -> int:
        """Number of voxels."""
        return self.gt.size

    def __getitem__(self, key: Any) -> NDArray[np.uint8]:
        return error_map(np.asarray(self.gt[key]), np.asarray(self.pred[key]), ids=self.ids, as_one=self.as_one)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)


class RegionView:
    """A label map in which the ids of a region are one id and all others 0: its outline has no edges inside.

    Parameters
    ----------
    data : (i, p, l) ndarray of int
        Label map in displayed order.
    ids : tuple of int
        Ids of the region; the first stands for all.

    Examples
    --------
    >>> RegionView(np.array([[[1, 2, 3, 0]]], dtype=np.uint8), (2, 3))[0]
    array([[0, 2, 2, 0]], dtype=uint8)
    """

    ndim = 3

    def __init__(self, data: IntArray, ids: tuple[int, ...]) -> None:
        self.data, self.ids = data, ids
        self.dtype, self.shape, self.size = data.dtype, data.shape, data.size

    def __getitem__(self, key: Any) -> IntArray:
        part = np.asarray(self.data[key])
        return np.where(id_mask(part, self.ids), part.dtype.type(self.ids[0]), part.dtype.type(0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)


class CompactView:
    """A label map whose large ids are numbered from 1, slice by slice; an id that is not listed gets the number after.

    Parameters
    ----------
    data : (i, p, l) array of int
        Label map in displayed order, or another view of this module.
    ids : tuple of int
        Ids that get a number, ascending, without 0.

    Examples
    --------
    >>> CompactView(np.array([[[0, 7, 70000, 5]]]), (7, 70000))[0]
    array([[0, 1, 2, 3]], dtype=uint16)
    """

    dtype = np.dtype(np.uint16)
    ndim = 3

    def __init__(self, data: Any, ids: tuple[int, ...]) -> None:
        self.data, self.ids = data, ids

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the label map."""
        return tuple(self.data.shape)

    @property
    def size(self) -> int:
        """Number of voxels."""
        return int(np.prod(self.shape, dtype=np.int64))

    def numbered(self) -> list[tuple[int, int]]:
        """Return every number with its id."""
        return [(number, i) for number, i in enumerate(self.ids, 1)]

    def __getitem__(self, key: Any) -> NDArray[np.uint16]:
        labels = np.asarray(self.data[key]).astype(np.int64)
        known = np.array(self.ids, dtype=np.int64)
        place = np.clip(np.searchsorted(known, labels), 0, known.size - 1)
        number = np.where(known[place] == labels, place + 1, known.size + 1)
        return np.where(labels == 0, 0, number).astype(np.uint16)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)


def same_data(one: Any, other: Any) -> bool:
    """Tell whether two data of layers are the same memory seen the same way; both must be alive."""
    if isinstance(one, ErrorView) and isinstance(other, ErrorView):
        settings = (one.ids, one.as_one) == (other.ids, other.as_one)
        return settings and same_data(one.gt, other.gt) and same_data(one.pred, other.pred)
    if (isinstance(one, RegionView) and isinstance(other, RegionView)) or (
        isinstance(one, CompactView) and isinstance(other, CompactView)
    ):
        return one.ids == other.ids and same_data(one.data, other.data)
    if hasattr(one, "same_as") and type(one) is type(other):
        return bool(one.same_as(other, same_data))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        first, second = one.__array_interface__, other.__array_interface__
        return all(first[k] == second[k] for k in ("data", "shape", "strides", "typestr"))
    return one is other
