"""Label ids from what a file stores: whole numbers in their smallest type, or a refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import IntArray, smallest_label_dtype
from medotter_viewer.errors import LabelError

SILENT_DEVIATION, WARNED_DEVIATION = 1e-3, 0.05
"""How far a stored label may lie from a whole number: rounded silently, with a warning; beyond it is refused."""


def whole_labels(data: NDArray[Any], path: Path) -> tuple[IntArray, list[Finding]]:
    """Return ids in their smallest type, and what was noticed.

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
    findings: list[Finding] = []
    if data.dtype.kind == "f":
        if not np.isfinite(data).all():
            bad = int(data.size - np.isfinite(data).sum())
            raise LabelError(f"{path}: {bad} of {data.size} voxels are NaN or infinite, expected label ids")
        nearest = np.rint(data)
        off = np.abs(data - nearest)
        deviation = float(off.max(initial=0.0))
        if deviation > WARNED_DEVIATION:
            bad = int(np.count_nonzero(off > SILENT_DEVIATION))
            raise LabelError(
                f"{path}: not a label map: {bad} of {data.size} voxels are not whole numbers, largest deviation "
                f"{deviation:.3g} (0.05 is allowed); resample by nearest neighbour, or open it as an image"
            )
        if deviation > SILENT_DEVIATION:
            message = (
                f"label values lie up to {deviation:.4f} from a whole number (tolerance 0.05) and were rounded; "
                "resample label maps by nearest neighbour"
            )
            findings.append(Finding("warning", "fractional-labels", message, file=str(path)))
        data = nearest
    low, high = (int(data.min()), int(data.max())) if data.size else (0, 0)
    kind = smallest_label_dtype(low, high)
    return (data if data.dtype == kind else data.astype(kind, order="K")), findings
