"""Files and folders with equal names as cases: which files belong together, what is scored, and what is said."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import BundleError, CaseNotFoundError, ReadError, UnsupportedTaskError, UsageError
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources import inferred_spec
from medotter_viewer.sources.source import CaseSource

GT = np.zeros((4, 5, 6), dtype=np.uint8)
GT[1, 1, 1:5] = 1
GT[2, 2, 1:3] = 7
PRED = np.where(GT == 7, 0, GT).astype(np.uint8)
PRED[1, 1, 1:3] = 0  # two of four voxels of id 1: dice 2 * 2 / (4 + 2)


def nifti(path: Path, array: NDArray[Any] = GT) -> Path:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, np.diag([1.0, 1.0, 2.0, 1.0]), dtype=array.dtype), path)
    return path


def picture(path: Path, array: NDArray[Any]) -> Path:
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)
    return path


def scores(source: CaseSource) -> dict[str, CaseScore]:
    found = score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    return {score.case_id: score for score in found}


def codes(source: CaseSource) -> list[str]:
    return [f"{f.severity} {f.code}" for f in source.check()]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Ground truths a, b, c; predictions a, c, x; images a, b, x."""
    for name in "abc":
        nifti(tmp_path / "gt" / f"{name}.nii.gz")
    for name in "acx":
        nifti(tmp_path / "unet" / f"{name}.nii.gz", PRED)
    for name in "abx":
        nifti(tmp_path / "images" / f"{name}.nii.gz", GT.astype(np.float32))
    return tmp_path


def opened(folders: Path, **options: Any) -> CaseSource:
    return open_source(gt=folders / "gt", pred=folders / "unet", image=folders / "images", **options)


# ---------------------------------------------------------------- which files belong together


def test_ground_truths_are_the_cases_and_the_rest_is_found_by_their_names(folders: Path) -> None:
    source = opened(folders)
    assert source.case_ids() == ["a", "b", "c"]
    assert (source.case_ids("test"), source.case_ids("train")) == (["a", "b", "c"], [])
    a, b, c = source.entries()
    assert a.gt_path == folders / "gt" / "a.nii.gz"
    assert a.pred_path == folders / "unet" / "a.nii.gz"
    assert dict(a.channels) == {"image": folders / "images" / "a.nii.gz"}
    assert (a.missing, b.missing, c.missing) == ((), ("prediction",), ())
    assert dict(c.channels) == {}
    assert (source.name, source.target, source.model) == ("gt", str(folders / "gt"), "unet")
    assert (source.version, source.hash, source.task, source.modality) == (None, None, None, None)
    assert opened(folders, model_name="net 5").model == "net 5"


def test_what_belongs_to_no_case_is_said(folders: Path) -> None:
    found = {f.code: f for f in opened(folders).check()}
    assert set(found) == {"unused-image", "unused-prediction"}
    assert "belong to no case: x" in found["unused-image"].message
    assert found["unused-prediction"].file == str(folders / "unet" / "x.nii.gz")


def test_names_are_compared_without_their_different_suffixes(tmp_path: Path) -> None:
    nifti(tmp_path / "gt" / "a.nii")
    np.save(tmp_path / "a.npy", np.zeros((1, 1)))
    picture(tmp_path / "pred" / "a.png", np.zeros((5, 6), dtype=np.uint8))
    nifti(tmp_path / "image" / "a.NII.GZ".lower())
    entry = open_source(gt=tmp_path / "gt", pred=tmp_path / "pred", image=tmp_path / "image").entry("a")
    assert entry.pred_path == tmp_path / "pred" / "a.png"
    assert dict(entry.channels) == {"image": tmp_path / "image" / "a.nii.gz"}


def test_files_in_folders_have_them_in_their_id_and_as_their_dataset(tmp_path: Path) -> None:
    for site in ("site1", "site2"):
        nifti(tmp_path / "gt" / site / "0001.nii.gz")
    nifti(tmp_path / "pred" / "site2" / "0001.nii.gz")
    source = open_source(gt=tmp_path / "gt", pred=tmp_path / "pred")
    assert source.case_ids() == ["site1/0001", "site2/0001"]
    assert [e.pred_path is not None for e in source.entries()] == [False, True]
    assert [e.dataset for e in source.entries()] == ["site1", "site2"]


def test_single_files_are_one_case_whatever_they_are_called(tmp_path: Path) -> None:
    gt, pred = nifti(tmp_path / "reference.nii.gz"), nifti(tmp_path / "out_12.nii.gz", PRED)
    image = nifti(tmp_path / "ct.nii.gz")
    source = open_source(gt=gt, pred=pred, image=image)
    (entry,) = source.entries()
    assert (entry.case_id, entry.gt_path, entry.pred_path) == ("reference", gt, pred)
    assert dict(entry.channels) == {"image": image}
    assert source.model == "out_12"


