"""Scans as cases: targets, submissions, and the scores that follow."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scan_files import TARGET, Rings, box, submission, tags, write_dicom_scan, write_png_scan

from medotter_viewer.batch import score_entries
from medotter_viewer.checks.source import check_source
from medotter_viewer.core.contours import OVERLAPS, ContourRules, Overlap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import BundleNotFoundError, CaseNotFoundError, UsageError
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.scan_source import ScanSource
from medotter_viewer.sources.source import CaseSource

SQUARE = box(0, 0, 10)


def scored(source: CaseSource, **options: Any) -> dict[str, CaseScore]:
    found = score_entries(list(source.entries()), source.spec, ScoreOptions(**options))
    return {score.case_id: score for score in found}


def value(score: CaseScore, metric: str = "scan_score") -> float | None:
    return score.case[metric].value


def test_each_scan_is_a_test_case_named_like_its_folder(tmp_path: Path) -> None:
    for name in ("B", "A"):
        write_png_scan(tmp_path, name, {TARGET: {1: [SQUARE]}})
    source = open_source(tmp_path)
    assert (source.case_ids(), source.case_ids("train"), source.model) == (["A", "B"], [], None)
    assert (source.spec.task_type, source.spec.scale) == ("lung_contour", 1_000_000)
    assert source.entry("A").missing == ("prediction",)
    with pytest.raises(CaseNotFoundError, match="no scan 'C'"):
        source.entry("C")
    assert open_source(tmp_path / "A").case_ids() == ["A"]


def test_a_case_holds_what_is_needed_to_draw_it(tmp_path: Path) -> None:
    structures: Mapping[str, Rings] = {"BODY": {1: [box(0, 0, 30)]}, TARGET: {2: [SQUARE]}}
    write_png_scan(tmp_path, "S", structures, n_slices=2, thickness=[5, 2.5])
    (tmp_path / "example_seed_locations.csv").write_text("S,2,5,5\nT,1,0,0\n")
    (tmp_path / "example_clinical.csv").write_text("S,1\n")
    predicted = submission(tmp_path / "model" / "submission.csv", {"S": {1: [SQUARE]}})
    case = open_source(tmp_path, predictions=predicted.parent).load("S")
    assert case.gt_contours is not None
    assert case.pred_contours is not None
    assert case.stack is not None
    assert list(case.gt_contours.rings) == [2]
    assert list(case.pred_contours.rings) == [1]
    assert sorted(case.structures) == ["BODY", TARGET]
    assert (case.seeds, case.slice_thickness_mm) == (((2, 5.0, 5.0),), {1: 5.0, 2: 2.5})
    assert case.channels["image"].grid is case.stack.grid
    assert case.entry.scan is not None
    assert case.entry.scan.contrast is True
    assert case.entry.scan.names.reliability_of(TARGET) == "manual and reviewed"
    assert case.findings == ()


def test_names_that_stand_twice_get_their_number(tmp_path: Path) -> None:
    folder = write_png_scan(tmp_path, "S", {"a": {1: [SQUARE]}, "b": {1: [SQUARE, SQUARE]}})
    (folder / "structures.dat").write_text("GTV|GTV")
    case = open_source(tmp_path).load("S")
    assert {name: contours.n_rings for name, contours in case.structures.items()} == {"GTV (1)": 1, "GTV (2)": 2}


# ---------------------------------------------------------------- target


def test_all_names_of_the_target_are_united_and_others_left_alone(tmp_path: Path) -> None:
    structures: Mapping[str, Rings] = {
        "BODY": {10: [box(0, 0, 30)]},
        "Radiomics_gtv": {10: [box(0, 0, 10)]},
        "radiomics_gtvr": {10: [box(20, 0, 10)]},
        "my_radiomics_gtv_old": {2: [box(0, 0, 10)]},
        "RADIOMICS_GTV": {3: [box(0, 0, 10)]},
    }
    write_png_scan(tmp_path, "S", structures, n_slices=12)
    empty = submission(tmp_path / "submission.csv", {})
    score = scored(open_source(tmp_path, predictions=empty))["S"]
    assert value(score, "fn_mm3") == 200  # slice 10 alone, 1 mm thick


def test_the_dictionary_beside_the_scans_adds_names(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "S", {"GTV_Mass": {1: [SQUARE]}})
    before = open_source(tmp_path).load("S")
    assert before.gt_contours is not None
    assert before.gt_contours.rings == {}
    (tmp_path / "structure_dict.dat").write_text("radiomics_gtv|GTV_Mass\n")
    after = open_source(tmp_path).load("S")
    assert after.gt_contours is not None
    assert list(after.gt_contours.rings) == [1]


def test_a_scan_without_target_scores_zero_and_is_named(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "D", {"BODY": {1: [SQUARE]}})
    write_png_scan(tmp_path, "E", {TARGET: {}})
    predicted = submission(tmp_path / "submission.csv", {"D": {1: [SQUARE]}})
    scores = scored(open_source(tmp_path, predictions=predicted))
    for name in "DE":
        score = scores[name]
        assert (score.status, value(score), score.case["scan_score"].rule) == ("scored", 0.0, "no_target")
        assert [f.code for f in score.notes] == ["scan-without-target"]
    assert "no structure is named so (BODY)" in scores["D"].notes[0].message
    assert value(scores["D"], "fp_mm3") == 100


def test_contours_that_overlap_have_no_area_or_are_tiny_are_named(tmp_path: Path) -> None:
    nested = [box(0, 0, 20), box(5, 5, 10)]
    flat = [[(1.0, 1.0)], [(0.0, 0.0), (4.0, 4.0), (8.0, 8.0)]]
    write_png_scan(tmp_path, "S", {TARGET: {1: nested, 2: flat, 3: [box(0, 0, 0.5)]}}, n_slices=3)
    case = open_source(tmp_path).load("S", images=False)
    found = {f.code: f.message for f in case.findings if f.where == "S"}
    assert sorted(found) == ["contour-tiny", "contour-united", "contour-without-area"]
    assert "slice 1 (400 mm2)" in found["contour-united"]
    assert "2 rings of the target have no area (slice 2)" in found["contour-without-area"]
    assert "1 rings" in found["contour-tiny"]


def test_rings_that_only_touch_are_not_said_to_overlap(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10), box(10, 0, 10), box(0, 20, 5)]}})
    assert open_source(tmp_path).load("S").findings == ()


def test_damage_matters_only_to_the_target(tmp_path: Path) -> None:
    for name, structure in (("A", 1), ("B", 2)):
        folder = write_png_scan(tmp_path, name, {"BODY": {}, TARGET: {1: [SQUARE]}}, n_slices=2)
        (folder / "contours" / f"2.{structure}.dat").write_text("0,0,0,x,0,0,1,1,0\n")
    predicted = submission(tmp_path / "submission.csv", {n: {1: [SQUARE]} for n in "AB"})
    scores = scored(open_source(tmp_path, predictions=predicted))
    assert (scores["A"].status, value(scores["A"])) == ("scored", 1.0)
    assert [(f.code, f.severity) for f in scores["A"].notes] == [("unreadable-contours", "warning")]
    assert scores["B"].status == "error"
    assert "2.2.dat: line 1: value 4" in str(scores["B"].message)


# ---------------------------------------------------------------- thickness


def test_areas_are_multiplied_by_the_thickness_of_their_own_slice(tmp_path: Path) -> None:
    ring, moved = box(5, 5, 10), box(7, 5, 10)
    write_png_scan(tmp_path, "S", {TARGET: {n: [ring] for n in (1, 2, 3)}}, n_slices=3, thickness=[5, 5, 2.5])
    predicted = submission(tmp_path / "submission.csv", {"S": {n: [moved] for n in (1, 2, 3)}})
    score = scored(open_source(tmp_path, predictions=predicted))["S"]
    volumes = [value(score, m) for m in ("tp_mm3", "fp_mm3", "fn_mm3")]
    assert volumes == [1000, 250, 250]  # 80, 20, 20 mm2 times 12.5 mm, though slices lie 2.5 mm apart
    assert value(score) == pytest.approx(0.759481797879619)


def test_a_slice_without_thickness_is_shown_and_keeps_its_scan_from_being_scored(tmp_path: Path) -> None:
    for name, number in (("A", 1), ("B", 2)):
        write_png_scan(tmp_path, name, {TARGET: {number: [SQUARE]}}, n_slices=2, thickness=[1, None])
    source = open_source(tmp_path, predictions=submission(tmp_path / "submission.csv", {}))
    scores = scored(source)
    assert scores["A"].status == "scored"  # there is nothing on that slice
    assert "no (0018.0050) in slice 2" in scores["A"].notes[0].message
    assert scores["B"].status == "error"
    assert "slice 2: no slice thickness (0018,0050)" in str(scores["B"].message)
    case = source.load("B")
    assert case.gt_contours is not None
    assert case.gt_contours.n_rings == 1


def test_contours_on_a_slice_without_tags_cannot_be_scored(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "S", {TARGET: {3: [SQUARE]}})
    score = scored(open_source(tmp_path, predictions=submission(tmp_path / "submission.csv", {})))["S"]
    assert score.status == "error"
    assert "slice 3" in str(score.message)


# ---------------------------------------------------------------- submissions


def two_scans(root: Path) -> None:
    write_png_scan(root, "A", {TARGET: {1: [SQUARE]}})
    write_png_scan(root, "B", {TARGET: {1: [SQUARE]}})


def test_a_scan_that_is_not_mentioned_has_an_empty_prediction(tmp_path: Path) -> None:
    two_scans(tmp_path)
    scores = scored(open_source(tmp_path, predictions=submission(tmp_path / "submission.csv", {"A": {1: [SQUARE]}})))
    assert {name: (s.status, value(s)) for name, s in scores.items()} == {"A": ("scored", 1.0), "B": ("scored", 0.0)}
    assert scores["B"].case["scan_score"].rule == "no_true_positive"


def test_without_a_submission_the_prediction_is_missing(tmp_path: Path) -> None:
    two_scans(tmp_path)
    (tmp_path / "model").mkdir()
    source = open_source(tmp_path, predictions=tmp_path / "model")
    assert source.model == "model"
    assert {s.status for s in scored(source).values()} == {"missing_prediction"}
    assert {value(s) for s in scored(source, missing="empty").values()} == {0.0}


def test_a_zipped_submission_is_taken_and_two_are_ambiguous(tmp_path: Path) -> None:
    two_scans(tmp_path)
    path = submission(tmp_path / "model" / "submission.csv", {"A": {1: [SQUARE]}})
    with zipfile.ZipFile(path.with_suffix(".zip"), "w") as archive:
        archive.write(path, "anything.csv")
    scores = scored(open_source(tmp_path, predictions=path.parent))
    assert {s.status for s in scores.values()} == {"error"}
    assert "submission.csv and submission.zip; keep one" in str(scores["A"].message)
    path.unlink()
    assert value(scored(open_source(tmp_path, predictions=path.parent))["A"]) == 1.0


@pytest.mark.parametrize(
    ("line", "reason"),
    [("A,2,0,0,1,0,1,1", "slice 2"), ("A,0,0,0,1,0,1,1", "slice 0"), ("C,1,0,0,1,0,1,1", "'C'"), ("A,1,5.0", "line 2")],
)
def test_one_malformed_line_makes_every_case_an_error(tmp_path: Path, line: str, reason: str) -> None:
    two_scans(tmp_path)
    path = submission(tmp_path / "submission.csv", {"A": {1: [SQUARE]}})
    path.write_text(path.read_text() + line + "\n")
    source = open_source(tmp_path, predictions=path)
    for score in scored(source).values():
        assert score.status == "error"
        assert "line 2" in str(score.message)
        assert reason in str(score.message)
    assert {f.code for f in check_source(source) if f.severity == "error"} >= {"malformed-submission"}


def test_the_reasons_that_a_case_repeats_are_few(tmp_path: Path) -> None:
    two_scans(tmp_path)
    (tmp_path / "submission.csv").write_text("A,1\n" * 500)
    message = scored(open_source(tmp_path, predictions=tmp_path / "submission.csv"))["A"].message
    assert "line 3" in str(message)
    assert "line 4" not in str(message)
    assert "497 more" in str(message)


def test_an_entry_carries_the_rings_of_its_own_scan_to_another_process(tmp_path: Path) -> None:
    two_scans(tmp_path)
    path = submission(tmp_path / "submission.csv", {"A": {1: [SQUARE]}, "B": {1: [SQUARE] * 5000}})
    entry = open_source(tmp_path, predictions=path).entry("A")
    packed = pickle.dumps(entry)
    assert len(packed) < 10_000
    again = pickle.loads(packed)  # noqa: S301 - written here
    assert again.scan.submitted.rings[1][0].tolist() == [list(point) for point in SQUARE]


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    two_scans(tmp_path)
    with pytest.raises(UsageError, match="predictions: no such file"):
        open_source(tmp_path, predictions=tmp_path / "nothing.csv")
    with pytest.raises(UsageError, match="--remap"):
        open_source(tmp_path, remap="identity")
    with pytest.raises(BundleNotFoundError):
        open_source(tmp_path / "A" / "pngs")


# ---------------------------------------------------------------- both layouts


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_both_layouts_of_one_scan_give_the_same_numbers(tmp_path: Path, overlap: Overlap) -> None:
    keyhole = [*box(0, 0, 20), (0.0, 0.0), (5.0, 5.0), (5.0, 15.0), (15.0, 15.0), (15.0, 5.0), (5.0, 5.0)]
    structures: Mapping[str, Rings] = {
        "BODY": {1: [box(-5, -5, 60)]},
        TARGET: {1: [keyhole], 2: [box(1.25, 2.5, 10), box(6, 2.5, 10)]},
        "radiomics_gtv2": {2: [box(3, 3, 4)], 3: [[(0.0, 0.0), (20.0, 20.0), (20.0, 0.0), (0.0, 20.0)]]},
    }
    thickness = [5.0, 2.5, 3.27]
    write_png_scan(tmp_path / "png", "S", structures, n_slices=3, thickness=thickness)
    write_dicom_scan(tmp_path / "dicom", "S", structures, n_slices=3, thickness=thickness)
    predicted: Rings = {1: [box(2, 2, 18)], 2: [box(0, 0, 10), box(0, 5, 10)], 3: [box(0, 0, 20, 10)]}
    numbers = []
    for name in ("png", "dicom"):
        path = submission(tmp_path / name / "submission.csv", {"S": predicted})
        score = scored(ScanSource(tmp_path / name, path, rules=ContourRules(overlap=overlap)))["S"]
        assert score.status == "scored"
        numbers.append({metric: value(score, metric) for metric in score.case})
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-12)
    # By hand: 400 - 100 mm2 of the keyhole; boxes 10 x 10 at 4.75 mm of each other, the third within; bow-tie of 200.
    truth = 300 * 5.0 + 147.5 * 2.5 + 200 * 3.27
    summed = 300 * 5.0 + (100 + 100 + 16) * 2.5  # by the shoelace a bow-tie has no area
    expected = {"union": truth, "union_if_both": 300 * 5.0 + 147.5 * 2.5, "sum": summed}[overlap]
    assert numbers[0]["tp_mm3"] + numbers[0]["fn_mm3"] == pytest.approx(expected)  # type: ignore[operator]


# ---------------------------------------------------------------- bundles


def bundle_of(folder: Path, cases: Mapping[str, Mapping[str, Any]], rules: Mapping[str, Any] = {}) -> Path:
    (folder / "bundle").mkdir(parents=True)
    per_case = {name: {"dataset": "D", "split": "test", **meta} for name, meta in cases.items()}
    content = {"task": "t", "version": "1", "hash": "0", "train": [], "test": list(cases), "per_case": per_case}
    (folder / "bundle" / "manifest_test.json").write_text(json.dumps(content), "utf-8")
    spec = {"task_type": "lung_contour", "eval_regions": {TARGET: [1]}, "metrics": ["scan_score"]}
    (folder / "bundle" / "eval_spec.yaml").write_text(json.dumps({**spec, "lung_contour": rules}), "utf-8")
    return folder


def test_a_bundle_names_the_parts_of_its_scans(tmp_path: Path) -> None:
    write_png_scan(tmp_path / "data", "A", {"GTV": {1: [SQUARE]}})
    write_dicom_scan(tmp_path / "data" / "deep", "B", {"GTV": {1: [SQUARE]}})
    (tmp_path / "data" / "names.dat").write_text("radiomics_gtv|GTV\n")
    (tmp_path / "data" / "points.csv").write_text("A,1,1,1\n")
    parts = {
        "A": {"image": "A/pngs", "seg": "A/contours"},
        "B": {"image": "deep/B/CT", "seg": "deep/B/RTst"},
        "gone": {"image": "gone/CT", "seg": "gone/RTst"},
        "out": {"image": "../CT", "seg": "../RTst"},
    }
    folder = bundle_of(tmp_path, parts, {"structure_dict": "names.dat", "seed_locations": "points.csv"})
    submission(tmp_path / "model" / "submission.csv", {"A": {1: [SQUARE]}, "B": {1: [box(0, 0, 5, 10)]}})
    source = open_source(folder, predictions=tmp_path / "model")
    scores = scored(source)
    assert [scores[name].status for name in parts] == ["scored", "scored", "error", "error"]
    assert (value(scores["A"]), scores["A"].dataset) == (1.0, "D")
    assert value(scores["B"], "fn_mm3") == 50
    assert "no such folder" in str(scores["gone"].message)
    assert "climbs" in str(scores["out"].message)
    assert source.load("A").seeds == ((1, 1.0, 1.0),)


@pytest.mark.parametrize("told", ["../names.dat", "/etc/hostname"])
def test_a_bundle_cannot_name_lists_outside_its_data(tmp_path: Path, told: str) -> None:
    write_png_scan(tmp_path / "data", "A", {TARGET: {1: [SQUARE]}})
    folder = bundle_of(tmp_path, {"A": {"image": "A/pngs", "seg": "A/contours"}}, {"structure_dict": told})
    submission(tmp_path / "model" / "submission.csv", {})
    score = scored(open_source(folder, predictions=tmp_path / "model"))["A"]
    assert score.status == "error"
    assert "structure_dict" in str(score.message)


def test_a_dictionary_that_is_named_but_not_there_is_an_error(tmp_path: Path) -> None:
    write_png_scan(tmp_path / "data", "A", {TARGET: {1: [SQUARE]}})
    folder = bundle_of(tmp_path, {"A": {"image": "A/pngs", "seg": "A/contours"}}, {"structure_dict": "names.dat"})
    assert any("names.dat" in f.message and f.severity == "error" for f in open_source(folder).load("A").findings)


def test_nothing_of_a_scan_is_opened_before_it_is_loaded(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "S", {TARGET: {1: [SQUARE]}}, aux={1: tags(1, spacing="x,y")})
    source = open_source(tmp_path)
    assert source.entry("S").findings == ()
    assert source.load("S").errors != []
