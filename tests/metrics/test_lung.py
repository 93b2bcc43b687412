"""Areas, volumes and scores of contours, against the values of the contest's own scorers."""

from __future__ import annotations

from itertools import pairwise
from math import exp, nan, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lung_scans import EXPECTED, SCANS, TEN, Points, Slices, box
from numpy.typing import ArrayLike

from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import shoelace, trace
from medotter_viewer.metrics.lung import OVERLAPS, Overlap, ScanVolumes, SliceAreas, scan_volumes, slice_areas


def values(areas: SliceAreas) -> tuple[float, float, float]:
    return areas.tp_mm2, areas.fp_mm2, areas.fn_mm2


def scored(slices: Slices, overlap: Overlap) -> ScanVolumes:
    return scan_volumes([(slice_areas(gt, pred, overlap=overlap), dz) for gt, pred, dz in slices])


class TestContest:
    @pytest.mark.parametrize("overlap", OVERLAPS)
    @pytest.mark.parametrize("name", SCANS)
    def test_volumes_and_score(self, name: str, overlap: Overlap) -> None:
        volumes = scored(SCANS[name], overlap)
        *expected, score = EXPECTED[overlap][name]
        assert (volumes.tp_mm3, volumes.fp_mm3, volumes.fn_mm3) == pytest.approx(tuple(expected), abs=1e-9)
        assert volumes.score() == pytest.approx(score, abs=5e-7)

    def test_overall_score_of_the_first_round(self) -> None:
        scores = [scored(SCANS[f"T{k:02}"], "sum").score() for k in range(1, 11)]
        assert 1e6 * np.mean(scores) == pytest.approx(540313.919535, abs=1e-6)

    @pytest.mark.parametrize("overlap", OVERLAPS)
    @pytest.mark.parametrize("name", SCANS)
    def test_coordinates_on_a_pixel_grid_away_from_zero_change_nothing(self, name: str, overlap: Overlap) -> None:
        pixel, origin = 0.976562, -250.0

        def placed(rings: list[Points]) -> list[Points]:  # to pixels and back, as the contest's files do
            return [[(((x - origin) / pixel) * pixel + origin, y) for x, y in ring] for ring in rings]

        volumes = scored([(placed(gt), placed(pred), dz) for gt, pred, dz in SCANS[name]], overlap)
        assert volumes.score() == pytest.approx(EXPECTED[overlap][name][3], abs=5e-7)

    def test_duplicates_and_aliases_are_sets_not_lists(self) -> None:
        gt, pred = [box(0, 0, 10, 10), box(5, 0, 15, 10)], [box(0, 0, 15, 10)] * 2 + [box(2, 2, 4, 4)]
        assert values(slice_areas(gt, pred)) == (150, 0, 0)
        assert values(slice_areas(gt, pred, overlap="union_if_both")) == (150, 0, 0)
        assert values(slice_areas(gt, pred, overlap="sum")) == (150, 154, 50)


class TestSliceAreas:
    @pytest.mark.parametrize("hole", [(9.5, 19.5), (19.5, 9.5)])
    def test_a_keyhole_of_either_winding_is_a_hole_and_a_second_ring_is_not(self, hole: tuple[float, float]) -> None:
        low, high = hole
        outer, inner = box(4.5, 4.5, 24.5, 24.5), box(low, 9.5, high, 19.5)
        keyhole = [*outer, outer[0], *inner, inner[0]]
        assert slice_areas([keyhole], []).fn_mm2 == 300
        assert slice_areas([outer, inner], []).fn_mm2 == 400

    def test_rings_without_area_add_nothing(self) -> None:
        useless: list[Points] = [
            [],
            [(1, 1)],
            [(2, 2)] * 4,
            [(0, 0), (0, 1), (0, 2)],
            [(4, 4), (3, 4), (1, 4), (4, 4), (1, 2)],
            TEN * 2,
        ]
        assert values(slice_areas([TEN], [TEN, *useless])) == (100, 0, 0)
        assert values(slice_areas(useless, useless)) == (0, 0, 0)

    def test_a_spike_adds_nothing(self) -> None:
        spike = [(0, 0), (0, 100), (100, 100), (100, 200), (100, 100), (100, 0)]
        assert values(slice_areas([spike], [box(0, 0, 100, 100)])) == (10000, 0, 0)

    def test_no_ring_has_no_area(self) -> None:
        for overlap in OVERLAPS:
            assert values(slice_areas([], [], overlap=overlap)) == (0, 0, 0)

    def test_sums_follow_the_vertex_list_below_zero_but_not_into_a_score_above_one(self) -> None:
        lobes = [(0, 0), (12, 12), (12, 0), (0, 10)]  # both lobes have area, but the list counts one against the other
        united, summed = (slice_areas([box(0, 0, 12, 12)], [lobes], overlap=o) for o in ("union", "sum"))
        assert summed.tp_mm2 == united.tp_mm2 > abs(shoelace(lobes)) == 12
        assert summed.fp_mm2 == pytest.approx(12 - united.tp_mm2)
        assert ScanVolumes(100, -50, 0).score() == 1

    def test_rounding_never_makes_an_area_negative(self) -> None:
        turned = [(3 * np.cos(t), 5 * np.sin(t)) for t in np.linspace(0.1, 6.2, 57)]
        for shift in np.linspace(0, 1e-13, 5):
            moved = [(x + shift, y) for x, y in turned]
            for overlap in OVERLAPS:
                assert min(values(slice_areas([turned], [moved, moved], overlap=overlap))) >= 0

    @pytest.mark.parametrize("side", ["gt", "pred"])
    @pytest.mark.parametrize("overlap", OVERLAPS)
    def test_nan_is_refused(self, side: str, overlap: Overlap) -> None:
        rings: dict[str, list[ArrayLike]] = {"gt": [TEN], "pred": [TEN]}
        rings[side] = [TEN, [(0, 0), (nan, 1), (1, 1)]]
        with pytest.raises(MetricInputError, match="point 2 of 3"):
            slice_areas(rings["gt"], rings["pred"], overlap=overlap)

    def test_unknown_overlap_is_refused(self) -> None:
        with pytest.raises(MetricInputError, match="union, sum, union_if_both"):
            slice_areas([], [], overlap="both")  # type: ignore[arg-type]


