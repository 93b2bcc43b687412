"""Instance masks of real tiles and a volume with independently computed scores: what `expected.json` gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.batch import score_entries
from medotter_viewer.evaluation.report import TargetReport, report_on
from medotter_viewer.scoring.instances import METRICS
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source

pytestmark = pytest.mark.real_data

MODELS = {
    "nucleus_instance_2d": ("merge_split", "original"),
    "nucleus_instance_3d": ("identical", "perturbed"),
}
every_model = pytest.mark.parametrize(("bundle", "model"), [(b, m) for b, models in MODELS.items() for m in models])


def source_of(folder: Path, model: str) -> BundleSource:
    return open_source(folder, predictions=folder / "predictions" / model)


def report_of(source: BundleSource, **options: Any) -> TargetReport:
    chosen = ScoreOptions(**options)
    scores = score_entries([source.entry(c) for c in source.case_ids("test")], source.spec, chosen)
    return report_on(source, scores, chosen, "test")


def expected_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))["models"]
    return content


def test_every_model_of_these_bundles_is_compared(shared_data: Path) -> None:
    for bundle, models in MODELS.items():
        assert sorted(expected_of(shared_data / "bundles" / bundle)) == sorted(models)


@every_model
def test_every_number_of_every_case(shared_data: Path, bundle: str, model: str) -> None:
    folder = shared_data / "bundles" / bundle
    expected, report = expected_of(folder)[model], report_of(source_of(folder, model))
    wanted = expected["cases"]
    assert {c: s.status for c, s in report.cases.items()} == {c: told["status"] for c, told in wanted.items()}
    for case_id, told in wanted.items():
        score = report.cases[case_id]
        if "f1" in told:  # neither withheld nor missing
            region = score.regions["nucleus"]
            assert {m: region.metrics[m].value for m in METRICS} == pytest.approx({m: told[m] for m in METRICS})
            assert (region.gt_voxels, region.pred_voxels) == (told["gt_pixels"], told["pred_pixels"])
        assert score.notes == ()


@every_model
def test_means_are_over_images(shared_data: Path, bundle: str, model: str) -> None:
    folder = shared_data / "bundles" / bundle
    expected, report = expected_of(folder)[model]["aggregate"], report_of(source_of(folder, model))
    headline = report.aggregate.headline
    assert headline.n == expected["n_scored"]
    for metric, value in expected.get("mean", {}).items():
        assert report.aggregate.by_region["nucleus"][metric].value == pytest.approx(value)
    if "headline" in expected:
        assert headline.value == pytest.approx(expected["headline"]["value"])


def test_a_missing_prediction_scored_as_empty_is_0(shared_data: Path) -> None:
    source = source_of(shared_data / "bundles" / "nucleus_instance_2d", "original")
    score = report_of(source, missing="empty").cases["DSB2018/he_dense_4d14a3629b6a"]
    values = score.regions["nucleus"].metrics
    assert (values["pq"].value, values["tp"].value, score.regions["nucleus"].pred_voxels) == (0, 0, 0)


def test_tiles_are_loaded_in_colour_on_the_masks_grid_without_a_remark(shared_data: Path) -> None:
    source = source_of(shared_data / "bundles" / "nucleus_instance_2d", "original")
    for case_id in source.case_ids("all"):
        case = source.load(case_id)
        assert case.gt is not None
        assert case.first_image is not None
        assert case.first_image.grid is case.gt.grid
        assert case.first_image.rgb
        assert [f.code for f in case.findings if f.code != "alpha-left-out"] == []
