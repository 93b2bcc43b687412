"""Label ids from what a file stores: whole numbers in their smallest type, or a refusal.

Values are looked at block by block, so that a map of doubles costs no second one while it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import IntArray, smallest_label_dtype
from medotter_viewer.errors import LabelError

SILENT_DEVIATION, WARNED_DEVIATION = 1e-3, 0.05
"""How far a stored label may lie from a whole number: rounded silently, with a warning; beyond it is refused."""

_BLOCK = 1 << 17  # values


class WholeIds:
    """Ids of a map whose values come block by block; the type grows as they ask for it.

    Parameters
    ----------
    count : int
        How many values there will be.
    path : Path
        For messages.
    """

    def __init__(self, count: int, path: Path) -> None:
        self._ids: IntArray = np.empty(count, dtype=np.uint8)
        self._path = path
        self._filled = 0
        self._low = self._high = 0
        self._no_numbers = self._off = 0
        self._deviation = 0.0

    def add(self, values: NDArray[Any]) -> None:
        """Take the next values, a 1-D array of native int, bool or float; a fault is told by `result`."""
        start, self._filled = self._filled, self._filled + values.size
        if values.dtype.kind == "f":
            values = self._rounded(values)
        if not values.size or self._no_numbers:
            return
        self._low, self._high = min(self._low, int(values.min())), max(self._high, int(values.max()))
        try:
            kind = smallest_label_dtype(self._low, self._high)
        except LabelError:
            return  # result() says so, after what matters more
        if kind != self._ids.dtype:
            wider = np.empty(self._ids.size, dtype=kind)
            wider[:start] = self._ids[:start]
            self._ids = wider
        self._ids[start : self._filled] = values

    def _rounded(self, values: NDArray[Any]) -> NDArray[Any]:
        finite = int(np.count_nonzero(np.isfinite(values)))
        if finite < values.size:
            self._no_numbers += values.size - finite
            return values
        nearest: NDArray[Any] = np.rint(values)
        off = np.abs(values - nearest)
        self._deviation = max(self._deviation, float(off.max(initial=0.0)))
        self._off += int(np.count_nonzero(off > SILENT_DEVIATION))
        return nearest

    def result(self) -> tuple[IntArray, list[Finding]]:
        """Return the ids, a 1-D array in the smallest type that holds them all, and what was noticed.

        Raises
        ------
        LabelError
            If values lie more than 0.05 from a whole number, are no numbers, or do not fit 64 bits.
        """
        path, size = self._path, self._ids.size
        if self._no_numbers:
            raise LabelError(f"{path}: {self._no_numbers} of {size} voxels are NaN or infinite, expected label ids")
        if self._deviation > WARNED_DEVIATION:
            raise LabelError(
                f"{path}: not a label map: {self._off} of {size} voxels are not whole numbers, largest deviation "
                f"{self._deviation:.3g} (0.05 is allowed); resample by nearest neighbour, or open it as an image"
            )
        try:
            smallest_label_dtype(self._low, self._high)
        except LabelError as error:
            raise LabelError(f"{path}: {error}") from error
        if self._deviation <= SILENT_DEVIATION:
            return self._ids, []
        message = (
            f"label values lie up to {self._deviation:.4f} from a whole number (tolerance 0.05) and were rounded; "
            "resample label maps by nearest neighbour"
        )
        return self._ids, [Finding("warning", "fractional-labels", message, file=str(path))]


def whole_labels(data: NDArray[Any], path: Path) -> tuple[IntArray, list[Finding]]:
    """Return ids in their smallest type, in the memory order of `data`, and what was noticed.

    Parameters
    ----------
    data : ndarray of int, bool or float
        As stored.
    path : Path
        For messages.

    Raises
    ------
    LabelError
        If values lie more than 0.05 from a whole number, or are no numbers.
    """
    if data.dtype == np.uint8:
        return data, []
    order: Literal["F", "C"] = "F" if data.flags.f_contiguous and not data.flags.c_contiguous else "C"
    flat = data.ravel(order=order)
    ids = WholeIds(flat.size, path)
    for start in range(0, flat.size, _BLOCK):
        ids.add(flat[start : start + _BLOCK])
    whole, findings = ids.result()
    return whole.reshape(data.shape, order=order), findings
