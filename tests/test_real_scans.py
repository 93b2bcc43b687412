"""Real scans in both layouts with independently computed scores: what `expected.json` gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.batch import score_entries
from medotter_viewer.cli import main
from medotter_viewer.evaluation.report import report_on
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.scans import read_scan, read_scan_volume

pytestmark = pytest.mark.real_data

BUNDLES, MODELS, OVERLAPS = ("scans_dicom", "scans_png"), ("exact", "perturbed", "zipped"), ("union", "sum")


def expected_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))
    return content


def polygons_score(tmp_path: Path, predictions: Path, scans: Path, overlap: str) -> dict[str, Any]:
    out = tmp_path / "out.json"
    command = ["polygons", "score", str(predictions), "--scans", str(scans), "--overlap", overlap, "--json", str(out)]
    assert main(command) == 0
    content: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return content


def check(found: dict[str, Any], model: dict[str, Any], overlap: str) -> None:
    """Every number of every scan."""
    wanted = model["aggregate"][overlap]
    assert found["score"] == pytest.approx(wanted["overall_1e6"], rel=1e-9)
    assert found["mean"] == pytest.approx(wanted["mean_scan_score"], rel=1e-9)
    assert sorted(found["scans"]) == sorted(model["cases"])
    for name, rules in model["cases"].items():
        scan, told = found["scans"][name], rules[overlap]
        volumes = {key: scan[key] for key in ("tp_mm3", "fp_mm3", "fn_mm3")}
        assert volumes == pytest.approx({key: told[key] for key in volumes}, rel=1e-9, abs=1e-6)
        assert scan["t_mm3"] == pytest.approx(told["truth_mm3"], rel=1e-9)
        assert scan["score"] == pytest.approx(told["scan_score"], rel=1e-9)
        for number, areas in told.get("slices", {}).items():
            here = scan["slices"][number]
            assert here["tp_mm2"] + here["fn_mm2"] == pytest.approx(areas["truth_mm2"])
            assert here["tp_mm2"] + here["fp_mm2"] == pytest.approx(areas["solution_mm2"])
            assert here["thickness_mm"] == areas["thickness_mm"]


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("bundle", BUNDLES)
def test_every_number_of_every_scan(shared_data: Path, tmp_path: Path, bundle: str, model: str, overlap: str) -> None:
    folder = shared_data / "bundles" / bundle
    found = polygons_score(tmp_path, folder / "predictions" / model, folder / "data", overlap)
    check(found, expected_of(folder)["models"][model], overlap)


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_slices_numbered_from_zero_are_taken_literally(shared_data: Path, tmp_path: Path, overlap: str) -> None:
    folder = shared_data / "bundles" / "scans_dicom"
    told = expected_of(folder)["zero_based_root"]
    for name, model in told["models"].items():
        found = polygons_score(tmp_path, folder / told["predictions"] / name, folder / told["data"], overlap)
        check(found, model, overlap)


@pytest.mark.parametrize("model", [*MODELS, "malformed"])
@pytest.mark.parametrize("bundle", BUNDLES)
def test_the_bundle_gives_the_same_scores(shared_data: Path, bundle: str, model: str) -> None:
    folder = shared_data / "bundles" / bundle
    source = open_source(folder, predictions=folder / "predictions" / model)
    options = ScoreOptions()
    report = report_on(source, score_entries(list(source.entries("test")), source.spec, options), options, "test")
    told = expected_of(folder)["models"][model]
    if model == "malformed":
        assert {score.status for score in report.cases.values()} == {"error"}
        assert all("line 2" in str(score.message) for score in report.cases.values())
        assert report.aggregate.headline.value is None
        return
    assert sorted(report.cases) == sorted(told["cases"])
    scores = {name: score.case["scan_score"].value for name, score in report.cases.items()}
    wanted = {name: rules["union"]["scan_score"] for name, rules in told["cases"].items()}
    assert scores == pytest.approx(wanted, rel=1e-9)
    assert report.aggregate.headline.value == pytest.approx(told["aggregate"]["union"]["overall_1e6"], rel=1e-9)


@pytest.mark.parametrize("scan_id", ["STS_002", "RTUTILS_PHANTOM", "RTUTILS_NESTED"])
def test_both_layouts_hold_the_same_image_on_the_same_grid(shared_data: Path, scan_id: str) -> None:
    volumes = [read_scan_volume(shared_data / "bundles" / bundle / "data" / scan_id)[0] for bundle in BUNDLES]
    assert np.array_equal(volumes[0].data, volumes[1].data)
    assert volumes[0].grid.corner_displacement_mm(volumes[1].grid) < 1e-6


def test_contours_of_a_series_that_was_written_anew_are_placed_by_height_and_said(shared_data: Path) -> None:
    _, findings = read_scan(shared_data / "bundles" / "scans_dicom" / "data" / "STS_002")
    assert [f.code for f in findings if f.severity == "warning"] == ["contour-other-series"]
