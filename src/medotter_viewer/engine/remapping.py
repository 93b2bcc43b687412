"""Remaps of whole label maps, by the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import IntArray, Remap
from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.threads import in_threads, shares

_LONGEST_TABLE = 1 << 20
_PAIRS = (("uint8", "uint8"), ("uint16", "uint8"), ("uint16", "uint16"), ("int32", "uint8"))  # there are kernels for


def remapped(remap: Remap, native: IntArray) -> IntArray:
    """Return what `Remap.apply` does, with several threads where kernels are loaded.

    Parameters
    ----------
    remap : Remap
        Its identity returns the array itself.
    native : ndarray of int
        Ids of the dataset, any shape.

    Returns
    -------
    ndarray of int
        Canonical ids in the smallest sufficient type, in the order of memory of `native`.

    Examples
    --------
    >>> remapped(Remap({1: 2, 2: 1}, "dict"), np.array([0, 1, 2, 3], dtype=np.uint8))
    array([0, 2, 1, 0], dtype=uint8)
    """
    compiled = kernels()
    is_fortran = native.flags.f_contiguous
    if compiled is None or remap.is_identity or not native.size or not (is_fortran or native.flags.c_contiguous):
        return remap.apply(native)
    size = np.iinfo(native.dtype).max + 1 if native.dtype in (np.uint8, np.uint16) else remap.highest_native + 1
    if size > _LONGEST_TABLE:
        return remap.apply(native)
    table = remap.look_up_table(size)
    if (native.dtype.name, table.dtype.name) not in _PAIRS or not native.dtype.isnative:
        return remap.apply(native)
    labels = native.ravel(order="F" if is_fortran else "C")
    made: NDArray[Any] = np.zeros(native.size, dtype=table.dtype)
    in_threads(lambda share: compiled.look_up(labels, table, *share, made), shares(native.size, native.size))
    return made.reshape(native.shape, order="F" if is_fortran else "C")
