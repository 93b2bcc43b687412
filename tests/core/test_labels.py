"""Label maps and the remap from native to canonical ids."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer import Grid, LabelMap, Remap
from medotter_viewer.core.labels import same_ids, smallest_label_dtype
from medotter_viewer.errors import LabelError

BIG = [70_000, 2**31, 2**40]
ids = st.one_of(st.integers(0, 12), st.sampled_from(BIG))
tables = st.dictionaries(ids, ids, max_size=8)
natives = hnp.arrays(np.int64, hnp.array_shapes(min_dims=3, max_dims=3, max_side=4), elements=ids)


def by_hand(table: dict[int, int], native: NDArray[Any]) -> list[int]:
    return [table.get(int(value), 0) for value in native.ravel()]


@given(tables, natives)
def test_every_voxel_gets_the_target_of_its_own_native_id(table: dict[int, int], native: NDArray[Any]) -> None:
    canonical = Remap(table, "dict").apply(native)
    assert canonical.shape == native.shape
    assert canonical.ravel().tolist() == by_hand(table, native)


@given(tables, natives, st.randoms(use_true_random=False))
def test_the_order_of_the_entries_has_no_meaning(table: dict[int, int], native: NDArray[Any], random: Any) -> None:
    pairs = list(table.items())
    random.shuffle(pairs)
    one, other = Remap(table, "dict"), Remap(dict(pairs), "dict")
    assert one == other
    np.testing.assert_array_equal(one.apply(native), other.apply(native))


@given(tables, natives)
def test_voxels_are_neither_lost_nor_made(table: dict[int, int], native: NDArray[Any]) -> None:
    canonical = Remap(table, "dict").apply(native)
    expected: dict[int, int] = {}
    for value in native.ravel():
        target = table.get(int(value), 0)
        expected[target] = expected.get(target, 0) + 1
    found = dict(zip(*(part.tolist() for part in np.unique(canonical, return_counts=True)), strict=True))
    assert found == expected


def test_a_swap_swaps() -> None:
    assert Remap({1: 2, 2: 1}, "dict").apply(np.array([0, 1, 2, 1])).tolist() == [0, 2, 1, 2]


def test_a_chain_is_one_step_not_two() -> None:
    assert Remap({5: 4, 4: 8}, "dict").apply(np.array([5, 4, 8, 0])).tolist() == [4, 8, 0, 0]


def test_counts_of_a_chain_and_a_swap_together() -> None:
    native = np.repeat([0, 1, 2, 6, 9], [4, 5, 6, 7, 8])
    canonical = Remap({6: 9, 9: 7, 1: 2, 2: 1}, "dict").apply(native)
    assert np.bincount(canonical).tolist() == [4, 6, 5, 0, 0, 0, 0, 8, 0, 7]


def test_ids_that_are_not_listed_become_background_even_if_they_look_canonical() -> None:
    native = np.repeat([0, 1, 2, 3, 4, 5, 6, 255], 3)
    canonical = Remap({1: 2, 2: 2, 3: 2}, "dict").apply(native)
    assert np.bincount(canonical).tolist() == [15, 0, 9]


def test_an_empty_table_drops_everything() -> None:
    assert Remap({}, "dict").apply(np.array([0, 1, 2**33])).tolist() == [0, 0, 0]


def test_background_can_be_given_an_id() -> None:
    assert Remap({0: 1}, "dict").apply(np.array([0, 1])).tolist() == [1, 0]


@pytest.mark.parametrize("big", BIG)
def test_large_native_and_canonical_ids_are_kept_apart_from_small_ones(big: int) -> None:
    native = np.array([0, big, big % 65_536, big - 1, big + 1])
    assert Remap({big: 3}, "dict").apply(native).tolist() == [0, 3, 0, 0, 0]
    assert Remap({3: big}, "dict").apply(np.array([3, 4])).tolist() == [big, 0]


def test_a_table_may_list_ids_that_no_64_bit_array_can_hold() -> None:
    assert Remap({10**30: 1, 2**21: 2}, "dict").apply(np.array([2**21, 5])).tolist() == [2, 0]


def test_negative_native_ids_become_background_unless_nothing_is_remapped() -> None:
    native = np.array([-1, 1, -32768], dtype=np.int16)
    assert Remap({1: 5}, "dict").apply(native).tolist() == [0, 5, 0]
    assert Remap(None, "none").apply(native).tolist() == [-1, 1, -32768]


def test_the_identity_returns_the_array_itself() -> None:
    native = np.arange(8).reshape(2, 2, 2)
    remap = Remap(None, "none")
    assert remap.apply(native) is native
    assert remap.is_identity
    assert remap.target(7) == 7
    assert remap.is_listed(7)
    assert remap.reaches((1, 99))


def test_a_table_says_what_it_lists_and_what_it_reaches() -> None:
    remap = Remap({4: 3, 1: 1}, "dict")
    assert not remap.is_identity
    assert [remap.target(n) for n in (4, 1, 3)] == [3, 1, 0]
    assert [remap.is_listed(n) for n in (4, 1, 3, 0)] == [True, True, False, False]
    assert remap.reaches((1, 3))
    assert remap.reaches(())
    assert not remap.reaches((1, 4))


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [
        *[(0, "uint8"), (255, "uint8"), (256, "uint16"), (65_535, "uint16"), (65_536, "int32"), (70_000, "int32")],
        *[(2**31 - 1, "int32"), (2**31, "uint32"), (2**32 - 1, "uint32"), (2**32, "int64")],
    ],
)
@pytest.mark.parametrize("native", [1, 2**21])
def test_the_result_has_the_smallest_type_that_holds_the_table(native: int, largest: int, dtype: str) -> None:
    canonical = Remap({native: largest}, "dict").apply(np.full((2, 2, 2), native))
    assert canonical.dtype == dtype
    assert canonical.max() == largest


@pytest.mark.parametrize(
    ("low", "high", "dtype"), [(-1, 1, "int32"), (-(2**31), 0, "int32"), (-1, 2**31, "int64"), (0, 1, "uint8")]
)
def test_negative_ids_need_a_signed_type(low: int, high: int, dtype: str) -> None:
    assert smallest_label_dtype(low, high) == dtype


def test_ids_beyond_64_bits_are_refused() -> None:
    with pytest.raises(LabelError, match="64-bit"):
        smallest_label_dtype(0, 2**63)


@pytest.mark.parametrize("top", [3, 2**21])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_memory_order_of_the_array_is_kept(order: Any, top: int) -> None:
    native = np.asarray(np.arange(24).reshape(2, 3, 4) % 4 * (top // 3), order=order)
    canonical = Remap({top // 3 * n: n for n in range(4)}, "dict").apply(native)
    assert canonical.flags[f"{order}_CONTIGUOUS"]
    assert canonical.tolist() == (np.arange(24).reshape(2, 3, 4) % 4).tolist()


@pytest.mark.parametrize("factor", [1, 2**21])
def test_a_strided_view_is_remapped_in_its_own_order(factor: int) -> None:
    native = (np.arange(48).reshape(4, 3, 4) * factor)[::2, ::-1].transpose(2, 0, 1)
    canonical = Remap({n * factor: n for n in range(48)}, "dict").apply(native)
    np.testing.assert_array_equal(canonical.astype(np.int64) * factor, native)


def test_an_empty_array_stays_empty() -> None:
    assert Remap({1: 300}, "dict").apply(np.zeros((0, 2, 2), dtype=np.uint8)).dtype == np.uint16


@pytest.mark.parametrize("table", [{-1: 1}, {1: -1}, {1: 2, -5: -7}])
def test_negative_ids_in_a_table_are_refused(table: dict[int, int]) -> None:
    with pytest.raises(LabelError, match="negative ids"):
        Remap(table, "dict")


def test_a_remap_travels_to_another_process() -> None:
    for remap in (Remap({4: 3, 2**40: 1}, "per_case", "here"), Remap(None, "none", "there")):
        back = pickle.loads(pickle.dumps(remap))  # noqa: S301 - our own bytes
        assert back == remap
        assert back.source == remap.source
        assert back.apply(np.array([4, 7])).tolist() == remap.apply(np.array([4, 7])).tolist()


def test_a_remap_cannot_be_changed_through_the_table_it_was_made_of() -> None:
    table = {1: 2}
    remap = Remap(table, "dict")
    table[1] = 9
    assert remap.target(1) == 2
    with pytest.raises(TypeError):
        remap.table[1] = 9  # type: ignore[index]


def test_a_label_map_has_the_shape_of_its_grid() -> None:
    with pytest.raises(LabelError, match=r"\(2, 2, 3\) on a grid of shape \(2, 2, 2\)"):
        LabelMap(np.zeros((2, 2, 3), dtype=np.uint8), Grid((2, 2, 2), np.eye(4)))


KINDS = [np.uint8, np.uint16, np.int32]


@given(
    hnp.arrays(
        st.sampled_from(KINDS), hnp.array_shapes(min_dims=1, max_dims=3, max_side=9), elements=st.integers(0, 9)
    ),
    st.sampled_from(KINDS),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_the_same_ids_are_seen_whatever_type_and_order(
    ids: NDArray[Any], kind: Any, turned: bool, cut: bool, data: Any
) -> None:
    ids = ids[..., ::2] if cut else ids
    other = ids.astype(kind, order="F" if turned else "C")
    assert same_ids(ids, other)
    place = data.draw(st.tuples(*(st.integers(0, n - 1) for n in ids.shape)))
    other[place] += 1
    assert not same_ids(ids, other)


def test_other_shapes_are_other_ids() -> None:
    assert not same_ids(np.zeros((2, 8), dtype=np.uint8), np.zeros((8, 2), dtype=np.uint8))
