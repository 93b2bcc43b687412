"""Tables after edits against tables counted again: painted voxels, regions, remaps, and slices one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer.core.labels import Remap
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics import slice_tables as slices_module
from medotter_viewer.metrics.overlap import OverlapTable, id_mask, overlap_by_slice, overlap_table
from medotter_viewer.metrics.slice_tables import slice_tables

Array = NDArray[Any]
IDS = st.sampled_from([0, 1, 2, 3, 7, 200])
DTYPES = st.sampled_from([np.uint8, np.int16, np.int32, np.uint32, np.int64])


@st.composite
def label_maps(draw: st.DrawFn, n: int = 2, min_side: int = 0) -> list[Array]:
    """Label maps of one shape, each of its own type and memory order."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=min_side, max_side=5))
    maps = [draw(hnp.arrays(draw(DTYPES), shape, elements=IDS)) for _ in range(n)]
    return [np.asfortranarray(m) if draw(st.booleans()) else m for m in maps]


def assert_same(found: OverlapTable, expected: OverlapTable) -> None:
    for name in ("gt_ids", "pred_ids", "counts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == np.int64


class TestUpdated:
    @given(label_maps(n=3))
    def test_equals_counting_again(self, maps: list[Array]) -> None:
        gt, before, after = maps
        changed = before != after
        found = overlap_table(gt, before).updated((gt[changed], before[changed], after[changed]))
        assert_same(found, overlap_table(gt, after))

    @given(label_maps(n=3))
    def test_voxels_that_did_not_change_may_be_listed(self, maps: list[Array]) -> None:
        gt, before, after = (m.flatten() for m in maps)
        assert_same(overlap_table(gt, before).updated((gt, before, after)), overlap_table(gt, after))

    @given(label_maps(n=4, min_side=1), st.data())
    def test_strokes_follow_one_another_in_one_list_or_in_two(self, maps: list[Array], data: st.DataObject) -> None:
        gt, first, second, third = (m.flatten() for m in maps)
        table = overlap_table(gt, first)
        expected = overlap_table(gt, third)
        assert_same(table.updated((gt, first, second)).updated((gt, second, third)), expected)
        old, new = np.concatenate([first, second]), np.concatenate([second, third])
        order = np.array(data.draw(st.permutations(range(old.size))))
        assert_same(table.updated((np.concatenate([gt, gt])[order], old[order], new[order])), expected)

    def test_an_undone_stroke_gives_the_table_of_before(self) -> None:
        gt, pred = np.array([1, 1, 2, 0, 0]), np.array([1, 0, 2, 0, 9])
        table = overlap_table(gt, pred)
        painted = table.updated((gt, pred, np.full(5, 4)))
        assert painted.pred_voxels() == {4: 5}
        assert_same(painted.updated((gt, np.full(5, 4), pred)), table)

    def test_nothing_changed(self) -> None:
        table = overlap_table(np.array([1, 0]), np.array([1, 1]))
        none = np.zeros(0, dtype=np.uint8)
        assert_same(table.updated((none, none, none)), table)

    @pytest.mark.parametrize(
        "changes",
        [
            pytest.param(([1, 1, 1], [1, 1, 1], [0, 0, 0]), id="more than there are"),
            pytest.param(([1], [5], [0]), id="an id the prediction does not have"),
            pytest.param(([8], [1], [0]), id="an id the ground truth does not have"),
            pytest.param(([2], [1], [0]), id="a pair that does not occur"),
        ],
    )
    def test_voxels_that_the_table_does_not_have(self, changes: tuple[list[int], ...]) -> None:
        table = overlap_table(np.array([1, 1, 2]), np.array([1, 1, 0]))
        gt, old, new = map(np.array, changes)
        with pytest.raises(MetricInputError, match="count the maps again"):
            table.updated((gt, old, new))

    def test_lists_of_different_length(self) -> None:
        table = overlap_table(np.array([1, 1]), np.array([1, 1]))
        with pytest.raises(MetricInputError, match="expected one length"):
            table.updated((np.array([1, 1]), np.array([1]), np.array([1])))


class TestEditsWithoutVoxels:
    @given(label_maps(), st.sets(IDS))
    def test_a_region_of_the_table_is_the_region_of_the_maps(self, maps: list[Array], ids: set[int]) -> None:
        found = overlap_table(*maps).region(ids)
        gt, pred = (np.isin(m, list(ids)) for m in maps)
        assert (found.gt, found.pred, found.intersection) == (gt.sum(), pred.sum(), (gt & pred).sum())
        assert (found.tp, found.fp, found.fn) == ((gt & pred).sum(), (pred & ~gt).sum(), (gt & ~pred).sum())
        if found.dice is not None and found.iou is not None:
            assert found.iou == pytest.approx(found.dice / (2 - found.dice))

    @given(label_maps(), st.dictionaries(IDS, IDS))
    def test_a_remap_of_the_table_is_the_table_of_the_remapped_map(
        self, maps: list[Array], pairs: dict[int, int]
    ) -> None:
        gt, pred = maps
        remap = Remap(pairs, "user")
        assert_same(overlap_table(gt, pred).remap_gt(remap.target), overlap_table(remap.apply(gt), pred))

    @given(label_maps(n=3), st.dictionaries(IDS, IDS))
    def test_remap_and_stroke_in_either_order(self, maps: list[Array], pairs: dict[int, int]) -> None:
        gt, before, after = (m.flatten() for m in maps)
        remap = Remap(pairs, "user")
        table = overlap_table(gt, before)
        one = table.updated((gt, before, after)).remap_gt(remap.target)
        other = table.remap_gt(remap.target).updated((remap.apply(gt), before, after))
        assert_same(one, other)


class TestSliceTables:
    def test_counts_of_two_rows(self) -> None:
        tables = slice_tables(np.array([[1, 1], [2, 0]]), np.array([[1, 0], [2, 2]]), axis=0)
        assert tables.gt_ids.tolist() == [0, 1, 2]
        assert tables.pred_ids.tolist() == [0, 1, 2]
        assert tables.counts.tolist() == [[[0, 0, 0], [1, 1, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [0, 0, 1]]]

    @given(label_maps(), st.data())
    def test_every_slice_equals_its_own_table(self, maps: list[Array], data: st.DataObject) -> None:
        gt, pred = maps
        axis = data.draw(st.integers(-gt.ndim, gt.ndim - 1))
        tables = slice_tables(gt, pred, axis)
        assert_same(tables.total(), overlap_table(gt, pred))
        assert len(tables.counts) == gt.shape[axis]
        for index in range(gt.shape[axis]):
            expected = overlap_table(np.take(gt, index, axis=axis), np.take(pred, index, axis=axis))
            assert_same(tables.at(index), expected)

    @given(label_maps(), st.sets(IDS), st.data())
    def test_a_region_equals_counting_its_masks(self, maps: list[Array], ids: set[int], data: st.DataObject) -> None:
        gt, pred = maps
        axis = data.draw(st.integers(0, gt.ndim - 1))
        expected = overlap_by_slice(id_mask(gt, ids), id_mask(pred, ids), axis)
        np.testing.assert_array_equal(slice_tables(gt, pred, axis).region(ids), expected)

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("axis", [0, 1, 2])
    def test_slabs_add_up(self, order: Any, axis: int, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(5)
        gt, pred = (np.array(rng.integers(0, 4, (7, 6, 5)), order=order) for _ in range(2))
        whole = slice_tables(gt, pred, axis).counts
        for chunk in (1, 30, 70, 10_000):
            monkeypatch.setattr(slices_module, "_CHUNK", chunk)
            np.testing.assert_array_equal(slice_tables(gt, pred, axis).counts, whole)

    def test_ids_far_apart_and_negative(self) -> None:
        gt, pred = np.array([[2**31, -5], [0, 2**31]]), np.array([[2**40, 0], [0, 2**40]])
        tables = slice_tables(gt, pred, axis=1)
        assert tables.gt_ids.tolist() == [-5, 0, 2**31]
        assert tables.region([2**31, 2**40]).tolist() == [[1, 1, 1], [1, 1, 1]]

    def test_too_many_ids_for_tables(self) -> None:
        objects = (np.arange(64 * 800) % 800).reshape(64, 40, 20)
        with pytest.raises(MetricInputError, match="too many for tables"):
            slice_tables(objects, objects, axis=0)

    @pytest.mark.parametrize("axis", [2, -3])
    def test_an_axis_that_is_not_there(self, axis: int) -> None:
        with pytest.raises(MetricInputError, match="for 2 axes"):
            slice_tables(np.zeros((2, 2), int), np.zeros((2, 2), int), axis)

    def test_shapes_and_types_are_checked(self) -> None:
        with pytest.raises(MetricInputError, match="nothing is broadcast"):
            slice_tables(np.zeros((2, 2), int), np.zeros((2, 1), int), 0)
        with pytest.raises(MetricInputError, match="float64"):
            slice_tables(np.zeros((2, 2)), np.zeros((2, 2), int), 0)


def test_more_ids_than_a_table_can_hold_are_refused_before_memory_ends() -> None:
    noise = np.arange(90_000)
    with pytest.raises(MetricInputError, match=r"90000 x 90000 ids"):
        overlap_table(noise, noise)


def test_ids_beyond_a_signed_64_bit_integer_are_refused() -> None:
    big = np.array([2**63], dtype=np.uint64)
    with pytest.raises(MetricInputError, match="signed 64-bit"):
        overlap_table(big, np.zeros(1, dtype=np.uint8))
