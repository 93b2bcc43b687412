"""Where a number comes from, in words: of every kind of task, with the figures of the case and the rule's place."""

from __future__ import annotations

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.metrics.vertebrae import compare_vertebrae
from medotter_viewer.scoring.instance_matches import instance_matches
from medotter_viewer.scoring.instances import score_instances
from medotter_viewer.scoring.lung import lung_scan_score
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.vertebrae import landmark_scores
from medotter_viewer.ui.widgets.scores import ScoresDock
from medotter_viewer.ui.widgets.why_asking import WhyAsking
from medotter_viewer.ui.widgets.why_case import case_why
from medotter_viewer.ui.widgets.why_means import headline_parts, mean_parts, slant_reason
from medotter_viewer.ui.widgets.why_objects import objects_why

SQUARE = [(0, 0), (20, 0), (20, 10), (0, 10)]
HALF = [(0, 0), (10, 0), (10, 10), (0, 10)]


def scan(pred, **block):
    spec = EvalSpec.from_mapping({"task_type": "lung_contour", "lung_contour": block, "aggregation": {"scale": 1e6}})
    found = lung_scan_score({7: [SQUARE]}, {7: [pred]} if pred else {}, thickness_mm=2.5)
    return CaseScore("1", "scored", case=found.metrics), spec


def test_a_scan_score_is_told_with_its_volumes_and_the_length_of_the_specification():
    score, spec = scan(HALF, error_length_mm=10)
    # 20 x 10 mm on 2.5 mm: T = 500 mm³; half of it found: E = 250 * 500 / 250 = 500; A = (36 pi 500²)^(1/3) = 304.6
    assert case_why("scan_score", score, spec).splitlines() == [
        "scan_score = exp(−(E/T + E/(L·A)) / 2) = 0.559",
        "T = TP + FN = 250 + 250 = 500 mm³, the ground truth",
        "E = FN·T/TP + FP = 500 mm³ (FP 0), the error",
        "A = (36π·T²)^(1/3) = 305 mm², a sphere of volume T",
        "L = 10 mm (eval_spec.yaml, lung_contour.error_length_mm)",
        "areas: rings of a slice are united (default: union, no lung_contour.overlap in eval_spec.yaml), times slice "
        "thickness; structure radiomics_gtv (default, no lung_contour.target in eval_spec.yaml)",
        "the headline is 1,000,000 × the mean over all scans (eval_spec.yaml, aggregation.scale)",
    ]
    assert case_why("fn_mm3", score, spec).startswith("volume missed = 250.0 mm³")


def test_a_scan_score_that_is_0_by_definition_says_so():
    score, spec = scan(None)
    assert case_why("scan_score", score, spec).startswith("scan_score = 0 by definition: nothing overlaps (TP = 0)")


def test_a_rate_of_vertebrae_counts_them_and_names_those_that_were_not_identified():
    spec = EvalSpec.from_mapping({"task_type": "vertebra", "landmarks": {"max_distance_mm": 20}})
    gt = {20: (0, 0, 0), 21: (0, 30, 0), 22: (0, 60, 0), 23: (0, 90, 0)}
    pred = {20: (3, 4, 0), 21: (0, 52, 0), 22: (0, 60, 12)}  # L2 lies 8 mm from L3, 22 mm from its own; no L4
    score = CaseScore("1", "scored", case=landmark_scores(gt, pred))
    found = compare_vertebrae(gt, pred)
    lines = case_why("id_rate", score, spec, found).splitlines()
    assert lines[:3] == [
        "id_rate = identified / vertebrae of the ground truth",
        "= 2 / 4 = 0.500",
        "not identified: L2 (nearer to L3), L4 (missed)",
    ]
    assert lines[-2:] == [
        "which rule: default: all_gt, no landmarks.candidates in eval_spec.yaml",
        "how far: eval_spec.yaml, landmarks.max_distance_mm: 20",
    ]
    assert case_why("id_rate", score, spec).splitlines()[1] == "= 0.500"  # until the points are compared
    assert "(5.00 + 22.00 + 12.00) / 3 mm" in case_why("d_mean", score, spec, found)
    assert case_why("n_missing", score, spec, found).startswith("n_missing = 1: L4\n")


