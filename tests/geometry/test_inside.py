"""Whether a point lies inside rings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import keyhole
from medotter_viewer.geometry.polygons.inside import covers

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def test_a_hole_on_a_keyhole_is_outside_and_its_bridge_is_inside() -> None:
    ring = keyhole(np.array(SQUARE, dtype=float), [np.array([(4, 4), (4, 6), (6, 6), (6, 4)], dtype=float)])
    assert covers([ring], 2, 5)
    assert not covers([ring], 5, 5)
    assert covers([ring], 4, 5)  # on the hole's outline


def test_an_overlap_of_two_rings_is_inside_their_union() -> None:
    other = [(5, 5), (15, 5), (15, 15), (5, 15)]
    assert covers([SQUARE, other], 7, 7)
    assert covers([SQUARE, other], 12, 12)
    assert not covers([SQUARE, other], 12, 2)


def test_the_crossing_of_a_bow_tie_and_its_lobes_are_inside() -> None:
    bow = [(0, 0), (20, 20), (20, 0), (0, 20)]
    assert covers([bow], 10, 10)
    assert covers([bow], 2, 10)
    assert not covers([bow], 10, 2)


@pytest.mark.parametrize("corner", SQUARE)
def test_a_corner_is_inside(corner: tuple[float, float]) -> None:
    assert covers([SQUARE], *corner)


def test_a_row_through_a_vertex_counts_it_once() -> None:
    diamond = [(0, -5), (5, 0), (0, 5), (-5, 0)]
    assert covers([diamond], 0, 0)
    assert not covers([diamond], 6, 0)
    assert not covers([diamond], -6, 0)
    assert not covers([diamond], 3, 5)


def test_a_point_a_hair_beside_an_oblique_edge_is_told_exactly() -> None:
    # the line through (0, 0) and (3, 1): x = 0.3 has y = 0.1 only up to rounding
    triangle = [(0, 0), (3, 1), (0, 1)]
    exact = Fraction(0.3) * 1 - Fraction(0.1) * 3  # above 0: below the line, outside
    assert covers([triangle], 0.3, 0.1) is (exact <= 0)
    assert exact != 0


@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=3, max_size=8), st.integers(-6, 6))
def test_moving_ring_and_point_by_a_binary_step_changes_nothing(points: list[tuple[int, int]], at: int) -> None:
    ring = np.array(points, dtype=float)
    assert covers([ring], at, 1) == covers([ring + 1024], at + 1024, 1025)
    assert covers([ring], at, 1) == covers([ring[::-1]], at, 1)


def test_no_ring_covers_nothing_and_nonsense_is_refused() -> None:
    assert not covers([], 0, 0)
    assert not covers([SQUARE], float("nan"), 5)
    with pytest.raises(MetricInputError, match="finite"):
        covers([[(0, 0), (float("inf"), 1), (1, 1)]], 0, 0)
