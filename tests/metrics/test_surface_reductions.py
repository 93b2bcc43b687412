"""Average distance, surface dice and the pair at a percentile, against values that can be worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.hausdorff import PercentilePair, assd, hausdorff, nsd, percentile_pair
from medotter_viewer.metrics.surface_distances import SurfaceDistances, surface_distances

Mask = NDArray[np.bool_]
Case = tuple[Mask, Mask, tuple[float, ...]]
PERCENTILES = st.one_of(st.sampled_from([0.0, 50.0, 95.0, 99.0, 100.0]), st.floats(0, 100))


def box(shape: tuple[int, ...], *ranges: tuple[int, int]) -> Mask:
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(slice(*r) for r in ranges)] = True
    return mask


@st.composite
def mask_pairs(draw: st.DrawFn) -> Case:
    """Two masks of one shape, neither empty, and a spacing."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6))
    gt, pred = draw(hnp.arrays(bool, shape)), draw(hnp.arrays(bool, shape))
    assume(gt.any() and pred.any())
    spacing = draw(st.tuples(*[st.sampled_from([0.5, 0.7, 1.0, 2.0, 5.0])] * len(shape)))
    return gt, pred, spacing


SQUARE = box((40, 40), (5, 15), (5, 15))
PIXEL = SQUARE | box((40, 40), (35, 36), (35, 36))
STRAY = SQUARE | box((40, 40), (30, 34), (30, 34))
CUBE, MOVED_CUBE = box((12,) * 3, (2, 7), (2, 7), (2, 7)), box((12,) * 3, (4, 9), (2, 7), (2, 7))
POINT, MOVED_POINT = box((8,) * 3, (1, 2), (4, 5), (4, 5)), box((8,) * 3, (4, 5), (4, 5), (4, 5))
HALF_GT, HALF_PRED = box((20, 20), (2, 18), (2, 18)), box((20, 20), (2, 10), (2, 18))
SLAB, MOVED_SLAB = box((4, 30, 30), (1, 2), (10, 20), (10, 20)), box((4, 30, 30), (2, 3), (10, 20), (10, 20))
# The 12 border pixels of the stray square, each nearest to the corner (14, 14).
STRAY_MM = [math.hypot(r, c) for r in range(16, 20) for c in range(16, 20) if {r, c} & {16, 19}]

# Each surface of the shifted cube: 25 voxels at 4 mm, 16 at 2, then of the inner 9 of a face 8 at 1 and 1 at 2.
# Half: the lower edge has 16 pixels at 8 mm, two columns 1 to 7; the prediction's cut 2, 4, 6 twice and 7 eight times.
WORKED = [
    pytest.param(CUBE, MOVED_CUBE, (2, 1, 1), 142 / 98, 142 / 98, 4.0, 1.0, 56 / 98, id="E1 shifted cube"),
    pytest.param(
        SQUARE, PIXEL, (1, 1), 21 * 2**0.5 / 73, 21 * 2**0.5 / 74, 21 * 2**0.5, 1.0, 72 / 73, id="E2 stray pixel"
    ),
    pytest.param(
        SQUARE, STRAY, (1, 1), sum(STRAY_MM) / 84, sum(STRAY_MM) / 96, 19 * 2**0.5, 25.0, 79 / 84, id="E3 stray square"
    ),
    pytest.param(POINT, MOVED_POINT, (0.5, 1, 1), 1.5, 1.5, 1.5, 1.4, 0.0, id="E4 single voxels"),
    pytest.param(HALF_GT, HALF_PRED, (1, 2), 264 / 104, (184 / 60 + 80 / 44) / 2, 8.0, 2.0, 66 / 104, id="E5 half"),
    pytest.param(STRAY, STRAY, (1, 1), 0.0, 0.0, 0.0, 0.0, 1.0, id="E6 identical"),
    pytest.param(SLAB, MOVED_SLAB, (5, 0.7, 0.7), 5.0, 5.0, 5.0, 4.9, 0.0, id="E7 one slice off"),
]


class TestWorkedValues:
    @pytest.mark.parametrize(("gt", "pred", "spacing", "pooled", "mean", "largest", "tolerance", "share"), WORKED)
    def test_all_reductions(
        self,
        gt: Mask,
        pred: Mask,
        spacing: tuple[float, ...],
        pooled: float,
        mean: float,
        largest: float,
        tolerance: float,
        share: float,
    ) -> None:
        for one, other in ((gt, pred), (pred, gt)):
            found = surface_distances(one, other, spacing=spacing)
            assert assd(found) == pytest.approx(pooled, rel=1e-12)
            assert assd(found, variant="mean") == pytest.approx(mean, rel=1e-12)
            assert hausdorff(found, percentile=100) == pytest.approx(largest, rel=1e-12)
            assert nsd(found, tolerance) == pytest.approx(share, rel=1e-12)
            assert nsd(found, largest) == 1.0

    def test_a_distance_equal_to_the_tolerance_is_within(self) -> None:
        found = surface_distances(POINT, MOVED_POINT, spacing=(0.5, 1, 1))
        assert [nsd(found, t) for t in (0, 1.4999, 1.5, 2, math.inf)] == [0, 0, 1, 1, 1]


