"""Every object of a case, what it costs, and scores at any threshold."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MetricInputError
from medotter_viewer.formats.images import pixel_grid
from medotter_viewer.metrics.instances import aji, detections, match_instances, match_table
from medotter_viewer.metrics.instances.losses import aji_losses
from medotter_viewer.metrics.instances.rows import KINDS, Matcher
from medotter_viewer.metrics.instances.touching import touching_pairs
from medotter_viewer.scoring.instance_matches import CURVE, InstanceMatches, MatchRow, instance_matches
from medotter_viewer.scoring.instances import METRICS, instance_scores, score_instances
from medotter_viewer.scoring.options import ScoreOptions

Mask = NDArray[np.integer[Any]]


def spec_of(**keys: Any) -> EvalSpec:
    return EvalSpec.from_mapping({"task_type": "instance_seg_2d", "eval_regions": {"nucleus": [1]}, **keys})


def case_of(gt: Mask, pred: Mask | None) -> Case:
    maps = [None if a is None else LabelMap(a, pixel_grid(a.shape)) for a in (gt, pred)]
    return Case(CaseEntry("D/1", dataset="D", remap=Remap(None, "none")), gt_native=maps[0], gt=maps[0], pred=maps[1])


def row_of(*ids: tuple[int, int]) -> Mask:
    """One row of pixels: (id, how many) after each other."""
    return np.repeat([i for i, _ in ids], [n for _, n in ids])[None, None, :].astype(np.int32)


def found_in(gt: Mask, pred: Mask, **keys: Any) -> InstanceMatches:
    found = instance_matches(case_of(gt, pred), spec_of(**keys))
    assert found is not None
    return found


def lines(found: InstanceMatches, threshold: float = 0.5) -> list[MatchRow]:
    rows = found.rows(threshold)
    return [found.row(rows, int(line)) for line in found.order(rows)]


# ground truth: 1 found with one pixel missed, 2 and 3 merged into 20, 4 split into 40 and 41, 5 missed; 60 is invented
GT = row_of((1, 5), (0, 2), (2, 4), (3, 4), (0, 2), (4, 6), (0, 2), (5, 3), (0, 4))
PRED = row_of((10, 4), (0, 3), (20, 8), (0, 2), (40, 3), (41, 3), (0, 2), (0, 3), (0, 2), (60, 2))


def test_every_object_has_a_line_with_its_class_partner_and_loss() -> None:
    # U: 1 with 10: 5; 2 with 20: 8; 3 with 20: 8; 4 with 40: 6 (41 is as good, but of a higher id); 5: 3; 41: 3; 60: 2
    union = 5 + 8 + 8 + 6 + 3 + 3 + 2
    found = found_in(GT, PRED)
    assert found.matcher.losses.union == union
    told = [(r.kind, r.gt_id, r.pred_id, r.iou, r.gt_area, r.pred_area, r.loss, r.others) for r in lines(found)]
    assert told == [
        ("fn", 2, 20, 0.5, 4, 8, 4, ()),
        ("fn", 3, 20, 0.5, 4, 8, 4, ()),
        ("fp", 4, 41, 0.5, 6, 3, 3, ()),
        ("fn", 5, None, 0.0, 3, None, 3, ()),
        ("split", 4, 40, 0.5, 6, 3, 3, (40, 41)),
        ("fp", None, 60, 0.0, None, 2, 2, ()),
        ("fp", 4, 40, 0.5, 6, 3, 0, ()),
        ("merge", 2, 20, 0.5, 4, 8, 0, (2, 3)),
        ("tp", 1, 10, 0.8, 5, 4, 1, ()),
    ]
    assert lines(found)[0].share == 4 / union
    # I: 4 + 4 + 4 + 3
    assert found.values()["aji"].value == 15 / union


def test_a_match_that_swallows_a_neighbour_says_whom() -> None:
    (missed, match) = lines(found_in(row_of((1, 6), (2, 1)), row_of((5, 7))))
    assert (missed.kind, missed.gt_id, missed.loss) == ("fn", 2, 6)
    assert (match.kind, match.gt_id, match.pred_id, match.others) == ("tp", 1, 5, (1, 2))
    assert (missed.detail, match.detail) == ("merged", "merge")


def test_a_match_that_leaves_a_fragment_is_still_a_split() -> None:
    (fragment, match) = lines(found_in(row_of((1, 7)), row_of((5, 5), (6, 2))))
    assert (fragment.kind, fragment.pred_id, fragment.detail, fragment.loss) == ("fp", 6, "fragment", 2)
    assert (match.kind, match.others, match.detail) == ("tp", (5, 6), "split")


def test_sorting_by_a_column_puts_what_is_not_there_last() -> None:
    found = found_in(GT, PRED)
    rows = found.rows(0.5)

    def told(column: Any, descending: bool) -> list[Any]:
        order = found.order(rows, column, descending=descending)
        name = {"gt": "gt_id", "pred": "pred_id", "gt_area": "gt_area"}.get(column, column)
        return [getattr(found.row(rows, int(line)), name) for line in order]

    assert told("gt", True) == [5, 4, 4, 4, 3, 2, 2, 1, None]
    assert told("gt", False) == [1, 2, 2, 3, 4, 4, 4, 5, None]
    assert told("gt_area", True) == [6, 6, 6, 5, 4, 4, 4, 3, None]
    assert told("iou", True)[0] == 0.8
    assert told("loss", True) == [4, 4, 3, 3, 3, 2, 1, 0, 0]


def test_an_object_is_found_by_its_id_whatever_it_became() -> None:
    found = found_in(GT, PRED)
    rows = found.rows(0.5)

    def line(object_id: int, is_gt: bool) -> Any:
        place = found.line_of(rows, object_id, is_gt=is_gt)
        return None if place is None else found.row(rows, place).kind

    assert [line(i, True) for i in (1, 2, 4, 5, 6)] == ["tp", "fn", "split", "fn", None]
    assert [line(i, False) for i in (10, 20, 41, 60, 7)] == ["tp", "merge", "fp", "fp", None]


def test_kinds_by_id_of_both_sides() -> None:
    found = found_in(GT, PRED)
    gt, pred = found.kinds(found.rows(0.5))
    assert gt == {1: "tp", 2: "fn", 3: "fn", 4: "split", 5: "fn"}
    assert pred == {10: "tp", 20: "merge", 40: "fp", 41: "fp", 60: "fp"}


@pytest.mark.parametrize("threshold", [0.0, 0.2, 1 / 3, 0.5, 0.55, 0.8, 1.0])
def test_at_the_specifications_threshold_the_numbers_are_those_of_the_scores(threshold: float) -> None:
    rng = np.random.default_rng(7)
    gt = rng.integers(0, 30, (1, 40, 40)).astype(np.int32)
    pred = np.where(rng.random(gt.shape) < 0.7, gt, rng.integers(0, 30, gt.shape)).astype(np.int32)
    spec, case = spec_of(iou_threshold=threshold), case_of(gt, pred)
    found = instance_matches(case, spec)
    assert found is not None
    scored = score_instances(case, spec, ScoreOptions()).regions["nucleus"].metrics
    assert dict(found.values()) == {metric: scored[metric] for metric in METRICS}


@pytest.mark.parametrize("gt", [row_of((0, 3)), row_of((0, 1), (4, 2))])
@pytest.mark.parametrize("pred", [row_of((0, 3)), row_of((9, 1), (0, 2))])
def test_empty_sides_are_worth_what_the_scores_say(gt: Mask, pred: Mask) -> None:
    spec = spec_of(empty_structure={"f1": {"gt_nonempty_pred_empty": 0.25}})
    case = case_of(gt, pred)
    found = instance_matches(case, spec)
    assert found is not None
    scored = score_instances(case, spec, ScoreOptions()).regions["nucleus"].metrics
    assert dict(found.values()) == dict(scored)


def test_without_a_prediction_there_are_no_matches() -> None:
    assert instance_matches(case_of(GT, None), spec_of()) is None


def test_negative_ids_are_refused() -> None:
    with pytest.raises(MetricInputError, match="pred: instance ids from -1"):
        instance_matches(case_of(GT, np.where(PRED == 0, -1, PRED)), spec_of())


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_iou_is_refused(threshold: float) -> None:
    with pytest.raises(MetricInputError, match="IoU threshold"):
        found_in(GT, PRED).rows(threshold)


def test_the_curve_is_what_each_threshold_gives() -> None:
    found = found_in(GT, PRED)
    assert [point.threshold for point in found.curve] == list(CURVE)
    at_half = found.curve[CURVE.index(0.5)]
    # one match of IoU 0.8, 4 missed, 4 invented
    assert (at_half.f1, at_half.pq) == (1 / 5, 0.8 / 5)
    gt, pred = crowded(8)
    moved = found_in(gt, pred)
    for point in moved.curve:
        exact = moved.detection(point.threshold)
        assert (point.f1, point.pq) == pytest.approx((exact.f1, exact.pq), rel=1e-12)


masks = arrays(np.int64, (1, 6, 6), elements=st.integers(0, 5))
thresholds = st.floats(0, 1)


@given(masks, masks, thresholds)
def test_losses_sum_to_what_is_missing_from_aji(gt: Mask, pred: Mask, threshold: float) -> None:
    overlap = match_instances(gt, pred)
    losses, index = aji_losses(overlap), aji(overlap)
    rows = Matcher(overlap).rows(threshold)
    assert int(rows.losses.sum()) == int(losses.gt.sum() + losses.pred.sum())
    if index is None:
        assert losses.union == 0
        assert rows.losses.size == 0
    else:  # whole numbers: exactly
        assert (losses.union - int(rows.losses.sum())) / losses.union == index


@given(masks, masks, thresholds)
def test_rows_are_those_of_the_table_of_matches(gt: Mask, pred: Mask, threshold: float) -> None:
    overlap = match_instances(gt, pred)
    found = found_in(gt, pred)
    rows = found.rows(threshold)
    (counted,) = detections(overlap, [threshold])
    assert rows.count("tp") == counted.tp
    assert rows.count("fn") + rows.count("split") == counted.fn
    assert rows.count("fp") + rows.count("merge") == counted.fp
    assert found.detection(threshold) == counted
    table = match_table(overlap, threshold)
    told = [found.row(rows, line) for line in range(rows.kinds.size)]
    assert [(r.kind, r.iou) for r in told] == [(r.kind, r.iou) for r in table]
    assert [r.gt_id if r.is_of_gt else r.pred_id for r in told] == [
        r.gt_id if r.gt_id is not None else r.pred_id for r in table
    ]
    assert [r.others for r in told if r.kind == "merge"] == [r.covers for r in table if r.kind == "merge"]
    assert [r.others for r in told if r.kind == "split"] == [r.parts for r in table if r.kind == "split"]


def crowded(n_side: int, seed: int = 0) -> tuple[Mask, Mask]:
    """n_side squared nuclei of 8 x 8 in cells of 10 x 10, and predictions that are moved, merged, cut or missing."""
    rng = np.random.default_rng(seed)
    gt = np.zeros((1, 10 * n_side, 10 * n_side), dtype=np.int32)
    pred = gt.copy()
    for number in range(n_side * n_side):
        top, left = 10 * (number // n_side) + 1, 10 * (number % n_side) + 1
        gt[0, top : top + 8, left : left + 8] = number + 1
        if rng.random() < 0.9:
            down, right = rng.integers(-3, 4, 2)
            pred[0, max(top + down, 0) : top + down + 8, max(left + right, 0) : left + right + 8] = number + 1
    return gt, pred


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.95])
def test_a_slider_over_1500_nuclei_is_followed_within_5_ms(threshold: float) -> None:
    found = found_in(*crowded(39))
    assert found.matcher.overlap.n_gt > 1500

    def seconds() -> float:
        start = time.perf_counter()
        values = found.values(threshold)
        assert values["f1"].value is not None
        return time.perf_counter() - start

    assert min(seconds() for _ in range(20)) < 0.005


def test_instance_scores_of_arrays_agree_too() -> None:
    gt, pred = crowded(6)
    assert dict(found_in(gt, pred).values(0.3)) == dict(instance_scores(gt, pred, iou_threshold=0.3))


def test_in_a_plane_corners_touch_and_in_a_volume_faces() -> None:
    plane = np.array([[[1, 1, 0], [0, 0, 2], [5, 5, 2]]])
    assert touching_pairs(plane).tolist() == [[1, 2], [2, 5]]
    volume = np.zeros((2, 2, 2), dtype=np.uint8)
    volume[0, 0, 0], volume[1, 1, 1], volume[1, 0, 0] = 3, 1, 2
    assert touching_pairs(volume).tolist() == [[2, 3]]
    assert touching_pairs(np.zeros((1, 3, 3), dtype=np.uint8)).tolist() == []


@given(arrays(np.int64, (1, 5, 5), elements=st.integers(0, 4)))
def test_touching_pairs_are_all_neighbours(labels: Mask) -> None:
    plane = labels[0]
    wanted = {
        (min(a, b), max(a, b))
        for i in range(5)
        for j in range(5)
        for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1))
        if i + di < 5 and 0 <= j + dj < 5 and (a := int(plane[i, j])) and (b := int(plane[i + di, j + dj])) and a != b
    }
    assert {tuple(pair) for pair in touching_pairs(labels).tolist()} == wanted


def test_kinds_are_named_as_in_the_table() -> None:
    assert set(KINDS) == {"tp", "fp", "fn", "merge", "split"}
