"""Rings within rings become separate polygons that cover the same points, as another library sees it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from medotter_viewer.geometry.polygons import (
    CrossingRingsError,
    even_odd_area,
    even_odd_polygons,
    fill,
    overlap_areas,
    shoelace,
    trace,
    union_polygons,
)

Ring = NDArray[np.float64]


def box(left: float, top: float, width: float, height: float | None = None) -> Ring:
    right, bottom = left + width, top + (width if height is None else height)
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)], dtype=float)


def symmetric_difference(rings: Sequence[Ring]) -> Any:
    found = shapely.Polygon()
    for ring in rings:
        found = found.symmetric_difference(shapely.Polygon(ring))
    return found


def contains(ring: Ring, points: Ring) -> NDArray[np.bool_]:
    """Even-odd membership, by crossings of a ray; written anew here."""
    inside = np.zeros(len(points), dtype=bool)
    for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        spans = (y0 <= points[:, 1]) != (y1 <= points[:, 1])
        if spans.any():
            inside ^= spans & (points[:, 0] < x0 + (points[:, 1] - y0) * (x1 - x0) / (y1 - y0 if y1 != y0 else 1))
    return inside


def check_against_shapely(rings: Sequence[Ring], polygons: Sequence[Ring]) -> None:
    wanted = symmetric_difference(rings)
    area = sum(even_odd_area(ring) for ring in polygons)
    assert area == pytest.approx(wanted.area, rel=1e-9, abs=1e-12)
    assert overlap_areas(polygons, [])[1] == pytest.approx(wanted.area, rel=1e-9, abs=1e-12)
    low = np.min([ring.min(axis=0) for ring in rings], axis=0)
    high = np.max([ring.max(axis=0) for ring in rings], axis=0)
    points = low + np.random.default_rng(0).random((400, 2)) * (high - low)
    near = shapely.distance(wanted.boundary, shapely.points(points)) < 1e-6 * float((high - low).max())
    found = np.sum([contains(ring, points) for ring in polygons], axis=0) if polygons else np.zeros(len(points))
    np.testing.assert_array_equal(found[~near], shapely.contains_xy(wanted, points)[~near].astype(int))


masks = npst.arrays(np.bool_, st.tuples(st.integers(1, 8), st.integers(1, 8)))


@given(mask=masks, turn=st.floats(0, 6.3), x=st.floats(-300, 300), y=st.floats(-300, 300), seed=st.integers(0, 99))
def test_rings_around_pieces_and_their_holes_become_polygons_of_the_same_points(mask, turn, x, y, seed) -> None:
    """Outlines of random pixels nest in every way, and touch at corners; turned, no coordinate is a round number."""
    rings = [ring for piece in trace(mask) for ring in piece.rings]
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    rings = [ring @ matrix.T + (x, y) for ring in rings]
    random = np.random.default_rng(seed)
    rings = [
        np.roll(rings[i][:: random.choice([1, -1])], random.integers(9), axis=0) for i in random.permutation(len(rings))
    ]
    polygons = even_odd_polygons(rings)
    assert {tuple(p) for ring in rings for p in ring} <= {tuple(p) for ring in polygons for p in ring}
    if rings:
        check_against_shapely(rings, polygons)


@given(
    radii=st.lists(st.floats(1, 50), min_size=1, max_size=7, unique_by=lambda r: round(r, 1)),
    sides=st.integers(20, 40),
    middle=st.tuples(st.floats(-100, 100), st.floats(-100, 100)),
)
def test_rings_around_one_another_are_by_turns_outlines_and_holes(radii, sides, middle) -> None:
    angles = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    rings = [radius * np.column_stack([np.cos(angles), np.sin(angles)]) + middle for radius in radii]
    polygons = even_odd_polygons(rings)
    assert len(polygons) == (len(radii) + 1) // 2
    check_against_shapely(rings, polygons)


def test_a_hole_with_an_island_and_a_neighbour() -> None:
    rings = [box(4, 4, 2), box(0, 0, 10), box(20, 0, 5), box(2, 2, 6)]
    outer, island, neighbour = sorted(even_odd_polygons(rings), key=lambda r: -even_odd_area(r))[:1] + [
        ring for ring in even_odd_polygons(rings) if len(ring) == 4
    ]
    assert [even_odd_area(ring) for ring in (outer, island, neighbour)] == [64, 4, 25]
    assert abs(shoelace(outer)) == 64
    assert set(map(tuple, outer)) >= {tuple(p) for p in (*rings[1], *rings[3])}


def test_one_ring_is_left_as_it_is_even_if_it_crosses_itself() -> None:
    bow_tie = np.array([(0, 0), (20, 20), (20, 0), (0, 20.0)])
    (found,) = even_odd_polygons([bow_tie])
    np.testing.assert_array_equal(found, bow_tie)
    hole = box(16, 8, 2, 4)  # in the right wing
    (found,) = even_odd_polygons([bow_tie, hole])
    assert even_odd_area(found) == pytest.approx(200 - 8)
    np.testing.assert_array_equal(fill([found], (20, 20)), fill([bow_tie, hole], (20, 20)))


def test_equal_rings_cancel_in_pairs_and_rings_without_area_are_left_out() -> None:
    square = box(0, 0, 4)
    line = np.array([(0, 0), (5, 0), (9, 0.0)])
    for n, polygons in ((2, 0), (3, 1), (4, 0)):
        rings = [np.roll(square[::-1], i, axis=0) for i in range(n)]
        assert len(even_odd_polygons([*rings, line])) == polygons
    assert [even_odd_area(ring) for ring in even_odd_polygons([square, square, box(-1, -1, 9)])] == [81]


def test_rings_that_touch_are_not_crossing() -> None:
    halves = [box(0, 0, 5, 10), box(5, 0, 5, 10)]
    assert [even_odd_area(ring) for ring in even_odd_polygons(halves)] == [50, 50]
    at_the_edge = [box(0, 0, 10), box(0, 2, 3)]  # a hole that shares a stretch of the outline
    (found,) = even_odd_polygons(at_the_edge)
    assert even_odd_area(found) == 91


@pytest.mark.parametrize("combine", [even_odd_polygons, union_polygons])
def test_rings_that_cross_are_refused_and_placed(combine) -> None:
    with pytest.raises(CrossingRingsError, match=r"rings 1 and 2 cross each other near x 7\.5, y 7\.5"):
        combine([box(0, 0, 10), box(5, 5, 10)])


def test_in_a_union_only_what_is_not_within_another_is_kept() -> None:
    rings = [box(4, 4, 2), box(0, 0, 10), box(20, 0, 5), box(0, 0, 10)]
    kept = union_polygons(rings)
    assert [ring.tolist() for ring in kept] == [rings[1].tolist(), rings[2].tolist()]
    for order in itertools.permutations(rings):
        assert sorted(even_odd_area(ring) for ring in union_polygons(order)) == [25, 100]
    assert union_polygons([]) == even_odd_polygons([]) == []
