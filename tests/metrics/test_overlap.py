"""Counting of id pairs against counting one by one, and overlap numbers that can be worked out by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer.core.labels import Remap
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics import overlap
from medotter_viewer.metrics.overlap import Overlap, id_mask, label_voxels, overlap_by_slice, overlap_table

Array = NDArray[Any]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)
DTYPES = st.sampled_from([np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.int64])


@st.composite
def label_pairs(draw: st.DrawFn, low: int = 0, high: int = 4) -> tuple[Array, Array]:
    """Two label maps of one shape, each of its own type and memory order."""
    shape = draw(SHAPES)
    pair = []
    for _ in range(2):
        kind = draw(DTYPES)
        values = st.integers(max(low, int(np.iinfo(kind).min)), high)
        array = draw(hnp.arrays(kind, shape, elements=values))
        pair.append(np.asfortranarray(array) if draw(st.booleans()) else array)
    return pair[0], pair[1]


def counted(gt: Array, pred: Array) -> dict[tuple[int, int], int]:
    """Count every pair, one voxel at a time."""
    return dict(Counter(zip(gt.flatten().tolist(), pred.flatten().tolist(), strict=True)))


def pairs_of(table: overlap.OverlapTable) -> dict[tuple[int, int], int]:
    """Return the pairs of a table that occur."""
    rows, columns = table.gt_ids.tolist(), table.pred_ids.tolist()
    return {
        (g, p): n
        for g, line in zip(rows, table.counts.tolist(), strict=True)
        for p, n in zip(columns, line, strict=True)
        if n
    }


class TestOverlapTable:
    def test_counts_of_four_voxels(self) -> None:
        table = overlap_table(np.array([[1, 1], [2, 0]]), np.array([[1, 0], [2, 2]]))
        assert table.gt_ids.tolist() == [0, 1, 2]
        assert table.pred_ids.tolist() == [0, 1, 2]
        assert table.counts.tolist() == [[0, 0, 1], [1, 1, 0], [0, 0, 1]]
        assert table.gt_voxels() == {0: 1, 1: 2, 2: 1}
        assert table.pred_voxels() == {0: 1, 1: 1, 2: 2}

    @given(label_pairs())
    def test_equals_counting_one_by_one(self, pair: tuple[Array, Array]) -> None:
        assert pairs_of(overlap_table(*pair)) == counted(*pair)

    @given(label_pairs(low=-3))
    def test_negative_ids_are_counted_as_they_are(self, pair: tuple[Array, Array]) -> None:
        assert pairs_of(overlap_table(*pair)) == counted(*pair)

    @given(label_pairs(low=-3))
    def test_dense_and_sparse_tables_are_equal(self, pair: tuple[Array, Array]) -> None:
        gt, pred = pair
        dense, sparse = overlap_table(gt, pred), overlap._sparse_table(gt.flatten(), pred.flatten())
        assert dense.gt_ids.tolist() == sparse.gt_ids.tolist()
        assert dense.pred_ids.tolist() == sparse.pred_ids.tolist()
        assert dense.counts.tolist() == sparse.counts.tolist()

    @pytest.mark.parametrize("big", [2**31, 2**32 + 7, -(2**31) - 1])
    def test_ids_beyond_32_bits_stay_what_they_are(self, big: int) -> None:
        gt = np.array([0, big, big, 1, 0], dtype=np.int64)
        pred = np.array([0, 1, 1, 1, 3], dtype=np.uint8)
        expected = {(0, 0): 1, (big, 1): 2, (1, 1): 1, (0, 3): 1}
        assert pairs_of(overlap_table(gt, pred)) == expected
        assert pairs_of(overlap_table(pred, gt)) == {(p, g): n for (g, p), n in expected.items()}
        assert overlap_table(gt, pred).region([big, 1]).intersection == 3

    def test_two_ids_far_apart_need_no_table_of_all_between(self) -> None:
        gt = np.array([0, 2**31, 0, 2**31], dtype=np.int64)
        table = overlap_table(gt, gt)
        assert table.counts.tolist() == [[2, 0], [0, 2]]

    def test_type_and_memory_order_of_each_side_do_not_matter(self) -> None:
        rng = np.random.default_rng(7)
        gt, pred = rng.integers(0, 5, (4, 5, 6)), rng.integers(0, 5, (4, 5, 6))
        expected = counted(gt, pred)
        for order in "CF":
            for kind in (np.uint8, np.int16, np.uint32):
                assert pairs_of(overlap_table(gt.astype(np.int64), pred.astype(kind, order=order))) == expected
                assert pairs_of(overlap_table(gt.astype(kind, order=order), pred.astype(np.uint8))) == expected

    def test_views_that_skip_and_turn_are_paired_voxel_by_voxel(self) -> None:
        gt = np.arange(24).reshape(2, 3, 4) % 5
        pred = (np.arange(48).reshape(2, 3, 8) % 3)[:, ::-1, ::2]
        assert pairs_of(overlap_table(gt, pred)) == counted(gt, pred)
        assert pairs_of(overlap_table(gt.transpose(2, 0, 1), pred.transpose(2, 0, 1))) == counted(gt, pred)

    def test_volumes_longer_than_a_chunk_are_counted_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(overlap, "_CHUNK", 7)
        rng = np.random.default_rng(3)
        gt, pred = rng.integers(0, 4, 100), rng.integers(0, 4, 100)
        assert pairs_of(overlap_table(gt, pred)) == counted(gt, pred)

    def test_masks_are_label_maps_of_0_and_1(self) -> None:
        table = overlap_table(np.array([True, True, False]), np.array([False, True, False]))
        assert table.region([1]) == Overlap(gt=2, pred=1, intersection=1)

    @pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2)])
    def test_arrays_without_voxels_give_an_empty_table(self, shape: tuple[int, ...]) -> None:
        table = overlap_table(np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.int32))
        assert table.counts.shape == (0, 0)
        assert table.gt_voxels() == table.pred_voxels() == {}
        assert table.region([1]) == Overlap(0, 0, 0)

    @pytest.mark.parametrize(
        ("gt", "pred"),
        [((3, 4), (4, 3)), ((3, 1), (1, 3)), ((3, 3), (3,)), ((2, 3), (1, 3)), ((6,), (2, 3)), ((1,), (0,))],
    )
    def test_shapes_that_differ_are_refused_and_never_broadcast(
        self, gt: tuple[int, ...], pred: tuple[int, ...]
    ) -> None:
        with pytest.raises(MetricInputError, match="shapes differ") as caught:
            overlap_table(np.zeros(gt, dtype=np.uint8), np.zeros(pred, dtype=np.uint8))
        assert str(gt) in str(caught.value)
        assert str(pred) in str(caught.value)

    @pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64])
    def test_fractions_are_refused_even_when_they_are_whole(self, kind: Any) -> None:
        whole, other = np.zeros((2, 2), dtype=np.uint8), np.ones((2, 2), dtype=kind)
        with pytest.raises(MetricInputError, match="gt: got"):
            overlap_table(other, whole)
        with pytest.raises(MetricInputError, match="pred: got"):
            overlap_table(whole, other)

    @given(label_pairs(), st.dictionaries(st.integers(0, 4), st.integers(0, 6)))
    def test_a_remap_of_the_table_is_the_table_of_the_remapped_array(
        self, pair: tuple[Array, Array], table: dict[int, int]
    ) -> None:
        gt, pred = pair
        remap = Remap(table, "dict")
        assert pairs_of(overlap_table(gt, pred).remap_gt(remap.target)) == counted(remap.apply(gt), pred)

    def test_label_voxels_counts_each_id(self) -> None:
        assert label_voxels(np.array([[5, 0, 5], [2, 2, 5]], dtype=np.uint8)) == {0: 1, 2: 2, 5: 3}


class TestRegion:
    GT = np.array([1, 1, 2, 2, 3, 0, 0], dtype=np.uint8)
    PRED = np.array([2, 1, 2, 0, 0, 3, 0], dtype=np.uint8)

    def test_a_union_forgives_ids_confused_within_it(self) -> None:
        table = overlap_table(self.GT, self.PRED)
        assert table.region([1]) == Overlap(gt=2, pred=1, intersection=1)
        assert table.region([2]) == Overlap(gt=2, pred=2, intersection=1)
        assert table.region([1, 2]) == Overlap(gt=4, pred=3, intersection=3)

    def test_dice_and_iou_of_the_union(self) -> None:
        region = overlap_table(self.GT, self.PRED).region([1, 2])
        assert region.dice == pytest.approx(6 / 7)
        assert region.iou == pytest.approx(3 / 4)
        assert (region.tp, region.fp, region.fn) == (3, 0, 1)

    def test_ids_that_do_not_occur_and_ids_named_twice_change_nothing(self) -> None:
        table = overlap_table(self.GT, self.PRED)
        assert table.region([1, 1, 2, 99, -4]) == table.region([1, 2])

    def test_nothing_on_either_side_has_no_overlap_to_speak_of(self) -> None:
        nothing = overlap_table(self.GT, self.PRED).region([7])
        assert (nothing.dice, nothing.iou) == (None, None)

    def test_one_side_empty_is_zero(self) -> None:
        assert Overlap(5, 0, 0).dice == Overlap(0, 5, 0).dice == Overlap(5, 0, 0).iou == 0

    @given(label_pairs(), st.sets(st.integers(0, 4), min_size=1))
    def test_equals_masks_compared_directly(self, pair: tuple[Array, Array], ids: set[int]) -> None:
        gt, pred = (np.isin(side, list(ids)) for side in pair)
        region = overlap_table(*pair).region(ids)
        assert (region.gt, region.pred, region.intersection) == (gt.sum(), pred.sum(), (gt & pred).sum())
        assert (region.fp, region.fn) == ((pred & ~gt).sum(), (gt & ~pred).sum())

    @given(label_pairs(), st.sets(st.integers(1, 4), min_size=1))
    def test_dice_is_symmetric_and_iou_follows_from_it(self, pair: tuple[Array, Array], ids: set[int]) -> None:
        gt, pred = pair
        there, back = overlap_table(gt, pred).region(ids), overlap_table(pred, gt).region(ids)
        assert there.dice == back.dice
        assert there.iou == back.iou
        if there.dice is not None and there.iou is not None:
            assert 0 <= there.iou <= there.dice <= 1
            assert there.iou == pytest.approx(there.dice / (2 - there.dice), abs=1e-15)
            assert there.dice == pytest.approx(2 * there.tp / (2 * there.tp + there.fp + there.fn), abs=1e-15)


class TestIdMask:
    @given(label_pairs(low=-3), st.lists(st.integers(-3, 300), max_size=5))
    def test_equals_isin(self, pair: tuple[Array, Array], ids: list[int]) -> None:
        for labels in pair:
            np.testing.assert_array_equal(id_mask(labels, ids), np.isin(labels.astype(np.int64), ids))

    @pytest.mark.parametrize("kind", [np.uint8, np.uint16])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_keeps_the_memory_order(self, kind: Any, order: Any) -> None:
        labels = np.zeros((3, 4, 5), dtype=kind, order=order)
        mask = id_mask(labels, [0])
        assert mask.shape == (3, 4, 5)
        assert mask.all()
        assert mask.flags.f_contiguous == (order == "F")

    def test_ids_may_come_from_an_iterator(self) -> None:
        assert id_mask(np.array([0, 1, 2], dtype=np.uint8), iter([1, 2])).tolist() == [False, True, True]
        assert id_mask(np.array([0, 1, 2]), iter([1, 2])).tolist() == [False, True, True]

    def test_the_largest_ids_of_a_type(self) -> None:
        assert id_mask(np.array([0, 255], dtype=np.uint8), [255, 256, -1]).tolist() == [False, True]
        assert id_mask(np.array([0, 65535], dtype=np.uint16), [65535]).tolist() == [False, True]


class TestOverlapBySlice:
    def test_hand_counted_slices(self) -> None:
        gt = np.zeros((2, 3, 4), dtype=bool)
        pred = gt.copy()
        gt[0, :2, 1] = gt[1, 0, 3] = True
        pred[0, 1:, 1] = True
        assert overlap_by_slice(gt, pred, 0).tolist() == [[2, 2, 1], [1, 0, 0]]
        assert overlap_by_slice(gt, pred, 1).tolist() == [[2, 0, 0], [1, 1, 1], [0, 1, 0]]
        assert overlap_by_slice(gt, pred, 2).tolist() == [[0, 0, 0], [2, 2, 1], [0, 0, 0], [1, 0, 0]]

    def test_a_negative_axis_counts_from_the_end(self) -> None:
        rng = np.random.default_rng(1)
        gt, pred = rng.random((2, 3, 4)) < 0.5, rng.random((2, 3, 4)) < 0.5
        np.testing.assert_array_equal(overlap_by_slice(gt, pred, -1), overlap_by_slice(gt, pred, 2))

    @given(hnp.arrays(bool, (2, 3, 4, 2)), st.integers(0, 2))
    def test_slices_add_up_to_the_whole(self, both: NDArray[np.bool_], axis: int) -> None:
        gt, pred = both[..., 0], both[..., 1]
        table = overlap_by_slice(gt, pred, axis)
        assert table.shape == (gt.shape[axis], 3)
        assert table.sum(axis=0).tolist() == [gt.sum(), pred.sum(), (gt & pred).sum()]
