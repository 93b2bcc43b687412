"""Instance metrics: worked examples, other tools' conventions, and what must hold for any two masks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.instances import (
    CURVE_THRESHOLDS,
    InstanceOverlap,
    aji,
    aji_plus,
    detections,
    match_instances,
)

Box = tuple[int, int, int, int]  # rows and columns, half-open
Mask = NDArray[np.integer[Any]]


def mask(boxes: dict[int, Box], shape: tuple[int, int] = (12, 20), dtype: Any = np.int32) -> Mask:
    """Rectangles painted in order."""
    array = np.zeros(shape, dtype=dtype)
    for label, (top, bottom, left, right) in boxes.items():
        array[top:bottom, left:right] = label
    return array


TWO = {1: (1, 5, 1, 5), 2: (1, 5, 5, 9)}
EXAMPLES = {
    "I1": (
        mask({1: (1, 5, 1, 5), 2: (1, 5, 8, 12)}),
        mask({1: (1, 5, 1, 5), 2: (1, 5, 9, 13), 3: (8, 10, 1, 3)}),
    ),
    "I2": (mask(TWO), mask({1: (1, 5, 1, 9)})),
    "I3": (mask({1: (1, 5, 1, 9)}), mask(TWO)),
    "I4": (mask({7: (1, 5, 1, 5), 42: (1, 5, 8, 12)}), mask({1000: (1, 5, 1, 5), 3: (1, 5, 8, 12)})),
    "I9": (mask({1: (1, 5, 1, 7), 2: (1, 5, 7, 13)}), mask({1: (1, 5, 4, 10), 2: (1, 5, 10, 13)})),
    "I10": (mask({1: (1, 5, 1, 4), 2: (1, 5, 4, 10)}), mask({1: (1, 5, 1, 10), 2: (1, 5, 8, 10)})),
}


def overlap_of(name: str) -> InstanceOverlap:
    return match_instances(*EXAMPLES[name])


# ---------------------------------------------------------------- worked examples


@pytest.mark.parametrize(
    ("name", "reused", "one_to_one"),
    [
        ("I1", 28 / 40, 28 / 40),
        ("I2", 0.5, 1 / 3),
        ("I3", 1 / 3, 1 / 3),
        ("I4", 1, 1),
        ("I9", 0.4, 0.4),
        ("I10", 7 / 18, 5 / 13),
    ],
)
def test_aji_lets_a_prediction_serve_twice_and_aji_plus_does_not(name: str, reused: float, one_to_one: float) -> None:
    assert aji(overlap_of(name)) == pytest.approx(reused, abs=1e-12)
    assert aji_plus(overlap_of(name)) == pytest.approx(one_to_one, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "threshold", "dq", "sq", "pq"),
    [
        ("I1", 0.5, 0.8, 0.8, 0.64),
        ("I2", 0.5, 0, 0, 0),  # IoU of exactly 0.5 is no match
        ("I3", 0.5, 0, 0, 0),
        ("I3", 0.4, 2 / 3, 0.5, 1 / 3),
        ("I4", 0.5, 1, 1, 1),
        ("I9", 0.3, 1, 5 / 12, 5 / 12),
        ("I10", 0.5, 0, 0, 0),
    ],
)
def test_matches_lie_strictly_above_the_threshold(name: str, threshold: float, dq: float, sq: float, pq: float) -> None:
    (found,) = detections(overlap_of(name), [threshold])
    assert found.dq == found.f1 == pytest.approx(dq, abs=1e-12)
    assert (found.sq, found.pq) == (pytest.approx(sq, abs=1e-12), pytest.approx(pq, abs=1e-12))


@pytest.mark.parametrize(
    ("name", "threshold", "counts", "f1", "pq"),
    [
        ("I1", 0.5, (2, 1, 0), 0.8, 0.64),
        ("I2", 0.5, (1, 0, 1), 2 / 3, 1 / 3),
        ("I3", 0.5, (1, 1, 0), 2 / 3, 1 / 3),
        ("I3", 0.4, (1, 1, 0), 2 / 3, 1 / 3),
        ("I4", 0.5, (2, 0, 0), 1, 1),
        ("I9", 0.3, (2, 0, 0), 1, 5 / 12),
        ("I10", 0.5, (0, 2, 2), 0, 0),
    ],
)
def test_inclusive_counts_as_stardist_does(
    name: str, threshold: float, counts: tuple[int, int, int], f1: float, pq: float
) -> None:
    (found,) = detections(overlap_of(name), [threshold], inclusive=True)
    assert (found.tp, found.fp, found.fn) == counts
    assert (found.f1, found.pq) == (pytest.approx(f1, abs=1e-12), pytest.approx(pq, abs=1e-12))


def test_inclusive_prefers_two_pairs_at_the_threshold_to_one_better_pair() -> None:
    overlap = InstanceOverlap(
        gt_ids=np.array([1, 2]),
        pred_ids=np.array([1, 2]),
        gt_areas=np.array([90, 35]),
        pred_areas=np.array([90, 27]),
        pair_gt=np.array([0, 0, 1]),
        pair_pred=np.array([0, 1, 0]),
        intersections=np.array([75, 27, 15]),
    )
    assert overlap.ious.tolist() == pytest.approx([75 / 105, 0.3, 15 / 110])
    assert detections(overlap, [0.1])[0].tp == 1  # 0.714 alone is more than 0.3 and 0.136 together
    assert detections(overlap, [0.1], inclusive=True)[0].tp == 2


def test_a_threshold_of_two_decimals_is_met_exactly() -> None:
    overlap = match_instances(np.array([1] * 7 + [0] * 3), np.array([1] * 10))
    assert overlap.ious.tolist() == [0.7]
    assert 0.7 in CURVE_THRESHOLDS
    by_threshold = {d.threshold: d.tp for d in detections(overlap)}
    assert (by_threshold[0.65], by_threshold[0.7]) == (1, 0)
    assert detections(overlap, [0.7], inclusive=True)[0].tp == 1


# ---------------------------------------------------------------- nothing there


def test_two_empty_masks_have_no_value() -> None:
    overlap = match_instances(np.zeros((4, 4), int), np.zeros((4, 4), int))
    assert (aji(overlap), aji_plus(overlap)) == (None, None)
    for found in detections(overlap, [0.3, 0.5]):
        assert (found.f1, found.dq, found.sq, found.pq) == (None,) * 4
        assert (found.tp, found.fp, found.fn) == (0, 0, 0)


@pytest.mark.parametrize("swap", [False, True])
def test_one_empty_mask_gives_zero(swap: bool) -> None:
    pair = [mask(TWO), np.zeros((12, 20), np.uint8)]
    overlap = match_instances(*(pair[::-1] if swap else pair))
    assert (aji(overlap), aji_plus(overlap)) == (0, 0)
    for found in detections(overlap, [0.3, 0.5], inclusive=swap):
        assert (found.f1, found.sq, found.pq) == (0, 0, 0)
        assert (found.fp, found.fn) == ((2, 0) if swap else (0, 2))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 2)])
def test_an_array_without_voxels_holds_nothing(shape: tuple[int, ...]) -> None:
    assert match_instances(np.zeros(shape, int), np.zeros(shape, int)).is_empty


# ---------------------------------------------------------------- ids


def test_ids_of_any_size_gaps_types_and_no_background() -> None:
    gt = np.array([[2**31, 2**31, 5], [2**40, 2**40, 5]], dtype=np.int64)
    pred = np.array([[9, 9, 9], [200, 200, 3]], dtype=np.uint8)
    overlap = match_instances(gt, pred)
    assert overlap.gt_ids.tolist() == [5, 2**31, 2**40]
    assert overlap.gt_areas.tolist() == [2, 2, 2]
    assert overlap.pred_ids.tolist() == [3, 9, 200]
    assert overlap.intersections.tolist() == [1, 1, 2, 2]
    assert match_instances(pred, gt).n_gt == 3
    assert match_instances(gt.astype(np.uint64), pred).gt_ids.tolist() == overlap.gt_ids.tolist()


def test_an_id_is_one_object_connected_or_not_and_neighbours_stay_apart() -> None:
    gt = np.array([[1, 1, 2, 2], [0, 0, 0, 0], [3, 0, 0, 3]])
    found = detections(match_instances(gt, gt), [0.5])[0]
    assert (found.tp, found.fp, found.fn) == (3, 0, 0)


def test_truth_values_are_one_object() -> None:
    one = np.array([True, True, False])
    assert detections(match_instances(one, one), [0.5])[0].tp == 1


def test_three_dimensions_and_either_memory_order() -> None:
    rng = np.random.default_rng(1)
    gt, pred = rng.integers(0, 5, (2, 6, 7, 8))
    plain = match_instances(gt, pred)
    turned = match_instances(np.asfortranarray(gt), pred)
    assert turned.intersections.tolist() == plain.intersections.tolist()
    assert plain.gt_areas.tolist() == [int((gt == i).sum()) for i in range(1, 5)]


@pytest.mark.parametrize(
    ("gt", "pred", "message"),
    [
        (np.zeros((2, 2), int), np.zeros((2, 3), int), "shapes differ"),
        (np.zeros(2), np.zeros(2, int), "expected whole label ids"),
        (np.array([0, -1]), np.zeros(2, int), "gt: instance ids from -1 to 0"),
        (np.zeros(2, int), np.array([0, 2**63], dtype=np.uint64), "pred: ids up to 9223372036854775808"),
    ],
)
def test_what_is_no_instance_mask_is_refused(gt: Mask, pred: Mask, message: str) -> None:
    with pytest.raises(MetricInputError, match=message):
        match_instances(gt, pred)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_a_threshold_outside_0_to_1_is_refused(threshold: float) -> None:
    with pytest.raises(MetricInputError, match="IoU threshold"):
        detections(overlap_of("I1"), [threshold])


def test_volumes_larger_than_one_stretch_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    gt, pred = rng.integers(0, 9, (2, 40, 50))
    whole = match_instances(gt, pred)
    monkeypatch.setattr("medotter_viewer.metrics.instances.overlap._CHUNK", 7)
    parts = match_instances(gt, pred)
    for name in whole.__dataclass_fields__:
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


@pytest.mark.parametrize("limit", ["_DENSE", "_CODES"])
@pytest.mark.parametrize("step", [1, 2**20, 2**40])
def test_pairs_are_summed_alike_in_a_table_and_by_sorting(
    limit: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    gt, pred = rng.integers(0, 9, (2, 40, 50)) * step
    whole = match_instances(gt, pred)
    assert whole.gt_areas.tolist() == [int((gt == i).sum()) for i in whole.gt_ids]
    assert [
        int(((gt == whole.gt_ids[i]) & (pred == whole.pred_ids[j])).sum())
        for i, j in zip(whole.pair_gt, whole.pair_pred, strict=True)
    ] == whole.intersections.tolist()
    monkeypatch.setattr(f"medotter_viewer.metrics.instances.overlap.{limit}", 1)
    other = match_instances(gt, pred)
    for name in whole.__dataclass_fields__:
        assert getattr(other, name).tolist() == getattr(whole, name).tolist()


# ---------------------------------------------------------------- what holds for any two masks

masks = arrays(np.int64, (6, 6), elements=st.integers(0, 5))
pairs = st.tuples(masks, masks)
thresholds = st.lists(st.floats(0, 1), min_size=2, max_size=6).map(sorted)


def renamed(array: Mask, names: dict[int, int]) -> Mask:
    return np.vectorize(names.__getitem__, otypes=[np.int64])(array)


@given(pairs, st.permutations(range(1, 6)), st.integers(1, 2**33))
def test_names_do_not_matter(pair: tuple[Mask, Mask], order: list[int], step: int) -> None:
    gt, pred = pair
    names = {0: 0, **{i + 1: n * step for i, n in enumerate(order)}}
    before, after = match_instances(gt, pred), match_instances(renamed(gt, names), renamed(pred, names))
    assert detections(after, [0.5, 0.6, 0.9]) == detections(before, [0.5, 0.6, 0.9])
    kept = {i: i * step for i in range(6)}  # of equal partners the lowest id is taken: keep the order
    ordered = match_instances(renamed(gt, kept), renamed(pred, kept))
    assert detections(ordered, [0.1, 0.3]) == detections(before, [0.1, 0.3])
    assert (aji(ordered), aji_plus(ordered)) == (aji(before), aji_plus(before))


@given(pairs, st.floats(0, 1), st.booleans())
def test_pq_is_sq_times_dq(pair: tuple[Mask, Mask], threshold: float, inclusive: bool) -> None:
    (found,) = detections(match_instances(*pair), [threshold], inclusive=inclusive)
    if found.pq is not None and found.sq is not None and found.dq is not None:
        assert found.pq == pytest.approx(found.sq * found.dq, abs=1e-12)
        assert 0 <= found.pq <= found.dq <= 1


@given(pairs, thresholds, st.booleans())
def test_f1_never_rises_with_the_threshold(pair: tuple[Mask, Mask], levels: list[float], inclusive: bool) -> None:
    found = detections(match_instances(*pair), levels, inclusive=inclusive)
    for lower, higher in itertools.pairwise(found):
        # Below 0.5 one assignment serves all levels; from there on every pair above the level counts.
        if inclusive or (lower.threshold >= 0.5) == (higher.threshold >= 0.5):
            assert higher.tp <= lower.tp
            assert lower.f1 is None or higher.f1 is None or higher.f1 <= lower.f1
        assert (higher.tp + higher.fp, higher.tp + higher.fn) == (lower.tp + lower.fp, lower.tp + lower.fn)


@given(pairs)
def test_f1_is_symmetric(pair: tuple[Mask, Mask]) -> None:
    forth, back = match_instances(*pair), match_instances(*pair[::-1])
    for one, other in zip(detections(forth), detections(back), strict=True):
        assert (one.tp, one.fp, one.fn, one.iou_sum) == (other.tp, other.fn, other.fp, other.iou_sum)
    assert _total(forth) == pytest.approx(_total(back), abs=1e-12)


@given(masks)
def test_a_mask_agrees_with_itself(labels: Mask) -> None:
    overlap = match_instances(labels, labels)
    expected = None if overlap.is_empty else 1.0
    assert (aji(overlap), aji_plus(overlap)) == (expected, expected)
    assert {d.pq for d in detections(overlap, [0, 0.3, 0.5, 0.99])} == {expected}


@given(pairs)
def test_the_sparse_assignment_is_the_hungarian_one_over_all_objects(pair: tuple[Mask, Mask]) -> None:
    overlap = match_instances(*pair)
    assert _total(overlap) == pytest.approx(_dense(overlap, lambda iou: iou), abs=1e-9)
    level, smaller = 0.2, max(1, min(overlap.n_gt, overlap.n_pred))
    (found,) = detections(overlap, [level], inclusive=True)
    most = _dense(overlap, lambda iou: (iou >= level) + iou / (2 * smaller))
    assert found.tp == math.floor(most + 1e-9)


def _total(overlap: InstanceOverlap) -> float:
    """Sum of IoU of the assignment, by way of threshold 0."""
    return detections(overlap, [0.0])[0].iou_sum


def _dense(overlap: InstanceOverlap, weight: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((overlap.n_gt, overlap.n_pred))
    matrix[overlap.pair_gt, overlap.pair_pred] = weight(overlap.ious)
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def test_a_shifted_mosaic_of_many_objects_is_one_small_problem() -> None:
    rows, columns = np.indices((600, 600)) // 12
    gt = rows * 50 + columns + 1
    overlap = match_instances(gt, np.roll(gt, (5, 4), axis=(0, 1)))
    assert (overlap.n_gt, overlap.pair_gt.size) == (2500, 4 * 2500)
    (found,) = detections(overlap, [0.2])
    assert found.tp == 2500
    assert found.sq == pytest.approx(56 / (288 - 56))


@pytest.mark.parametrize("second", [(5, 8, 5, 8), (2, 5, 5, 8), (5, 8, 2, 5)])
def test_objects_that_meet_at_an_edge_or_a_corner_are_two(second: Box) -> None:
    both = mask({1: (2, 5, 2, 5), 2: second})
    (found,) = detections(match_instances(both, both), [0.5])
    assert (found.tp, found.fp, found.fn, found.f1) == (2, 0, 0, 1)
