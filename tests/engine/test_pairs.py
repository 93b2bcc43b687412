"""Both engines count the same voxels: pairs of any ids, objects, and pairs in each slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.engine import choice, pairs, slice_counting, threads
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.instances import aji, aji_plus, detections, match_instances
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.metrics.slice_tables import slice_tables

HIGHEST = {np.bool_: 1, np.uint8: 255, np.uint16: 65_535, np.int32: 2**31 - 1, np.int64: 2**31 - 1}
Pair = tuple[NDArray[Any], NDArray[Any]]


def labels_of(rng: np.random.Generator, shape: tuple[int, ...], kind: Any, cell: int, low: int = 0) -> NDArray[Any]:
    """Cells of one id each with stray voxels; ids lie anywhere in the type, half of the cells are background."""
    ids = rng.integers(low, HIGHEST[kind], 6, endpoint=True) * (rng.random(6) < 0.7)
    ids[:2] = 0, HIGHEST[kind]
    cells = rng.integers(0, 6, [-(-n // cell) for n in shape])
    for axis in range(len(shape)):
        cells = np.repeat(cells, cell, axis=axis)
    cells = cells[tuple(slice(n) for n in shape)]
    cells = np.where(rng.random(shape) < 0.05, rng.integers(0, 6, shape), cells)
    made: NDArray[Any] = ids[cells].astype(kind)
    return made


@st.composite
def label_pairs(draw: st.DrawFn, kinds: list[Any] | None = None, low: int = 0) -> Pair:
    shape = (*draw(st.lists(st.integers(1, 6), max_size=2).map(tuple)), draw(st.integers(1, 200)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    sides = []
    for _ in range(2):
        kind = draw(st.sampled_from(kinds or list(HIGHEST)))
        labels = labels_of(rng, shape, kind, draw(st.sampled_from([1, 3, 40])), low)
        sides.append(labels)
    if draw(st.booleans()):
        sides = [np.asfortranarray(labels.T) for labels in sides]
    if draw(st.integers(0, 4)) == 0:
        sides[1] = np.asarray(sides[1], order="C")  # the two lie differently
    return sides[0], sides[1]


def as_lists(table: OverlapTable) -> list[Any]:
    return [table.gt_ids.tolist(), table.pred_ids.tolist(), table.counts.tolist()]


@given(label_pairs())
def test_tables_of_any_ids_are_equal(pair: Pair) -> None:
    with choice.using("plain"):
        plain = overlap_table(*pair)
    with choice.using("compiled"):
        assert as_lists(overlap_table(*pair)) == as_lists(plain)
        if all(labels.dtype in (np.uint8, np.uint16, np.int32) for labels in pair):
            assert pairs.pair_counts(*pair) is not None
    assert plain.counts.sum() == pair[0].size


@given(label_pairs([np.int32], low=-(2**31)))
def test_negative_ids_are_counted_as_they_are_but_are_no_objects(pair: Pair) -> None:
    found: list[Any] = []
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            found.append(as_lists(overlap_table(*pair)))
            if min(labels.min() for labels in pair) < 0:
                with pytest.raises(MetricInputError, match="expected ids of 0 or more") as error:
                    match_instances(*pair)
                found[-1].append(str(error.value))
    assert found[0] == found[1]


@given(label_pairs())
def test_objects_are_equal(pair: Pair) -> None:
    found = []
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            o = match_instances(*pair)
        parts = (o.gt_ids, o.pred_ids, o.gt_areas, o.pred_areas, o.pair_gt, o.pair_pred, o.intersections)
        assert all(part.dtype == np.int64 for part in parts)
        found.append(([part.tolist() for part in parts], detections(o), aji(o), aji_plus(o)))
    assert found[0] == found[1]


@pytest.mark.parametrize("kinds", [(np.uint16, np.uint16), (np.int32, np.int32), (np.uint16, np.int32)])
def test_a_table_that_grows_and_parts_that_are_joined_lose_nothing(
    monkeypatch: pytest.MonkeyPatch, kinds: tuple[Any, Any]
) -> None:
    rng = np.random.default_rng(3)
    gt, pred = (rng.integers(0, 3000, (7, 40, 43)).astype(kind) for kind in kinds)
    monkeypatch.setattr(pairs, "_PLACES", 2)
    monkeypatch.setattr(threads, "_SMALL", 100)
    monkeypatch.setenv("MEDOTTER_VIEWER_THREADS", "3")
    with choice.using("compiled"):
        counted = pairs.pair_counts(gt, pred)
    assert counted is not None
    code, voxels = np.unique(gt.astype(np.int64) * 10_000 + pred, return_counts=True)
    assert (counted.gt * 10_000 + counted.pred).tolist() == code.tolist()
    assert counted.voxels.tolist() == voxels.tolist()


def test_too_many_ids_for_a_table_are_refused_by_both() -> None:
    ids = np.arange(9000, dtype=np.int32)
    messages = []
    for engine in ("plain", "compiled"):
        with choice.using(engine), pytest.raises(MetricInputError, match="9000 x 9000 ids") as error:
            overlap_table(ids, ids[::-1].copy())
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@given(label_pairs([np.uint8, np.bool_]), st.integers(-3, 2), st.sampled_from([256, 2]))
def test_tables_of_slices_are_equal(pair: Pair, axis: int, room: int) -> None:
    axis = axis % pair[0].ndim
    with choice.using("plain"):
        plain = slice_tables(*pair, axis)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slice_counting, "_PAIRS", room)
        patch.setattr(threads, "_SMALL", room)
        patch.setenv(threads.VARIABLE, "3")
        with choice.using("compiled"):
            found = slice_tables(*pair, axis)
    assert found.gt_ids.tolist() == plain.gt_ids.tolist()
    assert found.pred_ids.tolist() == plain.pred_ids.tolist()
    assert found.counts.tolist() == plain.counts.tolist()
    assert found.counts.dtype == np.int64


def test_tables_of_slices_of_nothing() -> None:
    nothing = np.zeros((3, 0, 4), dtype=np.uint8)
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            assert slice_tables(nothing, nothing, 0).counts.shape == (3, 0, 0)
