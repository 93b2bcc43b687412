"""Scores of one case by the rules of its specification, on arrays small enough to count."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, UsageError
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.surface_distances import surface_distances
from medotter_viewer.metrics.surfel import surfel_hd
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case

Array = NDArray[Any]
IDENTITY = Remap(None, "none")
REGIONS = {"one": [1], "two": [2], "both": [1, 2]}


def spec_of(regions: dict[str, list[int]] = REGIONS, **keys: Any) -> EvalSpec:
    return EvalSpec.from_mapping({"eval_regions": regions, "metrics": ["dice", "iou", "hd95"], **keys})


def case_of(
    gt: Array | None,
    pred: Array | None,
    *,
    spacing: tuple[float, ...] = (1, 1, 1),
    remap: Remap | None = IDENTITY,
    findings: tuple[Finding, ...] = (),
    **entry: Any,
) -> Case:
    """Case whose ground truth is canonical already."""
    maps = [None if a is None else LabelMap(a, Grid(a.shape, np.diag([*spacing, 1.0]))) for a in (gt, pred)]
    return Case(
        CaseEntry("SET/1", remap=remap, **entry), gt_native=maps[0], gt=maps[0], pred=maps[1], findings=findings
    )


def labels(*voxels: tuple[tuple[int, int, int], int], shape: tuple[int, ...] = (4, 4, 4)) -> Array:
    array = np.zeros(shape, dtype=np.uint8)
    for voxel, value in voxels:
        array[voxel] = value
    return array


def box(value: int, *ranges: tuple[int, int], shape: tuple[int, ...] = (12, 12, 12)) -> Array:
    array = np.zeros(shape, dtype=np.uint8)
    array[tuple(slice(*r) for r in ranges)] = value
    return array


def values(score: CaseScore, region: str) -> dict[str, float | None]:
    assert score.status == "scored", score.message
    return {name: value.value for name, value in score.regions[region].metrics.items()}


CUBE, MOVED = box(1, (2, 7), (2, 7), (2, 7)), box(1, (4, 9), (2, 7), (2, 7))


class TestValues:
    def test_a_shifted_cube(self) -> None:
        score = score_case(case_of(CUBE, MOVED, spacing=(2, 1, 1)), spec_of())
        assert values(score, "one") == pytest.approx({"dice": 0.6, "iou": 3 / 7, "hd95": 4.0})
        one = score.regions["one"]
        assert (one.gt_voxels, one.pred_voxels, one.intersection) == (125, 125, 75)
        assert {v.status for v in one.metrics.values()} == {"ok"}
        assert score.voxel_volume_mm3 == 2.0

    def test_a_fixed_spacing_replaces_the_files(self) -> None:
        fixed = spec_of(hd95={"spacing": [3, 1, 1]})
        assert values(score_case(case_of(CUBE, MOVED, spacing=(2, 1, 1)), fixed), "one")["hd95"] == pytest.approx(6.0)

    def test_from_header_takes_the_files(self) -> None:
        header = spec_of(hd95={"spacing": "from_header"})
        assert values(score_case(case_of(CUBE, MOVED, spacing=(2, 1, 1)), header), "one")["hd95"] == pytest.approx(4.0)

    def test_a_fixed_spacing_of_two_numbers_does_not_suit_a_volume(self) -> None:
        with pytest.raises(BundleError, match=r"hd95.spacing: 2 numbers for 3 axes"):
            score_case(case_of(CUBE, MOVED), spec_of(hd95={"spacing": [1, 1]}))

    def test_the_percentile_is_the_specifications(self) -> None:
        gt = box(1, (0, 5), (0, 5), (0, 5))
        pred = gt.copy()
        pred[11, 0, 0] = 1  # one voxel of 99 of the surface, 7 steps from the cube
        case = case_of(gt, pred)
        assert values(score_case(case, spec_of()), "one")["hd95"] == 0
        assert values(score_case(case, spec_of(hd95={"percentile": 100})), "one")["hd95"] == pytest.approx(7.0)
        # 98 zeros and one 7: rank 0.99 * 98 = 97.02.
        assert values(score_case(case, spec_of(hd95={"percentile": 99})), "one")["hd95"] == pytest.approx(0.02 * 7)

    def test_a_union_is_one_mask(self) -> None:
        gt = labels(((0, 0, 0), 1), ((0, 0, 1), 2))
        pred = labels(((0, 0, 0), 2), ((0, 0, 1), 1))
        score = score_case(case_of(gt, pred), spec_of())
        assert values(score, "one") == {"dice": 0.0, "iou": 0.0, "hd95": 1.0}
        assert values(score, "both") == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}

    def test_regions_and_metrics_stand_in_the_specifications_order(self) -> None:
        regions = {"z": [2], "a": [1]}
        score = score_case(case_of(CUBE, MOVED), spec_of(regions, metrics=["hd95", "dice"]))
        assert list(score.regions) == ["z", "a"]
        assert list(score.regions["a"].metrics) == ["hd95", "dice"]

    @pytest.mark.parametrize("kinds", [(np.uint8, np.int64), (np.int16, np.uint16), (np.uint32, np.int8)])
    def test_types_and_memory_order_do_not_matter(self, kinds: tuple[Any, Any]) -> None:
        case = case_of(CUBE.astype(kinds[0], order="F"), MOVED.astype(kinds[1]), spacing=(2, 1, 1))
        assert values(score_case(case, spec_of()), "one") == pytest.approx({"dice": 0.6, "iou": 3 / 7, "hd95": 4.0})

    @given(
        hnp.arrays(np.uint8, (4, 3, 5, 2), elements=st.integers(0, 3)),
        st.sampled_from(["directed_max", "pooled", "mean", "surfel"]),
        st.sets(st.integers(1, 3), min_size=1),
    )
    def test_cutting_out_what_is_there_changes_no_distance(self, both: Array, variant: Any, ids: set[int]) -> None:
        gt, pred = both[..., 0], both[..., 1]
        masks = [np.isin(side, list(ids)) for side in (gt, pred)]
        assume(all(m.any() for m in masks))
        spacing = (0.5, 2.0, 1.0)
        score = score_case(
            case_of(gt, pred, spacing=spacing), spec_of({"r": sorted(ids)}), ScoreOptions(("hd95",), variant)
        )
        if variant == "surfel":
            expected = surfel_hd(*masks, spacing=spacing)
        else:
            expected = hausdorff(surface_distances(*masks, spacing=spacing), variant=variant)
        assert values(score, "r")["hd95"] == pytest.approx(expected, abs=1e-12)

    def test_a_region_that_holds_background_reaches_to_the_images_edge(self) -> None:
        gt, pred = box(1, (2, 7), (2, 7), (2, 7)), box(1, (2, 8), (2, 7), (2, 7))
        expected = hausdorff(surface_distances(gt == 0, pred == 0, spacing=(1, 1, 1)), percentile=100)
        assert expected == 1.0
        score = score_case(case_of(gt, pred), spec_of({"rest": [0]}, hd95={"percentile": 100}))
        assert values(score, "rest")["hd95"] == expected
        assert values(score, "rest")["dice"] == pytest.approx(2 * (1728 - 150) / (1728 - 125 + 1728 - 150))


class TestOptions:
    def test_chosen_metrics_replace_the_specifications(self) -> None:
        score = score_case(case_of(CUBE, MOVED), spec_of(), ScoreOptions(("iou", "iou")))
        assert list(score.regions["one"].metrics) == ["iou"]

    @pytest.mark.parametrize("metrics", [("dice", "nsd"), ("Dice",), ("f1",)])
    def test_an_unknown_metric_is_named(self, metrics: tuple[str, ...]) -> None:
        with pytest.raises(UsageError, match=metrics[-1]):
            score_case(case_of(CUBE, MOVED), spec_of(), ScoreOptions(metrics))

    def test_an_unknown_metric_of_the_specification_is_named(self) -> None:
        with pytest.raises(BundleError, match=r"eval_spec.yaml: metrics: nsd"):
            score_case(case_of(CUBE, MOVED), spec_of(metrics=["nsd"]))

    def test_an_unknown_hd95_or_treatment_of_missing_is_refused(self) -> None:
        with pytest.raises(UsageError, match="directed_max, pooled, mean, surfel"):
            ScoreOptions(hd95="max")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="skip or empty"):
            ScoreOptions(missing="zero")  # type: ignore[arg-type]

    def test_each_definition_of_hd95_gives_its_own_number(self) -> None:
        gt = box(1, (2, 7), (2, 7), (2, 7))
        pred = gt | box(1, (9, 11), (9, 11), (9, 11))  # 8 voxels of 106 of the surface lie far away
        found = {
            name: values(score_case(case_of(gt, pred), spec_of(), ScoreOptions(hd95=name)), "one")["hd95"]  # type: ignore[arg-type]
            for name in ("directed_max", "pooled", "mean", "surfel")
        }
        # The square of each of the 8 distances is 27, 34, 34, 34, 41, 41, 41 or 48; rank 0.95 * 105 = 99.75 lies
        # between the second and the third. Together rank 0.95 * 203 = 192.85 is a zero.
        assert found["directed_max"] == pytest.approx(sqrt(34))
        assert found["pooled"] == 0
        assert found["mean"] == pytest.approx(sqrt(34) / 2)
        assert found["surfel"] == surfel_hd(gt == 1, pred == 1, spacing=(1, 1, 1))


class TestEmpty:
    GT, PRED = labels(((0, 0, 0), 1), ((1, 0, 0), 1)), labels(((0, 0, 0), 2))

    def test_the_image_diagonal_where_there_is_no_table(self) -> None:
        shape, spacing = (10, 20, 30), (1, 2, 0.5)
        gt = labels(((0, 0, 0), 1), shape=shape)
        score = score_case(case_of(gt, np.zeros(shape, dtype=np.uint8), spacing=spacing), spec_of())
        hd95 = score.regions["one"].metrics["hd95"]
        assert (hd95.status, hd95.rule) == ("cap", "image_diagonal")
        assert hd95.value == pytest.approx(sqrt(10**2 + 40**2 + 15**2))

    def test_the_diagonal_of_the_volume_that_gave_373(self) -> None:
        shape = (240, 240, 155)
        gt = labels(((0, 0, 0), 1), shape=shape)
        score = score_case(case_of(gt, np.zeros(shape, dtype=np.uint8)), spec_of({"one": [1]}))
        assert values(score, "one")["hd95"] == pytest.approx(373.1286641361127, abs=1e-10)

    def test_each_side_by_its_own_entry_of_the_table(self) -> None:
        table = {"hd95": {"gt_nonempty_pred_empty": 80, "gt_empty_pred_nonempty": 90}, "dice": {"both_empty": 0.5}}
        score = score_case(case_of(self.GT, self.PRED), spec_of({**REGIONS, "none": [3]}, empty_structure=table))
        assert score.regions["one"].metrics["hd95"] == MetricValue(80.0, "cap", "gt_nonempty_pred_empty")
        assert score.regions["two"].metrics["hd95"] == MetricValue(90.0, "cap", "gt_empty_pred_nonempty")
        assert score.regions["none"].metrics["dice"] == MetricValue(0.5, "absent", "both_empty")
        assert values(score, "none") == {"dice": 0.5, "iou": 1.0, "hd95": 0.0}
        assert (score.regions["one"].gt_voxels, score.regions["one"].pred_voxels) == (2, 0)
        assert (score.regions["two"].gt_voxels, score.regions["two"].pred_voxels) == (0, 1)

    def test_two_empty_maps_are_absent_in_every_region(self) -> None:
        nothing = np.zeros((3, 3, 3), dtype=np.uint8)
        score = score_case(case_of(nothing, nothing), spec_of())
        for region in REGIONS:
            assert values(score, region) == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}
            assert {v.status for v in score.regions[region].metrics.values()} == {"absent"}


MORE_REGIONS = {"one": [1], "two": [2], "three": [3], "onetwo": [1, 2], "twothree": [2, 3]}
SPACE = {"prediction_format": {"label_space": [0, 1, 2]}}


class TestPartialLabels:
    REMAP = Remap({5: 1, 6: 2, 7: 0}, "dict")
    GT = labels(((0, 0, 0), 1), ((0, 0, 1), 2))
    PRED = labels(((0, 0, 0), 1), ((0, 0, 1), 2), ((2, 2, 2), 3), ((2, 2, 3), 3))

    def test_a_region_counts_only_when_all_its_ids_come_out_of_the_remap(self) -> None:
        score = score_case(case_of(self.GT, self.PRED, remap=self.REMAP), spec_of(MORE_REGIONS, partial_label=True))
        for region in ("one", "two", "onetwo"):
            assert values(score, region) == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}
        for region in ("three", "twothree"):
            assert set(score.regions[region].metrics.values()) == {MetricValue(None, "not_labelled")}
            counts = score.regions[region]
            assert (counts.gt_voxels, counts.pred_voxels, counts.intersection) == (None, None, None)

    def test_predicted_ids_nobody_annotated_are_named_but_not_punished(self) -> None:
        score = score_case(case_of(self.GT, self.PRED, remap=self.REMAP), spec_of(MORE_REGIONS, partial_label=True))
        (note,) = score.notes
        assert (note.severity, note.code) == ("info", "unscored-ids")
        assert "3 (2 voxels)" in note.message

    def test_the_identity_reaches_all(self) -> None:
        score = score_case(case_of(self.GT, self.PRED), spec_of(MORE_REGIONS, partial_label=True))
        assert values(score, "three")["dice"] == 0.0
        assert score.notes == ()

    def test_without_partial_labels_an_unlisted_region_is_empty_truth(self) -> None:
        score = score_case(case_of(self.GT, self.PRED, remap=self.REMAP), spec_of(MORE_REGIONS))
        assert values(score, "three")["dice"] == 0.0
        assert score.regions["three"].pred_voxels == 2


class TestIds:
    def test_predicted_ids_outside_the_label_space_are_an_error_with_ids_and_counts(self) -> None:
        pred = labels(((0, 0, 0), 1), ((0, 0, 1), 7), ((0, 0, 2), 7), ((0, 0, 3), 7), ((1, 0, 0), 9))
        score = score_case(case_of(CUBE[:4, :4, :4], pred), spec_of(**SPACE))
        assert score.status == "error"
        assert score.regions == {}
        assert "SET/1" in (score.message or "")
        assert "7 (3 voxels), 9 (1 voxels)" in (score.message or "")

    def test_background_need_not_be_listed(self) -> None:
        spec = spec_of(prediction_format={"label_space": [1, 2]})
        assert score_case(case_of(CUBE, MOVED), spec).status == "scored"

    def test_ground_truth_may_hold_ids_outside_the_predictions_label_space(self) -> None:
        assert score_case(case_of(np.where(CUBE, 5, 0), MOVED), spec_of(**SPACE)).status == "scored"

    def test_a_label_space_in_words_is_documentary(self) -> None:
        spec = spec_of(prediction_format={"label_space": "canonical ids"})
        score = score_case(case_of(CUBE, MOVED * 9), spec)
        assert score.status == "scored"
        assert "9 (125 voxels)" in score.notes[0].message

    @pytest.mark.parametrize("side", ["ground truth", "prediction"])
    def test_negative_ids_are_an_error_that_names_them(self, side: str) -> None:
        bad = CUBE.astype(np.int16)
        bad[0, 0, :3] = -2
        case = case_of(bad, MOVED) if side == "ground truth" else case_of(CUBE, bad)
        score = score_case(case, spec_of())
        assert score.status == "error"
        assert side in (score.message or "")
        assert "-2 (3 voxels)" in (score.message or "")

    def test_of_many_wrong_ids_the_first_ten_are_listed(self) -> None:
        pred = np.zeros((4, 4, 4), dtype=np.uint8)
        pred[0, :3, :] = np.arange(10, 22).reshape(3, 4)
        message = score_case(case_of(CUBE[:4, :4, :4], pred), spec_of(**SPACE)).message or ""
        assert "19 (1 voxels), ..." in message
        assert "20 (" not in message


class TestStatuses:
    def test_a_case_without_prediction_is_left_out_and_said_to_be(self) -> None:
        score = score_case(case_of(CUBE, None), spec_of())
        assert score.status == "missing_prediction"
        assert score.regions == {}
        assert "SET/1" in (score.message or "")

    def test_or_scored_as_an_empty_prediction(self) -> None:
        table = {"hd95": {"gt_nonempty_pred_empty": 80}}
        score = score_case(case_of(CUBE, None), spec_of(empty_structure=table), ScoreOptions(missing="empty"))
        assert values(score, "one") == {"dice": 0.0, "iou": 0.0, "hd95": 80.0}
        assert score.regions["one"].pred_voxels == 0
        assert score.regions["two"].metrics["dice"].status == "absent"

    def test_an_error_of_the_case_is_its_message_each_text_once(self) -> None:
        findings = tuple(
            Finding(severity, "x", text)  # type: ignore[arg-type]
            for severity, text in [("error", "first"), ("warning", "careful"), ("error", "second"), ("error", "first")]
        )
        score = score_case(case_of(CUBE, MOVED, findings=findings), spec_of())
        assert (score.status, score.message) == ("error", "first; second")
        assert [n.message for n in score.notes] == ["careful"]

    def test_an_error_weighs_more_than_a_missing_prediction(self) -> None:
        case = case_of(CUBE, None, findings=(Finding("error", "x", "broken"),))
        assert score_case(case, spec_of(), ScoreOptions(missing="empty")).status == "error"

    def test_remarks_about_the_case_travel_with_its_score(self) -> None:
        note = Finding("warning", "resampled-prediction", "resampled")
        score = score_case(case_of(CUBE, MOVED * 3, findings=(note,)), spec_of())
        assert [n.code for n in score.notes] == ["resampled-prediction", "unscored-ids"]

    def test_identity_comes_from_the_entry(self) -> None:
        told = {"dataset": "SET", "tier": "hard", "patient_uid": "p"}
        for case in (case_of(CUBE, MOVED, **told), case_of(CUBE, None, **told)):
            score = score_case(case, spec_of())
            assert (score.dataset, score.tier, score.patient_uid) == ("SET", "hard", "p")

    @pytest.mark.parametrize("task_type", ["cls", "det", "vlm"])
    def test_task_types_without_adapter_are_not_implemented_and_named(self, task_type: str) -> None:
        with pytest.raises(NotImplementedError, match=task_type):
            score_case(case_of(CUBE, MOVED), spec_of(task_type=task_type))

    def test_a_specification_without_regions_is_refused(self) -> None:
        with pytest.raises(BundleError, match="no regions"):
            score_case(case_of(CUBE, MOVED), spec_of({}))
