"""Scores of vertebrae: label maps region by region, points by both rules, and what is said when one is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import LandmarkRules, Landmarks, Point
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, MetricInputError, UsageError
from medotter_viewer.evaluation.aggregate import roll_up
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import ADAPTERS, score_case
from medotter_viewer.scoring.vertebra_points import derived_landmarks, landmarks_of
from medotter_viewer.scoring.vertebrae import CASE_METRICS, landmark_scores
from medotter_viewer.sources.opening import open_source

POINTS: dict[int, Point] = {20: (0, 0, 0), 21: (0, 30, 0), 22: (0, 60, 0)}
HALF: dict[int, Point] = {20: (3, 4, 0), 21: (0, 30, 0)}
MASK = np.zeros((6, 6, 6), dtype=np.uint8)
MASK[1:3, 1:3, 1:3], MASK[1:3, 1:3, 4] = 20, 21
REGIONS = {"L1": [20], "L2": [21], "T13": [28]}


def spec_of(**keys: Any) -> EvalSpec:
    return EvalSpec.from_mapping({"task_type": "vertebra", "eval_regions": REGIONS, **keys})


def case_of(gt: Any = None, pred: Any = None, mask: Any = None, pred_mask: Any = None, remap: Any = None) -> Case:
    maps = [None if m is None else LabelMap(m, Grid(m.shape, np.eye(4))) for m in (mask, pred_mask)]
    points = [None if p is None else Landmarks(p) for p in (gt, pred)]
    entry = CaseEntry("V/1", remap=Remap(remap, "dict") if remap else Remap(None, "none"))
    return Case(entry, gt_native=maps[0], gt=maps[0], pred=maps[1], gt_landmarks=points[0], pred_landmarks=points[1])


def values(score: CaseScore) -> dict[str, float | None]:
    return {name: metric.value for name, metric in score.case.items()}


def codes(score: CaseScore) -> list[str]:
    return [note.code for note in score.notes]


class TestPoints:
    def test_all_six_numbers(self) -> None:
        score = score_case(case_of(POINTS, HALF), spec_of())
        assert score.status == "scored"
        assert values(score) == {
            "id_rate": pytest.approx(2 / 3),
            "id_rate_official": pytest.approx(2 / 3),
            "id_rate_all_gt": pytest.approx(2 / 3),
            "d_mean": 2.5,
            "n_missing": 1,
            "n_extra": 0,
        }
        assert list(score.case) == list(CASE_METRICS)

    @pytest.mark.parametrize(("candidates", "rate"), [("all_gt", 0.0), ("common", 0.5), (None, 0.0)])
    def test_id_rate_follows_the_specification_and_both_are_given(self, candidates: Any, rate: float) -> None:
        near = {20: (0, 0, 0), 21: (0, 12, 0)}
        spec = spec_of(landmarks={"candidates": candidates})
        score = score_case(case_of(near, {20: (0, 10, 0)}), spec)
        assert values(score)["id_rate"] == rate
        assert (values(score)["id_rate_official"], values(score)["id_rate_all_gt"]) == (0.5, 0.0)
        assert score.case["id_rate"].rule == (candidates or "all_gt")

    def test_the_limit_is_the_specifications(self) -> None:
        score = score_case(case_of(POINTS, HALF), spec_of(landmarks={"max_distance_mm": 5}))
        assert values(score)["id_rate_official"] == pytest.approx(2 / 3)
        assert values(score)["id_rate_all_gt"] == pytest.approx(1 / 3)

    def test_without_ground_truth_there_is_no_rate(self) -> None:
        score = score_case(case_of({}, HALF), spec_of())
        rates = [score.case[m] for m in ("id_rate", "id_rate_official", "id_rate_all_gt", "d_mean")]
        assert set(rates) == {MetricValue(None, "not_labelled", "no_gt_points")}
        assert values(score)["n_extra"] == 2
        assert "no-gt-points" in codes(score)

    def test_without_a_common_label_there_is_no_distance(self) -> None:
        score = score_case(case_of(POINTS, {28: (0, 0, 0)}), spec_of())
        assert score.case["d_mean"] == MetricValue(None, "error", "no_common_label")
        assert values(score)["id_rate"] == 0.0

    def test_an_empty_prediction_is_a_rate_of_zero(self) -> None:
        score = score_case(case_of(POINTS, {}), spec_of())
        assert (values(score)["id_rate"], values(score)["n_missing"]) == (0.0, 3)

    def test_what_the_numbers_do_not_show_is_said(self) -> None:
        pred = {20: POINTS[21], 21: POINTS[20], 28: (0, 0, 9), 26: (0, 99, 0)}
        score = score_case(case_of(POINTS, pred), spec_of())
        said = {note.code: note for note in score.notes}
        assert {"swapped-vertebrae", "missed-vertebrae", "extra-vertebrae", "unscored-points"} <= set(said)
        assert "L1 and L2" in said["swapped-vertebrae"].message
        assert "L3 (22)" in said["missed-vertebrae"].message
        assert "T13 (28)" in said["extra-vertebrae"].message
        assert "sacrum (26)" in said["unscored-points"].message
        assert all(note.where == "V/1" for note in score.notes)

    def test_labels_shifted_by_a_level_are_a_warning(self) -> None:
        score = score_case(case_of(POINTS, {label - 1: p for label, p in POINTS.items()}), spec_of())
        (note,) = [n for n in score.notes if n.code == "level-shift"]
        assert note.severity == "warning"
        assert "by 1 level towards the head" in note.message


class TestMasks:
    def test_masks_and_points_together(self) -> None:
        score = score_case(case_of(POINTS, POINTS, MASK, MASK), spec_of())
        assert {name: region.metrics["dice"].value for name, region in score.regions.items()} == dict.fromkeys(
            REGIONS, 1
        )
        assert score.regions["T13"].metrics["dice"].status == "absent"
        assert values(score)["id_rate"] == 1.0

    def test_regions_the_dataset_does_not_label_are_left_out(self) -> None:
        score = score_case(case_of(POINTS, POINTS, MASK, MASK, {20: 20}), spec_of(partial_label=True))
        assert score.regions["L2"].metrics["dice"].status == "not_labelled"

    def test_points_without_a_predicted_mask_have_no_regions(self) -> None:
        score = score_case(case_of(POINTS, POINTS, MASK), spec_of())
        assert (score.status, score.regions) == ("scored", {})
        assert values(score)["id_rate"] == 1.0
        assert codes(score) == ["no-mask"]

    def test_a_predicted_mask_without_points_gives_its_centres_and_every_number_says_so(self) -> None:
        # Centres of the mask: L1 voxels 1, 2 of each axis, L2 at 4 along the last; 1.5 is their mean.
        gt: dict[int, Point] = {20: (1.5, 1.5, -1.5), 21: (1.5, 1.5, 9)}
        score = score_case(case_of(gt, None, MASK, MASK), spec_of())
        assert score.regions["L1"].metrics["dice"].value == 1.0
        assert (values(score)["id_rate"], values(score)["d_mean"]) == (1.0, 4.0)
        assert {metric.rule for metric in score.case.values()} == {"points_from_mask"}
        (note,) = score.notes
        assert (note.code, note.severity, note.where) == ("points-from-mask", "warning", "V/1")
        assert note.message.startswith("predicted points: none in a file")
        assert "12 mm" in note.message
        assert "cuts off" not in note.message

    def test_a_ground_truth_mask_counts_what_the_image_cuts_off_and_says_so(self) -> None:
        score = score_case(case_of(None, {20: (1.5, 1.5, 1.5)}, MASK, MASK), spec_of())
        assert (values(score)["id_rate"], values(score)["d_mean"], values(score)["n_missing"]) == (0.5, 0.0, 1)
        (note,) = [n for n in score.notes if n.code == "points-from-mask"]
        assert note.message.startswith("ground-truth points: none in a file")
        assert "vertebrae that the image cuts off count too" in note.message

    def test_two_masks_give_a_note_for_each_side(self) -> None:
        score = score_case(case_of(None, None, MASK, MASK), spec_of())
        assert (values(score)["id_rate"], values(score)["d_mean"]) == (1.0, 0.0)
        assert codes(score) == ["points-from-mask"] * 2

    def test_a_painted_mask_moves_its_points(self) -> None:
        painted = MASK.copy()
        painted[3, 1:3, 1:3] = 20
        _, pred = landmarks_of(case_of(POINTS, None, MASK, painted))
        assert pred is not None
        assert (pred.derived, pred.points_world[20]) == (True, (2.0, 1.5, 1.5))

    def test_points_of_a_file_are_never_replaced(self) -> None:
        gt, pred = landmarks_of(case_of(POINTS, {}, MASK, MASK))
        assert gt is not None
        assert pred is not None
        assert (gt.derived, pred.derived, len(pred.points_world)) == (False, False, 0)

    def test_without_mask_and_points_there_is_no_rate(self) -> None:
        score = score_case(case_of(None, POINTS, None, MASK), spec_of())
        assert set(score.case.values()) == {MetricValue(None, "not_labelled", "no_gt_points")}
        assert codes(score) == ["no-mask", "no-points"]

    def test_only_labels_that_verse_scores_have_a_centre(self) -> None:
        mask = MASK.copy()
        mask[5, 5, :4] = (26, 27, 28, 99)
        derived = derived_landmarks(LabelMap(mask, Grid(mask.shape, np.eye(4))))
        assert list(derived.points_world) == [28, 20, 21]  # from the head to the feet

    def test_points_alone_are_scored(self) -> None:
        score = score_case(case_of(POINTS, POINTS), spec_of())
        assert (score.status, values(score)["d_mean"]) == ("scored", 0.0)

    def test_predicted_ids_outside_the_label_space_are_an_error(self) -> None:
        spec = spec_of(prediction_format={"label_space": [0, 20]})
        assert score_case(case_of(POINTS, POINTS, MASK, MASK), spec).status == "error"


class TestOptions:
    def test_neither_mask_nor_points_is_a_missing_prediction(self) -> None:
        score = score_case(case_of(POINTS, None, MASK), spec_of())
        assert (score.status, score.case, score.regions) == ("missing_prediction", {}, {})
        assert "V/1" in (score.message or "")

    def test_which_may_be_scored_as_empty(self) -> None:
        score = score_case(case_of(POINTS, None, MASK), spec_of(), ScoreOptions(missing="empty"))
        assert score.regions["L1"].metrics["dice"].value == 0.0
        assert (values(score)["id_rate"], values(score)["n_missing"], values(score)["d_mean"]) == (0.0, 3, None)

    def test_even_without_a_mask(self) -> None:
        score = score_case(case_of(POINTS), spec_of(), ScoreOptions(missing="empty"))
        assert (score.status, values(score)["id_rate"]) == ("scored", 0.0)

    @pytest.mark.parametrize(
        ("metrics", "regions", "case"),
        [(("dice",), 3, 0), (("id_rate",), 0, 6), (("d_mean", "hd95"), 3, 6), (("iou", "iou"), 3, 0)],
    )
    def test_only_what_is_asked_for(self, metrics: tuple[str, ...], regions: int, case: int) -> None:
        score = score_case(case_of(POINTS, POINTS, MASK, MASK), spec_of(), ScoreOptions(metrics))
        assert (len(score.regions), len(score.case)) == (regions, case)

    def test_unknown_metrics_are_named(self) -> None:
        with pytest.raises(UsageError, match="f1"):
            score_case(case_of(POINTS, POINTS), spec_of(), ScoreOptions(("f1", "dice")))
        with pytest.raises(BundleError, match=r"eval_spec.yaml: metrics: pq"):
            score_case(case_of(POINTS, POINTS), spec_of(metrics=["pq"]))

    def test_every_metric_of_the_adapter_is_computed(self) -> None:
        metrics = ADAPTERS["vertebra"].metrics
        score = score_case(case_of(POINTS, POINTS, MASK, MASK), spec_of(), ScoreOptions(metrics))
        assert {*score.case, *score.regions["L1"].metrics} == set(metrics)


class TestMeans:
    def test_the_rate_is_averaged_over_scans_not_over_vertebrae(self) -> None:
        spec = spec_of(aggregation={"headline": {"metric": "id_rate"}})
        scans = [(POINTS, POINTS), ({20: (0, 0, 0)}, {20: (90, 0, 0)})]
        scores = [score_case(case_of(gt, pred), spec) for gt, pred in scans]
        scores[1] = CaseScore("V/2", "scored", case=scores[1].case)
        means = roll_up(scores, spec)
        assert means.headline.value == 0.5  # over vertebrae it would be 3 of 4
        assert (means.macro["d_mean"].value, means.macro["id_rate_official"].n) == (45.0, 2)

    def test_a_scan_where_it_is_undefined_does_not_count(self) -> None:
        scores = [score_case(case_of(gt, POINTS), spec_of()) for gt in (POINTS, {})]
        scores[1] = CaseScore("V/2", "scored", case=scores[1].case)
        assert (roll_up(scores, spec_of()).macro["id_rate"].value, roll_up(scores, spec_of()).macro["id_rate"].n) == (
            1,
            1,
        )


class TestLandmarkScores:
    def test_is_the_same_without_a_case(self) -> None:
        found = landmark_scores(Landmarks(POINTS), Landmarks(HALF), candidates="common")
        expected = score_case(case_of(POINTS, HALF), spec_of(landmarks={"candidates": "common"})).case
        assert dict(found) == dict(expected)

    def test_refuses_an_impossible_distance(self) -> None:
        with pytest.raises(MetricInputError, match="max_distance_mm"):
            landmark_scores(Landmarks(POINTS), Landmarks(HALF), max_distance_mm=0)


class TestSpecification:
    def test_defaults(self) -> None:
        assert spec_of().landmarks == LandmarkRules("landmarks", "_ctd.json", 20.0, "all_gt")
        assert spec_of().metrics == ("dice", "hd95", "id_rate", "d_mean")

    def test_other_tasks_have_none(self) -> None:
        assert EvalSpec.from_mapping({"eval_regions": REGIONS}).landmarks is None

    def test_every_key(self) -> None:
        block = {"manifest_key": "ctd", "format": "verse_ctd_json", "prediction_suffix": "-ctd.json", "unit": "mm"}
        spec = spec_of(landmarks={**block, "max_distance_mm": 12, "candidates": "common", "denominator": "gt"})
        assert spec.landmarks == LandmarkRules("ctd", "-ctd.json", 12.0, "common")

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("candidates", "all"),
            ("candidates", ["common"]),
            ("format", "csv"),
            ("unit", "voxel"),
            ("denominator", "pred"),
            ("max_distance_mm", 0),
            ("max_distance_mm", "20"),
            ("max_distance_mm", True),
            ("max_distance_mm", float("nan")),
            ("max_distance_mm", 10**400),
            ("manifest_key", 3),
            ("prediction_suffix", ""),
        ],
    )
    def test_what_cannot_be_used_is_named(self, key: str, value: Any) -> None:
        with pytest.raises(BundleError, match=f"landmarks: {key}"):
            spec_of(landmarks={key: value})


class TestBundles:
    """Points are found by the manifest's key and by case id and suffix."""

    SPEC = {"task_type": "vertebra", "eval_regions": REGIONS, "landmarks": {"manifest_key": "ctd"}}  # noqa: RUF012
    AFFINE = np.diag([1.0, 2.0, 3.0, 1.0])

    def write(self, folder: Path, write_bundle: Any, *, seg: bool = True, **more: Any) -> Any:
        case = {"ctd": "points/1_ctd.json", "affine": self.AFFINE, **({"gt": MASK} if seg else {"image": MASK}), **more}
        tiny = write_bundle(folder, {"V/1": case}, eval_spec=self.SPEC, task={"task": {"id": "x"}})
        self.points(tiny.data / "points/1_ctd.json", "RAS", (20, 2, 2, 2), (21, 2, 2, 5))
        return tiny

    def points(self, path: Path, direction: str, *points: tuple[float, ...]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = [dict(zip(("label", "X", "Y", "Z"), p, strict=True)) for p in points]
        path.write_text(json.dumps([{"direction": list(direction)}, *entries]))

    def load(self, tiny: Any, **options: Any) -> tuple[Case, EvalSpec]:
        source = open_source(tiny.bundle, predictions=tiny.predictions, **options)
        return source.load("V/1", images=False), source.spec

    def test_in_world_mm_whatever_the_file_axes(self, tmp_path: Path, write_bundle: Any) -> None:
        tiny = self.write(tmp_path, write_bundle)
        self.points(tiny.predictions / "V/1_ctd.json", "LPI", (20, 3, 3, 3), (21, 3, 3, 0))
        case, spec = self.load(tiny)
        assert case.findings == ()
        for side in (case.gt_landmarks, case.pred_landmarks):
            assert side is not None
            assert dict(side.points_world) == {20: (2.0, 4.0, 6.0), 21: (2.0, 4.0, 15.0)}
        score = score_case(case, spec)
        assert (values(score)["id_rate"], values(score)["d_mean"]) == (1.0, 0.0)
        assert case.entry.missing == ()

    def test_a_template_names_the_points_too(self, tmp_path: Path, write_bundle: Any) -> None:
        tiny = self.write(tmp_path, write_bundle)
        self.points(tiny.predictions / "x/1_pred_ctd.json", "RAS", (20, 2, 2, 2))
        case, _ = self.load(tiny, pattern="x/{stem}_pred.nii.gz")
        assert case.entry.pred_landmarks_path == tiny.predictions / "x/1_pred_ctd.json"

    def test_no_points_and_no_mask_is_missing(self, tmp_path: Path, write_bundle: Any) -> None:
        case, spec = self.load(self.write(tmp_path, write_bundle))
        assert score_case(case, spec).status == "missing_prediction"
        assert case.entry.missing == ("prediction",)

    def test_a_case_of_points_alone_needs_no_mask(self, tmp_path: Path, write_bundle: Any) -> None:
        tiny = self.write(tmp_path, write_bundle, seg=False)
        self.points(tiny.predictions / "V/1_ctd.json", "RAS", (20, 2, 2, 2))
        score = score_case(*self.load(tiny))
        assert (score.status, values(score)["id_rate"]) == ("scored", 0.5)
        assert "no-mask" in codes(score)

    def test_a_case_without_points_takes_them_from_its_masks(self, tmp_path: Path, write_bundle: Any) -> None:
        tiny = write_bundle(tmp_path, {"V/1": {"gt": MASK}}, eval_spec=self.SPEC, predictions={"V/1": MASK})
        score = score_case(*self.load(tiny))
        assert score.regions["L1"].metrics["dice"].value == 1.0
        assert values(score)["id_rate"] == 1.0
        assert codes(score) == ["points-from-mask"] * 2

    @pytest.mark.parametrize("side", ["gt", "pred"])
    def test_an_unreadable_file_is_an_error_of_the_case(self, tmp_path: Path, write_bundle: Any, side: str) -> None:
        tiny = self.write(tmp_path, write_bundle)
        self.points(tiny.predictions / "V/1_ctd.json", "RAS", (20, 2, 2, 2))
        path = tiny.data / "points/1_ctd.json" if side == "gt" else tiny.predictions / "V/1_ctd.json"
        self.points(path, "RLS", (20, 2, 2, 2))
        score = score_case(*self.load(tiny))
        assert score.status == "error"
        assert ("ground-truth points" if side == "gt" else "predicted points") in (score.message or "")
        assert "direction" in (score.message or "")

    def test_a_named_file_that_is_not_there_is_an_error(self, tmp_path: Path, write_bundle: Any) -> None:
        tiny = self.write(tmp_path, write_bundle)
        (tiny.data / "points/1_ctd.json").unlink()
        case, _ = self.load(tiny)
        assert [f.code for f in case.errors] == ["missing-file"]

    @pytest.mark.parametrize("path", ["/etc/hostname", "../outside.json", 7])
    def test_an_unsafe_path_is_refused(self, tmp_path: Path, write_bundle: Any, path: Any) -> None:
        tiny = self.write(tmp_path, write_bundle, ctd=path)
        (tmp_path / "outside.json").write_text("[]")
        case, _ = self.load(tiny)
        assert [f.code for f in case.errors] == ["unsafe-path"]
        assert case.gt_landmarks is None

    def test_an_unsafe_suffix_is_refused(self, tmp_path: Path, write_bundle: Any) -> None:
        tiny = self.write(tmp_path, write_bundle)
        spec = {**self.SPEC, "landmarks": {"manifest_key": "ctd", "prediction_suffix": "/../../../x.json"}}
        (tiny.bundle / "eval_spec.yaml").write_text(json.dumps(spec))
        case, _ = self.load(tiny)
        assert [f.code for f in case.errors] == ["unsafe-path"]
