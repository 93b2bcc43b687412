"""Which region's hd95 is shown, between which voxels it runs, and why there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import MACRO, EvalSpec, Headline
from medotter_viewer.scoring.hd95_pair import STILL_COMING, hd95_pairs, pair_region
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case

REGIONS = {"cube": (1,), "dot": (2,), "gone": (3,), "none": (4,)}
SPEC = EvalSpec("seg", REGIONS, ("dice", "hd95"), Headline("cube", "dice"))
MEAN = EvalSpec("seg", REGIONS, ("dice", "hd95"), Headline(MACRO, "dice"))


@pytest.fixture
def case() -> Case:
    """A cube of 4 x 4 x 4 whose upper half is missed, a dot 3 mm off, one region without prediction, one absent."""
    gt, pred = np.zeros((8, 8, 8), dtype=np.uint8), np.zeros((8, 8, 8), dtype=np.uint8)
    gt[1:5, 1:5, 1:5] = 1
    pred[1:5, 1:5, 1:3] = 1
    gt[7, 7, 0], pred[7, 7, 3] = 2, 2
    gt[0, 0, 7] = 3
    grid = Grid(gt.shape, np.eye(4))
    return Case(CaseEntry("A/1"), gt=LabelMap(gt, grid), pred=LabelMap(pred, grid))


def test_both_directions_with_the_one_that_decides_first(case: Case) -> None:
    pairs = hd95_pairs(case, SPEC, "cube")
    # 16 of the 56 surface voxels of the cube lie 2 mm from the prediction, more than 5 %; first (1, 1, 4)
    assert pairs.deciding == ("gt_to_pred", (1, 1, 4), (1, 1, 2), 2.0)
    # 4 of the 32 predicted voxels lie inside of the cube, 1 mm below its surface: their nearest voxel is at z = 1
    assert (pairs.other.direction, pairs.other.pred_voxel, pairs.other.distance_mm) == ("pred_to_gt", (2, 2, 2), 1.0)
    assert (pairs.hd95_mm, pairs.percentile) == (2.0, 95.0)


def test_the_spacing_is_that_of_the_specification(case: Case) -> None:
    spec = EvalSpec("seg", REGIONS, ("hd95",), SPEC.headline, hd95_spacing=(1.0, 1.0, 5.0))
    assert hd95_pairs(case, spec, "dot").hd95_mm == 15.0


def test_the_selected_region_is_shown_else_the_headline_and_of_a_mean_the_worst(case: Case) -> None:
    score = score_case(case, SPEC)
    assert pair_region(score, SPEC, "dot") == ("dot", "")
    assert pair_region(score, SPEC, None) == ("cube", "")
    assert pair_region(score, MEAN, None) == ("dot", "")  # 3 mm; the value of `gone` is a cap, no distance


@pytest.mark.parametrize(
    ("region", "why"), [("gone", "gone: hd95 is a cap 13.8564 (image diagonal)"), ("none", "none: absent in both")]
)
def test_a_value_that_a_rule_set_is_no_distance(case: Case, region: str, why: str) -> None:
    found, said = pair_region(score_case(case, SPEC), SPEC, region)
    assert found is None
    assert said.startswith(why)


def test_without_scores_there_is_none(case: Case) -> None:
    assert pair_region(None, SPEC, None) == (None, "no scores: no hd95")
    failed = CaseScore.unscored("A/1", "error", "grids differ")
    assert pair_region(failed, SPEC, None) == (None, "no hd95: grids differ")


def test_before_hd95_is_there_a_region_can_be_shown_but_not_the_worst_of_all(case: Case) -> None:
    fast: Any = score_case(case, SPEC, ScoreOptions(("dice",)))
    assert pair_region(fast, SPEC, "cube") == ("cube", "")
    assert pair_region(fast, MEAN, None) == (None, STILL_COMING)
