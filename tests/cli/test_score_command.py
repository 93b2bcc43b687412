"""``score``: exit status, JSON, CSV, workers, and every option, on cases whose numbers are known."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from math import sqrt
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml

KEYS = ["target", "version", "hash", "model", "split", "definitions", "complete", "cases", "aggregate"]
# Ground truth of A/1 in region one: heights 1 to 4, of which 1 and 2 are predicted.
DICE = 2 * 32 / (64 + 32)


@pytest.fixture
def score(cli: Any, tiny: Any) -> Any:
    """Function that scores the bundle and gives what JSON says."""

    def run(*words: object) -> Any:
        return cli("score", tiny.bundle, "--predictions", tiny.predictions, *words)

    return run


def metric(data: Any, case: str, region: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = data["cases"][case]["regions"][region][name]
    return found


class TestJson:
    def test_form(self, score: Any, tiny: Any) -> None:
        data = score("--json", "-").data
        assert list(data) == KEYS
        assert data["target"] == str(tiny.bundle)
        assert [data[k] for k in ("version", "hash", "model", "split")] == ["1.0", "0123456789ab", "model", "test"]
        assert list(data["cases"]) == ["A/1", "B/1", "B/2"]
        for case in data["cases"].values():
            assert set(case) == {"status", "message", "dataset", "notes", "regions", "case"}
        assert set(data["aggregate"]) == {"by_region", "by_dataset", "by_tier", "macro", "headline"}

    def test_numbers_statuses_and_rules(self, score: Any) -> None:
        data = score("--json", "-").data
        one = data["cases"]["A/1"]["regions"]["one"]
        assert one["counts"] == {"gt": 64, "pred": 32, "intersection": 32}
        assert one["dice"] == {"value": pytest.approx(DICE), "status": "ok", "rule": None}
        assert one["hd95"] == {"value": 2.0, "status": "ok", "rule": None}
        assert metric(data, "A/1", "two", "hd95") == {"value": 80.0, "status": "cap", "rule": "gt_nonempty_pred_empty"}
        assert metric(data, "A/1", "two", "dice")["value"] == 0.0
        assert metric(data, "B/1", "one", "dice")["value"] == 1.0
        assert metric(data, "B/1", "two", "dice") == {"value": None, "status": "not_labelled", "rule": None}
        assert data["cases"]["B/2"]["status"] == "missing_prediction"
        assert data["cases"]["B/2"]["regions"] == {}

    def test_means(self, score: Any) -> None:
        aggregate = score("--json", "-").data["aggregate"]
        assert aggregate["by_region"]["one"]["dice"] == {"value": pytest.approx((DICE + 1) / 2), "n": 2}
        assert aggregate["by_region"]["two"]["hd95"] == {"value": 80.0, "n": 1}
        assert aggregate["by_dataset"]["B"]["one"]["dice"] == {"value": 1.0, "n": 1}
        assert aggregate["by_tier"]["easy"]["one"]["hd95"] == {"value": 2.0, "n": 1}
        assert aggregate["macro"]["dice"] == {"value": pytest.approx((DICE + 1) / 4), "n": 2}
        assert aggregate["headline"] == {
            "region": "one",
            "metric": "dice",
            "value": pytest.approx((DICE + 1) / 2),
            "n": 2,
        }

    def test_written_to_a_file_it_leaves_the_table_on_stdout(self, score: Any, tmp_path: Path) -> None:
        file = tmp_path / "scores.json"
        printed = score("--json", file)
        assert json.loads(file.read_text("utf-8")) == score("--json", "-").data
        assert "headline dice of one: 0.833 (n 2)  INCOMPLETE" in printed.out
        assert "not labelled" in printed.out
        assert "cap 80 (spec)" in printed.out

    def test_a_place_that_cannot_be_written_is_an_error(self, score: Any, tmp_path: Path) -> None:
        result = score("--json", tmp_path / "no" / "where.json")
        assert result.code == 1
        assert len(result.lines) == 2  # the file, and the case that has no prediction
        assert "headline" in result.out  # everything else is written all the same
        assert "where.json" in result.err


class TestExitStatus:
    def test_incomplete_is_1_with_one_line_for_each_failure(self, score: Any) -> None:
        result = score()
        assert result.code == 1
        (line,) = result.lines
        assert line.startswith("B/2: missing_prediction")

    def test_complete_is_0_and_silent(self, score: Any) -> None:
        result = score("--missing", "empty", "--json", "-")
        assert (result.code, result.err) == (0, "")
        assert result.data["complete"] is True
        assert metric(result.data, "B/2", "one", "dice")["value"] == 0.0
        assert metric(result.data, "B/2", "one", "hd95")["value"] == 80.0

    def test_a_damaged_file_fails_its_case_only(self, cli: Any, own: Any) -> None:
        (own.predictions / "A" / "1.nii.gz").write_bytes(b"nothing")
        result = cli("score", own.bundle, "--predictions", own.predictions, "--json", "-")
        assert result.code == 1
        assert [line.split(":")[0] for line in result.lines] == ["A/1", "B/2"]
        assert [c["status"] for c in result.data["cases"].values()] == ["error", "scored", "missing_prediction"]
        assert metric(result.data, "B/1", "one", "dice")["value"] == 1.0

    def test_ids_outside_the_label_space_fail_the_case_and_are_named(self, cli: Any, own: Any) -> None:
        import nibabel
        import numpy as np

        path = own.predictions / "A" / "1.nii.gz"
        data = np.asarray(nibabel.load(path).dataobj).copy()
        data[0, 0, :3] = 4
        nibabel.save(nibabel.Nifti1Image(data, np.eye(4)), path)
        result = cli("score", own.bundle, "--predictions", own.predictions, "--case", "A/1")
        assert result.code == 1
        assert len(result.lines) == 1
        assert "4 (3 voxels)" in result.err

    @pytest.mark.parametrize(
        ("words", "named"),
        [
            (["--predictions", "/nowhere/at/all"], "no such folder"),
            ([], "--predictions DIR"),
            (["--predictions", "{pred}", "--metrics", "dice,nsd"], "nsd"),
            (["--predictions", "{pred}", "--data-root", "/nowhere/at/all"], "no such folder"),
            (["--predictions", "{pred}", "--pattern", "{patient}.nii.gz"], "patient"),
        ],
    )
    def test_wrong_usage_is_2_in_one_line(self, cli: Any, tiny: Any, words: list[str], named: str) -> None:
        result = cli("score", tiny.bundle, *(w.replace("{pred}", str(tiny.predictions)) for w in words))
        assert result.code == 2
        assert len(result.lines) == 1
        assert named in result.err
        assert result.out == ""

    @pytest.mark.parametrize(
        "words",
        [
            ["--hd95", "max"],
            ["--missing", "zero"],
            ["--workers", "0"],
            ["--workers", "two"],
            ["--split", "val"],
            ["--workers", "2", "--scheduler", "tcp://host:1"],
            ["--unknown"],
        ],
    )
    def test_options_that_do_not_exist_are_2(self, score: Any, words: list[str]) -> None:
        result = score(*words)
        assert result.code == 2
        assert words[0] in result.err

    def test_a_target_that_is_no_bundle_is_1(self, cli: Any, tmp_path: Path) -> None:
        for target in (tmp_path, tmp_path / "nowhere"):
            result = cli("score", target, "--predictions", tmp_path)
            assert result.code == 1
            assert len(result.lines) == 1
            assert str(target) in result.err

    def test_an_unknown_case_is_named(self, score: Any) -> None:
        result = score("--case", "A/9")
        assert result.code == 1
        assert "A/9" in result.err
        assert len(result.lines) == 1

    @pytest.mark.parametrize("task_type", ["cls", "det", "vlm"])
    def test_task_types_without_adapter_are_1_and_named(self, cli: Any, own: Any, task_type: str) -> None:
        (own.bundle / "eval_spec.yaml").write_text(f"task_type: {task_type}\n")
        result = cli("score", own.bundle, "--predictions", own.predictions)
        assert result.code == 1
        assert len(result.lines) == 1
        assert task_type in result.err

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("manifest_test.json", "{"),
            ("manifest_test.json", '{"task": "t"}'),
            ("task.yaml", "label_remap: {A: {1: x}}"),
            ("eval_spec.yaml", "eval_regions: [\n  {: }\n"),
            ("eval_spec.yaml", "partial_label: perhaps\n"),
            ("eval_spec.yaml", "metrics: [dice, nsd]\n"),
            ("manifest_test.json", '{"task": NaN}'),
        ],
    )
    def test_a_malformed_specification_is_1_in_one_line_with_its_file(
        self, cli: Any, own: Any, name: str, text: str
    ) -> None:
        (own.bundle / name).write_text(text)
        result = cli("score", own.bundle, "--predictions", own.predictions)
        assert result.code == 1
        assert len(result.lines) == 1
        assert name in result.err


class TestOptions:
    def test_cases_may_be_chosen_and_named_twice(self, score: Any) -> None:
        data = score("--case", "B/1", "--case", "A/1", "--case", "B/1", "--json", "-").data
        assert list(data["cases"]) == ["B/1", "A/1"]

    def test_splits(self, score: Any) -> None:
        train = score("--split", "train", "--json", "-")
        assert list(train.data["cases"]) == ["C/1"]
        assert train.data["split"] == "train"
        assert "--remap" in train.err
        assert list(score("--split", "all", "--json", "-").data["cases"]) == ["C/1", "A/1", "B/1", "B/2"]

    def test_metrics(self, score: Any) -> None:
        data = score("--metrics", "iou, dice", "--json", "-").data
        assert list(data["cases"]["A/1"]["regions"]["one"]) == ["counts", "iou", "dice"]
        assert metric(data, "A/1", "one", "iou")["value"] == 0.5

    @pytest.mark.parametrize("name", ["directed_max", "pooled", "mean", "surfel"])
    def test_hd95_is_named_in_the_output(self, score: Any, name: str) -> None:
        data = score("--hd95", name, "--json", "-").data
        assert data["definitions"]["hd95"]["name"] == name
        # The lower half against the whole: 0 to 2 steps; the mean of a direction of 2 and one of 1.
        assert metric(data, "A/1", "one", "hd95")["value"] == pytest.approx(1.5 if name == "mean" else 2.0)

    def test_model_name(self, score: Any) -> None:
        assert score("--model-name", "my model", "--json", "-").data["model"] == "my model"

    def test_data_root_by_option_and_by_environment(
        self, cli: Any, own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = own.data.rename(tmp_path / "elsewhere")
        words = ("score", own.bundle, "--predictions", own.predictions, "--case", "A/1", "--json", "-")
        assert cli(*words).data["cases"]["A/1"]["status"] == "error"
        assert cli(*words, "--data-root", elsewhere).code == 0
        monkeypatch.setenv("MEDOTTER_VIEWER_DATA_ROOT", str(elsewhere))
        result = cli(*words)
        assert result.code == 0
        assert result.data["definitions"]["data_root"] == str(elsewhere)

    def test_pattern(self, cli: Any, own: Any) -> None:
        (own.predictions / "A" / "1.nii.gz").rename(own.predictions / "A" / "1_pred.nii.gz")
        words = ("score", own.bundle, "--predictions", own.predictions, "--case", "A/1", "--json", "-")
        assert cli(*words).data["cases"]["A/1"]["status"] == "missing_prediction"
        found = cli(*words, "--pattern", "{dataset}/{stem}_pred.nii.gz")
        assert found.code == 0
        assert metric(found.data, "A/1", "one", "dice")["value"] == pytest.approx(DICE)
        assert found.data["definitions"]["pattern"] == "{dataset}/{stem}_pred.nii.gz"

    def test_resample_prediction(self, cli: Any, own: Any) -> None:
        import nibabel
        import numpy as np

        path = own.predictions / "A" / "1.nii.gz"
        flipped = np.asarray(nibabel.load(path).dataobj)[::-1]
        affine = np.diag([-1.0, 1.0, 1.0, 1.0])
        affine[0, 3] = 7
        nibabel.save(nibabel.Nifti1Image(np.ascontiguousarray(flipped), affine), path)
        words = ("score", own.bundle, "--predictions", own.predictions, "--case", "A/1", "--json", "-")
        refused = cli(*words)
        assert refused.code == 1
        assert "--resample-prediction" in refused.err
        found = cli(*words, "--resample-prediction")
        assert found.code == 0
        assert metric(found.data, "A/1", "one", "dice")["value"] == pytest.approx(DICE)
        assert "resampled-prediction" in {n["code"] for n in found.data["cases"]["A/1"]["notes"]}
        assert found.data["definitions"]["resample_prediction"] is True

    def test_scheduler_without_dask_names_the_extra(self, score: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "distributed", None)
        result = score("--scheduler", "tcp://host:1")
        assert result.code == 1
        assert "medotter-viewer[batch]" in result.err
        assert len(result.lines) == 1


class TestRemap:
    @pytest.mark.parametrize(
        ("text", "suffix"),
        [
            ("5: 2\n9: 1\n", "yaml"),
            ('{"5": 2, "9": 1}', "json"),
            ("A: {5: 2, 9: 1}\n", "yaml"),
            ('{"A": {"5": 2, "9": 1, "note": "swapped"}}', "json"),
        ],
    )
    def test_a_file_replaces_the_bundles_own_and_is_recorded(
        self, score: Any, tmp_path: Path, text: str, suffix: str
    ) -> None:
        file = tmp_path / f"remap.{suffix}"
        file.write_text(text)
        data = score("--remap", file, "--case", "A/1", "--json", "-").data
        assert data["cases"]["A/1"]["regions"]["two"]["counts"] == {"gt": 64, "pred": 0, "intersection": 0}
        assert data["cases"]["A/1"]["regions"]["one"]["counts"] == {"gt": 2, "pred": 32, "intersection": 0}
        # Without an entry for this situation the diagonal of 8 voxels of 1 mm would be 13.86.
        recorded = data["definitions"]["user_remap"]
        assert recorded["source"] == str(file)
        assert list(recorded["map"].values()) == [{"5": 2, "9": 1}]
        assert list(recorded["map"]) == ["A" if "A" in text else "*"]

    def test_one_dataset_named_leaves_the_others_to_the_bundle(self, score: Any, tmp_path: Path) -> None:
        file = tmp_path / "remap.yaml"
        file.write_text("B: {1: 2}\n")
        data = score("--remap", file, "--json", "-").data
        assert metric(data, "A/1", "one", "dice")["value"] == pytest.approx(DICE)
        assert data["cases"]["B/1"]["regions"]["two"]["counts"]["gt"] == 64

    def test_identity(self, score: Any) -> None:
        data = score("--remap", "identity", "--split", "train", "--json", "-").data
        assert data["cases"]["C/1"]["status"] == "scored"
        # Native 5, 7 and 9 stay what they are: neither region is in the truth.
        assert data["cases"]["C/1"]["regions"]["one"]["counts"] == {"gt": 0, "pred": 64, "intersection": 0}
        one = metric(data, "C/1", "one", "hd95")
        assert one == {"value": pytest.approx(sqrt(3 * 8**2)), "status": "cap", "rule": "image_diagonal"}
        assert data["definitions"]["user_remap"] == {"source": "identity", "map": {"*": "identity"}}

    @pytest.mark.parametrize("text", ["", "- 1\n", "A: {1: 2}\n3: 4\n", "1: -2\n", "x: 2\n", "1: 2\n1: 3\n"])
    def test_a_file_that_is_no_remap_is_an_error_with_its_name(self, score: Any, tmp_path: Path, text: str) -> None:
        file = tmp_path / "remap.yaml"
        file.write_text(text)
        result = score("--remap", file)
        assert result.code == 1
        assert "remap.yaml" in result.err
        assert len(result.lines) == 1

    def test_a_file_that_is_not_there_is_an_error(self, score: Any, tmp_path: Path) -> None:
        result = score("--remap", tmp_path / "none.yaml")
        assert (result.code, len(result.lines)) == (1, 1)


class TestCsv:
    def test_one_line_for_each_case_region_and_metric(self, score: Any, tmp_path: Path) -> None:
        file = tmp_path / "scores.csv"
        score("--csv", file)
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert [(r["case"], r["region"], r["metric"], r["status"]) for r in rows] == [
            ("A/1", "one", "dice", "ok"),
            ("A/1", "one", "hd95", "ok"),
            ("A/1", "two", "dice", "ok"),
            ("A/1", "two", "hd95", "cap"),
            ("B/1", "one", "dice", "ok"),
            ("B/1", "one", "hd95", "ok"),
            ("B/1", "two", "dice", "not_labelled"),
            ("B/1", "two", "hd95", "not_labelled"),
            ("B/2", "", "", ""),
        ]
        assert float(rows[0]["value"]) == pytest.approx(DICE)
        assert rows[3]["rule"] == "gt_nonempty_pred_empty"
        assert rows[6]["value"] == ""
        assert rows[8]["case_status"] == "missing_prediction"


def test_two_processes_give_the_same_bytes_as_one_and_the_program_itself_runs(score: Any, tiny: Any) -> None:
    command = [sys.executable, "-m", "medotter_viewer", "score", tiny.bundle, "--predictions", tiny.predictions]
    done = subprocess.run(
        [*command, "--workers", "2", "--json", "-"], capture_output=True, text=True, timeout=120, check=False
    )
    here = score("--json", "-")
    assert done.returncode == here.code == 1
    assert done.stdout == here.out
    assert done.stderr == here.err


def test_the_text_says_what_n_counts_and_what_the_headline_was_multiplied_by(cli: Any, own: Any) -> None:
    spec = own.bundle / "eval_spec.yaml"
    headline = {"region": "macro_avg", "metric": "dice"}
    rules = yaml.safe_load(spec.read_text())
    del rules["main_region"]
    spec.write_text(json.dumps({**rules, "aggregation": {"scale": 1000000, "headline": headline}}))
    out = cli("score", own.bundle, "--predictions", own.predictions).out
    assert "headline dice of macro_avg: 416666.667 (mean 0.417 x 1000000, n 2 regions)" in out
    (macro,) = [line for line in out.splitlines() if line.startswith("macro (over regions)")]
    assert macro.endswith("  2 regions")
    spec.write_text(json.dumps({**rules, "eval_regions": {"one": [1]}, "aggregation": {"headline": headline}}))
    out = cli("score", own.bundle, "--predictions", own.predictions).out
    assert "headline dice of macro_avg: 0.833 (n 1 region)" in out


def test_json_is_utf8_and_tables_survive_a_terminal_that_has_not_the_letter(own: Any) -> None:
    manifest = own.bundle / "manifest_test.json"
    manifest.write_text(manifest.read_text().replace("B/2", "B/\\u00fc2"))
    command = [sys.executable, "-m", "medotter_viewer", "score", own.bundle, "--predictions", own.predictions]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*command, "--json", "-"], env=environment, capture_output=True, timeout=120, check=False)
    assert list(json.loads(done.stdout.decode("utf-8"))["cases"]) == ["A/1", "B/1", "B/ü2"]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert b"B/\\xfc2: error\n" in done.stdout
    assert b"B/\\xfc2: error: " in done.stderr
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


class TestTumourIds:
    """Truth in native ids 0, 1, 2, 4; predictions in canonical ids 0 to 3, which are never remapped."""

    REGIONS: ClassVar = {"WT": [1, 2, 3], "TC": [1, 3], "ET": [3]}
    NATIVE: ClassVar = np.repeat(np.array([0, 1, 2, 4], dtype=np.uint8), 16).reshape(4, 4, 4)
    CANONICAL: ClassVar = np.where(NATIVE == 4, 3, NATIVE)

    @pytest.fixture
    def scored(self, cli: Any, tmp_path: Path, write_bundle: Any) -> Any:
        """Function that scores one prediction."""

        def run(pred: Any) -> Any:
            labels = {"necrosis": [1], "oedema": [2], "enhancing": [3]}
            remap = {"OLD": {1: 1, 2: 2, 4: 3}}
            tiny = write_bundle(
                tmp_path,
                {"OLD/1": {"dataset": "OLD", "gt": self.NATIVE}},
                {"task": {"id": "t"}, "canonical_labels": labels, "label_remap": remap},
                {"eval_regions": self.REGIONS, "metrics": ["dice"], "prediction_format": {"label_space": [0, 1, 2, 3]}},
                {"OLD/1": pred},
            )
            return cli("score", tiny.bundle, "--predictions", tiny.predictions, "--json", "-")

        return run

    def test_native_4_is_canonical_3_and_the_prediction_is_taken_as_it_is(self, scored: Any) -> None:
        result = scored(self.CANONICAL)
        assert result.code == 0
        assert {name: metric(result.data, "OLD/1", name, "dice")["value"] for name in self.REGIONS} == {
            "WT": 1.0,
            "TC": 1.0,
            "ET": 1.0,
        }

    def test_a_prediction_in_native_ids_is_an_error_that_names_4(self, scored: Any) -> None:
        result = scored(self.NATIVE)
        assert result.code == 1
        assert result.data["cases"]["OLD/1"]["status"] == "error"
        assert result.data["cases"]["OLD/1"]["regions"] == {}
        assert "4 (16 voxels)" in result.err


@pytest.mark.parametrize(("foreground", "said"), [(255, "255 (32 voxels)"), (-1, "-1 (32 voxels)")])
def test_a_mask_of_another_foreground_than_the_label_space_is_an_error(
    cli: Any, tmp_path: Path, write_bundle: Any, foreground: int, said: str
) -> None:
    gt = np.zeros((4, 4, 4), dtype=np.int16)
    gt[:2] = 1
    spec = {"eval_regions": {"organ": [1]}, "metrics": ["dice"], "prediction_format": {"label_space": [0, 1]}}
    task = {"task": {"id": "t"}, "canonical_labels": {"organ": [1]}}
    tiny = write_bundle(tmp_path, {"A": {"gt": gt}}, task, spec, {"A": gt * foreground})
    result = cli("score", tiny.bundle, "--predictions", tiny.predictions, "--json", "-")
    assert result.code == 1
    assert (result.data["cases"]["A"]["status"], result.data["cases"]["A"]["regions"]) == ("error", {})
    assert said in result.err


def test_missed_and_invented_and_absent_structures_all_stay_in_the_means(
    cli: Any, tmp_path: Path, write_bundle: Any
) -> None:
    empty = np.zeros((6, 6, 6), dtype=np.uint8)
    gt, pred = empty.copy(), empty.copy()
    gt[1:5, 1:5, 1:5] = 1  # 64 voxels
    pred[2:6, 1:5, 1:5] = 1  # the same, one voxel further: dice 48 / 64
    pairs = {"normal": (gt, pred), "missed": (gt, empty), "invented": (empty, pred), "absent": (empty, empty)}
    table = {
        "dice": {"both_empty": 1.0, "gt_empty_pred_nonempty": 0.0, "gt_nonempty_pred_empty": 0.0},
        "hd95": {"both_empty": 0.0, "gt_empty_pred_nonempty": 373.13, "gt_nonempty_pred_empty": 373.13},
    }
    tiny = write_bundle(
        tmp_path,
        {name: {"gt": pair[0]} for name, pair in pairs.items()},
        {"task": {"id": "t"}, "canonical_labels": {"organ": [1]}},
        {"eval_regions": {"organ": [1]}, "metrics": ["dice", "hd95"], "empty_structure": table},
        {name: pair[1] for name, pair in pairs.items()},
    )
    result = cli("score", tiny.bundle, "--predictions", tiny.predictions, "--json", "-")
    assert result.code == 0
    found = {
        name: (metric(result.data, name, "organ", "dice"), metric(result.data, name, "organ", "hd95")) for name in pairs
    }
    assert {name: (dice["value"], hd95["value"]) for name, (dice, hd95) in found.items()} == {
        "normal": (0.75, 1.0),
        "missed": (0.0, 373.13),
        "invented": (0.0, 373.13),
        "absent": (1.0, 0.0),
    }
    assert [hd95["status"] for _, hd95 in found.values()] == ["ok", "cap", "cap", "absent"]
    organ = result.data["aggregate"]["by_region"]["organ"]
    assert organ["dice"] == {"value": pytest.approx(0.4375), "n": 4}
    assert organ["hd95"] == {"value": pytest.approx(186.815), "n": 4}
