"""Bundles of real data with independently computed scores: every number that `expected.json` gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.evaluation.aggregate import Mean
from medotter_viewer.evaluation.report import TargetReport, make_report
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.sources.opening import open_source

pytestmark = pytest.mark.real_data

MODELS = {
    "abdominal_multiorgan_ct": ("fast", "roi_liver", "shifted"),
    "glioma_wt_tc_et": ("hnfnetv1", "isen", "sanet0", "scan", "yixinmpl"),
    "hippocampus_mr": ("anterior_only", "perturbed"),
}
HD95 = {"directed_max": "max", "pooled": "pooled", "mean": "mean"}  # name here: name in expected.json
METRICS = ("dice", "iou", "hd95")


@dataclass(frozen=True, eq=False)
class Run:
    """One model on one bundle, read once and scored by three definitions of hd95."""

    folder: Path
    model: str

    @cached_property
    def expected(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "expected.json").read_text("utf-8"))["models"][self.model]
        return content

    @cache  # noqa: B019 - one run per model, kept for the module
    def report(self, hd95: str = "directed_max", *, missing: str = "skip", resample: bool = False) -> TargetReport:
        return self.reports(missing, resample)[hd95]

    @cache  # noqa: B019
    def reports(self, missing: str, resample: bool) -> dict[str, TargetReport]:
        source = open_source(
            self.folder, predictions=self.folder / "predictions" / self.model, resample_prediction=resample
        )
        scores: dict[str, list[CaseScore]] = {name: [] for name in HD95}
        options = {name: ScoreOptions(METRICS, name, missing) for name in HD95}  # type: ignore[arg-type]
        for case_id in source.case_ids("test"):
            case = source.load(case_id, images=False)
            for name in HD95:
                scores[name].append(score_case(case, source.spec, options[name]))
        return {
            name: make_report(scores[name], source.spec, options[name], target=source.target, split="test")
            for name in HD95
        }

    @property
    def refused(self) -> set[str]:
        """Cases whose prediction lies on another grid of the same world: refused unless resampled."""
        return {case for case, told in self.expected["cases"].items() if "grid" in told}

    @property
    def aggregate(self) -> dict[str, Any]:
        """Expected means where those cases are refused."""
        found: dict[str, Any] = self.expected.get("aggregate_if_the_other_grid_is_refused", self.expected["aggregate"])
        return found


@pytest.fixture(scope="module")
def run_of(shared_data: Path) -> Callable[[str, str], Run]:
    @cache
    def make(bundle: str, model: str) -> Run:
        return Run(shared_data / "bundles" / bundle, model)

    return make


@pytest.fixture
def run(request: pytest.FixtureRequest, run_of: Callable[[str, str], Run]) -> Run:
    return run_of(*request.param)


every_model = pytest.mark.parametrize(
    "run",
    [pytest.param((b, m), id=f"{b}/{m}") for b, models in MODELS.items() for m in models],
    indirect=True,
)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-6, abs=1e-6)


def check_region(score: CaseScore, region: str, hd95: str, want: Mapping[str, Any]) -> None:
    got = score.regions[region]
    counts = (got.gt_voxels, got.pred_voxels, got.intersection)
    assert counts == (want["gt_voxels"], want["pred_voxels"], want["intersection"])
    assert got.metrics["dice"].value == close(want["dice"])
    assert got.metrics["iou"].value == close(want["iou"])
    distance, rule = got.metrics["hd95"], want["empty_rule"]
    assert distance.value == close(want["hd95"][HD95[hd95]])
    if rule is None:
        assert {(v.status, v.rule) for v in got.metrics.values()} == {("ok", None)}
    elif rule == "both_empty":
        assert {v.status for v in got.metrics.values()} == {"absent"}
    else:
        assert (distance.status, distance.rule) == ("cap", rule)


def check_means(table: Mapping[str, Mapping[str, Mean]], wanted: Mapping[str, Any], hd95: str) -> None:
    for region, want in wanted.items():
        for metric in METRICS:
            key = f"hd95_{HD95[hd95]}" if metric == "hd95" else metric
            if key in want:
                got = table[region][metric]
                assert (got.value, got.n) == (close(want[key]), want["n"]), (region, metric)


def test_every_model_of_these_bundles_is_compared(shared_data: Path) -> None:
    for bundle, models in MODELS.items():
        expected = json.loads((shared_data / "bundles" / bundle / "expected.json").read_text("utf-8"))
        assert sorted(expected["models"]) == sorted(models)


@every_model
def test_statuses(run: Run) -> None:
    wanted = {c: "error" if c in run.refused else told["status"] for c, told in run.expected["cases"].items()}
    report = run.report()
    assert {c: s.status for c, s in report.cases.items()} == wanted
    assert report.complete == (set(wanted.values()) == {"scored"})
    for case_id, score in report.cases.items():
        assert score.dataset == run.expected["cases"][case_id]["dataset"]
        if score.status != "scored":
            assert case_id in (score.message or "") or "grids differ" in (score.message or "")


@every_model
@pytest.mark.parametrize("hd95", HD95)
def test_each_case_and_region(run: Run, hd95: str) -> None:
    report, compared = run.report(hd95), 0
    for case_id, told in run.expected["cases"].items():
        if case_id in run.refused:
            continue
        for region, want in told.get("regions", {}).items():
            check_region(report.cases[case_id], region, hd95, want)
            compared += 1
        for region in told.get("regions_not_scored", ()):
            values = report.cases[case_id].regions[region].metrics.values()
            assert {(v.value, v.status) for v in values} == {(None, "not_labelled")}
    assert compared >= 6


@every_model
@pytest.mark.parametrize("hd95", HD95)
def test_means(run: Run, hd95: str) -> None:
    got, want = run.report(hd95).aggregate, run.aggregate
    assert set(got.by_region) == set(want["by_region"])
    check_means(got.by_region, want["by_region"], hd95)
    assert set(got.by_dataset) == set(want["by_dataset"])
    for dataset, table in want["by_dataset"].items():
        check_means(got.by_dataset[dataset], table, hd95)
    for metric in METRICS:
        key = f"hd95_{HD95[hd95]}" if metric == "hd95" else metric
        assert got.macro[metric].value == close(want["macro_avg"][key])
    headline = want["headline"]
    assert (got.headline_region, got.headline_metric) == (headline["region"], headline["metric"])
    assert got.headline.value == close(headline["value"])


@pytest.mark.parametrize("run", [("abdominal_multiorgan_ct", m) for m in ("fast", "roi_liver")], indirect=True)
def test_a_missing_prediction_may_be_scored_as_empty(run: Run) -> None:
    want = run.expected["aggregate"]["alternative_missing_as_background"]
    for hd95, name in HD95.items():
        got = run.report(hd95, missing="empty").aggregate
        check_means(got.by_region, want["by_region"], hd95)
        assert got.macro["dice"].value == close(want["macro_avg"]["dice"])
        assert got.macro["hd95"].value == close(want["macro_avg"][f"hd95_{name}"])
    assert run.report(missing="empty").complete


@pytest.mark.parametrize("run", [("abdominal_multiorgan_ct", "shifted")], indirect=True)
def test_ids_the_dataset_does_not_label_are_named_in_a_note(run: Run) -> None:
    (case,) = [c for c, told in run.expected["cases"].items() if "predicted_ids_outside_the_scored_labels" in told]
    (note,) = [n for n in run.report().cases[case].notes if n.code == "unscored-ids"]
    for label in (7, 8, 9):
        assert f"{label} (" in note.message


class TestPredictionOnAFlippedGrid:
    CASE = "MSD_Task04/hippocampus_044"

    @pytest.fixture
    def perturbed(self, run_of: Callable[[str, str], Run]) -> Run:
        return run_of("hippocampus_mr", "perturbed")

    def test_is_refused_with_both_grids_named(self, perturbed: Run) -> None:
        assert perturbed.refused == {self.CASE}
        message = perturbed.report().cases[self.CASE].message or ""
        assert "LAS" in message
        assert "RAS" in message
        assert "37.00 mm" in message

    @pytest.mark.parametrize("hd95", HD95)
    def test_is_scored_when_resampling_is_asked_for(self, perturbed: Run, hd95: str) -> None:
        score = perturbed.report(hd95, resample=True).cases[self.CASE]
        assert [n.code for n in score.notes] == ["resampled-prediction"]
        for region, want in perturbed.expected["cases"][self.CASE]["regions"].items():
            check_region(score, region, hd95, want)

    def test_is_never_compared_as_stored(self, perturbed: Run) -> None:
        wrong = perturbed.expected["cases"][self.CASE]["WRONG_if_arrays_are_compared_as_stored"]
        for resample in (False, True):
            score = perturbed.report(resample=resample).cases[self.CASE]
            for region, values in wrong.items():
                if score.status == "scored":
                    got = score.regions[region].metrics
                    assert got["dice"].value != pytest.approx(values["dice"], abs=1e-3)
                    assert got["hd95"].value != pytest.approx(values["hd95_max"], abs=1e-3)

    def test_one_slice_short_stays_an_error_even_then(self, perturbed: Run) -> None:
        score = perturbed.report(resample=True).cases["MSD_Task04/hippocampus_056"]
        assert score.status == "error"
        assert "41 x 47 x 41" in (score.message or "")
        assert "41 x 47 x 42" in (score.message or "")

    def test_the_means_with_it(self, perturbed: Run) -> None:
        got, want = perturbed.report(resample=True).aggregate, perturbed.expected["aggregate"]
        check_means(got.by_region, want["by_region"], "directed_max")
        assert got.macro["dice"].value == close(want["macro_avg"]["dice"])
        assert got.headline.value == close(want["headline"]["value"])


def test_a_remap_is_no_chain_of_replacements(run_of: Callable[[str, str], Run]) -> None:
    # 5 becomes 4 and 4 becomes 8: replacing one after the other would empty the liver.
    run = run_of("abdominal_multiorgan_ct", "fast")
    source = open_source(run.folder)
    case = source.load("TotalSegmentator_CT/example_ct_sm", images=False)
    assert case.gt is not None
    assert case.gt_native is not None
    native, canonical = case.gt_native.data, case.gt.data
    assert np.array_equal(canonical == 4, native == 5)
    assert np.array_equal(canonical == 8, native == 4)
    assert np.count_nonzero(canonical == 4) == 38634
