"""What became of each object: found, missed, invented, merged, split."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from medotter_viewer.metrics.instances import InstanceMatch, detections, match_instances, match_table


def row(kind: Any, gt_id: int | None, pred_id: int | None, iou: float, *rest: Any) -> InstanceMatch:
    return InstanceMatch(kind, gt_id, pred_id, iou, *rest)


def test_one_prediction_over_two_objects_is_a_merge() -> None:
    overlap = match_instances(np.array([1, 1, 2, 2, 0]), np.array([9, 9, 9, 9, 0]))
    assert match_table(overlap) == [
        row("fn", 1, None, 0.5, 2, None),
        row("fn", 2, None, 0.5, 2, None),
        row("merge", None, 9, 0.5, None, 4, (1, 2)),
    ]


def test_two_predictions_in_one_object_are_a_split() -> None:
    overlap = match_instances(np.array([1, 1, 1, 1, 0]), np.array([9, 9, 8, 8, 0]))
    assert match_table(overlap) == [
        row("split", 1, None, 0.5, 4, None, (), (8, 9)),
        row("fp", None, 8, 0.5, None, 2),
        row("fp", None, 9, 0.5, None, 2),
    ]


def test_half_of_an_object_is_not_enough_to_be_covered() -> None:
    overlap = match_instances(np.array([1, 1, 2, 2, 0, 0]), np.array([0, 9, 9, 0, 0, 0]))
    assert [r.kind for r in match_table(overlap)] == ["fn", "fn", "fp"]


def test_a_match_that_swallows_a_second_object_says_so() -> None:
    overlap = match_instances(np.array([1] * 6 + [2]), np.array([5] * 7))
    match, missed = match_table(overlap)
    assert (match.kind, match.gt_id, match.pred_id, match.covers) == ("tp", 1, 5, (1, 2))
    assert (missed.kind, missed.gt_id, missed.iou) == ("fn", 2, 1 / 7)


def test_a_match_with_a_fragment_beside_it_says_so() -> None:
    overlap = match_instances(np.array([1] * 7), np.array([5] * 6 + [6]))
    match, extra = match_table(overlap)
    assert (match.kind, match.parts) == ("tp", (5, 6))
    assert (extra.kind, extra.pred_id, extra.pred_area) == ("fp", 6, 1)


def test_objects_without_any_overlap_have_an_iou_of_0() -> None:
    missed, invented = match_table(match_instances(np.array([3, 0]), np.array([0, 4])))
    assert (missed.kind, missed.gt_id, missed.iou) == ("fn", 3, 0.0)
    assert (invented.kind, invented.pred_id, invented.iou) == ("fp", 4, 0.0)


def test_the_threshold_moves_objects_between_the_kinds() -> None:
    overlap = match_instances(np.array([1, 1, 1, 1]), np.array([9, 9, 8, 8]))
    assert [r.kind for r in match_table(overlap, 0.4)] == ["tp", "fp"]
    assert [r.kind for r in match_table(overlap, 0.5, inclusive=True)] == ["tp", "fp"]


def test_two_empty_masks_have_no_rows() -> None:
    assert match_table(match_instances(np.zeros(3, int), np.zeros(3, int))) == []


masks = arrays(np.int64, (6, 6), elements=st.integers(0, 5))


@given(masks, masks, st.floats(0, 1))
def test_rows_count_as_the_scores_do(gt: Any, pred: Any, threshold: float) -> None:
    overlap = match_instances(gt, pred)
    (found,) = detections(overlap, [threshold])
    rows = match_table(overlap, threshold)
    kinds = Counter(r.kind for r in rows)
    assert (kinds["tp"], kinds["fp"] + kinds["merge"], kinds["fn"] + kinds["split"]) == (found.tp, found.fp, found.fn)
    assert sorted(r.gt_id for r in rows if r.gt_id is not None) == overlap.gt_ids.tolist()
    assert sorted(r.pred_id for r in rows if r.pred_id is not None) == overlap.pred_ids.tolist()