class TestProperties:
    @given(mask_pairs(), st.floats(0, 20), st.floats(0, 20))
    def test_surface_dice_grows_with_the_tolerance_up_to_one(self, case: Case, a: float, b: float) -> None:
        gt, pred, spacing = case
        found = surface_distances(gt, pred, spacing=spacing)
        low, high = sorted((a, b))
        assert 0 <= nsd(found, low) <= nsd(found, high) <= 1
        assert nsd(found, hausdorff(found, percentile=100)) == 1

    @given(mask_pairs())
    def test_averages_lie_between_nothing_and_the_hausdorff_distance(self, case: Case) -> None:
        gt, pred, spacing = case
        found, turned = surface_distances(gt, pred, spacing=spacing), surface_distances(pred, gt, spacing=spacing)
        for variant in ("pooled", "mean"):
            value = assd(found, variant=variant)
            assert 0 <= value <= hausdorff(found, percentile=100) * (1 + 1e-12)
            assert assd(turned, variant=variant) == pytest.approx(value, rel=1e-12)
            assert assd(surface_distances(gt, gt, spacing=spacing), variant=variant) == 0

    @given(mask_pairs(), PERCENTILES)
    def test_the_pair_is_one_of_two_surface_voxels_that_far_apart(self, case: Case, percentile: float) -> None:
        gt, pred, spacing = case
        found = surface_distances(gt, pred, spacing=spacing)
        pair = percentile_pair(found, percentile)
        assert list(pair.gt_voxel) in found.gt_index.tolist()
        assert list(pair.pred_voxel) in found.pred_index.tolist()
        apart = np.linalg.norm((np.array(pair.gt_voxel) - pair.pred_voxel) * spacing)
        assert pair.distance_mm == pytest.approx(apart, rel=1e-12)

    @given(mask_pairs(), PERCENTILES)
    def test_the_pair_is_at_the_upper_rank_of_the_larger_direction(self, case: Case, percentile: float) -> None:
        gt, pred, spacing = case
        found = surface_distances(gt, pred, spacing=spacing)
        pair = percentile_pair(found, percentile)
        way = found.gt_to_pred if pair.direction == "gt_to_pred" else found.pred_to_gt
        value = hausdorff(found, percentile=percentile)
        assert float(np.percentile(way, percentile)) == value
        assert pair.distance_mm >= value * (1 - 1e-9)
        assert (way < pair.distance_mm).sum() <= math.ceil(percentile / 100 * (way.size - 1))
        if percentile == 100:
            assert pair.distance_mm == value


def ways(gt_to_pred: list[float], pred_to_gt: list[float]) -> SurfaceDistances:
    """Distances of voxels on one line, each nearest to voxel 0 of the other."""
    index = [np.arange(len(way), dtype=np.intp)[:, None] for way in (gt_to_pred, pred_to_gt)]
    nearest = [np.zeros(len(way), dtype=np.intp) for way in (gt_to_pred, pred_to_gt)]
    return SurfaceDistances(*index, np.array(gt_to_pred), np.array(pred_to_gt), *nearest)


class TestPercentilePair:
    def test_hausdorff_distance_of_the_stray_square(self) -> None:
        found = surface_distances(SQUARE, STRAY, spacing=(1, 1))
        expected = PercentilePair("pred_to_gt", (14, 14), (33, 33), pytest.approx(19 * 2**0.5))
        assert percentile_pair(found, 100) == expected
        turned = surface_distances(STRAY, SQUARE, spacing=(1, 1))
        assert percentile_pair(turned, 100) == PercentilePair("gt_to_pred", (33, 33), (14, 14), expected.distance_mm)

    def test_of_equals_the_first_voxel_and_the_first_direction(self) -> None:
        found = surface_distances(HALF_GT, HALF_PRED, spacing=(1, 2))
        assert percentile_pair(found, 100) == ("gt_to_pred", (17, 2), (9, 2), 8.0)
        same = surface_distances(SQUARE, SQUARE, spacing=(1, 1))
        assert percentile_pair(same) == ("gt_to_pred", (5, 5), (5, 5), 0.0)

    def test_between_two_ranks_it_is_the_upper(self) -> None:
        # Rank 0.95 * 19 = 18.05: the percentile is 3.2, and 7 belongs to a voxel.
        found = ways([0.0] * 18 + [3.0, 7.0], [0.0] * 20)
        assert hausdorff(found) == pytest.approx(3.2)
        assert percentile_pair(found) == ("gt_to_pred", (19,), (0,), 7.0)

    def test_a_whole_rank_is_not_lifted_by_rounding(self) -> None:
        # 20 n + 1 distances: the 95th percentile is rank 19 n exactly.
        for n in range(1, 300):
            found = ways([float(i) for i in range(20 * n + 1)], [0.0])
            assert percentile_pair(found).distance_mm == 19 * n

    def test_the_pair_comes_from_the_direction_that_decides(self) -> None:
        found = ways([9.0] + [0.0] * 99, [4.0] * 10)
        assert percentile_pair(found) == ("pred_to_gt", (0,), (0,), 4.0)
        assert percentile_pair(found, 100) == ("gt_to_pred", (0,), (0,), 9.0)


class TestRefusals:
    @pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
    def test_a_tolerance_that_is_no_length(self, tolerance: float) -> None:
        with pytest.raises(MetricInputError, match="tolerance_mm: got"):
            nsd(ways([0.0], [0.0]), tolerance)

    def test_an_average_of_another_name(self) -> None:
        with pytest.raises(MetricInputError, match="expected pooled or mean"):
            assd(ways([0.0], [0.0]), variant="directed_max")

    @pytest.mark.parametrize("percentile", [-1, 101, float("nan")])
    def test_a_percentile_outside_its_range(self, percentile: float) -> None:
        with pytest.raises(MetricInputError, match="percentile"):
            percentile_pair(ways([0.0], [0.0]), percentile)

    @pytest.mark.parametrize("spacing", ["ab", [None, 1], [1, [2]], (1e13, 1), (1e-200, 1)])
    def test_a_spacing_that_is_no_length(self, spacing: Any) -> None:
        with pytest.raises(MetricInputError, match="spacing: got"):
            surface_distances(SQUARE, SQUARE, spacing=spacing)
