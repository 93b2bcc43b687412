"""Areas of many rings at once are those of each ring by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.geometry.polygons import even_odd_area, keyhole, many, shoelace, trace
from medotter_viewer.geometry.polygons.many import RingAreas, ring_areas, take_rings

SQUARE = [(0, 0), (30, 0), (30, 30), (0, 30)]
HOLE = [(10, 10), (20, 10), (20, 20), (10, 20)]


def areas(*rings: object) -> RingAreas:
    points = [np.array(ring, dtype=float).reshape(-1, 2) for ring in rings]
    return ring_areas(np.concatenate([np.zeros((0, 2)), *points]), np.cumsum([0, *map(len, points)]))


@pytest.mark.parametrize(
    ("ring", "even_odd", "by_points"),
    [
        (SQUARE, 900, 900),
        ([*SQUARE, SQUARE[0], SQUARE[0]], 900, 900),
        (SQUARE * 2, 0, 1800),
        (keyhole(SQUARE, [HOLE]), 800, 800),
        ([*SQUARE, SQUARE[0], *HOLE, HOLE[0]], 800, 1000),  # same direction, joined by an oblique bridge
        ([(0, 0), (10, 0), (20, 0)], 0, 0),
        ([(0, 0), (10, 10), (20, 20), (5, 5)], 0, 0),
        ([(0, 0), (10, 0), (10, 10), (10, 0)], 0, 0),
        ([(5, 5)], 0, 0),
        ([(5, 5), (5, 5)], 0, 0),
        ([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)], 10, 10),
    ],
)
def test_areas_of_rings_that_do_not_cross_themselves(ring, even_odd: float, by_points: float) -> None:
    for moved in (np.array(ring, dtype=float), np.array(ring, dtype=float)[::-1] - 1000.25):
        found = areas(moved)
        assert not found.crosses.any()
        np.testing.assert_allclose([found.even_odd[0], found.shoelace[0]], [even_odd, by_points], atol=1e-9)


def test_a_bow_tie_and_a_pentagram_cross_themselves() -> None:
    star = [(np.cos(a), np.sin(a)) for a in 4 * np.pi * np.arange(5) / 5]
    found = areas([(0, 0), (20, 20), (20, 0), (0, 20)], star, SQUARE)
    assert found.crosses.tolist() == [True, True, False]
    assert np.isnan(found.even_odd).tolist() == [True, True, False]


def test_no_ring_has_no_area() -> None:
    assert len(areas().even_odd) == 0


def test_a_scribble_is_not_examined_and_its_neighbours_are() -> None:
    scribble = np.random.default_rng(0).uniform(size=(1000, 2))
    found = areas(keyhole(SQUARE, [HOLE]), scribble, [(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)])
    assert np.isnan(found.even_odd).tolist() == [False, True, False]
    assert not found.crosses[1]


ring_points = st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=1, max_size=9)


@given(st.lists(ring_points, max_size=6), st.integers(1, 20))
def test_each_ring_has_the_areas_it_has_alone_in_batches_of_any_size(rings, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "_BATCH", size)
        found = areas(*rings)
    for place, ring in enumerate(rings):
        assert found.shoelace[place] == pytest.approx(abs(shoelace(ring)), abs=1e-9)
        if not found.crosses[place]:
            assert found.even_odd[place] == pytest.approx(even_odd_area(ring), abs=1e-9)


@given(st.integers(0, 2**20 - 1))
def test_traced_pixels_never_cross(bits: int) -> None:
    mask = np.array([bits >> i & 1 for i in range(20)], dtype=bool).reshape(4, 5)
    found = areas(*(polygon.keyhole() for polygon in trace(mask)))
    np.testing.assert_allclose(found.even_odd, found.shoelace, atol=1e-9)


def test_some_rings_are_taken() -> None:
    points = np.arange(20.0).reshape(-1, 2)
    taken, starts = take_rings(points, np.array([0, 3, 4, 10]), np.array([0, 2]))
    assert (taken[:, 0].tolist(), starts.tolist()) == ([0, 2, 4, 8, 10, 12, 14, 16, 18], [0, 3, 9])