coordinates = st.one_of(st.integers(0, 12).map(float), st.floats(0, 12))
some_rings = st.lists(st.lists(st.tuples(coordinates, coordinates), max_size=6), max_size=3)


class TestProperties:
    @given(some_rings, some_rings)
    def test_union_areas_are_those_of_sets(self, gt: list[Points], pred: list[Points]) -> None:
        areas = slice_areas(gt, pred)
        mirrored = slice_areas(pred, gt)
        assert values(areas) == pytest.approx((mirrored.tp_mm2, mirrored.fn_mm2, mirrored.fp_mm2), abs=1e-6)
        again = slice_areas(gt * 2, pred * 2)
        assert values(again) == pytest.approx(values(areas), abs=1e-6)
        assert min(values(areas)) >= 0

    @given(some_rings, some_rings, st.sampled_from(OVERLAPS), st.randoms(use_true_random=False))
    def test_order_start_and_winding_of_rings_do_not_matter(
        self, gt: list[Points], pred: list[Points], overlap: Overlap, random: np.random.RandomState
    ) -> None:
        def turned(rings: list[Points]) -> list[Points]:
            found = []
            for ring in rings:
                start = random.randint(0, 5) % max(1, len(ring))
                found.append([*ring[start:], *ring[:start]][:: random.choice([1, -1])])
            random.shuffle(found)
            return found

        expected, areas = slice_areas(gt, pred, overlap=overlap), slice_areas(turned(gt), turned(pred), overlap=overlap)
        if overlap == "union":  # else a sum that is 0 up to rounding decides whether a side counts as empty
            assert values(areas) == pytest.approx(values(expected), abs=1e-6)
        assert 0 <= scan_volumes([(areas, 2.5)]).score() <= 1

    @given(st.lists(st.booleans(), min_size=36, max_size=36), st.lists(st.booleans(), min_size=36, max_size=36))
    def test_traced_masks_score_like_their_pixels(self, gt: list[bool], pred: list[bool]) -> None:
        g, p = np.reshape(gt, (6, 6)), np.reshape(pred, (6, 6))
        areas = slice_areas(*([polygon.keyhole() for polygon in trace(mask)] for mask in (g, p)))
        assert values(areas) == ((g & p).sum(), (p & ~g).sum(), (g & ~p).sum())

    @given(*[st.floats(0, 1e12)] * 3)
    def test_score_is_a_fraction(self, tp: float, fp: float, fn: float) -> None:
        score = ScanVolumes(tp, fp, fn).score()
        assert 0 <= score <= 1
        assert tp > 0 or score == 0
        assert not (tp > 0 and fp == fn == 0) or score == 1


class TestScore:
    @pytest.mark.parametrize(
        ("tp", "fp", "fn", "expected"),
        [(1000, 0, 1000, 0.532450448), (30000, 3000, 3510.3216, 0.841884192), (1e-9, 0, 100, 0), (500, 0, 0, 1)],
    )
    def test_formula(self, tp: float, fp: float, fn: float, expected: float) -> None:
        assert ScanVolumes(tp, fp, fn).score() == pytest.approx(expected, abs=5e-10)

    def test_terms(self) -> None:
        volumes = ScanVolumes(250, 10, 250)
        assert (volumes.t_mm3, volumes.e_mm3) == (500, 510)
        assert volumes.a_mm2 == pytest.approx((36 * pi * 500**2) ** (1 / 3))
        expected = exp(-(510 / 500 + 510 / (3 * volumes.a_mm2)) / 2)
        assert volumes.score(error_length_mm=3) == pytest.approx(expected)

    @pytest.mark.parametrize("volumes", [(0, 0, 0), (0, 10, 0), (0, 0, 10), (0, 10, 10)])
    def test_without_true_positives_it_is_zero_and_the_error_is_not_defined(self, volumes: tuple[float, ...]) -> None:
        found = ScanVolumes(*volumes)
        assert (found.score(), found.e_mm3) == (0, None)

    def test_tiny_volumes_are_no_division_by_zero(self) -> None:
        assert ScanVolumes(1e-200, 0, 0).score() == 1
        assert ScanVolumes(1e-300, 0, 1e10).score() == 0

    def test_it_falls_with_every_error(self) -> None:
        for field in (1, 2):
            scores = [ScanVolumes(*[(1000, e, 0), (1000, 0, e)][field - 1]).score() for e in (0, 1, 10, 100, 1000)]
            assert all(a > b for a, b in pairwise(scores))

    @pytest.mark.parametrize("length", [0, -1, nan, float("inf")])
    def test_a_length_that_is_none_is_refused(self, length: float) -> None:
        with pytest.raises(MetricInputError, match="positive number of mm"):
            ScanVolumes(1, 0, 0).score(error_length_mm=length)

    @pytest.mark.parametrize("thickness", [0, -1, nan, float("inf")])
    def test_a_thickness_that_is_none_is_refused(self, thickness: float) -> None:
        with pytest.raises(MetricInputError, match="positive number of mm"):
            scan_volumes([(SliceAreas(1, 0, 0), thickness)])

    def test_no_slice_has_no_volume(self) -> None:
        assert scan_volumes([]) == ScanVolumes(0, 0, 0)
