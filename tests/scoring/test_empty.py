"""What a structure is worth that is not there: every situation, with and without a table."""

from __future__ import annotations

import pytest

from medotter_viewer.core.scores import MetricValue
from medotter_viewer.scoring.empty import BOTH, GT_EMPTY, PRED_EMPTY, empty_value, situation

TABLE = {
    "dice": {"both_empty": 1.0, "gt_nonempty_pred_empty": 0.0, "gt_empty_pred_nonempty": 0.25},
    "hd95": {"both_empty": 0.0, "gt_nonempty_pred_empty": 80.0, "gt_empty_pred_nonempty": 90.0},
}
DIAGONAL = 43.0


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [
        (3, 2, None),
        (3, 0, "gt_nonempty_pred_empty"),
        (0, 2, "gt_empty_pred_nonempty"),
        (0, 0, "both_empty"),
    ],
)
def test_situation_is_the_key_of_the_table(gt: int, pred: int, expected: str | None) -> None:
    assert situation(gt, pred) == expected


@pytest.mark.parametrize(
    ("metric", "where", "expected"),
    [
        ("dice", BOTH, MetricValue(1.0, "absent", "both_empty")),
        ("dice", PRED_EMPTY, MetricValue(0.0, "cap", "gt_nonempty_pred_empty")),
        ("dice", GT_EMPTY, MetricValue(0.25, "cap", "gt_empty_pred_nonempty")),
        ("hd95", BOTH, MetricValue(0.0, "absent", "both_empty")),
        ("hd95", PRED_EMPTY, MetricValue(80.0, "cap", "gt_nonempty_pred_empty")),
        ("hd95", GT_EMPTY, MetricValue(90.0, "cap", "gt_empty_pred_nonempty")),
    ],
)
def test_the_table_decides_and_is_named_as_the_rule(metric: str, where: str, expected: MetricValue) -> None:
    assert empty_value(metric, where, TABLE, DIAGONAL) == expected


@pytest.mark.parametrize("table", [{}, {"dice": {}}, {"something": {"both_empty": 0.5}}])
def test_without_a_table_overlap_follows_its_formula_and_a_distance_is_the_diagonal(
    table: dict[str, dict[str, float]],
) -> None:
    for metric in ("dice", "iou"):
        absent = empty_value(metric, BOTH, table, DIAGONAL)
        assert (absent.value, absent.status) == (1.0, "absent")
        for where in (PRED_EMPTY, GT_EMPTY):
            assert empty_value(metric, where, table, DIAGONAL).value == 0.0
    absent = empty_value("hd95", BOTH, table, DIAGONAL)
    assert (absent.value, absent.status) == (0.0, "absent")
    for where in (PRED_EMPTY, GT_EMPTY):
        assert empty_value("hd95", where, table, DIAGONAL) == MetricValue(43.0, "cap", "image_diagonal")


def test_a_table_may_hold_one_situation_only() -> None:
    table = {"hd95": {"gt_nonempty_pred_empty": 373.13}}
    assert empty_value("hd95", PRED_EMPTY, table, DIAGONAL).value == 373.13
    assert empty_value("hd95", GT_EMPTY, table, DIAGONAL) == MetricValue(43.0, "cap", "image_diagonal")
    assert empty_value("hd95", BOTH, table, DIAGONAL).value == 0.0


def test_a_table_may_punish_absence_in_both() -> None:
    assert empty_value("dice", BOTH, {"dice": {"both_empty": 0.0}}, DIAGONAL).value == 0.0


def test_a_table_of_one_metric_says_nothing_about_another() -> None:
    assert empty_value("iou", GT_EMPTY, TABLE, DIAGONAL).value == 0.0
    assert empty_value("iou", BOTH, {"dice": {"both_empty": 0.0}}, DIAGONAL).value == 1.0
