"""Areas of polygons and of label maps by plain counting, to hold against the package's.

A slice is cut into strips between all heights at which an edge begins, ends or meets another: in each of them every
width is linear, so that its middle gives its area.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import LabelMap

Ring = NDArray[np.float64]
Rings = dict[int, list[Ring]]
Point = tuple[float, float]
Edge = tuple[Point, Point]


def runs(labels: LabelMap, numbers: Sequence[int]) -> Rings:
    """Return a label map as rectangles: one for each run of pixels in a row."""
    found: Rings = {}
    columns, rows, slices = labels.data.shape
    step_x, step_y, _ = labels.grid.spacing
    for k in range(slices):
        x0, y0 = (-labels.grid.voxel_to_world((0, 0, k))[:2]).tolist()
        for j in range(rows):
            i = 0
            while i < columns:
                start = i
                while i < columns and labels.data[i, j, k]:
                    i += 1
                if i > start:
                    left, right = x0 + (start - 0.5) * step_x, x0 + (i - 0.5) * step_x
                    top, bottom = y0 + (j - 0.5) * step_y, y0 + (j + 0.5) * step_y
                    box = [(left, top), (right, top), (right, bottom), (left, bottom)]
                    found.setdefault(numbers[k], []).append(np.array(box))
                i += 1
    return found


def edges_of(ring: Ring) -> list[Edge]:
    """Return the edges that are not level."""
    points = [(float(x), float(y)) for x, y in ring]
    pairs = zip(points, points[1:] + points[:1], strict=True)
    return [(a, b) for a, b in pairs if a[1] != b[1]]


def crossing(a: Edge, b: Edge) -> float | None:
    """Return the height at which two edges cross, None where they do not."""
    (ax, ay), (bx, by) = a
    (cx, cy), (dx, dy) = b
    turn = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if turn == 0:
        return None
    t = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / turn
    u = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / turn
    return ay + t * (by - ay) if 0 <= t <= 1 and 0 <= u <= 1 else None


def spans(rings: Iterable[list[Edge]], y: float) -> list[tuple[float, float]]:
    """Return what the rings cover at a height: each by the even-odd rule, then united."""
    found = []
    for edges in rings:
        at = sorted(
            ax + (y - ay) * (bx - ax) / (by - ay) for (ax, ay), (bx, by) in edges if min(ay, by) <= y < max(ay, by)
        )
        found += list(zip(at[::2], at[1::2], strict=True))
    united: list[tuple[float, float]] = []
    for low, high in sorted(found):
        if united and low <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], high))
        else:
            united.append((low, high))
    return united


def areas(gt: Sequence[Ring], pred: Sequence[Ring]) -> tuple[float, float, float]:
    """Return the areas in mm2 that are in both, in the second only, and in the first only."""
    sides = [[edges_of(ring) for ring in rings] for rings in (gt, pred)]
    everything = [edge for side in sides for edges in side for edge in edges]
    cuts = {point[1] for edge in everything for point in edge}
    for i, one in enumerate(everything):
        for other in everything[i + 1 :]:
            y = crossing(one, other)
            if y is not None:
                cuts.add(y)
    both, first, second = [], [], []
    ordered = sorted(cuts)
    for low, high in pairwise(ordered):
        covered = [spans(side, (low + high) / 2) for side in sides]
        widths = [math.fsum(b - a for a, b in side) for side in covered]
        common = math.fsum(max(0.0, min(b, d) - max(a, c)) for a, b in covered[0] for c, d in covered[1])
        both.append(common * (high - low))
        first.append((widths[0] - common) * (high - low))
        second.append((widths[1] - common) * (high - low))
    return math.fsum(both), math.fsum(second), math.fsum(first)
