"""On slices that lie unevenly overlaps are counted as ever, and no distance is claimed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer import Grid, LabelMap
from medotter_viewer.batch import score_entries
from medotter_viewer.cache import scores as through
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.reprs import metric_text
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.resample import resample_labels
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.sources import loading

UNDEFINED = MetricValue(None, "error", "uneven_slices")
EVEN = Grid((4, 4, 4), np.diag([1.0, 1.0, 2.0, 1.0]))
UNEVEN = replace(EVEN, is_uneven=True)


def block(first: int) -> Any:
    data = np.zeros((4, 4, 4), dtype=np.uint8)
    data[first : first + 2, 1:3, 1:3] = 1
    return data


def score_on(grid: Grid, pred: Any, **keys: Any) -> Any:
    spec = EvalSpec.from_mapping({"eval_regions": {"one": [1]}, "metrics": ["dice", "iou", "hd95"], **keys})
    gt = LabelMap(block(0), grid)
    case = Case(CaseEntry("SET/1", remap=Remap(None, "none")), gt_native=gt, gt=gt, pred=LabelMap(pred, grid))
    return score_case(case, spec, ScoreOptions()).regions["one"].metrics


def test_dice_and_iou_stay_and_hd95_is_undefined() -> None:
    even, uneven = score_on(EVEN, block(1)), score_on(UNEVEN, block(1))
    assert even["hd95"].status == "ok"
    assert uneven["hd95"] == UNDEFINED
    assert not uneven["hd95"].counts
    assert uneven["dice"] == even["dice"] == MetricValue(0.5)
    assert uneven["iou"] == even["iou"] == MetricValue(4 / 12)
    assert metric_text("hd95", uneven["hd95"]) == "not defined (uneven slices)"


def test_a_spacing_that_the_specification_fixes_defines_hd95() -> None:
    fixed = {"hd95": {"spacing": [1, 1, 2]}}
    assert score_on(UNEVEN, block(1), **fixed)["hd95"] == score_on(EVEN, block(1))["hd95"]


def test_an_empty_prediction_is_valued_by_its_rule() -> None:
    rules = {"empty_structure": {"hd95": {"gt_nonempty_pred_empty": 373.13}}}
    found = score_on(UNEVEN, np.zeros((4, 4, 4), dtype=np.uint8), **rules)
    assert found["hd95"] == MetricValue(373.13, "cap", "gt_nonempty_pred_empty")


def test_remembered_facts_know_that_slices_are_uneven(
    tmp_path: Path, write_bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from medotter_viewer import open_source

    tiny = write_bundle(
        tmp_path / "b", {"D/1": {"gt": block(0), "dataset": "D"}}, eval_spec={"metrics": ["dice", "hd95"]},
        task={"task": {"id": "t"}, "canonical_labels": {"one": [1]}, "label_remap": {"D": {1: 1}}},
        predictions={"D/1": block(1)},
    )  # fmt: skip
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    cache = FactCache(tmp_path / "scores.sqlite")

    def uneven_case(*args: Any, **keys: Any) -> Case:
        case = loading.load_case(*args, **keys)
        assert case.gt_native is not None
        assert case.pred is not None
        grid = replace(case.gt_native.grid, is_uneven=True)
        parts = {name: LabelMap(getattr(case, name).data, grid) for name in ("gt_native", "gt", "pred")}
        return replace(case, **parts)

    def scored() -> Any:
        (score,) = score_entries(source.entries("test"), source.spec, ScoreOptions(), cache=cache)
        return score.regions["one"].metrics

    monkeypatch.setattr(through, "load_case", uneven_case)
    first = scored()
    monkeypatch.setattr(through, "load_case", lambda *_, **__: pytest.fail("voxels were read"))
    assert scored() == first
    assert first["hd95"] == UNDEFINED
    assert first["dice"].value == 0.5


@pytest.mark.parametrize(("source", "target"), [(UNEVEN, EVEN), (EVEN, UNEVEN)])
def test_nothing_is_resampled_from_or_to_uneven_slices(source: Grid, target: Grid) -> None:
    with pytest.raises(GridMismatchError, match="unevenly"):
        resample_labels(LabelMap(block(0), source), target)


def test_a_grid_says_that_its_slices_are_uneven() -> None:
    assert UNEVEN.describe() == "4 x 4 x 4 voxels of 1 x 1 x 2 mm, RAS, uneven slices"
    assert EVEN.describe() == "4 x 4 x 4 voxels of 1 x 1 x 2 mm, RAS"
