"""Connected pieces from runs of voxels: what they are is what scipy's labelling of the whole array finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

from medotter_viewer.metrics.voxel_runs import connected, runs_of


def test_a_run_ends_where_the_code_changes_and_at_the_end_of_a_row() -> None:
    runs = runs_of(np.array([1, 2, 3, 4, 6, 7]), np.array([5, 5, 9, 9, 9, 9]), (2, 4))
    assert runs.start.tolist() == [1, 3, 4, 6]
    assert runs.length.tolist() == [2, 1, 1, 2]
    assert runs.code.tolist() == [5, 9, 9, 9]
    assert runs.voxels().tolist() == [1, 2, 3, 4, 6, 7]
    first, last = runs.ends()
    assert first.tolist() == [[0, 1], [0, 3], [1, 0], [1, 2]]
    assert last.tolist() == [[0, 2], [0, 3], [1, 0], [1, 3]]


@pytest.mark.parametrize(("corners", "numbers"), [(False, 3), (True, 2)])
def test_a_diagonal_connects_through_corners_only(corners: bool, numbers: int) -> None:
    # x . .
    # . x .   and one voxel at the start of the third row, which does not touch the end of the second
    # . . .
    # x . .
    voxels = np.array([0, 4, 9])
    found = connected(runs_of(voxels, np.zeros(3, dtype=np.int64), (4, 3)), corners=corners)
    assert len(set(found.tolist())) == numbers


def test_neighbours_across_the_end_of_a_row_are_none() -> None:
    voxels = np.array([2, 3])  # the end of the first row and the start of the second
    for corners in (False, True):
        found = connected(runs_of(voxels, np.zeros(2, dtype=np.int64), (2, 3)), corners=corners)
        assert found[0] != found[1]


@given(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=6), elements=st.integers(0, 2)),
    st.booleans(),
)
def test_pieces_are_those_of_scipy(codes: Any, corners: bool) -> None:
    voxels = np.flatnonzero(codes)
    if not voxels.size:
        return
    runs = runs_of(voxels, codes.ravel()[voxels], codes.shape)
    number = np.zeros(codes.size, dtype=np.int64)
    number[runs.voxels()] = runs.of_voxels(connected(runs, corners=corners) + 1)
    structure = ndimage.generate_binary_structure(codes.ndim, codes.ndim if corners else 1)
    for code in (1, 2):
        expected, n = ndimage.label(codes == code, structure=structure)
        mine = np.where((codes == code).ravel(), number, 0)
        pairs = set(zip(expected.ravel().tolist(), mine.tolist(), strict=True))
        assert len(pairs - {(0, 0)}) == n
        assert len({other for _, other in pairs - {(0, 0)}}) == n
