"""Outlines of the pieces of all labels in all planes, by the kernel."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.threads import in_threads

_CHUNK = 1 << 22  # voxels at once
_RUNS, _POINTS = 1 << 12, 1 << 12  # for which there is room to begin with
_KEPT = 1 << 22  # bytes of the array of zeros that a thread keeps, for kernels leave it as it was


class _Room(threading.local):
    """Zeros of a thread to work in."""

    def __init__(self) -> None:
        self.zeros: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)

    def of(self, size: int) -> NDArray[np.uint8]:
        if size > _KEPT:
            return np.zeros(size, dtype=np.uint8)
        if size > self.zeros.size:
            self.zeros = np.zeros(size, dtype=np.uint8)
        return self.zeros


_room = _Room()


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """Rings, sorted by plane, label and piece; the exterior of each piece is followed by its holes.

    Parameters
    ----------
    points : (m, 2) ndarray of float64
        x (column), y (row) of all corners.
    plane, label : (n,) ndarray of int64
        Of each ring.
    is_hole : (n,) ndarray of bool
        Whether it is one.
    start, stop : (n,) ndarray of int64
        Which of the points it has.
    area : (n,) ndarray of int64
        Pixels that it encloses, below 0 for a hole.
    """

    points: NDArray[np.float64]
    plane: NDArray[np.int64]
    label: NDArray[np.int64]
    is_hole: NDArray[np.bool_]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    area: NDArray[np.int64]


def outlines(compiled: ModuleType, planes: NDArray[Any]) -> Outlines:
    """Return the rings of every label but 0, in the order in which rows and columns of planes are read.

    Parameters
    ----------
    compiled : module
        The kernels.
    planes : (n, rows, columns) ndarray of uint8 or bool
        Copied by parts unless the last two axes lie closest in memory.
    """
    is_turned = not planes.flags.c_contiguous and planes.transpose(0, 2, 1).flags.c_contiguous
    laid = planes.transpose(0, 2, 1) if is_turned else planes
    thick = max(1, _CHUNK // max(1, laid[:1].size))
    starts = range(0, len(laid), thick)
    found = in_threads(lambda first: _traced(compiled, laid[first : first + thick], is_turned), starts)
    n_points = np.cumsum([0, *(len(points) for points, _ in found)])
    n_pieces = np.cumsum([0, *(int((rings[:, 3] == 0).sum()) for _, rings in found)])
    for first, before, pieces, (_, rings) in zip(starts, n_points, n_pieces, found, strict=False):
        rings[:, 0] += first
        rings[:, 2] += pieces
        rings[:, 4] += before
    points = np.concatenate([np.zeros((0, 2)), *(points for points, _ in found)])
    plane, label, piece, hole, stop, area = np.concatenate([np.zeros((0, 6), np.int64), *(r for _, r in found)]).T
    start = np.concatenate([[0], stop[:-1]]).astype(np.int64)[: len(stop)]
    if is_turned:
        x, y = points[start].T
        outer = np.flatnonzero(hole == 0)  # in the order of the numbers of pieces
        order = np.lexsort((x, y, hole, x[outer][piece], y[outer][piece], label, plane))
    else:
        order = np.lexsort((piece, label, plane))
    plane, label, start, stop, area = (part[order] for part in (plane, label, start, stop, area))
    return Outlines(points, plane, label, hole[order] != 0, start, stop, area)


def _traced(
    compiled: ModuleType, planes: NDArray[Any], is_turned: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (m, 2) and the numbers (n, 6) of rings."""
    n_planes, rows, columns = planes.shape
    labels = np.ascontiguousarray(planes).view(np.uint8).reshape(-1)
    n_runs, size, plane = max(_RUNS, columns + 1), _POINTS, 0
    row_runs = np.empty(rows + 1, dtype=np.int32)
    seen = _room.of((rows + 1) * (columns + 1))
    parts: list[tuple[NDArray[np.float64], NDArray[np.int64]]] = []
    while plane < n_planes and rows and columns:
        runs, parents = np.empty(2 * n_runs, dtype=np.int32), np.empty(n_runs, dtype=np.int32)
        points, rings = np.empty(2 * size), np.empty(6 * (size // 4), dtype=np.int64)
        plane, n_points, n_rings, lacks = compiled.trace_planes(
            labels, rows, columns, plane, n_planes, is_turned, runs, row_runs, parents, seen, points, rings
        )
        parts.append((points[: 2 * n_points].reshape(-1, 2), rings[: 6 * n_rings].reshape(-1, 6)))
        n_runs *= 4 if lacks == 1 else 1
        size *= 4 if lacks == 2 else 1
    before_points, before_pieces = 0, 0
    for points, rings in parts:
        rings[:, 4] += before_points
        rings[:, 2] += before_pieces
        before_points += len(points)
        before_pieces += int((rings[:, 3] == 0).sum())
    if len(parts) == 1:
        return parts[0]
    none = np.zeros((0, 2)), np.zeros((0, 6), dtype=np.int64)
    return np.concatenate([none[0], *(p for p, _ in parts)]), np.concatenate([none[1], *(r for _, r in parts)])
