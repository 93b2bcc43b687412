"""``cases``, ``compare``, ``remap-audit``, ``info``, ``check``: exit status and JSON on files whose facts are known."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from scan_files import box, write_png_scan

FINDING = {"severity", "code", "file", "where", "message"}


def write(path: Path, data: Any, affine: Any = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(data, np.eye(4) if affine is None else affine, dtype=data.dtype), path)
    return path


class TestCases:
    KEYS = ("id", "dataset", "split", "tier", "channels", "files", "missing")

    def test_form(self, cli: Any, tiny: Any) -> None:
        result = cli("cases", tiny.bundle, "--predictions", tiny.predictions, "--json", "-")
        assert (result.code, result.err) == (0, "")
        assert result.data["target"] == str(tiny.bundle)
        cases = {c["id"]: c for c in result.data["cases"]}
        assert list(cases) == ["C/1", "A/1", "B/1", "B/2"]
        for case in cases.values():
            assert set(self.KEYS) <= set(case)
        assert [cases["A/1"][k] for k in ("dataset", "split", "tier", "missing")] == ["A", "test", "easy", []]
        assert cases["B/1"]["channels"] == ["t2", "t1"]
        assert cases["C/1"]["split"] == "train"
        assert cases["C/1"]["channels"] == []
        assert cases["A/1"]["files"]["gt"] == str(tiny.data / "labels" / "A" / "1.nii.gz")
        assert cases["A/1"]["files"]["prediction"] == str(tiny.predictions / "A" / "1.nii.gz")

    def test_what_is_missing_is_listed_and_is_no_failure(self, cli: Any, tiny: Any) -> None:
        data = cli("cases", tiny.bundle, "--predictions", tiny.predictions, "--json", "-").data
        assert {c["id"]: c["missing"] for c in data["cases"]}["B/2"] == ["image", "prediction"]
        data = cli("cases", tiny.bundle, "--json", "-").data
        assert {c["id"]: c["missing"] for c in data["cases"]}["B/2"] == ["image"]

    def test_split(self, cli: Any, tiny: Any) -> None:
        data = cli("cases", tiny.bundle, "--split", "train", "--json", "-").data
        assert [c["id"] for c in data["cases"]] == ["C/1"]

    def test_table_names_every_case(self, cli: Any, tiny: Any) -> None:
        out = cli("cases", tiny.bundle).out
        assert out.splitlines()[0].split() == ["case", "dataset", "split", "tier", "channels", "missing"]
        assert [line.split()[0] for line in out.splitlines()[2:]] == ["C/1", "A/1", "B/1", "B/2"]

    def test_a_path_that_leaves_the_root_is_1_and_the_rest_is_listed(self, cli: Any, own: Any) -> None:
        manifest = own.bundle / "manifest_test.json"
        manifest.write_text(manifest.read_text().replace("labels/A/1.nii.gz", "../../etc/passwd"))
        result = cli("cases", own.bundle, "--json", "-")
        assert result.code == 1
        assert len(result.lines) == 1
        assert "A/1" in result.err
        assert len(result.data["cases"]) == 4


class TestCompare:
    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[Path, Path]:
        gt, pred = np.zeros((12, 12, 12), dtype=np.uint8), np.zeros((12, 12, 12), dtype=np.uint8)
        gt[2:7, 2:7, 2:7] = 3
        pred[4:9, 2:7, 2:7] = 3
        pred[11, 11, 11] = 4
        spacing = np.diag([2.0, 1.0, 1.0, 1.0])
        return write(tmp_path / "gt.nii.gz", gt, spacing), write(tmp_path / "pred.nii.gz", pred, spacing)

    def test_labels_are_regions_named_by_their_id(self, cli: Any, files: tuple[Path, Path]) -> None:
        result = cli("compare", *files, "--json", "-")
        assert (result.code, result.err) == (0, "")
        assert list(result.data) == ["status", "message", "notes", "regions", "case"]
        assert result.data["status"] == "scored"
        assert list(result.data["regions"]) == ["3", "4"]
        three = result.data["regions"]["3"]
        assert three["counts"] == {"gt": 125, "pred": 125, "intersection": 75}
        assert three["dice"]["value"] == pytest.approx(0.6)
        assert three["iou"]["value"] == pytest.approx(3 / 7)
        assert three["hd95"] == {"value": pytest.approx(4.0), "status": "ok", "rule": None}
        four = result.data["regions"]["4"]["hd95"]
        assert four == {
            "value": pytest.approx((24**2 + 12**2 + 12**2) ** 0.5),
            "status": "cap",
            "rule": "image_diagonal",
        }

    @pytest.mark.parametrize("suffix", ["yaml", "json"])
    def test_labels_may_be_named_and_united_by_a_name(
        self, cli: Any, files: tuple[Path, Path], tmp_path: Path, suffix: str
    ) -> None:
        names = tmp_path / f"names.{suffix}"
        names.write_text('{"3": "organ", "4": "organ", "7": "other"}')
        regions = cli("compare", *files, "--labels", names, "--json", "-").data["regions"]
        assert list(regions) == ["organ", "other"]
        assert regions["organ"]["counts"] == {"gt": 125, "pred": 126, "intersection": 75}
        assert regions["other"]["dice"] == {"value": 1.0, "status": "absent", "rule": "both_empty"}

    def test_a_remap_applies_to_the_ground_truth(self, cli: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
        remap = tmp_path / "remap.yaml"
        remap.write_text("3: 4\n")
        regions = cli("compare", *files, "--remap", remap, "--json", "-").data["regions"]
        assert regions["4"]["counts"] == {"gt": 125, "pred": 1, "intersection": 0}
        assert regions["3"]["counts"] == {"gt": 0, "pred": 125, "intersection": 0}

    def test_a_remap_by_dataset_makes_no_sense_here(self, cli: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
        remap = tmp_path / "remap.yaml"
        remap.write_text("A: {3: 4}\n")
        assert cli("compare", *files, "--remap", remap).code == 2

    @pytest.mark.parametrize(
        ("name", "value"), [("directed_max", 4.0), ("pooled", 4.0), ("mean", 4.0), ("surfel", 4.0)]
    )
    def test_hd95_names(self, cli: Any, files: tuple[Path, Path], name: str, value: float) -> None:
        data = cli("compare", *files, "--hd95", name, "--json", "-").data
        assert data["regions"]["3"]["hd95"]["value"] == pytest.approx(value)

    def test_other_grids_are_1_with_numbers_unless_resampled(
        self, cli: Any, files: tuple[Path, Path], tmp_path: Path
    ) -> None:
        gt, pred = files
        data = np.asarray(nibabel.load(pred).dataobj)[::-1]
        affine = np.diag([-2.0, 1.0, 1.0, 1.0])
        affine[0, 3] = 22
        turned = write(tmp_path / "turned.nii.gz", np.ascontiguousarray(data), affine)
        refused = cli("compare", gt, turned, "--json", "-")
        assert refused.code == 1
        assert refused.data["status"] == "error"
        assert "22.00 mm" in refused.data["message"]
        assert len(refused.lines) == 1
        found = cli("compare", gt, turned, "--resample-prediction", "--json", "-")
        assert found.code == 0
        assert found.data["regions"]["3"]["dice"]["value"] == pytest.approx(0.6)
        assert [n["code"] for n in found.data["notes"]] == ["resampled-prediction"]
        assert set(found.data["notes"][0]) == FINDING

    def test_an_image_elsewhere_is_a_remark(self, cli: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
        affine = np.diag([2.0, 1.0, 1.0, 1.0])
        affine[2, 3] = 30
        image = write(tmp_path / "image.nii.gz", np.zeros((12, 12, 12), dtype=np.int16), affine)
        result = cli("compare", *files, "--image", image, "--json", "-")
        assert result.code == 0
        assert [n["code"] for n in result.data["notes"]] == ["image-grid-differs"]

    def test_a_file_that_is_not_there_is_1(self, cli: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
        result = cli("compare", files[0], tmp_path / "none.nii.gz")
        assert (result.code, len(result.lines)) == (1, 1)
        assert "none.nii.gz" in result.err

    def test_a_table_for_people(self, cli: Any, files: tuple[Path, Path]) -> None:
        out = cli("compare", *files).out
        assert "0.600" in out
        assert "image diagonal" in out

    def test_two_empty_maps_can_be_compared(self, cli: Any, tmp_path: Path) -> None:
        empty = write(tmp_path / "empty.nii.gz", np.zeros((3, 3, 3), dtype=np.uint8))
        result = cli("compare", empty, empty, "--json", "-")
        assert result.code == 0
        assert {r["dice"]["status"] for r in result.data["regions"].values()} <= {"absent"}


class TestRemapAudit:
    def test_form_and_numbers(self, cli: Any, tiny: Any) -> None:
        result = cli("remap-audit", tiny.bundle, "--json", "-")
        assert result.code == 0
        assert list(result.data) == ["target", "datasets", "findings"]
        assert list(result.data["datasets"]) == ["A", "B"]
        assert result.data["datasets"]["A"] == {
            "form": "dict",
            "map": {"5": 1, "9": 2, "11": 0},
            "native": {
                "5": {"cases": 1, "voxels": 64, "canonical": 1, "status": "mapped"},
                "7": {"cases": 1, "voxels": 1, "canonical": 0, "status": "dropped"},
                "9": {"cases": 1, "voxels": 2, "canonical": 2, "status": "mapped"},
            },
            "listed_never_seen": [11],
            "regions_not_labelled": [],
        }
        assert result.data["datasets"]["B"]["native"]["1"]["cases"] == 2
        assert result.data["datasets"]["B"]["regions_not_labelled"] == ["two"]
        assert {f["code"] for f in result.data["findings"]} == {"native-id-not-listed", "native-id-not-seen"}
        assert all(set(f) == FINDING for f in result.data["findings"])

    def test_strict_fails_for_ids_nobody_decided_about(self, cli: Any, tiny: Any) -> None:
        assert cli("remap-audit", tiny.bundle).code == 0
        assert "nothing to audit" not in cli("remap-audit", tiny.bundle).out
        result = cli("remap-audit", tiny.bundle, "--strict")
        assert result.code == 1
        (line,) = result.lines
        assert "native id 7" in line
        assert cli("remap-audit", tiny.bundle, "--strict", "--case", "B/1").code == 0

    def test_both_splits_reach_the_dataset_without_remap(self, cli: Any, tiny: Any) -> None:
        for words in (["--all"], ["--split", "train"], ["--case", "C/1"]):
            result = cli("remap-audit", tiny.bundle, *words, "--json", "-")
            assert result.code == 1
            assert "C" in result.data["datasets"]
            assert len(result.lines) == 1
            assert "'C'" in result.err

    @pytest.mark.parametrize(("words", "form"), [(["--remap", "identity"], "user"), ([], "dict")])
    def test_the_users_remap_is_audited_in_its_place(self, cli: Any, tiny: Any, words: list[str], form: str) -> None:
        data = cli("remap-audit", tiny.bundle, *words, "--json", "-").data
        assert data["datasets"]["A"]["form"] == form
        assert data["datasets"]["A"]["native"]["7"]["canonical"] == (7 if words else 0)

    def test_csv(self, cli: Any, tiny: Any, tmp_path: Path) -> None:
        file = tmp_path / "audit.csv"
        cli("remap-audit", tiny.bundle, "--csv", file)
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert [(r["dataset"], r["native"], r["voxels"], r["canonical"], r["status"], r["regions"]) for r in rows] == [
            ("A", "5", "64", "1", "mapped", "one"),
            ("A", "7", "1", "0", "not_listed", ""),
            ("A", "9", "2", "2", "mapped", "two"),
            ("A", "11", "0", "0", "not_seen", ""),
            ("B", "1", "128", "1", "mapped", "one"),
        ]

    def test_predictions_are_not_its_business(self, cli: Any, tiny: Any) -> None:
        assert cli("remap-audit", tiny.bundle, "--predictions", "/nowhere/at/all").code == 0

    def test_nothing_to_audit_is_said(self, cli: Any, tmp_path: Path, own: Any) -> None:
        write_png_scan(tmp_path / "tc", "S", {"BODY": {1: [box(0, 0, 5)]}})
        outcome = cli("remap-audit", tmp_path / "tc")
        assert "nothing to audit: no ground truth of ids could be read in 1 case (" in outcome.out
        manifest = own.bundle / "manifest_test.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "train": []}))
        outcome = cli("remap-audit", own.bundle, "--split", "train")
        assert f"{own.bundle}: nothing to audit: no case in split 'train'" in outcome.out

    def test_one_or_all_but_not_both(self, cli: Any, tiny: Any) -> None:
        assert cli("remap-audit", tiny.bundle, "--all", "--case", "A/1").code == 2


class TestInfo:
    KEYS = (
        "path", "kind", "shape", "spacing", "axcodes", "affine", "dtype", "unit", "labels", "channels", "items",
        "notes",
    )  # fmt: skip

    def test_a_label_map(self, cli: Any, tmp_path: Path) -> None:
        data = np.zeros((4, 3, 2), dtype=np.uint8)
        data[0, 0, :] = 9
        affine = np.diag([-1.0, -2.0, 3.0, 1.0])
        path = write(tmp_path / "seg.nii.gz", data, affine)
        result = cli("info", path, "--json", "-")
        assert result.code == 0
        assert set(result.data) - {"range"} == set(self.KEYS)
        assert result.data["path"] == str(path)
        assert result.data["kind"] == "nifti"
        assert result.data["shape"] == [4, 3, 2]
        assert result.data["spacing"] == [1.0, 2.0, 3.0]
        assert "".join(result.data["axcodes"]) == "LPS"
        assert result.data["affine"] == affine.tolist()
        assert result.data["dtype"] == "uint8"
        assert result.data["labels"] == {"0": 22, "9": 2}

    def test_an_image_has_a_range_and_no_labels(self, cli: Any, tmp_path: Path) -> None:
        data = np.linspace(-1000, 500.5, 24, dtype=np.float32).reshape(4, 3, 2)
        result = cli("info", write(tmp_path / "ct.nii.gz", data), "--json", "-")
        assert result.code == 0
        assert result.data["labels"] is None
        assert result.data["range"] == [-1000.0, 500.5]
        assert "not-a-label-map" in {n["code"] for n in result.data["notes"]}

    def test_values_that_are_no_numbers_do_not_reach_the_json(self, cli: Any, tmp_path: Path) -> None:
        data = np.full((3, 3, 3), np.nan, dtype=np.float32)
        data[0, 0, :2] = [2, np.inf]
        result = cli("info", write(tmp_path / "nan.nii.gz", data), "--json", "-")
        assert result.code == 0
        assert result.data["range"] == [2.0, 2.0]

    def test_a_bundle_lists_its_cases(self, cli: Any, tiny: Any) -> None:
        for path in (tiny.bundle, tiny.folder):
            data = cli("info", path, "--json", "-").data
            assert set(self.KEYS) <= set(data)
            assert data["kind"] == "bundle"
            assert [(i["id"], i["split"]) for i in data["items"]] == [
                ("C/1", "train"),
                ("A/1", "test"),
                ("B/1", "test"),
                ("B/2", "test"),
            ]

    def test_text_for_people(self, cli: Any, tiny: Any) -> None:
        out = cli("info", tiny.data / "labels" / "A" / "1.nii.gz").out
        assert "shape: 8, 8, 8" in out
        assert "labels: 0 (445 voxels), 5 (64 voxels), 7 (1 voxel), 9 (2 voxels)" in out

    def test_what_it_cannot_read_is_1_in_one_line(self, cli: Any, tmp_path: Path) -> None:
        (tmp_path / "text.nii.gz").write_text("no volume")
        (tmp_path / "table.csv").write_text("a,b\n")
        for path in (tmp_path / "none.nii", tmp_path / "text.nii.gz", tmp_path / "table.csv", tmp_path):
            result = cli("info", path)
            assert (result.code, len(result.lines), result.out) == (1, 1, "")
            assert str(path) in result.err


class TestCheck:
    def test_form_and_warnings_are_good(self, cli: Any, own: Any) -> None:
        manifest = own.bundle / "manifest_test.json"
        content = json.loads(manifest.read_text())
        content["train"] = []
        manifest.write_text(json.dumps(content))
        (own.predictions / "A" / "old.nii.gz").write_bytes(b"")
        result = cli("check", own.bundle, "--predictions", own.predictions, "--json", "-")
        assert (result.code, result.err) == (0, "")
        assert list(result.data) == ["target", "ok", "findings"]
        assert result.data["target"] == str(own.bundle)
        assert result.data["ok"] is True
        assert all(set(f) == FINDING for f in result.data["findings"])
        found = {(f["severity"], f["code"]) for f in result.data["findings"]}
        assert found == {
            ("warning", "missing-file"),
            ("warning", "no-prediction"),
            ("warning", "unlisted-case"),
            ("warning", "unused-prediction"),
        }

    def test_a_dataset_without_remap_is_an_error(self, cli: Any, tiny: Any) -> None:
        result = cli("check", tiny.bundle, "--json", "-")
        assert result.code == 1
        assert result.data["ok"] is False
        assert len(result.lines) == 1
        assert [f["code"] for f in result.data["findings"] if f["severity"] == "error"] == ["no-remap"]
        assert "\n1 error, " in cli("check", tiny.bundle).out

    @pytest.mark.parametrize("name", ["task.yaml", "eval_spec.yaml", "manifest_test.json"])
    def test_malformed_files_are_findings(self, cli: Any, own: Any, name: str) -> None:
        (own.bundle / name).write_text("{")
        result = cli("check", own.bundle, "--json", "-")
        assert result.code == 1
        (finding,) = result.data["findings"]
        assert finding["code"] == "bad-configuration"
        assert name in finding["message"]

    def test_a_damaged_prediction_is_an_error(self, cli: Any, own: Any) -> None:
        (own.predictions / "A" / "1.nii.gz").write_bytes(b"nothing")
        result = cli("check", own.bundle, "--predictions", own.predictions, "--remap", "identity", "--json", "-")
        assert result.code == 1
        (error,) = [f for f in result.data["findings"] if f["severity"] == "error"]
        assert error["code"] == "unreadable-file"
        assert error["where"] == "A/1"

    def test_what_is_no_bundle_is_1(self, cli: Any, tmp_path: Path) -> None:
        result = cli("check", tmp_path)
        assert (result.code, len(result.lines)) == (1, 1)


class TestHelp:
    SOURCE = (
        "--predictions", "--model-name", "--data-root", "--split", "--pattern", "--remap", "--resample-prediction",
    )  # fmt: skip
    OPTIONS = (
        ("open", ("TARGET", *SOURCE, "--case", "--region", "--screenshot")),
        ("cases", ("TARGET", *SOURCE, "--json")),
        (
            "score",
            (
                "TARGET", *SOURCE, "--case", "--metrics", "--hd95", "--missing", "--workers", "--scheduler", "--csv",
                "--json", "directed_max", "pooled", "mean", "surfel", "skip", "empty",
            ),
        ),
        (
            "compare",
            ("GT", "PRED", "--image", "--labels", "--remap", "--resample-prediction", "--hd95", "--json"),
        ),
        ("remap-audit", ("BUNDLE", *SOURCE, "--case", "--all", "--strict", "--csv", "--json")),
        ("info", ("PATH", "--json")),
        ("check", ("TARGET", *SOURCE, "--json")),
    )  # fmt: skip

    @pytest.mark.parametrize(("command", "words"), OPTIONS)
    def test_names_every_option(self, cli: Any, command: str, words: tuple[str, ...]) -> None:
        result = cli(command, "--help")
        assert result.code == 0
        assert [w for w in words if w not in result.out] == []

    def test_lists_every_command_and_the_exit_status(self, cli: Any) -> None:
        result = cli("--help")
        assert result.code == 0
        listed = {line.split()[0] for line in result.out.splitlines() if line.startswith("    ") and line.split()}
        assert {command for command, _ in self.OPTIONS} <= listed
        assert "Exit status" in result.out

    def test_version(self, cli: Any) -> None:
        from medotter_viewer import __version__

        result = cli("--version")
        assert (result.code, result.out.strip()) == (0, f"medotter-viewer {__version__}")

    @pytest.mark.parametrize("words", [[], ["nothing"], ["info"], ["compare", "one"]])
    def test_too_little_is_2(self, cli: Any, words: list[str]) -> None:
        result = cli(*words)
        assert result.code == 2
        assert "usage: medotter-viewer" in result.err


def test_an_interrupted_run_says_so(cli: Any, tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path, **_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("medotter_viewer.cli.info.path_info", interrupt)
    result = cli("info", tiny.bundle)
    assert (result.code, result.err) == (130, "interrupted\n")


@pytest.mark.parametrize(("axis", "hd95"), [(0, 1.0), (1, 2.0), (2, 5.0)])
def test_a_shift_by_one_voxel_is_the_step_of_its_own_axis_in_mm(
    cli: Any, tmp_path: Path, axis: int, hd95: float
) -> None:
    gt = np.zeros((8, 8, 8), dtype=np.uint8)
    gt[2:6, 2:6, 2:6] = 1
    affine = np.diag([1.0, 2.0, 5.0, 1.0])
    files = write(tmp_path / "gt.nii.gz", gt, affine), write(tmp_path / "p.nii.gz", np.roll(gt, 1, axis), affine)
    assert cli("info", files[0], "--json", "-").data["spacing"] == [1.0, 2.0, 5.0]
    one = cli("compare", *files, "--json", "-").data["regions"]["1"]
    assert (one["hd95"]["value"], one["dice"]["value"]) == (pytest.approx(hd95), 0.75)


@pytest.mark.parametrize(("step", "unit"), [(500.0, "micron"), (0.5, "unknown"), (0.0005, "meter")])
def test_hd95_is_in_mm_whatever_unit_a_file_counts_in(cli: Any, tmp_path: Path, step: float, unit: str) -> None:
    gt = np.zeros((12, 6, 6), dtype=np.uint8)
    gt[1:5, 1:5, 1:5] = 1
    files = []
    for name, array in (("gt", gt), ("pred", np.roll(gt, 4, 0))):
        image = nibabel.Nifti1Image(array, np.diag([step, step, step, 1.0]))
        image.header.set_xyzt_units(unit)
        files.append(tmp_path / f"{name}.nii.gz")
        nibabel.save(image, files[-1])
    assert cli("info", files[0], "--json", "-").data["spacing"] == pytest.approx([0.5] * 3)
    one = cli("compare", *files, "--json", "-").data["regions"]["1"]
    assert one["hd95"]["value"] == pytest.approx(2.0)
