"""What the legend says is drawn, and in which colour."""

from __future__ import annotations

import pytest

from medotter_viewer.ui.colors import FN_ACCENT, FP_ACCENT, GT_ACCENT, PRED_ACCENT, TP_ACCENT, WRONG_ACCENT
from medotter_viewer.ui.legend import Entry, legend
from medotter_viewer.ui.options import ShowOptions

GT_ALONE, PRED_ALONE = ("ground truth", GT_ACCENT), ("prediction", PRED_ACCENT)
GT_LABELS, PRED_LABELS = ("ground truth", None), ("prediction", None)
WRONG = ("wrong label", WRONG_ACCENT)
ERRORS = [("right", TP_ACCENT), ("missed (FN)", FN_ACCENT), ("invented (FP)", FP_ACCENT)]


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        (ShowOptions(), [GT_LABELS, PRED_ALONE, WRONG]),
        (ShowOptions(region="macro_avg"), [GT_LABELS, PRED_ALONE, WRONG]),
        (ShowOptions(region="liver"), [GT_ALONE, PRED_ALONE]),
        (ShowOptions(native=True), [GT_LABELS, PRED_ALONE]),
        (ShowOptions(mode="fill"), [GT_LABELS, PRED_LABELS]),
        (ShowOptions(mode="fill", region="liver"), [GT_ALONE, PRED_ALONE]),
        (ShowOptions(mode="error"), [*ERRORS, WRONG]),
        (ShowOptions(mode="error", region="liver"), ERRORS),
        (ShowOptions(mode="off"), []),
        (ShowOptions(hidden=frozenset({"pred"})), [GT_LABELS]),
        (ShowOptions(hidden=frozenset({"gt"})), [PRED_ALONE]),
        (ShowOptions(hidden=frozenset({"gt", "pred", "error"})), []),
        (ShowOptions(mode="error", hidden=frozenset({"error"})), []),
    ],
)
def test_what_is_drawn_is_named_with_its_colour(show: ShowOptions, expected: list[Entry]) -> None:
    assert legend(show, has_gt=True, has_pred=True) == expected


def test_what_a_case_lacks_is_not_named() -> None:
    assert legend(ShowOptions(), has_gt=True, has_pred=False) == [GT_LABELS]
    assert legend(ShowOptions(), has_gt=False, has_pred=True) == [PRED_ALONE]
    assert legend(ShowOptions(), has_gt=False, has_pred=False) == []
    assert legend(ShowOptions(mode="error"), has_gt=True, has_pred=False) == []
    assert legend(ShowOptions(mode="error"), has_gt=False, has_pred=True) == []
