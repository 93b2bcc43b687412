"""Scans of a bright block whose contour runs along its pixels' edges, however the slices lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume

SCAN_SPEC = EvalSpec("lung_contour", {}, ("scan_score",), Headline("macro_avg", "scan_score"))
SHAPE = (40, 30, 6)
PIXEL_MM, STEP_MM = (1.5, 2.0), 4.0
BLOCK = (slice(6, 12), slice(4, 9), slice(1, 4))
"""Columns, rows and slices of the block: off the middle in every direction."""


def turned_about_x(degrees: float) -> NDArray[np.float64]:
    """Return unit vectors along columns, rows and slices (rows of the result), LPS, of a tilted axial stack."""
    angle = np.radians(degrees)
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]])


POSES: dict[str, NDArray[np.float64]] = {
    "head first supine": np.eye(3),
    "feet first supine": np.diag([1.0, 1.0, -1.0]),
    "head first prone": np.diag([-1.0, -1.0, 1.0]),
    "feet first prone": np.diag([-1.0, -1.0, -1.0]),
    "turned to the side": np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
    "tilted by 12 degrees": turned_about_x(12.0),
}
"""Direction of columns, rows and slices in LPS."""


def block_stack(directions: NDArray[np.float64], *, numbers_from: int = 11) -> SliceStack:
    """Return the slices of a pose; the first is `numbers_from`."""
    n = SHAPE[2]
    corner = np.array([-20.0, 35.0, 100.0])
    lps = np.eye(4)
    lps[:3, :3] = (directions * np.array([*PIXEL_MM, STEP_MM])[:, None]).T
    lps[:3, 3] = corner
    grid = Grid(SHAPE, np.diag([-1.0, -1.0, 1.0, 1.0]) @ lps)
    origins = corner + np.arange(n)[:, None] * STEP_MM * directions[2]
    return SliceStack(
        grid, origins, list(range(numbers_from, numbers_from + n)), [STEP_MM] * n, [None] * n, [Path()] * n
    )


def block_ring(stack: SliceStack, index: int, shift: float = 0.0) -> NDArray[np.float64]:
    """Return the x, y of the block's outline on a slice, moved by some pixels along the columns."""
    left, right = BLOCK[0].start - 0.5 + shift, BLOCK[0].stop - 0.5 + shift
    top, bottom = BLOCK[1].start - 0.5, BLOCK[1].stop - 0.5
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    return stack.to_lps(corners, index)[:, :2]


def block_scan(pose: str = "head first supine", *, image: bool = True, shift: float = 2.0) -> Case:
    """Return a scan of the block; the prediction is moved along the columns and misses the last slice."""
    stack = block_stack(POSES[pose])
    data = np.zeros(SHAPE, dtype=np.int16)
    data[BLOCK] = 300
    indices = range(BLOCK[2].start, BLOCK[2].stop)
    gt = {stack.numbers[k]: [block_ring(stack, k)] for k in indices}
    pred = {stack.numbers[k]: [block_ring(stack, k, shift)] for k in list(indices)[:-1]}
    return Case(
        CaseEntry("scan"),
        {"image": Volume(data, stack.grid)} if image else {},
        gt_contours=ScanContours(gt),  # type: ignore[arg-type]
        pred_contours=ScanContours(pred),  # type: ignore[arg-type]
        slice_thickness_mm={int(n): STEP_MM for n in stack.numbers if n is not None},
        stack=stack,
    )
