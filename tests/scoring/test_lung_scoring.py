"""Scans to scores: every number carries its rule, and what cannot be scored says which slice is to blame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scan_phantoms import BLOCK, POSES, SCAN_SPEC, SHAPE, STEP_MM, block_scan, block_stack

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ContourRules, ScanContours
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, MetricInputError, UsageError
from medotter_viewer.export.polygon_files import export_cases
from medotter_viewer.metrics.lung import SliceAreas
from medotter_viewer.scoring.lung import METRICS, contours_score, lung_scan_score, predicted_contours
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case

Points = list[tuple[float, float]]
Rings = dict[int, list[Points]]


def box(x0: float, y0: float, x1: float, y1: float) -> Points:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def spec_of(**keys: Any) -> EvalSpec:
    return EvalSpec.from_mapping({"task_type": "lung_contour", **keys})


def case_of(gt: Rings | None, pred: Rings | None, thickness: dict[int, float] | None = None) -> Case:
    contours = [None if rings is None else ScanContours(rings) for rings in (gt, pred)]  # type: ignore[arg-type]
    slices = {*(gt or {}), *(pred or {})}
    return Case(
        CaseEntry("SCAN_A"),
        gt_contours=contours[0],
        pred_contours=contours[1],
        slice_thickness_mm=dict.fromkeys(slices, 2.5) if thickness is None else thickness,
    )


def scan_score(score: CaseScore) -> MetricValue:
    assert score.status == "scored", score.message
    return score.case["scan_score"]


TEN, FAR, GT, HALF = box(0, 0, 10, 10), box(30, 30, 40, 40), box(0, 0, 20, 10), box(0, 0, 10, 10)


class TestCase:
    def test_metrics_of_the_case_and_none_of_a_region(self) -> None:
        score = score_case(case_of({3: [GT]}, {3: [HALF]}), spec_of())
        assert (score.status, score.regions, tuple(score.case)) == ("scored", {}, METRICS)
        assert {name: value.value for name, value in score.case.items()} == pytest.approx(
            {"scan_score": 0.558744998, "tp_mm3": 250, "fp_mm3": 0, "fn_mm3": 250}, abs=5e-10
        )
        assert {(value.status, value.rule) for value in score.case.values()} == {("ok", None)}

    def test_the_metrics_of_the_specification_do_not_hide_the_volumes_but_a_choice_does(self) -> None:
        case, spec = case_of({3: [GT]}, {3: [HALF]}), spec_of(metrics=["scan_score"])
        assert tuple(score_case(case, spec).case) == METRICS
        assert tuple(score_case(case, spec, ScoreOptions(metrics=("tp_mm3",))).case) == ("tp_mm3",)

    @pytest.mark.parametrize(
        ("gt", "pred", "expected"),
        [
            ({1: [TEN]}, {1: [TEN]}, MetricValue(1.0)),
            ({1: [TEN]}, {}, MetricValue(0.0, "ok", "no_true_positive")),
            ({1: [TEN]}, {1: [FAR]}, MetricValue(0.0, "ok", "no_true_positive")),
            ({1: [TEN]}, {2: [TEN]}, MetricValue(0.0, "ok", "no_true_positive")),
            ({}, {1: [TEN]}, MetricValue(0.0, "ok", "no_target")),
            ({1: [[(0, 0), (5, 5)]]}, {1: [TEN]}, MetricValue(0.0, "ok", "no_target")),
            ({}, {}, MetricValue(0.0, "absent", "no_target")),
        ],
    )
    def test_zero_says_why(self, gt: Rings, pred: Rings, expected: MetricValue) -> None:
        found = scan_score(score_case(case_of(gt, pred), spec_of()))
        assert found == expected
        assert found.counts

    def test_mean_over_scans_counts_those_without_prediction_or_target(self) -> None:
        scans: list[tuple[Rings, Rings]] = [
            ({1: [TEN]}, {1: [TEN]}),
            ({1: [TEN]}, {}),
            ({1: [TEN]}, {1: [FAR]}),
            ({}, {}),
        ]
        values = [scan_score(score_case(case_of(*scan), spec_of())) for scan in scans]
        assert [value.value for value in values] == [1, 0, 0, 0]
        with_target = [value.value for value in values if value.rule != "no_target"]
        assert with_target == [1, 0, 0]

    def test_rules_of_the_specification_are_in_force(self) -> None:
        case = case_of({1: [box(0, 0, 10, 10), box(5, 0, 15, 10)]}, {1: [box(0, 0, 15, 10)] * 2 + [box(2, 2, 4, 4)]})
        assert scan_score(score_case(case, spec_of())).value == 1
        summed = score_case(case, spec_of(lung_contour={"overlap": "sum"}))
        volumes = {name: value.value for name, value in summed.case.items() if name != "scan_score"}
        assert volumes == {"tp_mm3": 375, "fp_mm3": 385, "fn_mm3": 125}
        longer = score_case(case_of({1: [GT]}, {1: [HALF]}), spec_of(lung_contour={"error_length_mm": 1e9}))
        assert scan_score(longer).value == pytest.approx(0.6065306597)  # exp(-1/2): only E / T is left

    def test_without_a_submission(self) -> None:
        case = case_of({1: [TEN]}, None)
        score = score_case(case, spec_of())
        assert (score.status, score.message) == ("missing_prediction", "case SCAN_A: no prediction found")
        taken_as_empty = score_case(case, spec_of(), ScoreOptions(missing="empty"))
        assert scan_score(taken_as_empty) == MetricValue(0.0, "ok", "no_true_positive")

    @pytest.mark.parametrize(
        ("case", "message"),
        [
            (case_of(None, {1: [TEN]}), "no ground-truth contours"),
            (case_of({1: [TEN]}, {7: [TEN]}, {1: 2.5}), "slice 7: no slice thickness"),
            (case_of({4: [TEN]}, {}, {4: 0.0}), "slice 4: slice thickness: got 0.0"),
            (case_of({4: [TEN]}, {5: [[(0, 0), (1, float("nan")), (1, 1)]]}), "slice 5: ring: point 2 of 3"),
        ],
    )
    def test_what_cannot_be_scored_is_an_error_that_names_the_slice(self, case: Case, message: str) -> None:
        score = score_case(case, spec_of())
        assert score.status == "error"
        assert score.message is not None
        assert f"case SCAN_A: {message}" in score.message

    def test_a_slice_without_rings_needs_no_thickness(self) -> None:
        assert scan_score(score_case(case_of({1: [TEN], 2: []}, {1: [TEN]}, {1: 2.5}), spec_of())).value == 1

    def test_unknown_metrics_are_refused(self) -> None:
        case = case_of({1: [TEN]}, {1: [TEN]})
        with pytest.raises(UsageError, match="dice not known for lung contours"):
            score_case(case, spec_of(), ScoreOptions(metrics=("dice",)))
        with pytest.raises(BundleError, match="hd95 not known for lung contours"):
            score_case(case, spec_of(metrics=["scan_score", "hd95"]))


class TestArrays:
    def test_slices_are_kept_with_their_thickness(self) -> None:
        scan = lung_scan_score(
            {1: [TEN], 2: [TEN], 3: [TEN]}, {1: [TEN], 3: [box(0, 0, 5, 10)]}, thickness_mm={1: 1, 2: 2, 3: 5, 4: 9}
        )
        assert scan.slices == {1: SliceAreas(100, 0, 0), 2: SliceAreas(0, 0, 100), 3: SliceAreas(50, 0, 50)}
        assert scan.thickness_mm == {1: 1, 2: 2, 3: 5}
        assert (scan.volumes.tp_mm3, scan.volumes.fn_mm3, scan.volumes.t_mm3) == (350, 450, 800)
        assert scan.score.value == pytest.approx(0.464748, abs=5e-7)
        assert scan.metrics["scan_score"] == scan.score

    def test_one_thickness_for_all(self) -> None:
        scan = lung_scan_score({1: [GT]}, {1: [HALF]}, thickness_mm=2.5)
        assert scan.score.value == pytest.approx(0.558744998, abs=5e-10)

    def test_variants(self) -> None:
        crossed = {1: [[(0, 0), (20, 20), (20, 0), (0, 20)]]}
        square = {1: [box(0, 0, 20, 20)]}
        united = lung_scan_score(square, crossed, thickness_mm=2.5)
        assert united.score.value == pytest.approx(0.546953, abs=5e-7)
        summed = lung_scan_score(square, crossed, thickness_mm=2.5, overlap="sum")
        assert summed.score == MetricValue(0.0, "ok", "no_true_positive")

    def test_a_missing_thickness_names_the_slice(self) -> None:
        with pytest.raises(MetricInputError, match="slice 2: no slice thickness"):
            lung_scan_score({1: [TEN], 2: [TEN]}, {}, thickness_mm={1: 2.5})


class TestSpecification:
    def test_the_block_is_read(self) -> None:
        block = {
            "target": "heart",
            "structure_dict": "names.dat",
            "overlap": "union_if_both",
            "fill_rule": "even_odd",
            "error_length_mm": 5,
            "submission": "all.zip",
            "seed_locations": "seeds.csv",
            "clinical": None,
        }
        spec = spec_of(lung_contour=block, aggregation={"unit": "scan", "scale": 1000000})
        assert spec.contours == ContourRules("heart", "union_if_both", 5.0, "names.dat", "all.zip", "seeds.csv", None)
        assert spec.scale == 1e6

    def test_defaults(self) -> None:
        assert (spec_of().contours, spec_of().scale) == (ContourRules(), 1)
        assert EvalSpec.from_mapping({"eval_regions": {"a": [1]}}).contours is None

    @pytest.mark.parametrize(
        ("keys", "named"),
        [
            ({"lung_contour": {"overlap": "xor"}}, "lung_contour: overlap: got 'xor'"),
            ({"lung_contour": {"fill_rule": "nonzero"}}, "lung_contour: fill_rule: got 'nonzero'"),
            ({"lung_contour": {"error_length_mm": 0}}, "lung_contour: error_length_mm: got 0"),
            ({"lung_contour": {"error_length_mm": True}}, "lung_contour: error_length_mm: got True"),
            ({"lung_contour": {"target": ["a"]}}, "lung_contour: target: got"),
            ({"lung_contour": {"submission": ""}}, "lung_contour: submission: got ''"),
            ({"lung_contour": 3}, "lung_contour: got 3"),
            ({"aggregation": {"scale": 0}}, "aggregation: scale: got 0"),
            ({"aggregation": {"scale": "big"}}, "aggregation: scale: got 'big'"),
        ],
    )
    def test_what_is_wrong_is_named(self, keys: dict[str, Any], named: str) -> None:
        with pytest.raises(BundleError, match=named):
            spec_of(**keys)


@pytest.mark.parametrize("pose", POSES)
def test_a_label_map_of_a_scan_is_scored_by_its_pixels_however_the_slices_lie(pose: str, tmp_path: Path) -> None:
    """Its traced rings are the block's outline, which is the ground truth; oblique slices are scored, not exported."""
    case = block_scan(pose)
    assert case.stack is not None
    assert case.gt_contours is not None
    data = np.zeros(SHAPE, dtype=np.uint8)
    data[BLOCK] = 1
    case = replace(case, pred_contours=None, pred=LabelMap(data, case.stack.grid))
    found = contours_score(case, SCAN_SPEC)
    upright = abs(case.stack.normal_lps[2])
    assert found.volumes.t_mm3 == pytest.approx(6 * 5 * 1.5 * 2.0 * 3 * STEP_MM * upright)
    assert (found.volumes.fp_mm3, found.volumes.fn_mm3) == (pytest.approx(0, abs=1e-6), pytest.approx(0, abs=1e-6))
    contours = predicted_contours(case, SCAN_SPEC)
    assert contours is not None
    assert contours.origins.keys() == contours.rings.keys() == case.gt_contours.rings.keys()
    spec = replace(SCAN_SPEC, regions={"block": (1,)})
    exported = export_cases([case], tmp_path / "s.csv", spec=spec, region="block")
    if pose == "tilted by 12 degrees":
        assert [f.message for f in exported.findings] == [
            "case 'scan': not written: its axes are 12 degrees oblique, at most 0.1 are allowed: x, y of a slice would "
            "not be those of the patient; resample it to the patient's axes"
        ]
    else:
        assert (exported.polygons, exported.findings) == (3, ())


def test_a_label_map_on_upright_slices_has_no_score() -> None:
    case = block_scan()
    assert case.stack is not None
    sagittal = block_stack(np.array([[0.0, 1, 0], [0, 0, -1], [1, 0, 0]]))
    data = np.ones(SHAPE, dtype=np.uint8)
    case = replace(case, pred_contours=None, pred=LabelMap(data, sagittal.grid), stack=sagittal)
    with pytest.raises(MetricInputError, match="slices stand upright"):
        contours_score(case, SCAN_SPEC)
