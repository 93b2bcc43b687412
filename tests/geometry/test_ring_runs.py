"""Rings cut across their slices: the same pixels as those of the filled slices."""

from __future__ import annotations

import numpy as np
import pytest

from medotter_viewer.geometry.polygons import fill
from medotter_viewer.geometry.ring_runs import ring_runs

SQUARE = np.array([(2.0, 3.0), (6.0, 3.0), (6.0, 7.0), (2.0, 7.0)])


def test_a_square_is_met_by_the_columns_and_rows_it_covers() -> None:
    runs = ring_runs([(1, [SQUARE])], (10, 12, 3))
    # half-open: columns 2 to 5, rows 3 to 6
    column = runs.at_column(2)
    assert column.shape == (12, 3)
    assert [tuple(at) for at in np.argwhere(column)] == [(3, 1), (4, 1), (5, 1), (6, 1)]
    assert not runs.at_column(6).any()
    row = runs.at_row(6)
    assert row.shape == (10, 3)
    assert [tuple(at) for at in np.argwhere(row)] == [(2, 1), (3, 1), (4, 1), (5, 1)]
    assert not runs.at_row(7).any()


def test_no_rings_meet_nothing() -> None:
    runs = ring_runs([], (4, 5, 6))
    assert runs.at_column(0).shape == (5, 6)
    assert not runs.at_row(0).any()


@pytest.mark.parametrize("seed", range(12))
def test_a_plane_across_the_slices_is_that_of_the_filled_slices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (23, 19, 5)
    slices = {}
    for index in range(5):
        rings = []
        for _ in range(rng.integers(0, 4)):  # they overlap, cross themselves, leave the image
            points = rng.uniform(-4, 25, (rng.integers(3, 9), 2))
            rings.append(np.round(points * 4) / 4 if seed % 2 else points)
        slices[index] = rings
    filled = np.stack([fill(slices[k], (19, 23), rule="union") for k in range(5)], axis=-1)  # rows, columns, slices
    runs = ring_runs(slices.items(), shape)
    for column in range(23):
        np.testing.assert_array_equal(runs.at_column(column), filled[:, column])
    for row in range(19):
        np.testing.assert_array_equal(runs.at_row(row), filled[row])
    assert filled.any()
