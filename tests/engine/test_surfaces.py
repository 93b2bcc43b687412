"""Surface voxels by the kernels are those of the plain code, for every type, order of memory and size of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.engine import choice, threads
from medotter_viewer.engine.flat import flat_labels, lies_fortran
from medotter_viewer.engine.surfaces import Lattice, region_surfaces
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.surface import surface_index

SCALES = {np.uint8: 1, np.uint16: 300, np.int32: 70_000, np.bool_: 1}


def blocks(seed: int, shape: tuple[int, ...], kind: Any, *, cell: int) -> NDArray[Any]:
    """Cells of one id each with some stray voxels: long rows of equal ids, as organs have."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, [-(-n // cell) for n in shape])
    for axis in range(len(shape)):
        labels = np.repeat(labels, cell, axis=axis)
    labels = labels[tuple(slice(n) for n in shape)]
    labels = np.where(rng.random(shape) < 0.01, rng.integers(0, 4, shape), labels)
    made: NDArray[Any] = (labels * SCALES[kind]).astype(kind)
    return made


@st.composite
def label_maps(draw: st.DrawFn) -> NDArray[Any]:
    shape = (*draw(st.lists(st.integers(1, 7), max_size=2).map(tuple)), draw(st.integers(1, 300)))
    kind = draw(st.sampled_from(list(SCALES)))
    labels = blocks(draw(st.integers(0, 10**6)), shape, kind, cell=draw(st.sampled_from([1, 3, 40])))
    return np.asfortranarray(labels.T) if draw(st.booleans()) else labels


def found_surfaces(labels: NDArray[Any], regions: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    flat = flat_labels(labels, is_fortran=lies_fortran(labels))
    assert flat is not None
    voxels = region_surfaces(choice.load(), flat, regions)
    assert voxels is not None
    lattice = Lattice(labels.ndim, flat.is_fortran)
    assert all((np.diff(one) > 0).all() for one in voxels)
    return [sorted(map(tuple, lattice.index(one).tolist())) for one in voxels]


@given(label_maps())
def test_surfaces_of_all_regions_are_those_of_their_masks(labels: NDArray[Any]) -> None:
    ids = [int(i) for i in np.unique(labels)]
    regions = [*((i,) for i in ids), tuple(ids[:2]), tuple(ids[1:]), (5,)]
    expected = [[tuple(v) for v in surface_index(np.isin(labels, list(ids))).tolist()] for ids in regions]
    assert found_surfaces(labels, regions) == expected


@given(st.integers(0, 10**6), st.integers(1, 2500), st.integers(1, 9), st.booleans())
def test_rows_without_ids_are_left_out_by_what_counting_has_seen(seed: int, nx: int, ny: int, is_fortran: bool) -> None:
    rng = np.random.default_rng(seed)
    gt, pred = (np.zeros((3, ny, nx), dtype=np.uint8) for _ in range(2))
    for labels in (gt, pred):
        for _ in range(rng.integers(0, 4)):
            z, y, x = rng.integers(0, (3, ny, nx))
            labels[z : z + 2, y : y + 3, x : x + rng.integers(1, 40)] = rng.integers(1, 3)
    if is_fortran:
        gt, pred = gt.T, pred.T
    with choice.using("compiled"):
        occupied = overlap_table(gt, pred).occupied
    assert occupied is not None
    for side, labels in ((1, gt), (2, pred)):
        order = "F" if is_fortran else "C"
        blocks_of = [part.any() for part in np.split(labels.ravel(order=order), range(1024, labels.size, 1024))]
        assert ((occupied.blocks & side) > 0).tolist() == blocks_of
        flat = flat_labels(labels, is_fortran=is_fortran)
        assert flat is not None
        known = region_surfaces(choice.load(), flat, [(1,), (1, 2)], occupied, side)
        unknown = region_surfaces(choice.load(), flat, [(1,), (1, 2)])
        assert known is not None
        assert unknown is not None
        assert [one.tolist() for one in known] == [one.tolist() for one in unknown]


def test_what_was_counted_in_a_smaller_label_map_is_refused() -> None:
    small, large = (np.zeros((n, 1024), dtype=np.uint8) for n in (2, 3))
    flat = flat_labels(large, is_fortran=False)
    assert flat is not None
    with choice.using("compiled"):
        occupied = overlap_table(small, small).occupied
    with pytest.raises(MetricInputError, match="`occupied` is of other label maps: got 2 blocks, expected 3"):
        region_surfaces(choice.load(), flat, [(1,)], occupied)


def test_more_regions_than_bits_in_a_word() -> None:
    labels = np.arange(200, dtype=np.uint8).reshape(2, 100)
    assert found_surfaces(labels, [(i,) for i in range(200)]) == [[divmod(i, 100)] for i in range(200)]


def test_more_surface_than_fits_the_first_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "2")
    labels = np.zeros((40, 40, 200), dtype=np.uint8)
    labels[::2, ::2, ::2] = 1  # 40,000 single voxels, each its own surface
    assert len(found_surfaces(labels, [(1,)])[0]) == 20 * 20 * 100


def test_an_id_too_large_for_a_table_is_left_to_the_plain_code() -> None:
    flat = flat_labels(np.array([1, 2**30], dtype=np.int32), is_fortran=False)
    assert flat is not None
    assert region_surfaces(choice.load(), flat, [(2**30,)]) is None


@pytest.mark.parametrize(
    "labels",
    [np.zeros((0, 3), np.uint8), np.zeros((1, 1, 1, 1), np.uint8), np.array([-1, 5]), np.array([2**31], np.int64)],
)
def test_what_kernels_cannot_take_is_left_to_the_plain_code(labels: NDArray[Any]) -> None:
    assert flat_labels(labels, is_fortran=False) is None


def test_other_types_are_narrowed_and_no_copy_is_made_of_the_others() -> None:
    wide = flat_labels(np.array([[3, 250]], dtype=np.int64), is_fortran=False)
    assert wide is not None
    assert wide.ids.dtype == np.uint8
    assert wide.ids.tolist() == [3, 250]
    for labels in (
        np.ones((3, 4, 5), np.uint16),
        np.asfortranarray(np.ones((3, 4, 5), np.int32)),
        np.ones((2, 3), bool),
    ):
        flat = flat_labels(labels, is_fortran=lies_fortran(labels))
        assert flat is not None
        assert np.shares_memory(flat.ids, labels)
