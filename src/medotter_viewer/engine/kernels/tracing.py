"""The outlines of the pieces of each label in planes, along the edges of pixels.

A piece is what pixels of one id that share an edge connect. A ring is followed with its piece to the right. Where two
pixels of the piece touch at a corner, the ring keeps to the background between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from medotter_viewer.engine.kernels.compiling import U1, filled, given, kernel, part
from medotter_viewer.engine.kernels.words import word_at

_ALIKE = np.uint64(0x0101010101010101)
_EIGHT = np.uint64(8)
_EAST, _SOUTH, _WEST, _NORTH = 0, 1, 2, 3


@part
def _root(parents: Any, run: Any) -> Any:
    """Return the first run of a run's piece, and shorten the way to it."""
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = np.int64(parents[run])
    return run


@part
def _run_at(runs: Any, row_runs: Any, row: Any, column: Any) -> Any:
    """Return the run of a pixel that is in one."""
    low, high = np.int64(row_runs[row]), np.int64(row_runs[row + 1]) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if runs[2 * middle] <= column:
            low = middle
        else:
            high = middle - 1
    return low


@part
def _find_runs(labels: Any, base: Any, rows: Any, columns: Any, runs: Any, row_runs: Any) -> Any:
    """Write start and end of the runs of each row; return how many there are, or -1 if there is no room for them."""
    n = 0
    for row in range(rows):
        row_runs[row] = n
        if 2 * (n + columns) > runs.size:
            return -1
        start = base + np.uint64(row * columns)
        i, end = start, start + np.uint64(columns)
        while i < end:
            while i + np.uint64(64) <= end:
                some = np.uint64(0)
                for k in range(8):
                    some |= word_at(labels, i + np.uint64(k) * _EIGHT)
                if some != 0:
                    break
                i += np.uint64(64)
            while i + _EIGHT <= end and word_at(labels, i) == 0:
                i += _EIGHT
            while i < end and labels[i] == 0:
                i += np.uint64(1)
            if i == end:
                break
            label = labels[i]
            runs[2 * n] = np.int64(i - start)
            pattern = np.uint64(label) * _ALIKE
            while i + _EIGHT <= end and word_at(labels, i) == pattern:
                i += _EIGHT
            while i < end and labels[i] == label:
                i += np.uint64(1)
            runs[2 * n + 1] = np.int64(i - start)
            n += 1
    row_runs[rows] = n
    return n


@part
def _join_runs(labels: Any, base: Any, rows: Any, columns: Any, n: Any, runs: Any, row_runs: Any, parents: Any) -> None:
    """Set the parents of runs, so that the root of each is the first run of its piece."""
    for run in range(n):
        parents[run] = run
    for row in range(1, rows):
        above, here = np.int64(row_runs[row - 1]), np.int64(row_runs[row])
        last_above, last_here = here, np.int64(row_runs[row + 1])
        start = base + np.uint64(row * columns)
        while above < last_above and here < last_here:
            if runs[2 * above] < runs[2 * here + 1] and runs[2 * here] < runs[2 * above + 1]:
                label = labels[start + np.uint64(runs[2 * here])]
                if labels[start - np.uint64(columns) + np.uint64(runs[2 * above])] == label:
                    a, b = _root(parents, above), _root(parents, here)
                    if a < b:
                        parents[b] = a
                    else:
                        parents[a] = b
            if runs[2 * above + 1] < runs[2 * here + 1]:
                above += 1
            else:
                here += 1


@part
def _has(labels: Any, base: Any, rows: Any, columns: Any, row: Any, column: Any, label: Any) -> Any:
    """Return whether a pixel has a label; beyond the plane none has."""
    if row < 0 or row >= rows or column < 0 or column >= columns:
        return False
    return labels[base + np.uint64(row * columns + column)] == label


@part
def _follow(
    labels: Any,
    base: Any,
    rows: Any,
    columns: Any,
    row: Any,
    column: Any,
    heading: Any,
    label: Any,
    root: Any,
    runs: Any,
    row_runs: Any,
    parents: Any,
    seen: Any,
    points: Any,
    n: Any,
) -> Any:
    """Write the corners of a ring from one on; return how many points there are, -1 without room, and its area."""
    first_row, first_column = row, column
    area = np.int64(0)
    while True:
        if 2 * n + 2 > points.size:
            return np.int64(-1), area
        points[2 * n], points[2 * n + 1] = float(column) - 0.5, float(row) - 0.5
        n += 1
        from_row = row
        # Along the edge to the next corner: until the pixel ahead to the right is out or that to the left is in.
        right_in, left_in = True, False
        if heading == _EAST:
            at = base + np.uint64(row * columns)
            while True:
                column += 1
                right_in = column < columns and labels[at + np.uint64(column)] == label
                left_in = (
                    row > 0 and column < columns and (labels[at + np.uint64(column) - np.uint64(columns)] == label)
                )
                if left_in or not right_in:
                    break
            ahead_row, ahead_column = row - 1, column
        elif heading == _SOUTH:
            while True:
                row += 1
                at = base + np.uint64(row * columns + column)
                right_in = row < rows and labels[at - np.uint64(1)] == label
                left_in = row < rows and column < columns and labels[at] == label
                if left_in or not right_in:
                    break
            area += column * (row - from_row)
            ahead_row, ahead_column = row, column
        elif heading == _WEST:
            at = base + np.uint64(row * columns)
            while True:
                column -= 1
                right_in = column > 0 and labels[at + np.uint64(column - 1) - np.uint64(columns)] == label
                left_in = row < rows and column > 0 and labels[at + np.uint64(column - 1)] == label
                if left_in or not right_in:
                    break
            ahead_row, ahead_column = row, column - 1
        else:
            while True:
                row -= 1
                at = base + np.uint64((row - 1) * columns + column)
                right_in = row > 0 and labels[at] == label
                left_in = row > 0 and column > 0 and labels[at - np.uint64(1)] == label
                if left_in or not right_in:
                    break
            area -= column * (from_row - row)
            ahead_row, ahead_column = row - 1, column - 1
        turns_left = left_in
        if left_in and not right_in:  # two pixels touch: are they of one piece?
            turns_left = _root(parents, _run_at(runs, row_runs, ahead_row, ahead_column)) == root
        if turns_left:
            if heading == _WEST:  # from here a hole might be followed: it was
                seen[row * (columns + 1) + column] = 1
            heading = (heading + 3) % 4
        else:
            heading = (heading + 1) % 4
        if row == first_row and column == first_column:
            return n, area


