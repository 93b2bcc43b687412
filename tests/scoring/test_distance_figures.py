"""The figures behind an hd95 are those it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.distance_figures import distance_figures
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.segmentation import score_segmentation

SPEC = EvalSpec.from_mapping({"eval_regions": {"one": [1], "two": [2]}, "metrics": ["dice", "hd95"]})


def case_of(gt: list[int], pred: list[int]) -> Case:
    grid = Grid((len(gt), 1, 1), np.diag([2.0, 1.0, 1.0, 1.0]))
    maps = (LabelMap(np.array(part, dtype=np.uint8).reshape(-1, 1, 1), grid) for part in (gt, pred))
    return Case(CaseEntry("D/1"), **dict(zip(("gt", "pred"), maps, strict=True)))


def test_a_row_of_voxels_counted_by_hand() -> None:
    # gt at 0 and 1, prediction at 1 and 4, in steps of 2 mm: gt to prediction 2, 0; prediction to gt 0, 6
    case = case_of([1, 1, 0, 0, 0], [0, 1, 0, 0, 1])
    found = distance_figures(case, SPEC, "one")
    assert found is not None
    assert (found.gt_voxels, found.pred_voxels) == (2, 2)
    assert found.gt_to_pred_mm == pytest.approx(1.9, abs=1e-12)
    assert found.pred_to_gt_mm == pytest.approx(5.7, abs=1e-12)
    assert found.farthest_mm == 6.0
    scored = score_segmentation(case, SPEC, ScoreOptions()).regions["one"].metrics["hd95"].value
    assert scored == max(found.gt_to_pred_mm, found.pred_to_gt_mm)
    assert found.lines()[1] == "prediction → gt: 95 % of 2 surface voxels within 5.70 mm"


def test_an_empty_side_and_an_unknown_region_have_no_figures() -> None:
    case = case_of([1, 0, 0], [0, 0, 0])
    assert distance_figures(case, SPEC, "one") is None
    assert distance_figures(case, SPEC, "two") is None
    assert distance_figures(case, SPEC, "other") is None
