"""Rings to masks and back, against counts that can be made by hand, exact fractions and shapely's geometry."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, cos, pi, sin

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import (
    TracedPolygon,
    as_ring,
    drawable,
    even_odd_area,
    fill,
    keyhole,
    overlap_areas,
    shoelace,
    trace,
)

Mask = NDArray[np.bool_]
Points = list[tuple[float, float]]
GRID = (12, 12)


def square(low: float, high: float) -> Points:
    return [(low, low), (high, low), (high, high), (low, high)]


def pixels(*rows: str) -> Mask:
    return np.array([[c == "#" for c in row] for row in rows])


def rings_of(polygons: list[TracedPolygon]) -> list[NDArray[np.float64]]:
    return [ring for polygon in polygons for ring in polygon.rings]


def exactly_filled(rings: list[Points], shape: tuple[int, int]) -> Mask:
    """The rule in fractions, pixel by pixel: an odd number of crossings at or left of the centre."""
    mask = np.zeros(shape, dtype=bool)
    for r, c in np.ndindex(*shape):
        for ring in rings:
            for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], *ring[:1]], strict=True):
                (xa, ya), (xb, yb) = sorted(
                    [(Fraction(x0), Fraction(y0)), (Fraction(x1), Fraction(y1))], key=lambda p: p[1]
                )
                if ceil(ya) <= r < ceil(yb):
                    mask[r, c] ^= ceil(xa + (r - ya) * (xb - xa) / (yb - ya)) <= c
    return mask


def swept(first: list[Points], second: list[Points]) -> tuple[float, float, float]:
    """Areas in both, first only, second only, in fractions: exact whatever crosses whatever."""
    edges = [
        (*sorted([(Fraction(x0), Fraction(y0)), (Fraction(x1), Fraction(y1))], key=lambda p: p[1]), (side, number))
        for side, found in enumerate((first, second))
        for number, ring in enumerate(found)
        for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], *ring[:1]], strict=True)
        if y0 != y1
    ]
    slopes = [(b[0] - a[0]) / (b[1] - a[1]) for a, b, _ in edges]
    levels = {point[1] for a, b, _ in edges for point in (a, b)}
    for ((a, b, _), s), ((c, d, _), t) in combinations(zip(edges, slopes, strict=True), 2):
        if s != t:
            y = (c[0] - t * c[1] - a[0] + s * a[1]) / (s - t)
            if max(a[1], c[1]) < y < min(b[1], d[1]):
                levels.add(y)
    areas = {
        (True, True): Fraction(0),
        (True, False): Fraction(0),
        (False, True): Fraction(0),
        (False, False): Fraction(0),
    }
    for low, high in pairwise(sorted(levels)):
        y = (low + high) / 2
        met = sorted(
            (a[0] + s * (y - a[1]), who) for (a, b, who), s in zip(edges, slopes, strict=True) if a[1] < y < b[1]
        )
        inside: set[tuple[int, int]] = set()
        for (x, who), (beyond, _) in pairwise(met):
            inside ^= {who}
            areas[any(side == 0 for side, _ in inside), any(side == 1 for side, _ in inside)] += (beyond - x) * (
                high - low
            )
    return float(areas[True, True]), float(areas[True, False]), float(areas[False, True])


def ring_of(coordinate: st.SearchStrategy[float], most: int) -> st.SearchStrategy[Points]:
    return st.lists(st.tuples(coordinate, coordinate), max_size=most)


masks = hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=9))
quarters = st.integers(-16, 60).map(lambda n: n / 4)
thirds = st.integers(0, 36).map(lambda n: n / 3)
rings = ring_of(quarters, 8)
thousandths = st.integers(-5000, 25000).map(lambda n: n / 1000)

R4 = [(1, 1), (10, 1), (10, 10), (1, 10), (1, 1), (4, 4), (4, 7), (7, 7), (7, 4), (4, 4)]
PENTAGRAM = [(10 * cos(pi / 2 + 4 * pi * k / 5), 10 * sin(pi / 2 + 4 * pi * k / 5)) for k in range(5)]
OUTER_30, HOLE_10 = square(0, 30), square(10, 20)
RINGS: dict[str, tuple[Points, float, float]] = {
    "rectangle": ([(0, 0), (20, 0), (20, 10), (0, 10)], 200, 200),
    "keyhole against": ([*OUTER_30, (0, 0), *[HOLE_10[i] for i in (0, 3, 2, 1, 0)]], 800, 800),
    "keyhole along": ([*OUTER_30, (0, 0), *HOLE_10, HOLE_10[0]], 1000, 800),
    "bow-tie": ([(0, 0), (20, 20), (20, 0), (0, 20)], 0, 200),
    "pentagram": (PENTAGRAM, 146.946313, 77.567675),
    "spike": ([(0, 0), (0, 100), (100, 100), (100, 200), (100, 100), (100, 0)], 10000, 10000),
    "collinear": ([(0, 0), (0, 1), (0, 2)], 0, 0),
    "lines only": ([(4, 4), (3, 4), (1, 4), (4, 4), (1, 2)], 0, 0),
    "closed": ([*square(0, 10), (0, 0)], 100, 100),
    "doubled points": ([(0, 0), (0, 0), (10, 0), (10, 0), (10, 10), (0, 10)], 100, 100),
    "one point": ([(1, 1)], 0, 0),
    "equal points": ([(2, 2)] * 4, 0, 0),
    "two points": ([(0, 0), (20, 0)], 0, 0),
    "nothing": ([], 0, 0),
}
"""Points, absolute vertex-list area, even-odd area."""


class TestAreas:
    @pytest.mark.parametrize("name", RINGS)
    def test_by_vertices_and_by_the_even_odd_rule(self, name: str) -> None:
        ring, by_vertices, even_odd = RINGS[name]
        assert abs(shoelace(ring)) == pytest.approx(by_vertices, abs=5e-7)
        assert even_odd_area(ring) == pytest.approx(even_odd, abs=5e-7)

    def test_a_thin_triangle_keeps_its_area(self) -> None:
        thin = [(10.23, 8.23), (10.23, 8.23), (10.2300001, 8.23), (10.23, 8.2300001)]
        assert even_odd_area(thin) == pytest.approx(5e-15, rel=1e-6)

    @pytest.mark.parametrize("name", RINGS)
    def test_shapely_repairs_these_rings_to_the_same_area(self, name: str) -> None:
        ring, _, even_odd = RINGS[name]
        if len(ring) > 2:
            assert shapely.make_valid(shapely.Polygon(ring)).area == pytest.approx(even_odd, abs=5e-7)

    def test_a_ring_traversed_twice_encloses_nothing_though_shapely_returns_its_face(self) -> None:
        twice = square(0, 10) * 2
        assert shapely.make_valid(shapely.Polygon(twice)).area == 100
        assert (abs(shoelace(twice)), even_odd_area(twice), even_odd_area(square(0, 10) * 3)) == (200, 0, 100)
        assert not fill([twice], GRID).any()
        assert not fill([twice], GRID, rule="union").any()

    def test_a_bridge_through_another_hole_adds_nothing_and_takes_nothing(self) -> None:
        near, far = square(2, 4), [(6, 2), (8, 2), (8, 4), (6, 4)]
        ring = [*square(0, 10), (0, 0), *near, near[0], (0, 0), (0, 3), (6, 3), *far, (6, 3), (0, 3)]
        assert even_odd_area(ring) == 100 - 4 - 4
        assert fill([ring], GRID).sum() == 92

    def test_orientation_is_the_sign_of_the_vertex_list(self) -> None:
        assert (shoelace(square(0, 2)), shoelace(square(0, 2)[::-1])) == (4, -4)

    def test_rings_without_area_are_counted(self) -> None:
        kept, n_skipped = drawable([RINGS[name][0] for name in RINGS])
        assert (len(kept), n_skipped) == (8, 6)

    @given(rings, st.integers(0, 7), st.booleans())
    def test_start_winding_and_closing_do_not_matter(self, ring: Points, start: int, backwards: bool) -> None:
        start = start % len(ring) if ring else 0
        turned = [*ring[start:], *ring[:start]]
        turned = [*turned, *turned[:1]][:: -1 if backwards else 1]
        assert even_odd_area(turned) == pytest.approx(even_odd_area(ring), abs=1e-9)
        assert abs(shoelace(turned)) == pytest.approx(abs(shoelace(ring)), abs=1e-9)
        np.testing.assert_array_equal(fill([turned], (16, 16)), fill([ring], (16, 16)))

    @given(*[st.lists(ring_of(c, 6), max_size=3) for c in (thirds, thirds)], st.booleans())
    def test_areas_in_common_equal_those_in_fractions(
        self, first: list[Points], second: list[Points], shared: bool
    ) -> None:
        second = [*second, *(ring[::-1] for ring in first[:1])] if shared else second
        assert overlap_areas(first, second) == pytest.approx(swept(first, second), abs=1e-11)

    def test_edges_that_almost_coincide_lose_no_face(self) -> None:
        triangle, crossed = [(6, 0), (0, 6), (0, 0), (0, 0)], [(0, 6), (1, 0), (0, 7), (6, 0)]
        both, first_only, second_only = overlap_areas([triangle, crossed], [])
        assert (both, second_only) == (0, 0)
        assert first_only == pytest.approx(18 + 35 / 12)  # clipping with rounded crossings may return 18
        assert overlap_areas([triangle], [crossed]) == pytest.approx((5 / 12, 18 - 5 / 12, 35 / 12))

    @given(st.lists(ring_of(st.floats(-1e50, 1e50), 5), max_size=2), st.lists(ring_of(st.floats(0, 1), 5), max_size=2))
    def test_any_finite_coordinates_give_areas(self, first: list[Points], second: list[Points]) -> None:
        assert all(0 <= area < float("inf") for area in overlap_areas(first, second))

    def test_many_rings_at_once(self) -> None:
        tiles = [[(x, y), (x + 1.5, y), (x + 1.5, y + 1), (x, y + 1)] for x in range(40) for y in range(40)]
        assert overlap_areas(tiles, [square(0, 40)]) == (1600, 20, 0)

    @pytest.mark.parametrize(
        ("points", "named"),
        [
            ([(0, 0), (float("nan"), 1), (1, 1)], "point 2 of 3"),
            ([(0, 0), (1, 1), (1, float("inf"))], "point 3 of 3"),
            ([(0, 0), (1, 1), (1, 1e101)], "point 3 of 3"),
            ([(0, 0, 0), (1, 1, 1)], r"shape \(2, 3\)"),
            ([1.0, 2.0], r"shape \(2,\)"),
            ([(0, 0), (1,)], "pairs of numbers"),
            ([("a", "b")], "pairs of numbers"),
        ],
    )
    def test_what_is_no_ring_is_refused(self, points: ArrayLike, named: str) -> None:
        for use in (as_ring, shoelace, even_odd_area, lambda p: fill([p], GRID)):
            with pytest.raises(MetricInputError, match=named):
                use(points)


class TestFill:
    def test_corners_on_pixel_centres_fill_as_much_as_the_area(self) -> None:
        mask = fill([square(2, 6)], GRID)
        assert mask[2:6, 2:6].all()
        assert mask.sum() == 16

    @pytest.mark.parametrize(("low", "first"), [(1.5, 2), (2.25, 3)])
    def test_between_pixel_centres(self, low: float, first: int) -> None:
        mask = fill([square(low, low + 4)], GRID)
        assert mask[first : first + 4, first : first + 4].all()
        assert mask.sum() == 16

    def test_a_bridge_through_pixel_centres_leaves_no_gap(self) -> None:
        mask = fill([R4], GRID)
        assert mask.sum() == 72
        assert mask[[1, 2, 3], [1, 2, 3]].all()
        assert not mask[4:7, 4:7].any()

    def test_a_ring_within_another_is_a_hole_or_more_of_the_same(self) -> None:
        nested = [square(1, 10), square(4, 7)]
        assert fill(nested, GRID).sum() == 72
        assert fill(nested, GRID, rule="union").sum() == 81

    @pytest.mark.parametrize("backwards", [False, True])
    def test_hole_and_island_in_any_order_and_winding(self, backwards: bool) -> None:
        nested = [square(4.5, 24.5), square(9.5, 19.5), square(12.5, 16.5)]
        against = [ring[:: -1 if backwards and i == 1 else 1] for i, ring in enumerate(nested)]
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)):
            assert fill([against[i] for i in order], (64, 64)).sum() == 316
        assert fill(against[:2], (64, 64)).sum() == 300

    def test_into_slices_of_a_volume_in_either_memory_order(self) -> None:
        ring = [(0.5, -0.5), (2.5, -0.5), (2.5, 1.5), (0.5, 1.5)]
        for order in ("C", "F"):
            volume = np.ones((3, 2, 4), dtype=np.bool_, order=order)  # type: ignore[call-overload]
            plane = volume[1]
            assert fill([ring], (2, 4), out=plane) is plane
            assert volume[1].astype(int).tolist() == [[0, 1, 1, 0], [0, 1, 1, 0]]
            assert fill([], (2, 4), out=volume[0]).sum() == 0
            assert volume[2].all()

    @pytest.mark.parametrize("out", [np.zeros((4, 2), np.bool_), np.zeros((2, 4), np.uint8)])
    def test_a_place_of_another_shape_or_type_is_refused(self, out: NDArray[np.generic]) -> None:
        with pytest.raises(MetricInputError, match=r"out: got (bool|uint8) of shape"):
            fill([], (2, 4), out=out)  # type: ignore[arg-type]

    def test_a_ring_that_leaves_the_image_is_cut_off(self) -> None:
        mask = fill([square(-4, 2.5)], (16, 16))
        assert mask[:3, :3].all()
        assert mask.sum() == 9
        assert fill([square(-1e9, 1e99)], GRID).all()
        assert not fill([square(-9, -2), square(20, 30)], GRID).any()

    def test_shapes_that_share_an_edge_share_no_pixel(self) -> None:
        below, above = [(0, 0), (11, 0), (0, 11)], [(11, 0), (11, 11), (0, 11)]
        both = fill([below], GRID).astype(int) + fill([above], GRID)
        np.testing.assert_array_equal(both, fill([square(0, 11)], GRID))

    def test_no_ring_and_rings_without_area_fill_nothing(self) -> None:
        for found in ([], [[]], [[(3, 3)]], [square(3, 3)], [[(0, 0), (0, 8), (0, 3)]]):
            assert not fill(found, GRID).any()
        assert fill([square(0, 3)], (0, 5)).shape == (0, 5)

    @given(st.lists(rings, max_size=3))
    def test_equals_the_rule_in_fractions(self, found: list[Points]) -> None:
        np.testing.assert_array_equal(fill(found, (11, 13)), exactly_filled(found, (11, 13)))

    @given(st.lists(rings, max_size=3))
    def test_union_is_each_ring_by_itself(self, found: list[Points]) -> None:
        each = [fill([ring], GRID) for ring in found]
        np.testing.assert_array_equal(fill(found, GRID, rule="union"), np.any([np.zeros(GRID, bool), *each], axis=0))

    @given(ring_of(thousandths, 6))
    def test_agrees_with_shapely_away_from_the_edges(self, ring: Points) -> None:
        ring = [*ring, (2.5, 2.5), (17.5, 2.5), (2.5, 17.5)]
        rows, columns = np.indices((20, 20))
        centres = shapely.points(columns, rows)
        far = shapely.distance(centres, shapely.LinearRing(ring)) > 1e-6
        beyond = shapely.linestrings([[(x, y), (100, y + 0.31)] for x, y in zip(columns.flat, rows.flat, strict=True)])
        edges = [shapely.LineString(edge) for edge in zip(ring, [*ring[1:], *ring[:1]], strict=True)]
        crossed = shapely.intersects(beyond[:, None], np.array(edges, dtype=object)[None, :]).sum(axis=1)
        inside = (crossed % 2 == 1).reshape(rows.shape)
        np.testing.assert_array_equal(fill([ring], (20, 20))[far], inside[far])

    def test_a_line_through_pixel_centres_fills_nothing_whatever_its_points(self) -> None:
        for k in range(1, 40):
            assert not fill([[(0, 0), (9, 3), (9 * k / 40, 3 * k / 40)]], GRID).any()

    def test_unknown_rule_and_impossible_shape_are_refused(self) -> None:
        with pytest.raises(MetricInputError, match="even_odd, union"):
            fill([square(0, 2)], GRID, rule="nonzero")  # type: ignore[arg-type]
        with pytest.raises(MetricInputError, match="rows and columns"):
            fill([square(0, 2)], (2, 2, 2))  # type: ignore[arg-type]


class TestTrace:
    def test_a_block_has_four_corners_on_pixel_edges(self) -> None:
        (block,) = trace(fill([square(1.5, 5.5)], GRID))
        assert block.exterior.tolist() == [[1.5, 1.5], [5.5, 1.5], [5.5, 5.5], [1.5, 5.5]]
        assert (block.holes, block.area) == ((), 16)

    def test_a_blob_of_thirty_pixels_keeps_area_and_pixels(self) -> None:
        blob = np.zeros(GRID, dtype=bool)
        blob[2:7, 3:9] = True
        (traced,) = trace(blob)
        assert traced.area == 30
        np.testing.assert_array_equal(fill(traced.rings, GRID), blob)

    def test_image_border_whole_image_and_single_pixels(self) -> None:
        corner = np.zeros((8, 8), dtype=bool)
        corner[:4, :3] = True
        single = np.zeros((8, 8), dtype=bool)
        single[[2, 3, 7], [2, 3, 0]] = True
        for mask, areas in ((corner, [12]), (np.ones((8, 8), bool), [64]), (single, [1, 1, 1])):
            traced = trace(mask)
            assert [polygon.area for polygon in traced] == areas
            assert all(len(polygon.exterior) == 4 for polygon in traced)
            np.testing.assert_array_equal(fill(rings_of(traced), (8, 8)), mask)

    def test_holes_belong_to_the_piece_around_them(self) -> None:
        traced = trace(
            pixels(
                "#####.###",
                "#...#.#.#",
                "#.#.#.###",
                "#...#....",
                "#####.###",
            )
        )
        assert [(polygon.area, len(polygon.holes)) for polygon in traced] == [(16, 1), (8, 1), (1, 0), (3, 0)]
        assert [shoelace(hole) for polygon in traced for hole in polygon.holes] == [-9, -1]

    @pytest.mark.parametrize(
        ("rows", "holes"),
        [
            (("####", "#.##", "##.#", "####"), 2),  # background touching at a corner: two holes
            (("###.", "#.##", "####"), 1),
            (("####", "#.#.", "####"), 1),
            ((".###", "##.#", "#.##", "####"), 2),
            (("###", "#.#", "##."), 1),  # the hole touches the outside at a corner
        ],
    )
    def test_touching_corners_within_one_piece_give_valid_rings(self, rows: tuple[str, ...], holes: int) -> None:
        (polygon,) = trace(pixels(*rows))
        assert len(polygon.holes) == holes
        assert shapely.is_valid(shapely.Polygon(polygon.exterior, polygon.holes))

    def test_an_empty_mask_has_none(self) -> None:
        assert trace(np.zeros((3, 4), dtype=bool)) == []
        assert trace(np.zeros((0, 4), dtype=bool)) == []

    def test_a_volume_is_refused(self) -> None:
        with pytest.raises(MetricInputError, match="3 axes"):
            trace(np.zeros((2, 2, 2), dtype=bool))

    @given(masks)
    def test_filling_what_was_traced_gives_the_mask_back(self, mask: Mask) -> None:
        traced = trace(mask)
        np.testing.assert_array_equal(fill(rings_of(traced), mask.shape), mask)
        keyholes = [polygon.keyhole() for polygon in traced]
        np.testing.assert_array_equal(fill(keyholes, mask.shape), mask)
        np.testing.assert_array_equal(fill(keyholes, mask.shape, rule="union"), mask)

    @given(masks)
    def test_areas_are_pixel_counts_by_every_measure(self, mask: Mask) -> None:
        traced = trace(mask)
        assert sum(polygon.area for polygon in traced) == mask.sum()
        for polygon in traced:
            ring = polygon.keyhole()
            assert (shoelace(ring), even_odd_area(ring)) == (polygon.area, polygon.area)

    @given(masks)
    def test_polygons_are_valid_pass_each_vertex_once_and_do_not_overlap(self, mask: Mask) -> None:
        traced = trace(mask)
        shapes = [shapely.Polygon(polygon.exterior, polygon.holes) for polygon in traced]
        assert all(map(shapely.is_valid, shapes))
        assert shapely.union_all(shapes).area == mask.sum()
        for ring in rings_of(traced):
            assert len(np.unique(ring, axis=0)) == len(ring)
            steps = np.roll(ring, -1, axis=0) - ring
            assert ((steps == 0).sum(axis=1) == 1).all()
            assert (np.count_nonzero(steps[:, 0]) * 2) == len(ring)  # corners only: steps alternate

    @given(masks)
    def test_turning_the_mask_turns_the_areas(self, mask: Mask) -> None:
        areas = sorted((polygon.area, len(polygon.holes)) for polygon in trace(mask))
        assert sorted((polygon.area, len(polygon.holes)) for polygon in trace(mask[::-1].T)) == areas


class TestKeyhole:
    def test_without_holes_the_exterior_stays(self) -> None:
        assert keyhole([*square(0, 4), (0, 0)], []).tolist() == [list(p) for p in square(0, 4)]
        assert keyhole(square(0, 4), [[(1, 1), (2, 2)]]).tolist() == [list(p) for p in square(0, 4)]

    @pytest.mark.parametrize("exterior_turn", [1, -1])
    @pytest.mark.parametrize("hole_turn", [1, -1])
    def test_any_winding_gives_both_areas(self, exterior_turn: int, hole_turn: int) -> None:
        ring = keyhole(square(4.5, 24.5)[::exterior_turn], [square(9.5, 19.5)[::hole_turn]])
        assert (abs(shoelace(ring)), even_odd_area(ring)) == (300, 300)
        assert fill([ring], (64, 64)).sum() == 300

    def test_several_holes_in_a_row_and_oblique_edges(self) -> None:
        exterior = [(0.0, 15.0), (15.0, 0.0), (40.0, 15.0), (15.0, 30.0)]
        holes = [[(x, 15), (x + 2, 13), (x + 4, 15), (x + 2, 17)] for x in (6, 14, 22)]
        ring = keyhole(exterior, holes)
        expected = shapely.Polygon(exterior, holes).area
        assert (abs(shoelace(ring)), even_odd_area(ring)) == pytest.approx((expected, expected))

    def test_a_hole_that_does_not_lie_inside_is_refused(self) -> None:
        with pytest.raises(MetricInputError, match="does not lie inside"):
            keyhole(square(0, 4), [square(-3, -2)])
