"""Surfaces against scipy's erosion, distances against all pairs, Hausdorff distances against worked values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial.distance import cdist, directed_hausdorff

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.surface import bounding_box, surface_index, surface_voxels
from medotter_viewer.metrics.surface_distances import SurfaceDistances, surface_distances

Mask = NDArray[np.bool_]
VARIANTS = ("directed_max", "pooled", "mean")
MASKS = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=7))


def box(shape: tuple[int, ...], *ranges: tuple[int, int]) -> Mask:
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(slice(*r) for r in ranges)] = True
    return mask


def hd(
    gt: Mask, pred: Mask, spacing: tuple[float, ...], percentile: float = 95.0, variant: str = "directed_max"
) -> float:
    return hausdorff(surface_distances(gt, pred, spacing=spacing), percentile=percentile, variant=variant)


@st.composite
def mask_pairs(draw: st.DrawFn) -> tuple[Mask, Mask, tuple[float, ...]]:
    """Two masks of one shape, neither empty, and a spacing."""
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=6))
    gt, pred = draw(hnp.arrays(bool, shape)), draw(hnp.arrays(bool, shape))
    assume(gt.any() and pred.any())
    spacing = draw(st.tuples(*[st.sampled_from([0.5, 0.7, 1.0, 2.0, 5.0])] * len(shape)))
    return gt, pred, spacing


class TestSurfaceVoxels:
    @given(MASKS)
    def test_equals_mask_without_its_erosion(self, mask: Mask) -> None:
        before = mask.copy()
        np.testing.assert_array_equal(surface_voxels(mask), mask ^ ndimage.binary_erosion(mask))
        np.testing.assert_array_equal(mask, before)

    @given(MASKS)
    def test_index_lists_the_surface_of_the_whole_array(self, mask: Mask) -> None:
        expected = np.argwhere(mask ^ ndimage.binary_erosion(mask))
        np.testing.assert_array_equal(surface_index(mask), expected)

    @pytest.mark.parametrize(
        ("mask", "n"),
        [
            pytest.param(box((10, 10), (0, 5), (0, 10)), 26, id="rows 0 to 4 of a 10 x 10 image"),
            pytest.param(np.ones((5, 5), dtype=bool), 16, id="full image: its border"),
            pytest.param(np.ones((4, 4, 4), dtype=bool), 64 - 8, id="full volume: its border"),
            pytest.param(box((9, 9, 9), (4, 5), (4, 5), (4, 5)), 1, id="single voxel"),
            pytest.param(np.ones((1, 6, 6), dtype=bool), 36, id="one slice: all of it"),
            pytest.param(box((12,) * 3, (2, 7), (2, 7), (2, 7)), 125 - 27, id="cube of 5"),
            pytest.param(np.zeros((3, 3), dtype=bool), 0, id="nothing"),
        ],
    )
    def test_number_of_surface_voxels(self, mask: Mask, n: int) -> None:
        assert surface_voxels(mask).sum() == n
        assert len(surface_index(mask)) == n

    def test_a_diagonal_gap_does_not_make_a_surface(self) -> None:
        # Only face neighbours count: the centre's neighbours across corners are outside, and it stays inside.
        cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)
        assert not surface_voxels(cross)[1, 1]
        assert surface_voxels(cross).sum() == 4


class TestBoundingBox:
    def test_smallest_box(self) -> None:
        mask = np.zeros((5, 6, 7), dtype=bool)
        mask[1, 2, 3] = mask[3, 2, 6] = True
        assert bounding_box(mask) == (slice(1, 4), slice(2, 3), slice(3, 7))

    def test_nothing_has_no_box(self) -> None:
        assert bounding_box(np.zeros((3, 4), dtype=bool)) is None
        assert bounding_box(np.zeros((0, 4), dtype=bool)) is None

    @given(MASKS)
    def test_holds_all_and_every_side_touches(self, mask: Mask) -> None:
        found = bounding_box(mask)
        if found is None:
            assert not mask.any()
            return
        assert mask[found].sum() == mask.sum()
        for axis, side in enumerate(found):
            assert mask.take(side.start, axis=axis).any()
            assert mask.take(side.stop - 1, axis=axis).any()


E2_GT = box((40, 40), (5, 15), (5, 15))
E2_PRED = E2_GT | box((40, 40), (35, 36), (35, 36))
E3_PRED = E2_GT | box((40, 40), (30, 34), (30, 34))
CUBE, MOVED_CUBE = box((12,) * 3, (2, 7), (2, 7), (2, 7)), box((12,) * 3, (4, 9), (2, 7), (2, 7))
POINT, MOVED_POINT = box((8,) * 3, (1, 2), (4, 5), (4, 5)), box((8,) * 3, (4, 5), (4, 5), (4, 5))
HALF_GT, HALF_PRED = box((20, 20), (2, 18), (2, 18)), box((20, 20), (2, 10), (2, 18))
SLAB, MOVED_SLAB = box((4, 30, 30), (1, 2), (10, 20), (10, 20)), box((4, 30, 30), (2, 3), (10, 20), (10, 20))

# gt, pred, spacing, directed_max, pooled, mean, Hausdorff distance, dice
WORKED = [
    pytest.param(CUBE, MOVED_CUBE, (2, 1, 1), 4.0, 4.0, 4.0, 4.0, 0.6, id="E1 shifted cube"),
    pytest.param(E2_GT, E2_PRED, (1, 1), 0.0, 0.0, 0.0, 29.698485, 0.995025, id="E2 stray pixel"),
    pytest.param(E2_GT, E3_PRED, (1, 1), 25.935412, 25.396756, 12.967706, 26.870058, 0.925926, id="E3 stray square"),
    pytest.param(POINT, MOVED_POINT, (0.5, 1, 1), 1.5, 1.5, 1.5, 1.5, 0.0, id="E4 single voxels"),
    pytest.param(HALF_GT, HALF_PRED, (1, 2), 8.0, 8.0, 7.5, 8.0, 0.666667, id="E5 half"),
    pytest.param(E3_PRED, E3_PRED, (1, 1), 0.0, 0.0, 0.0, 0.0, 1.0, id="E6 identical"),
    pytest.param(SLAB, MOVED_SLAB, (5, 0.7, 0.7), 5.0, 5.0, 5.0, 5.0, 0.0, id="E7 one slice off"),
]


class TestWorkedValues:
    @pytest.mark.parametrize(("gt", "pred", "spacing", "largest", "pooled", "mean", "hd100", "dice"), WORKED)
    def test_all_definitions(
        self,
        gt: Mask,
        pred: Mask,
        spacing: tuple[float, ...],
        largest: float,
        pooled: float,
        mean: float,
        hd100: float,
        dice: float,
    ) -> None:
        expected = dict(zip(VARIANTS, (largest, pooled, mean), strict=True))
        for variant, value in expected.items():
            assert hd(gt, pred, spacing, variant=variant) == pytest.approx(value, abs=1e-6)
            assert hd(pred, gt, spacing, variant=variant) == pytest.approx(value, abs=1e-6)
        assert hd(gt, pred, spacing, percentile=100) == pytest.approx(hd100, abs=1e-6)
        assert 2 * (gt & pred).sum() / (gt.sum() + pred.sum()) == pytest.approx(dice, abs=1e-6)

    def test_directions_of_the_stray_square(self) -> None:
        found = surface_distances(E2_GT, E3_PRED, spacing=(1, 1))
        assert (len(found.gt_to_pred), len(found.pred_to_gt)) == (36, 48)
        assert np.percentile(found.gt_to_pred, 95) == 0
        assert np.percentile(found.pred_to_gt, 95) == pytest.approx(25.935412, abs=1e-6)

    def test_spacing_in_the_wrong_axis_order_gives_another_number(self) -> None:
        assert hd(SLAB, MOVED_SLAB, (0.7, 0.7, 5)) == pytest.approx(0.7)
        assert hd(SLAB, MOVED_SLAB, (5, 0.7, 0.7)) == pytest.approx(5.0)


def distances(gt_to_pred: list[float], pred_to_gt: list[float]) -> SurfaceDistances:
    none = np.zeros((0, 2), dtype=np.intp)
    return SurfaceDistances(none, none, np.array(gt_to_pred), np.array(pred_to_gt), none[:, 0], none[:, 0])


class TestPercentiles:
    def test_ranks_are_interpolated_linearly(self) -> None:
        # Rank 0.95 * 19 = 18.05 of 18 zeros, 3 and 7: 3 + 0.05 * 4.
        one = distances([0.0] * 18 + [3.0, 7.0], [0.0] * 20)
        assert hausdorff(one) == pytest.approx(3.2)
        assert hausdorff(one, variant="mean") == pytest.approx(1.6)
        # Together rank 0.95 * 39 = 37.05 of 38 zeros, 3 and 7: 0.05 * 3.
        assert hausdorff(one, variant="pooled") == pytest.approx(0.15)
        assert hausdorff(one, percentile=50) == 0

    def test_the_order_of_the_distances_has_no_meaning(self) -> None:
        assert hausdorff(distances([7.0] + [0.0] * 18 + [3.0], [0.0])) == pytest.approx(3.2)

    def test_pooled_is_no_lower_bound_of_the_larger_direction(self) -> None:
        both = distances([0.0, 100.0], [0.0, 100.0])
        assert hausdorff(both) == pytest.approx(95.0)
        assert hausdorff(both, variant="pooled") == pytest.approx(100.0)

    @pytest.mark.parametrize("percentile", [-0.1, 100.1, float("nan")])
    def test_a_percentile_outside_0_to_100_is_refused(self, percentile: float) -> None:
        with pytest.raises(MetricInputError, match="percentile"):
            hausdorff(distances([1.0], [1.0]), percentile=percentile)

    def test_an_unknown_variant_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(MetricInputError, match=r"'max'.*directed_max, pooled or mean"):
            hausdorff(distances([1.0], [1.0]), variant="max")


class TestDistances:
    @given(mask_pairs())
    def test_equal_the_smallest_of_all_pairs(self, case: tuple[Mask, Mask, tuple[float, ...]]) -> None:
        gt, pred, spacing = case
        found = surface_distances(gt, pred, spacing=spacing)
        gt_mm, pred_mm = (np.argwhere(m ^ ndimage.binary_erosion(m)) * np.array(spacing) for m in (gt, pred))
        pairs = cdist(gt_mm, pred_mm)
        np.testing.assert_allclose(found.gt_to_pred, pairs.min(axis=1), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.pred_to_gt, pairs.min(axis=0), rtol=1e-12, atol=1e-12)

    @given(mask_pairs())
    def test_the_nearest_voxel_lies_at_that_distance(self, case: tuple[Mask, Mask, tuple[float, ...]]) -> None:
        gt, pred, spacing = case
        found = surface_distances(gt, pred, spacing=spacing)
        apart = (found.gt_index - found.pred_index[found.gt_nearest]) * np.array(spacing)
        np.testing.assert_allclose(np.linalg.norm(apart, axis=1), found.gt_to_pred, atol=1e-12)
        apart = (found.pred_index - found.gt_index[found.pred_nearest]) * np.array(spacing)
        np.testing.assert_allclose(np.linalg.norm(apart, axis=1), found.pred_to_gt, atol=1e-12)

    @given(mask_pairs())
    def test_the_100th_percentile_is_the_hausdorff_distance(self, case: tuple[Mask, Mask, tuple[float, ...]]) -> None:
        gt, pred, spacing = case
        gt_mm, pred_mm = (np.argwhere(m ^ ndimage.binary_erosion(m)) * np.array(spacing) for m in (gt, pred))
        expected = max(directed_hausdorff(gt_mm, pred_mm)[0], directed_hausdorff(pred_mm, gt_mm)[0])
        assert hd(gt, pred, spacing, 100) == pytest.approx(expected, abs=1e-12)
        assert hd(gt, pred, spacing, 100, "pooled") == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("variant", VARIANTS)
    @given(mask_pairs(), st.data())
    def test_flips_padding_and_axis_order_change_nothing(
        self, variant: str, case: tuple[Mask, Mask, tuple[float, ...]], data: st.DataObject
    ) -> None:
        gt, pred, spacing = case
        expected = pytest.approx(hd(gt, pred, spacing, variant=variant), rel=1e-9, abs=1e-9)
        axes = data.draw(st.permutations(range(gt.ndim)))
        flips = tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in axes)
        border = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in axes]
        assert hd(gt[flips], pred[flips], spacing, variant=variant) == expected
        assert hd(np.pad(gt, border), np.pad(pred, border), spacing, variant=variant) == expected
        turned = tuple(spacing[a] for a in axes)
        assert hd(gt.transpose(axes), pred.transpose(axes), turned, variant=variant) == expected

    @pytest.mark.parametrize("variant", VARIANTS)
    @given(mask_pairs(), st.floats(0.1, 10))
    def test_twice_the_spacing_is_twice_the_distance(
        self, variant: str, case: tuple[Mask, Mask, tuple[float, ...]], factor: float
    ) -> None:
        gt, pred, spacing = case
        scaled = tuple(factor * s for s in spacing)
        assert hd(gt, pred, scaled, variant=variant) == pytest.approx(
            factor * hd(gt, pred, spacing, variant=variant), rel=1e-9, abs=1e-9
        )

    @given(mask_pairs())
    def test_symmetric_zero_for_equals_and_the_mean_below_the_larger(
        self, case: tuple[Mask, Mask, tuple[float, ...]]
    ) -> None:
        gt, pred, spacing = case
        for variant in VARIANTS:
            assert hd(gt, gt, spacing, variant=variant) == 0
            assert hd(gt, pred, spacing, variant=variant) == pytest.approx(hd(pred, gt, spacing, variant=variant))
        assert 0 <= hd(gt, pred, spacing, variant="mean") <= hd(gt, pred, spacing)


class TestRefusals:
    @pytest.mark.parametrize(
        "spacing", [(1, 1), (1, 1, 1, 1), (1, 0, 1), (1, -1, 1), (1, float("nan"), 1), (1, float("inf"), 1), (), 1.0]
    )
    def test_a_spacing_that_is_not_one_positive_number_for_each_axis(self, spacing: Any) -> None:
        with pytest.raises(MetricInputError, match="expected 3 positive numbers"):
            surface_distances(CUBE, MOVED_CUBE, spacing=spacing)

    def test_an_empty_mask_has_no_distance_and_the_message_names_its_side(self) -> None:
        nothing = np.zeros_like(CUBE)
        with pytest.raises(MetricInputError, match="gt is empty"):
            surface_distances(nothing, CUBE, spacing=(1, 1, 1))
        with pytest.raises(MetricInputError, match="pred is empty"):
            surface_distances(CUBE, nothing, spacing=(1, 1, 1))

    def test_shapes_that_differ(self) -> None:
        with pytest.raises(MetricInputError, match="shapes differ"):
            surface_distances(CUBE, CUBE[:1], spacing=(1, 1, 1))

    @pytest.mark.parametrize("kind", [np.uint8, np.float32])
    def test_label_maps_are_not_masks(self, kind: Any) -> None:
        with pytest.raises(MetricInputError, match="expected boolean masks"):
            surface_distances(CUBE.astype(kind), CUBE, spacing=(1, 1, 1))


def test_a_stray_block_counts_by_its_share_of_one_direction_or_of_both() -> None:
    """In one slice every voxel is surface: 8 of 108 lie apart (7.4 %), or 8 of 208 (3.8 %)."""
    gt = box((40, 40, 1), (5, 15), (5, 15), (0, 1))
    pred = gt | box((40, 40, 1), (34, 36), (5, 9), (0, 1))  # the nearest row is 20 voxels away, the next 21
    found = surface_distances(gt, pred, spacing=(1, 1, 1))
    assert (len(found.gt_to_pred), len(found.pred_to_gt)) == (100, 108)
    assert hausdorff(found, variant="directed_max") == 20.0
    assert hausdorff(found, variant="pooled") == 0.0
    assert hausdorff(found, percentile=100) == 21.0


@pytest.mark.parametrize("before", [0, 1, 3, 7, 100])
def test_no_bit_of_a_distance_depends_on_where_in_the_array_it_lies(before: int) -> None:
    """3 steps of 0.3 less 1 step is not 2 steps of 0.3 in floating point."""
    gt, pred = np.zeros((1, before + 4), bool), np.zeros((1, before + 4), bool)
    gt[0, before], pred[0, before + 2] = True, True
    found = surface_distances(gt, pred, spacing=(0.3, 0.3))
    assert found.gt_to_pred.tolist() == [0.6]