def objects(gt, pred, **more):
    grid = Grid((1, len(gt), 1), np.eye(4), has_world=False, unit="px")
    spec = EvalSpec.from_mapping({"task_type": "instance_seg_2d", "eval_regions": {"cell": [1]}, **more})
    sides = (LabelMap(np.array(side).reshape(grid.shape), grid) for side in (gt, pred))
    case = Case(CaseEntry("1"), **dict(zip(("gt", "pred"), sides, strict=True)))
    return score_instances(case, spec, ScoreOptions()).regions["cell"], spec, instance_matches(case, spec)


def test_panoptic_quality_is_told_with_its_counts_and_the_threshold():
    # object 1 is found with IoU 3/4, object 2 is missed, object 3 exact, one is invented
    region, spec, found = objects(
        [1, 1, 1, 1, 0, 2, 2, 0, 3, 3, 0], [5, 5, 5, 0, 0, 0, 0, 0, 6, 6, 7], iou_threshold=0.5
    )
    assert objects_why("pq", region, spec).splitlines() == [
        "pq = sum of the matches' IoU / (TP + FP/2 + FN/2) = sq · dq",
        "= 1.750 / (2 + 1/2 + 1/2) = 0.583",
        "sq · dq = 0.875 · 0.667; TP 2, FP 1, FN 1",
        "a match: IoU above 0.5 (eval_spec.yaml, iou_threshold)",
    ]
    assert "= 2 / (2 + 1/2 + 1/2) = 0.667" in objects_why("f1", region, spec)
    # shared 3 + 2, united 4 + 2, and 2 missed and 1 invented voxels
    assert "= 5 / 9 voxels = 0.556" in objects_why("aji", region, spec, found)
    assert "= 0.556" in objects_why("aji", region, spec)


def test_a_tile_without_objects_counts_by_a_rule_which_is_named():
    region, spec, _ = objects([0, 0], [0, 0])
    assert objects_why("pq", region, spec) == (
        "no object in ground truth or prediction\n"
        "counts as 1 by default (no empty_structure.pq.both_empty in eval_spec.yaml)"
    )


def test_only_a_mean_is_slanted_and_only_by_what_it_is_made_of():
    cap, fine = MetricValue(0.0, "cap", "gt_nonempty_pred_empty"), MetricValue(0.9)
    regions = {
        "WT": RegionScore({"dice": fine, "hd95": MetricValue(2.0)}, 5, 5, 5),
        "ET": RegionScore({"dice": cap, "hd95": MetricValue(3.0)}, 5, 0, 0),
    }
    score = CaseScore("1", "scored", regions=regions, case={"id_rate": MetricValue(0.75)})
    of_one = EvalSpec.from_mapping({"eval_regions": {"WT": [1], "ET": [2]}, "main_region": "WT"})
    of_all = EvalSpec.from_mapping({"eval_regions": {"WT": [1], "ET": [2]}})
    assert headline_parts(score, of_one, "dice") is None
    assert headline_parts(score, of_all, "id_rate") is None  # of the case, not of its regions
    assert slant_reason(mean_parts(score, "dice"), "dice") == (
        "slanted: a mean over 2 regions with values set by a rule, 1 cap: ET; the others alone 0.900"
    )
    assert slant_reason(mean_parts(score, "hd95"), "hd95") == ""


@pytest.fixture
def asking(session, qtbot):
    dock = ScoresDock(session)
    qtbot.addWidget(dock)
    dock.resize(420, 600)
    dock.show()
    yield WhyAsking(dock, session, lambda work, then: then(work()))
    dock.close_connections()


def test_the_headline_is_explained_while_another_panel_is_in_front(session, asking):
    session.go_to("A/one")
    asking._dock.hide()
    assert asking.ask_headline() is None
    assert asking.popover.title.text() == "liver · dice"
    assert "dice = 2·36 / (48 + 36) = 0.857" in asking.popover.text.text()


def test_without_a_prediction_the_reason_is_told_and_not_that_scores_are_to_come(session, asking):
    session.go_to("B/three")
    assert "no prediction found" in asking.ask_headline()