@part
def _turn_over(points: Any, first: Any, last: Any) -> None:
    """Exchange x and y of a ring, which then starts at its first corner in reading order, the same way around."""
    start = first
    for k in range(first, last):
        x, y = points[2 * k], points[2 * k + 1]
        points[2 * k], points[2 * k + 1] = y, x
        if x < points[2 * start + 1] or (x == points[2 * start + 1] and y < points[2 * start]):
            start = k
    # To first, ..., start and start + 1, ..., last - 1, each in reverse.
    for part_first, part_last in ((first, start), (start + 1, last - 1)):
        a, b = part_first, part_last
        while a < b:
            for side in range(2):
                kept = points[2 * a + side]
                points[2 * a + side] = points[2 * b + side]
                points[2 * b + side] = kept
            a += 1
            b -= 1


@kernel(
    types.UniTuple(types.int64, 4)(
        given(U1),
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        types.boolean,
        filled(types.int32),
        filled(types.int32),
        filled(types.int32),
        filled(U1),
        filled(types.float64),
        filled(types.int64),
    )
)
def trace_planes(
    labels: Any,
    rows: int,
    columns: int,
    first_plane: int,
    last_plane: int,
    is_turned: bool,
    runs: Any,
    row_runs: Any,
    parents: Any,
    seen: Any,
    points: Any,
    rings: Any,
) -> tuple[int, int, int, int]:
    """Write the rings of the planes from `first_plane` to `last_plane`, corners only, x and y in turn.

    `rings` gets six numbers of each: plane, label, number of the piece, 1 for a hole, where its points end, its area
    (of a hole below 0). Pieces are numbered as they come, and rings of a piece follow in the order of their first
    corners. Where the planes `is_turned`, x and y are exchanged, and rings start and turn as if the planes were read by
    columns; the order of rings stays.

    `runs`, `parents` (half as long), `row_runs` (rows + 1) and `seen` ((rows + 1) * (columns + 1), zeros) are room to
    work in. Returns the plane to go on with (`last_plane` unless there was no room), the points and the rings written,
    and for what there was no room: 1 for runs, 2 for points or rings.
    """
    n_points, n_rings, n_pieces = 0, 0, 0
    for plane in range(first_plane, last_plane):
        base = np.uint64(plane * rows * columns)
        n = _find_runs(labels, base, rows, columns, runs, row_runs)
        if n < 0:
            return plane, n_points, n_rings, 1
        _join_runs(labels, base, rows, columns, n, runs, row_runs, parents)
        had_points, had_rings = n_points, n_rings
        row = 0
        is_full = False
        for run in range(n):
            while row_runs[row + 1] <= run:
                row += 1
            start, end = np.int64(runs[2 * run]), np.int64(runs[2 * run + 1])
            label = labels[base + np.uint64(row * columns + start)]
            root = _root(parents, run)
            for is_hole in range(2):
                column, heading = start, _EAST
                if not is_hole:
                    if root != run:
                        continue
                else:
                    column, heading = end, _SOUTH
                    if not _has(labels, base, rows, columns, row - 1, end, label):
                        continue
                    if seen[row * (columns + 1) + end]:
                        continue
                    if _root(parents, _run_at(runs, row_runs, row - 1, end)) != root:
                        continue
                if 6 * n_rings + 6 > rings.size:
                    is_full = True
                    break
                stop, area = _follow(
                    labels,
                    base,
                    rows,
                    columns,
                    row,
                    column,
                    heading,
                    label,
                    root,
                    runs,
                    row_runs,
                    parents,
                    seen,
                    points,
                    n_points,
                )
                if stop < 0:
                    is_full = True
                    break
                if is_turned:
                    _turn_over(points, n_points, stop)
                n_points = stop
                at = 6 * n_rings
                rings[at], rings[at + 1], rings[at + 2], rings[at + 3] = plane, label, root, is_hole
                rings[at + 4], rings[at + 5] = n_points, area
                n_rings += 1
            if is_full:
                break
        for of_row in range(rows):  # what was seen is forgotten where it may stand
            for run in range(row_runs[of_row], row_runs[of_row + 1]):
                seen[of_row * (columns + 1) + runs[2 * run + 1]] = 0
        if is_full:
            return plane, had_points, had_rings, 2
        if n_rings > had_rings:
            # Number the pieces: by their first runs so far.
            for ring in range(had_rings, n_rings):
                at = 6 * ring
                if rings[at + 3] == 0:
                    parents[rings[at + 2]] = n_pieces
                    n_pieces += 1
            for ring in range(had_rings, n_rings):
                at = 6 * ring + 2
                rings[at] = parents[rings[at]]
    return last_plane, n_points, n_rings, 0
