"""Window, command line and notebook give the same numbers for every kind of bundle: equal to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from executors import AtOnce

from medotter_viewer import open_source, score_bundle, score_case
from medotter_viewer.cli import main
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.session.review import ReviewSession

SAMPLES = Path(__file__).resolve().parent.parent / "sample_bundles"
SAMPLE_MODELS = [
    *(("lung_scans", model) for model in ("mixed", "masks")),
    *(("spine_ct", model) for model in ("good", "mixed", "shifted")),
]
REAL_SCANS = [(name, model) for name in ("scans_png", "scans_dicom") for model in ("exact", "perturbed", "zipped")]
REAL_MODELS = [
    *REAL_SCANS,
    *(("spine_ct_verse", model) for model in ("derived", "shift_drop")),
    *(("abdominal_multiorgan_ct", model) for model in ("fast", "roi_liver", "shifted")),
    *(("glioma_wt_tc_et", model) for model in ("isen", "sanet0")),
    *(("hippocampus_mr", model) for model in ("anterior_only", "perturbed")),
    *(("nucleus_instance_2d", model) for model in ("merge_split", "original")),
    *(("nucleus_instance_3d", model) for model in ("identical", "perturbed")),
]

Numbers = dict[str, dict[str, float | None]]
"""Region, or "" for the case as a whole, to metric to value."""


def numbers_of(score: dict[str, Any]) -> Numbers:
    """Return the values of a case's JSON, without its counts."""
    parts = {**score["regions"], "": score["case"]}
    return {
        name: {metric: value["value"] for metric, value in metrics.items() if metric != "counts"}
        for name, metrics in parts.items()
    }


def all_numbers(score: CaseScore) -> Numbers:
    """Return the values of a case; not its notes, which say more where the image was read too."""
    return numbers_of(score.to_dict())


def on_the_command_line(folder: Path, predictions: Path, file: Path) -> dict[str, Numbers]:
    # A case without prediction is exit status 0 or 1; the numbers are written all the same.
    main(["score", str(folder), "--predictions", str(predictions), "--no-cache", "--json", str(file)])
    return {case_id: numbers_of(score) for case_id, score in json.loads(file.read_text("utf-8"))["cases"].items()}


def in_the_window(folder: Path, predictions: Path) -> dict[str, CaseScore]:
    """Return what a review says of each case when it is opened, and of all when they are scored from the list."""
    source = open_source(folder, predictions=predictions)
    session = ReviewSession(source, executor=AtOnce(), deliver=lambda call: call(), split="test")
    opened: dict[str, CaseScore] = {}
    try:
        for case_id in source.case_ids("test"):
            session.go_to(case_id)
            assert session.score is not None
            opened[case_id] = session.score
        listed = session.scores()
        session.close()
        session = ReviewSession(source, executor=AtOnce(), deliver=lambda call: call(), split="test")
        session.score_all()
        assert {c: all_numbers(s) for c, s in session.scores().items()} == {
            c: all_numbers(s) for c, s in listed.items()
        }
    finally:
        session.close()
    return opened


def common(first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """Return two tables of numbers with the metrics that both have: the window computes more than a report asks for."""
    shared = {name: first[name].keys() & second[name].keys() for name in first}
    return tuple({name: {m: one[name][m] for m in shared[name]} for name in shared} for one in (first, second))


def check_case(shown: Numbers, written: Numbers, metrics: set[str]) -> None:
    """Compare one case in the window with the same one in a report."""
    assert shown.keys() == written.keys()
    here, there = common(shown, written)
    assert here == there
    assert {m for values in there.values() for m in values} >= metrics


def check_bundle(folder: Path, predictions: Path, tmp_path: Path) -> None:
    source = open_source(folder, predictions=predictions)
    written = on_the_command_line(folder, predictions, tmp_path / "scores.json")
    shown = in_the_window(folder, predictions)
    report = score_bundle(source)
    assert written.keys() == shown.keys() == report.cases.keys() == set(source.case_ids("test"))
    for case_id, numbers in written.items():
        cell = score_case(folder, case_id, predictions)
        assert numbers == all_numbers(cell) == all_numbers(report.cases[case_id])
        assert cell.status == shown[case_id].status
        if cell.status == "scored":
            scored = {m for name in numbers for m, value in numbers[name].items() if value is not None}
            check_case(all_numbers(shown[case_id]), numbers, scored)
    assert sum(value is not None for one in written.values() for part in one.values() for value in part.values()) > 3


def check_submission(scans: Path, submission: Path, tmp_path: Path) -> None:
    """Compare ``polygons score`` with the bundle's numbers and with the window on the folder of scans."""
    file = tmp_path / "polygons.json"
    assert main(["polygons", "score", str(submission), "--scans", str(scans), "--json", str(file)]) == 0
    content = json.loads(file.read_text("utf-8"))
    shown = in_the_window(scans, submission)
    assert content["scans"].keys() == shown.keys()
    for scan, numbers in content["scans"].items():
        case = {metric: value.value for metric, value in shown[scan].case.items()}
        assert numbers["score"] == case["scan_score"]
        assert {m: numbers[m] for m in ("tp_mm3", "fp_mm3", "fn_mm3")} == {m: case[m] for m in case if m in numbers}
    report = score_bundle(scans, submission)
    assert content["score"] == report.aggregate.headline.value


@pytest.mark.parametrize(("name", "model"), SAMPLE_MODELS)
def test_the_samples_score_alike_everywhere(name: str, model: str, tmp_path: Path) -> None:
    check_bundle(SAMPLES / name, SAMPLES / name / "predictions" / model, tmp_path)


@pytest.mark.parametrize("model", ["mixed", "masks"])
def test_the_sample_scans_score_alike_as_a_contest(model: str, tmp_path: Path) -> None:
    check_submission(SAMPLES / "lung_scans" / "data", SAMPLES / "lung_scans" / "predictions" / model, tmp_path)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "model"), REAL_MODELS)
def test_real_bundles_score_alike_everywhere(shared_data: Path, name: str, model: str, tmp_path: Path) -> None:
    folder = shared_data / "bundles" / name
    check_bundle(folder, folder / "predictions" / model, tmp_path)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "model"), REAL_SCANS)
def test_real_scans_score_alike_as_a_contest(shared_data: Path, name: str, model: str, tmp_path: Path) -> None:
    folder = shared_data / "bundles" / name
    check_submission(folder / "data", folder / "predictions" / model, tmp_path)
