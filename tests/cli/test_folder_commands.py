"""open, cases, score and check on files and folders without a bundle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GT = np.zeros((8, 8, 8), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1  # 64 voxels
PRED = np.zeros_like(GT)
PRED[1:5, 1:5, 1:3] = 1  # half of them: dice 2/3


def nifti(path: Path, array: Any) -> Path:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, np.eye(4), dtype=array.dtype), path)
    return path


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """gt: a, b; pred: a; image: a. The folder is the current one."""
    for name in "ab":
        nifti(tmp_path / "gt" / f"{name}.nii.gz", GT)
    nifti(tmp_path / "pred" / "a.nii.gz", PRED)
    nifti(tmp_path / "image" / "a.nii.gz", GT.astype(np.float32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALL = ("--gt", "gt", "--pred", "pred", "--image", "image")


def test_score_gives_the_json_of_a_bundle(cli: Any, folders: Path) -> None:
    outcome = cli("score", *ALL, "--json", "-")
    found = outcome.data
    assert outcome.code == 1
    assert (found["target"], found["version"], found["hash"], found["model"]) == ("gt", None, None, "pred")
    assert (found["split"], found["complete"]) == ("test", False)
    assert {i: case["status"] for i, case in found["cases"].items()} == {"a": "scored", "b": "missing_prediction"}
    dice = found["cases"]["a"]["regions"]["1"]["dice"]
    assert dice["value"] == pytest.approx(2 / 3)
    assert dice["status"] == "ok"
    headline = found["aggregate"]["headline"]
    assert (headline["region"], headline["metric"], headline["n"]) == ("macro_avg", "dice", 1)
    definitions = found["definitions"]
    assert definitions["labels"] == "one region for each id that occurs"
    assert (definitions["gt"], definitions["predictions"], definitions["images"]) == ("gt", "pred", "image")
    said = "b: missing_prediction: case b: no prediction found, looked for pred/b.nii.gz (or another suffix)"
    assert outcome.lines == [said]


def test_the_header_says_no_version_that_is_not_there(cli: Any, folders: Path) -> None:
    nifti(folders / "pred" / "b.nii.gz", GT)
    outcome = cli("score", *ALL, "--model-name", "net 5")
    assert outcome.code == 0
    assert outcome.out.splitlines()[:2] == [
        "gt",
        "model net 5  split test  hd95: directed_max, percentile of each direction, the larger of the two",
    ]


def test_the_header_speaks_of_hd95_only_where_there_is_one(cli: Any, folders: Path) -> None:
    files = ("--gt", "gt/a.nii.gz", "--pred", "pred/a.nii.gz")
    assert "hd95" not in cli("score", *files, "--metrics", "dice,iou").out
    instances = cli("score", *files, "--instances")
    assert instances.code == 0
    assert "hd95" not in instances.out
    assert "aji" in instances.out


def test_single_files_names_and_a_remap(cli: Any, folders: Path) -> None:
    (folders / "names.yaml").write_text("1: organ\n2: other\n")
    (folders / "remap.yaml").write_text("1: 2\n")
    files = ("--gt", "gt/b.nii.gz", "--pred", "pred/a.nii.gz", "--labels", "names.yaml")
    found = cli("score", *files, "--remap", "remap.yaml", "--json", "-").data
    assert list(found["cases"]) == ["b"]
    assert {name: r["hd95"]["status"] for name, r in found["cases"]["b"]["regions"].items()} == {
        "organ": "cap",
        "other": "cap",
    }
    assert found["model"] == "a"


def test_workers_and_csv_work_as_with_a_bundle(cli: Any, folders: Path) -> None:
    nifti(folders / "pred" / "b.nii.gz", GT)
    outcome = cli("score", *ALL, "--workers", "2", "--csv", "out.csv", "--json", "-")
    assert outcome.code == 0
    assert outcome.data["aggregate"]["headline"]["value"] == pytest.approx(5 / 6)
    assert len((folders / "out.csv").read_text().splitlines()) == 1 + 2 * 3


def test_cases_lists_files_channels_and_what_is_missing(cli: Any, folders: Path) -> None:
    outcome = cli("cases", *ALL, "--json", "-")
    assert outcome.code == 0
    a, b = outcome.data["cases"]
    assert a["files"] == {"image": "image/a.nii.gz", "gt": "gt/a.nii.gz", "prediction": "pred/a.nii.gz"}
    assert (a["channels"], a["missing"], a["split"]) == (["image"], [], "test")
    assert (b["files"]["prediction"], b["missing"]) == (None, ["image", "prediction"])
    (_, without) = cli("cases", "--gt", "gt", "--json", "-").data["cases"]
    assert without["missing"] == []
    assert "prediction" in cli("cases", *ALL).out


def test_cases_lists_images_alone(cli: Any, folders: Path) -> None:
    outcome = cli("cases", "--image", "image", "--json", "-")
    assert (outcome.code, [c["id"] for c in outcome.data["cases"]]) == (0, ["a"])


def test_cases_lists_the_files_of_points(cli: Any, folders: Path) -> None:
    for name in ("scans/sub-a_seg-vert_msk.nii.gz", "net/sub-a.nii.gz"):
        nifti(folders / name, GT)
    for name in ("scans/sub-a_seg-subreg_ctd.json", "net/sub-a_ctd.json"):
        (folders / name).write_text(json.dumps([{"direction": ["R", "A", "S"]}, {"label": 1, "X": 1, "Y": 2, "Z": 3}]))
    (case,) = cli("cases", "scans", "--predictions", "net", "--json", "-").data["cases"]
    assert case["files"] == {
        "gt": "scans/sub-a_seg-vert_msk.nii.gz",
        "prediction": "net/sub-a.nii.gz",
        "gt_landmarks": "scans/sub-a_seg-subreg_ctd.json",
        "prediction_landmarks": "net/sub-a_ctd.json",
    }


def test_check_names_what_belongs_to_no_case(cli: Any, folders: Path) -> None:
    nifti(folders / "pred" / "x.nii.gz", PRED)
    outcome = cli("check", *ALL, "--json", "-")
    found = outcome.data
    assert (outcome.code, found["target"], found["ok"]) == (0, "gt", True)
    assert {(f["severity"], f["code"]) for f in found["findings"]} == {
        ("warning", "no-prediction"),
        ("warning", "unused-prediction"),
    }


def test_check_says_what_keeps_cases_from_being_scored(cli: Any, folders: Path) -> None:
    os.mkfifo(folders / "gt" / "pipe.nii.gz")
    (folders / "gt" / "out.nii.gz").symlink_to("/etc/passwd")
    outcome = cli("check", *ALL, "--json", "-")
    assert outcome.code == 1
    assert {f["code"] for f in outcome.data["findings"] if f["severity"] == "error"} == {"unsafe-path", "missing-file"}
    gone = cli("check", "--gt", "none", "--json", "-")
    assert (gone.code, gone.data["ok"], gone.data["target"]) == (1, False, "none")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("score",), "name what to look at: TARGET, or"),
        (("score", "image"), "--predictions DIR"),
        (("score", "--gt", "gt"), "--pred PATH"),
        (("score", "--pred", "pred"), "give --gt PATH"),
        (("score", "image", *ALL), "--gt, --pred, --image: stands in place of TARGET; give one of the two"),
        (("score", "--gt", "gt", "--predictions", "pred"), "name predictions by --pred"),
        (("score", *ALL, "--data-root", "gt"), "--data-root: belongs to a TARGET"),
        (("score", *ALL, "--instances", "--labels", "names.yaml"), "leave --labels out"),
        (("score", "--gt", "gt", "--pred", "pred/a.nii.gz"), "expected a folder of predictions"),
        (("cases",), "TARGET, or files or folders by --gt, --pred and --image"),
        (("check",), "TARGET, or files or folders"),
        (("open", "image", "--gt", "gt"), "give one of the two"),
    ],
)
def test_what_makes_no_sense_together_is_wrong_usage(cli: Any, folders: Path, words: Any, said: str) -> None:
    outcome = cli(*words)
    assert outcome.code == 2
    assert said in outcome.err


def test_names_that_never_meet_get_a_hint(cli: Any, folders: Path) -> None:
    (folders / "pred" / "a.nii.gz").rename(folders / "pred" / "a_seg.nii.gz")
    outcome = cli("score", *ALL)
    assert outcome.code == 1
    assert "no prediction was found: 'medotter-viewer check'" in outcome.lines[-1]
    assert "no-equal-names" in cli("check", *ALL).out


def test_a_pattern_finds_predictions_of_other_names(cli: Any, folders: Path) -> None:
    (folders / "pred" / "a.nii.gz").rename(folders / "pred" / "a_seg.nii.gz")
    nifti(folders / "pred" / "x_seg.nii.gz", PRED)
    words = (*ALL, "--pattern", "{stem}_seg.nii.gz")
    outcome = cli("score", *words, "--json", "-")
    assert outcome.data["cases"]["a"]["regions"]["1"]["dice"]["value"] == pytest.approx(2 / 3)
    assert outcome.data["definitions"]["pattern"] == "{stem}_seg.nii.gz"
    assert outcome.lines == ["b: missing_prediction: case b: no prediction found, looked for pred/b_seg.nii.gz"]
    checked = cli("check", *words).out
    assert "no case has the prediction x_seg.nii.gz by --pattern {stem}_seg.nii.gz" in checked
    assert "case b: no prediction of pred, looked for pred/b_seg.nii.gz" in checked
    nifti(folders / "gt" / "site" / "c.nii.gz", GT)
    nifti(folders / "pred" / "site" / "p_c.nii.gz", GT)
    (case,) = (
        c
        for c in cli("cases", *ALL, "--pattern", "{dataset}/p_{stem}.nii.gz", "--json", "-").data["cases"]
        if c["id"] == "site/c"
    )
    assert case["files"]["prediction"].endswith("pred/site/p_c.nii.gz")


@pytest.mark.parametrize("words", [("--gt", "gt"), ("--pred", "pred"), ("--gt", "gt", "--pred", "pred/a.nii.gz")])
def test_a_pattern_needs_ground_truths_and_a_folder(cli: Any, folders: Path, words: Any) -> None:
    outcome = cli("cases", *words, "--pattern", "{stem}.nii.gz")
    assert outcome.code == 2
    assert "give --gt PATH and --pred FOLDER" in outcome.err
    assert "unknown field" in cli("cases", *ALL, "--pattern", "{patient}.nii.gz").err


def test_a_split_without_cases_is_said_and_not_complete(cli: Any, folders: Path) -> None:
    outcome = cli("score", *ALL, "--split", "train")
    assert outcome.code == 1
    assert "no case in split 'train' (2 in test, 0 in train)" in outcome.err


def test_a_folder_of_something_else_names_what_it_holds(cli: Any, folders: Path) -> None:
    outcome = cli("cases", ".")
    assert outcome.code == 1
    assert "it holds gt/, image/, pred/" in outcome.err
    assert "--gt, --pred and --image" in outcome.err


def test_open_refuses_an_unknown_region_before_a_window_opens(cli: Any, folders: Path) -> None:
    outcome = cli("open", *ALL, "--region", "liver")
    assert outcome.code == 1
    assert "no region 'liver'; regions are 1" in outcome.err


def test_nnunet_folders_are_targets(cli: Any, folders: Path) -> None:
    dataset = folders / "Dataset001_X"
    nifti(dataset / "labelsTs" / "a.nii.gz", GT)
    nifti(dataset / "imagesTs" / "a_0000.nii.gz", GT)
    (dataset / "dataset.json").write_text('{"channel_names": {"0": "CT"}, "labels": {"background": 0, "organ": 1}}')
    outcome = cli("score", dataset, "--predictions", "pred", "--json", "-")
    assert outcome.code == 0
    assert outcome.data["cases"]["a"]["regions"]["organ"]["dice"]["value"] == pytest.approx(2 / 3)
    assert outcome.data["definitions"]["layout"] == "nnU-Net"