def test_beside_a_single_file_a_folder_gives_the_file_of_its_name(folders: Path) -> None:
    source = open_source(gt=folders / "gt" / "a.nii.gz", pred=folders / "unet", image=folders / "images")
    (entry,) = source.entries()
    assert entry.pred_path == folders / "unet" / "a.nii.gz"
    assert dict(entry.channels) == {"image": folders / "images" / "a.nii.gz"}


def test_one_file_beside_a_folder_of_ground_truths_is_refused(folders: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.nii\.gz is one file, .*gt a folder of several"):
        open_source(gt=folders / "gt", pred=folders / "unet" / "a.nii.gz")


def test_numbered_images_are_the_channels_of_a_case_in_order(tmp_path: Path) -> None:
    nifti(tmp_path / "gt" / "case.nii.gz")
    nifti(tmp_path / "gt" / "plain.nii.gz")
    for name in ("case_0001", "case_0000", "plain", "plain_0000"):
        nifti(tmp_path / "image" / f"{name}.nii.gz")
    source = open_source(gt=tmp_path / "gt", image=tmp_path / "image")
    assert list(source.entry("case").channels) == ["0000", "0001"]
    assert source.entry("case").channels["0001"] == tmp_path / "image" / "case_0001.nii.gz"
    assert dict(source.entry("plain").channels) == {"image": tmp_path / "image" / "plain.nii.gz"}
    assert codes(source) == ["info unused-image"]  # plain_0000


def test_a_channel_that_is_missing_between_others_is_named(tmp_path: Path) -> None:
    nifti(tmp_path / "gt" / "case.nii.gz")
    for number in (0, 2):
        nifti(tmp_path / "image" / f"case_000{number}.nii.gz")
    (entry,) = open_source(gt=tmp_path / "gt", image=tmp_path / "image").entries()
    assert list(entry.channels) == ["0000", "0002"]
    assert [(f.severity, f.code) for f in entry.findings] == [("warning", "missing-channel")]
    assert "case_0001" in entry.findings[0].message


def test_a_case_whose_name_ends_in_four_digits_keeps_its_image(tmp_path: Path) -> None:
    for name in ("scan_0001", "scan_0002", "scan"):
        nifti(tmp_path / "gt" / f"{name}.nii.gz")
    for name in ("scan_0001", "scan_0002"):
        nifti(tmp_path / "image" / f"{name}.nii.gz")
    source = open_source(gt=tmp_path / "gt", image=tmp_path / "image")
    assert [dict(e.channels) for e in source.entries()] == [
        {},
        {"image": tmp_path / "image" / "scan_0001.nii.gz"},
        {"image": tmp_path / "image" / "scan_0002.nii.gz"},
    ]


# ---------------------------------------------------------------- without ground truth


def test_images_alone_are_cases_to_look_at(tmp_path: Path) -> None:
    for name in ("a_0000", "a_0001", "b_0007", "c"):
        nifti(tmp_path / "image" / f"{name}.nii.gz", GT.astype(np.float32))
    source = open_source(image=tmp_path / "image")
    assert {e.case_id: list(e.channels) for e in source.entries()} == {
        "a": ["0000", "0001"],
        "b_0007": ["image"],  # no first channel: a name that ends in digits
        "c": ["image"],
    }
    assert source.model is None
    assert (source.entry("c").findings, source.entry("c").missing) == ((), ("gt", "prediction"))
    assert source.load("c").first_image is not None
    assert source.spec.task_type == "without ground truth"


def test_predictions_without_ground_truth_are_shown_and_not_scored(folders: Path) -> None:
    source = open_source(pred=folders / "unet", image=folders / "images")
    assert source.case_ids() == ["a", "c", "x"]
    assert list(source.entry("x").channels) == ["image"]
    assert source.load("a").pred is not None
    assert list(source.spec.regions) == ["1"]
    with pytest.raises(UnsupportedTaskError, match=r"'without ground truth'.*shown but not scored"):
        scores(source)


# ---------------------------------------------------------------- scores


def test_every_id_that_occurs_is_a_region_and_a_missing_prediction_is_said(folders: Path) -> None:
    source = opened(folders)
    assert dict(source.spec.regions) == {"1": (1,), "7": (7,)}
    assert source.spec.metrics == ("dice", "iou", "hd95")
    assert (source.spec.headline.region, source.spec.headline.metric) == ("macro_avg", "dice")
    found = scores(source)
    assert {i: s.status for i, s in found.items()} == {"a": "scored", "b": "missing_prediction", "c": "scored"}
    assert found["a"].regions["1"].metrics["dice"].value == pytest.approx(2 / 3)
    assert found["a"].regions["7"].metrics["dice"].value == 0


def test_an_id_that_only_a_prediction_has_is_a_region_too(folders: Path) -> None:
    nifti(folders / "unet" / "b.nii.gz", np.where(GT, 40_000, 0).astype(np.uint16))
    source = opened(folders)
    assert list(source.spec.regions) == ["1", "7", "40000"]
    metrics = scores(source)["b"].regions["40000"].metrics
    assert (metrics["dice"].value, metrics["hd95"].status) == (0.0, "cap")


def test_names_are_given_by_a_file_and_ids_of_one_name_are_one_region(folders: Path) -> None:
    (folders / "names.yaml").write_text("0: background\n1: organ\n7: organ\n9: other\n")
    source = opened(folders, labels=folders / "names.yaml")
    assert dict(source.spec.regions) == {"organ": (1, 7), "other": (9,)}
    assert scores(source)["a"].regions["other"].metrics["dice"].status == "absent"
    assert source.record()["labels"] == str(folders / "names.yaml")


@pytest.mark.parametrize("text", ["[1, 2]", "0: background", "liver: 1", "1: [a]", ""])
def test_a_file_of_names_that_names_nothing_is_refused(folders: Path, text: str) -> None:
    (folders / "names.yaml").write_text(text)
    with pytest.raises(BundleError, match=r"names\.yaml"):
        opened(folders, labels=folders / "names.yaml")


def test_a_remap_applies_to_ground_truths_and_to_the_ids_that_are_regions(folders: Path) -> None:
    (folders / "remap.json").write_text('{"1": 2}')
    source = opened(folders, remap=str(folders / "remap.json"))
    assert list(source.spec.regions) == ["1", "2"]  # predictions hold 1
    assert source.load("a").gt is not None
    assert np.unique(source.load("a").gt.data).tolist() == [0, 2]  # type: ignore[union-attr]
    assert source.record()["user_remap"]["map"] == {"*": {"1": 2}}


def test_a_remap_by_dataset_names_folders(tmp_path: Path) -> None:
    nifti(tmp_path / "gt" / "site1" / "a.nii")
    nifti(tmp_path / "gt" / "site2" / "a.nii")
    (tmp_path / "remap.json").write_text('{"site2": {"1": 3}}')
    source = open_source(gt=tmp_path / "gt", remap=str(tmp_path / "remap.json"))
    assert list(source.spec.regions) == ["1", "3", "7"]
    (tmp_path / "remap.json").write_text('{"site3": {"1": 3}}')
    with pytest.raises(BundleError, match="site3"):
        open_source(gt=tmp_path / "gt", remap=str(tmp_path / "remap.json"))


def test_masks_of_single_objects_are_one_region_of_pictures_or_volumes(tmp_path: Path) -> None:
    tile = np.zeros((8, 8), dtype=np.uint16)
    tile[1:3, 1:3], tile[5:7, 5:7] = 300, 2
    other = np.where(tile == 2, 0, tile).astype(np.uint16)
    picture(tmp_path / "gt" / "tile.png", tile)
    picture(tmp_path / "pred" / "tile.png", other)
    source = open_source(gt=tmp_path / "gt", pred=tmp_path / "pred", instances=True)
    assert source.spec.task_type == "instance_seg_2d"
    metrics = scores(source)["tile"].regions["instances"].metrics
    assert (metrics["tp"].value, metrics["fn"].value) == (1, 1)
    assert metrics["f1"].value == pytest.approx(2 / 3)
    nifti(tmp_path / "volume.nii.gz")
    assert open_source(gt=tmp_path / "volume.nii.gz", instances=True).spec.task_type == "instance_seg_3d"


def test_hundreds_of_ids_are_no_structures(tmp_path: Path) -> None:
    nifti(tmp_path / "gt.nii.gz", np.arange(600, dtype=np.uint16).reshape(10, 10, 6))
    with pytest.raises(BundleError, match=r"599 different ids.*--instances"):
        _ = open_source(gt=tmp_path / "gt.nii.gz").spec


def test_empty_masks_are_scored_as_one_empty_region(tmp_path: Path) -> None:
    nifti(tmp_path / "a.nii", np.zeros_like(GT))
    found = scores(open_source(gt=tmp_path / "a.nii", pred=tmp_path / "a.nii"))
    assert found["a"].regions["1"].metrics["dice"].status == "absent"


def test_ids_are_read_when_they_are_asked_for_and_once(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    true_read = inferred_spec._ids_of

    def counted(path: Path, *more: Any) -> list[int]:
        read.append(path.name)
        return true_read(path, *more)

    monkeypatch.setattr(inferred_spec, "_ids_of", counted)
    told: list[tuple[int, int]] = []
    source = opened(folders, progress=lambda done, total: told.append((done, total)))
    assert (list(source.entries()) != [], read) == (True, [])
    assert source.spec is source.spec
    assert sorted(read) == ["a.nii.gz", "a.nii.gz", "b.nii.gz", "c.nii.gz", "c.nii.gz"]
    assert told == [(i, 5) for i in range(1, 6)]


# ---------------------------------------------------------------- what is wrong


def test_one_damaged_file_is_an_error_of_its_case_alone(folders: Path) -> None:
    (folders / "unet" / "c.nii.gz").write_bytes((folders / "unet" / "c.nii.gz").read_bytes()[:60])
    (folders / "gt" / "d.nii.gz").write_text("version https://git-lfs.github.com/spec/v1\n")
    found = scores(opened(folders))
    assert {i: s.status for i, s in found.items()} == {
        "a": "scored",
        "b": "missing_prediction",
        "c": "error",
        "d": "error",
    }


def test_refused_files_keep_their_case_with_an_error(folders: Path) -> None:
    nifti(folders / "gt" / "b.nii")  # beside b.nii.gz
    (folders / "gt" / "linked.nii.gz").symlink_to("/etc/passwd")
    os.mkfifo(folders / "gt" / "pipe.nii.gz")
    (folders / "unet" / "a.nii.gz").unlink()
    (folders / "unet" / "a.nii.gz").symlink_to(folders / "gt" / "a.nii.gz")  # out of its own folder
    (folders / "images" / "c.nii.gz").symlink_to("/etc/passwd")
    source = opened(folders)
    assert source.case_ids() == ["a", "b", "c", "linked", "pipe"]
    found = scores(source)
    assert {i: s.status for i, s in found.items()} == {
        "a": "error",
        "b": "error",
        "c": "scored",
        "linked": "error",
        "pipe": "error",
    }
    assert "two files have this name" in (found["b"].message or "")
    assert "leaves its folder" in (found["a"].message or "")
    assert [(f.severity, f.code) for f in source.entry("c").findings] == [("warning", "unsafe-path")]


def test_names_that_never_meet_are_said_with_examples(tmp_path: Path) -> None:
    nifti(tmp_path / "gt" / "a.nii.gz")
    nifti(tmp_path / "pred" / "a_pred.nii.gz")
    found = {f.code: f.message for f in open_source(gt=tmp_path / "gt", pred=tmp_path / "pred").check()}
    assert "ground truths are a; predictions are a_pred" in found["no-equal-names"]
    assert "unused-prediction" in found


def test_what_is_not_there_or_holds_nothing_is_said(tmp_path: Path) -> None:
    nifti(tmp_path / "gt" / "a.nii.gz")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "readme.txt").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match=r"prediction: .*none is not there"):
        open_source(gt=tmp_path / "gt", pred=tmp_path / "none")
    with pytest.raises(ReadError, match=r"empty: no file that can be read \(.*readme\.txt.*\.nii\.gz"):
        open_source(gt=tmp_path / "empty")
    with pytest.raises(ReadError, match="pipe is neither a file nor a folder"):
        open_source(gt=tmp_path / "pipe")
    with pytest.raises(CaseNotFoundError, match="'z'"):
        open_source(gt=tmp_path / "gt").entry("z")


def test_options_that_contradict_each_other_are_refused(folders: Path, tmp_path: Path) -> None:
    (tmp_path / "names.yaml").write_text("1: a")
    with pytest.raises(UsageError, match="--gt: stands in place of TARGET"):
        open_source(folders, gt=folders / "gt")
    with pytest.raises(UsageError, match="--labels: stands in place of TARGET"):
        open_source(folders, labels=folders / "names.yaml")
    with pytest.raises(UsageError, match=r"--predictions: belongs to a TARGET.*--pred"):
        open_source(gt=folders / "gt", predictions=folders / "unet")
    with pytest.raises(UsageError, match="--pattern"):
        open_source(gt=folders / "gt", pattern="{stem}.nii")
    with pytest.raises(UsageError, match="leave --labels out"):
        opened(folders, labels=tmp_path / "names.yaml", instances=True)
    (tmp_path / "remap.yaml").write_text("1: 2")
    with pytest.raises(UsageError, match="leave --remap out"):
        opened(folders, remap=str(tmp_path / "remap.yaml"), instances=True)
    with pytest.raises(UsageError, match="--gt PATH"):
        open_source()
