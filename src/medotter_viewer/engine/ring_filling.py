"""Rings to masks, by the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

_Ring = NDArray[np.float64]


def filled_rings(
    compiled: ModuleType,
    rings: Sequence[_Ring],
    shape: tuple[int, int],
    *,
    one_by_one: bool,
    checked: Callable[[_Ring], _Ring],
    is_flat: Callable[[_Ring], bool],
    out: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Return the mask of the pixels that rings enclose by the even-odd rule.

    Parameters
    ----------
    compiled : module
        The kernels.
    rings : sequence of (n, 2) ndarray of float64
        x, y; what they hold is not checked yet.
    shape : (int, int)
        Rows and columns.
    one_by_one : bool
        Whether pixels within any of the rings are in, rather than those within an odd number.
    checked, is_flat : callable
        What looks at a ring more closely where the kernel is in doubt: the first raises for coordinates that are none.
    out : (rows, columns) C-contiguous ndarray of bool, optional
        Where the mask is written.
    """
    rows, columns = shape
    if out is None:
        mask = np.zeros((rows, columns), dtype=np.bool_)
    else:
        mask = out
        mask[...] = False
    pixels = mask.view(np.uint8).reshape(-1)
    kept = [ring for ring in rings if len(ring)]
    doubt = compiled.fill_rings(*_flat(kept), one_by_one, False, rows, columns, pixels)
    if doubt:
        kept = [ring for ring in map(checked, kept) if not is_flat(ring)]
        compiled.fill_rings(*_flat(kept), one_by_one, True, rows, columns, pixels)
    return mask


def _flat(rings: Sequence[_Ring]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points of all rings one after another, and where each starts."""
    if len(rings) == 1:
        return rings[0].reshape(-1), np.array([0, len(rings[0])], dtype=np.int64)
    starts = np.cumsum([0, *map(len, rings)], dtype=np.int64)
    return (np.concatenate(rings).reshape(-1) if rings else np.zeros(0)), starts
