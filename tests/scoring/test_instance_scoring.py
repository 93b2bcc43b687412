"""Instance tasks: one region, the specification's threshold and rules for empty masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, MetricInputError, UsageError
from medotter_viewer.evaluation.aggregate import roll_up
from medotter_viewer.evaluation.remap_audit import audit_remaps
from medotter_viewer.formats.images import pixel_grid
from medotter_viewer.scoring.empty import BOTH, GT_EMPTY, PRED_EMPTY, empty_instances
from medotter_viewer.scoring.instances import METRICS, RATIOS, instance_scores, region_of
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import ADAPTERS, score_case
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source

Mask = NDArray[np.integer[Any]]
EMPTY = np.zeros((1, 4, 6), dtype=np.uint8)


def spec_of(**keys: Any) -> EvalSpec:
    told = {"task_type": "instance_seg_2d", "eval_regions": {"nucleus": [1]}, "main_region": "nucleus", **keys}
    return EvalSpec.from_mapping(told)


def case_of(gt: Mask, pred: Mask | None, case_id: str = "D/1") -> Case:
    maps = [None if a is None else LabelMap(a, pixel_grid(a.shape)) for a in (gt, pred)]
    entry = CaseEntry(case_id, dataset="D", remap=Remap(None, "none"))
    return Case(entry, gt_native=maps[0], gt=maps[0], pred=maps[1])


def painted(*boxes: tuple[int, int, int, int, int], shape: tuple[int, int] = (16, 30)) -> Mask:
    array = np.zeros((1, *shape), dtype=np.int32)
    for label, top, bottom, left, right in boxes:
        array[0, top:bottom, left:right] = label
    return array


def numbers(score: CaseScore, name: str = "nucleus") -> dict[str, float | None]:
    return {metric: value.value for metric, value in score.regions[name].metrics.items()}


TOUCHING = painted((1, 0, 10, 0, 10), (2, 0, 10, 10, 20), (3, 12, 16, 0, 4))
COVERED = painted((1, 0, 10, 0, 20))


@pytest.mark.parametrize("task_type", ["instance_seg_2d", "instance_seg_3d"])
def test_every_metric_is_given_whatever_the_specification_asks_for(task_type: str) -> None:
    score = score_case(case_of(TOUCHING, COVERED), spec_of(task_type=task_type, metrics=["f1", "aji", "pq"]))
    assert list(score.regions) == ["nucleus"]
    region = score.regions["nucleus"]
    assert (region.gt_voxels, region.pred_voxels, region.intersection) == (216, 200, 200)
    found = numbers(score)
    assert tuple(found) == METRICS
    assert found["aji"] == pytest.approx(200 / 416)
    assert found["aji_plus"] == pytest.approx(100 / 316)
    assert (found["tp"], found["fp"], found["fn"], found["f1"], found["pq"]) == (0, 1, 3, 0, 0)
    assert {value.status for value in region.metrics.values()} == {"ok"}


def test_ids_do_not_matter_and_a_type_may_be_too_small_for_a_relabelling() -> None:
    gt = painted((1, 0, 4, 0, 4), (5, 0, 4, 8, 12), (1000, 8, 12, 0, 4))
    pred = painted((300, 0, 4, 0, 4), (7, 0, 4, 8, 12), (65000, 8, 12, 0, 4))
    found = numbers(score_case(case_of(gt, pred), spec_of()))
    assert (found["tp"], found["f1"], found["aji"], found["pq"]) == (3, 1, 1, 1)
    grid = np.zeros((1, 100, 80), dtype=np.uint8)
    for k in range(200):
        row, column = divmod(k, 16)
        grid[0, 6 * row : 6 * row + 3, 5 * column : 5 * column + 3] = k + 1
    shifted = np.roll(np.where(grid > 196, 0, grid), 1, axis=2)
    found = numbers(score_case(case_of(grid, shifted), spec_of()))
    assert (found["tp"], found["fp"], found["fn"], found["f1"], found["pq"]) == (0, 196, 200, 0, 0)
    assert found["aji"] == found["aji_plus"] == pytest.approx(196 * 6 / (196 * 12 + 4 * 9))
    found = numbers(score_case(case_of(grid, shifted), spec_of(iou_threshold=0.4)))
    assert (found["tp"], found["fp"], found["fn"]) == (196, 0, 4)
    assert (found["f1"], found["pq"]) == (pytest.approx(392 / 396), pytest.approx(98 / 198))


def test_touching_objects_stay_two_and_a_split_one_stays_one() -> None:
    gt = painted((1, 0, 4, 0, 4), (2, 0, 4, 4, 8), (3, 8, 10, 0, 2), (3, 8, 10, 6, 8))
    found = numbers(score_case(case_of(gt, gt), spec_of()))
    assert (found["tp"], found["f1"], found["aji"], found["pq"]) == (3, 1, 1, 1)
    found = numbers(score_case(case_of(gt, (gt > 0).astype(np.uint8)), spec_of()))
    assert (found["tp"] or 0) + (found["fp"] or 0) == 1


# ---------------------------------------------------------------- nothing there


def test_two_empty_masks_agree() -> None:
    region = score_case(case_of(EMPTY, EMPTY), spec_of()).regions["nucleus"]
    for metric in RATIOS:
        assert region.metrics[metric] == MetricValue(1.0, "absent", "both_empty")
    assert [region.metrics[m].value for m in ("tp", "fp", "fn")] == [0, 0, 0]


@pytest.mark.parametrize(("gt", "pred"), [(TOUCHING, np.zeros_like(TOUCHING)), (np.zeros_like(TOUCHING), TOUCHING)])
def test_one_empty_mask_gives_0(gt: Mask, pred: Mask) -> None:
    region = score_case(case_of(gt, pred), spec_of()).regions["nucleus"]
    for metric in RATIOS:
        assert region.metrics[metric] == MetricValue(0.0)
    assert (region.metrics["fp"].value, region.metrics["fn"].value) == ((0, 3) if gt.any() else (3, 0))


def test_the_specification_may_set_other_values_for_empty_masks() -> None:
    table = {"pq": {"both_empty": 0.5, "gt_nonempty_pred_empty": 0.125}}
    spec = spec_of(empty_structure=table)
    both = score_case(case_of(EMPTY, EMPTY), spec).regions["nucleus"].metrics
    assert (both["pq"], both["f1"].value) == (MetricValue(0.5, "absent", "both_empty"), 1.0)
    missed = score_case(case_of(TOUCHING, np.zeros_like(TOUCHING)), spec).regions["nucleus"].metrics
    assert missed["pq"] == MetricValue(0.125, "cap", "gt_nonempty_pred_empty")
    assert empty_instances("pq", GT_EMPTY, table) == MetricValue(0.0)
    assert empty_instances("pq", PRED_EMPTY, table).value == 0.125
    assert empty_instances("aji", BOTH, table).value == 1.0


def test_a_missing_prediction_is_left_out_or_counts_as_empty() -> None:
    case = case_of(TOUCHING, None)
    assert score_case(case, spec_of()).status == "missing_prediction"
    assert numbers(score_case(case, spec_of(), ScoreOptions(missing="empty")))["fn"] == 3


# ---------------------------------------------------------------- region, metrics, ids


def test_the_region_is_the_one_of_the_specification_or_its_main_region() -> None:
    assert region_of(spec_of()) == "nucleus"
    assert region_of(spec_of(eval_regions={}, main_region="cell")) == "cell"
    assert region_of(spec_of(eval_regions={}, main_region="macro_avg")) == "instances"
    several = spec_of(eval_regions={"nucleus": [1], "cell": [2]})
    with pytest.raises(BundleError, match="nucleus, cell, expected one region"):
        score_case(case_of(EMPTY, EMPTY), several)


def test_metrics_that_are_not_known_are_refused_and_a_choice_is_kept() -> None:
    case = case_of(TOUCHING, TOUCHING)
    assert list(score_case(case, spec_of(), ScoreOptions(metrics=("pq", "tp"))).regions["nucleus"].metrics) == [
        "pq",
        "tp",
    ]
    with pytest.raises(UsageError, match="dice not known for instances"):
        score_case(case, spec_of(), ScoreOptions(metrics=("dice",)))
    with pytest.raises(BundleError, match="hd95 not known for instances"):
        score_case(case, spec_of(metrics=["hd95"]))
    assert ADAPTERS["instance_seg_2d"].metrics == METRICS


def test_a_negative_id_is_an_error_of_the_case() -> None:
    negative = TOUCHING.copy()
    negative[0, 15, 29] = -4
    score = score_case(case_of(TOUCHING, negative), spec_of())
    assert (score.status, "pred: instance ids from -4 to 3" in str(score.message)) == ("error", True)
    with pytest.raises(MetricInputError):
        instance_scores(TOUCHING, negative)


def test_a_label_space_does_not_concern_ids_of_objects() -> None:
    spec = spec_of(prediction_format={"label_space": [0, 1]})
    assert numbers(score_case(case_of(TOUCHING, TOUCHING), spec))["f1"] == 1
    audit = audit_remaps([case_of(TOUCHING, TOUCHING)], spec, target="t")
    assert audit.findings == ()


@pytest.mark.parametrize("threshold", [-0.1, 1.5, "half"])
def test_a_threshold_that_is_no_iou_is_refused(threshold: Any) -> None:
    with pytest.raises(BundleError, match="iou_threshold"):
        spec_of(iou_threshold=threshold)


def test_means_are_over_images() -> None:
    one = score_case(case_of(TOUCHING, TOUCHING, "D/1"), spec_of())
    four = painted(*[(i, 0, 4, 6 * i, 6 * i + 4) for i in range(1, 5)])
    quarter = score_case(case_of(four, np.where(four == 1, 9, 0), "D/2"), spec_of())
    spec = spec_of(aggregation={"unit": "image", "headline": {"region": "nucleus", "metric": "pq"}})
    aggregate = roll_up([one, quarter], spec)
    assert aggregate.headline.value == pytest.approx((1 + 0.4) / 2)
    assert aggregate.by_region["nucleus"]["tp"].value == 2


def test_arrays_alone_give_the_same_numbers() -> None:
    found = instance_scores(TOUCHING, COVERED)
    assert tuple(found) == METRICS
    assert {m: v.value for m, v in found.items()} == numbers(score_case(case_of(TOUCHING, COVERED), spec_of()))
    assert instance_scores(TOUCHING, COVERED, iou_threshold=0.4)["tp"].value == 1
    assert instance_scores(EMPTY, EMPTY)["pq"] == MetricValue(1.0, "absent", "both_empty")


# ---------------------------------------------------------------- the remap of a bundle

TASK = {"canonical_labels": {"nucleus": [1]}, "label_remap": {"D": {1: 1}}}
SPEC = {"task_type": "instance_seg_3d", "eval_regions": {"nucleus": [1]}, "metrics": ["pq"], "partial_label": True}


def bundle_of(write_bundle: Any, folder: Any, task: Any, **meta: Any) -> BundleSource:
    gt = np.moveaxis(TOUCHING, 0, -1).astype(np.uint8)
    tiny = write_bundle(folder, {"D/1": {"dataset": "D", "gt": gt, **meta}}, task, SPEC, {"D/1": gt})
    return open_source(tiny.bundle, predictions=tiny.predictions, data_root=tiny.data)


def test_a_remap_does_not_touch_instance_masks_and_says_so(write_bundle: Any, tmp_path: Any) -> None:
    source = bundle_of(write_bundle, tmp_path, TASK)
    case = source.load("D/1")
    assert [f.code for f in case.findings] == ["remap-not-applied"]
    assert "task.yaml" in case.findings[0].message
    assert numbers(score_case(case, source.spec))["tp"] == 3


def test_a_remap_of_the_case_or_the_user_is_named(write_bundle: Any, tmp_path: Any) -> None:
    own = bundle_of(write_bundle, tmp_path / "own", None, remap={"1": 0})
    assert "manifest_test.json" in own.load("D/1").findings[0].message
    (tmp_path / "map.yaml").write_text("1: 2\n", encoding="utf-8")
    tiny = tmp_path / "own"
    user = open_source(tiny / "bundle", predictions=tiny / "model", remap=str(tmp_path / "map.yaml"))
    assert "--remap" in user.load("D/1").findings[0].message


@pytest.mark.parametrize("task", [None, {"canonical_labels": {"nucleus": [1]}}, {"label_remap": {"other": {1: 1}}}])
def test_without_a_remap_there_is_nothing_to_say(write_bundle: Any, tmp_path: Any, task: Any) -> None:
    source = bundle_of(write_bundle, tmp_path, task)
    case = source.load("D/1")
    assert (case.errors, [f.code for f in case.findings]) == ([], [])
    assert numbers(score_case(case, source.spec))["pq"] == 1
