"""Vertebrae of real scans with independently computed scores: every number that `expected.json` gives."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.formats.landmark_files import read_landmarks
from medotter_viewer.formats.registry import read_grid, read_labels
from medotter_viewer.metrics.vertebrae import compare_vertebrae
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.sources.opening import open_source

pytestmark = pytest.mark.real_data

CASES = ("TPTBox/sub-ct_label-22", "TotalSegmentator_spine/example_ct", "VerSe19/sub-verse004")
HD95 = {"directed_max": "max", "pooled": "pooled", "mean": "mean"}  # name here: name in expected.json
METRICS = ("dice", "iou", "hd95", "id_rate", "d_mean")


@pytest.fixture(scope="module")
def bundle(shared_data: Path) -> Path:
    return shared_data / "bundles" / "spine_ct_verse"


@pytest.fixture(scope="module")
def expected(bundle: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((bundle / "expected.json").read_text("utf-8"))["models"]
    return content


@pytest.fixture(scope="module")
def score_of(bundle: Path) -> Any:
    @cache
    def score(model: str, case_id: str, hd95: Any = "directed_max") -> CaseScore:
        source = open_source(bundle, predictions=bundle / "predictions" / model)
        spec: EvalSpec = source.spec
        return score_case(source.load(case_id, images=False), spec, ScoreOptions(METRICS, hd95))

    return score


@pytest.mark.parametrize("model", ["derived", "shift_drop"])
@pytest.mark.parametrize("case_id", CASES)
class TestEveryCase:
    def test_status(self, expected: Any, score_of: Any, model: str, case_id: str) -> None:
        assert score_of(model, case_id).status == expected[model]["cases"][case_id]["status"]

    @pytest.mark.parametrize("hd95", HD95)
    def test_regions(self, expected: Any, score_of: Any, model: str, case_id: str, hd95: str) -> None:
        want = expected[model]["cases"][case_id]
        score = score_of(model, case_id, hd95)
        for name, told in want.get("regions", {}).items():
            region = score.regions[name]
            counts = (region.gt_voxels, region.pred_voxels, region.intersection)
            assert counts == (told["gt_voxels"], told["pred_voxels"], told["intersection"])
            assert region.metrics["dice"].value == pytest.approx(told["dice"], abs=1e-9)
            assert region.metrics["iou"].value == pytest.approx(told["iou"], abs=1e-9)
            assert region.metrics["hd95"].value == pytest.approx(told["hd95"][HD95[hd95]], abs=1e-6)
        for name in want.get("regions_not_scored", ()):
            assert {v.status for v in score.regions[name].metrics.values()} == {"not_labelled"}
        if "mask" in want:
            assert score.regions == {}
            assert "no-mask" in [note.code for note in score.notes]

    def test_points(self, expected: Any, score_of: Any, model: str, case_id: str) -> None:
        want = expected[model]["cases"][case_id].get("landmarks")
        if want is None:
            return
        got = {name: metric.value for name, metric in score_of(model, case_id).case.items()}
        assert got == {
            "id_rate": pytest.approx(want["id_rate"]),  # the bundle's candidates are `common`
            "id_rate_official": pytest.approx(want["id_rate"]),
            "id_rate_all_gt": pytest.approx(want["id_rate_all_gt"]),
            "d_mean": pytest.approx(want["d_mean"], abs=1e-6),
            "n_missing": len(want["missing"]),
            "n_extra": len(want["extra"]),
        }
        wrong = want["WRONG_if_voxels_are_taken_for_mm"]["d_mean"]
        assert got["d_mean"] != pytest.approx(wrong, abs=1e-3)

    def test_every_distance(self, bundle: Path, expected: Any, model: str, case_id: str) -> None:
        want = expected[model]["cases"][case_id].get("landmarks")
        if want is None:
            return
        source = open_source(bundle, predictions=bundle / "predictions" / model)
        case = source.load(case_id, images=False)
        assert case.gt_landmarks is not None
        assert case.pred_landmarks is not None
        found = compare_vertebrae(case.gt_landmarks.points_world, case.pred_landmarks.points_world)
        assert (found.n_gt, found.n_pred) == (want["n_gt"], want["n_pred"])
        assert sorted(found.hits("common")) == want["hits"]
        assert sorted(found.hits("all_gt")) == want["hits_all_gt"]
        distances = {str(k): m.distance_mm for k, m in found.matches.items() if m.distance_mm is not None}
        assert distances == {label: pytest.approx(mm, abs=1e-6) for label, mm in want["distance_mm"].items()}


def test_two_vertebrae_called_one_too_high(score_of: Any) -> None:
    # L1 is called T12 and T12 is called T11, in a file whose axes are not the image's.
    score = score_of("derived", CASES[1])
    assert {name: metric.value for name, metric in score.case.items() if name != "d_mean"} == {
        "id_rate": pytest.approx(4 / 6),
        "id_rate_official": pytest.approx(4 / 6),
        "id_rate_all_gt": pytest.approx(4 / 6),
        "n_missing": 1,
        "n_extra": 1,
    }
    assert score.regions["L1"].metrics["dice"].value == 0.0
    assert "level-shift" not in [note.code for note in score.notes]  # the other four are right


def test_points_moved_to_just_within_and_just_beyond_20_mm(score_of: Any, bundle: Path) -> None:
    score = score_of("shift_drop", CASES[2])
    assert (score.case["n_missing"].value, score.case["n_extra"].value) == (1, 1)
    source = open_source(bundle, predictions=bundle / "predictions" / "shift_drop")
    case = source.load(CASES[2], images=False)
    assert case.gt_landmarks is not None
    assert case.pred_landmarks is not None
    found = compare_vertebrae(case.gt_landmarks.points_world, case.pred_landmarks.points_world)
    for rule in ("common", "all_gt"):
        assert 22 in found.hits(rule)  # type: ignore[arg-type]
        assert 23 not in found.hits(rule)  # type: ignore[arg-type]
    assert found.matches[17].distance_mm == pytest.approx(12.0)
    # T9 is not predicted: by the text it competes for T10, by the official code it does not.
    assert found.matches[17].nearest == {"all_gt": 16, "common": 17}
    assert found.id_rate("common") == pytest.approx(7 / 9)
    assert found.id_rate("all_gt") == pytest.approx(6 / 9)


def test_official_points_lie_in_their_own_vertebra(bundle: Path) -> None:
    folder = bundle / "data" / "verse"
    labels, _ = read_labels(folder / "sub-verse004_seg-vert_msk.nii.gz")
    points, findings = read_landmarks(folder / "sub-verse004_seg-subreg_ctd.json", labels.grid)
    assert findings == []
    for label, point in points.points_world.items():
        i, j, k = labels.grid.world_to_voxel(point).round().astype(int)
        assert labels.data[i, j, k] == label


def test_the_official_helper_is_one_voxel_off(shared_data: Path) -> None:
    folder = shared_data / "faults" / "inputs" / "55_centroid_orientation"
    grid, _ = read_grid(folder / "msk_RAS.nii.gz")
    points, _ = read_landmarks(folder / "ctd_PIR.json", grid)
    want = json.loads((folder / "expect.json").read_text())
    assert list(points.points_world[20]) == pytest.approx(want["world"])
    assert list(points.points_world[20]) != pytest.approx(want["verse_helper"])


def test_what_text_and_official_code_disagree_on(shared_data: Path) -> None:
    folder = shared_data / "faults" / "inputs" / "57_idrate_rule"
    want = json.loads((folder / "expect.json").read_text())
    grid, _ = read_grid(folder / "img_1mm.nii.gz")
    for name in "ab":
        gt, pred = (read_landmarks(folder / f"{name}_{s}.json", grid)[0].points_world for s in ("gt", "pred"))
        found = compare_vertebrae(gt, pred)
        assert [len(found.hits("all_gt")), found.n_gt] == want["text"][name]
        assert [len(found.hits("common")), found.n_gt] == want["official"][name]
