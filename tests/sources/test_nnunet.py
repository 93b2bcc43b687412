"""nnU-Net's layout: splits by folder, channels and regions by dataset.json, predictions by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.errors import BundleError, BundleNotFoundError, UnsafePathError, UsageError
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.nnunet import is_nnunet
from medotter_viewer.sources.nnunet_dataset import read_dataset_file

GT = np.zeros((3, 4, 5), dtype=np.uint8)
GT[1, 1, 1:5] = 1
GT[2, 2, 1:3] = 2
SECOND: dict[str, Any] = {
    "channel_names": {"0": "T2", "1": "ADC"},
    "labels": {"background": 0, "whole": [1, 2], "core": 2},
    "file_ending": ".nii.gz",
    "numTraining": 2,
}
FIRST: dict[str, Any] = {
    "name": "Liver",
    "modality": {"0": "CT"},
    "labels": {"0": "background", "1": "liver", "2": "tumour"},
}


def nifti(path: Path, array: NDArray[Any] = GT) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, np.eye(4), dtype=array.dtype), path)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two training cases and one test case of two channels."""
    folder = tmp_path / "Dataset007_Prostate"
    for tail, names in (("Tr", ("p_00", "p_01")), ("Ts", ("p_02",))):
        for name in names:
            nifti(folder / f"labels{tail}" / f"{name}.nii.gz")
            for channel in (0, 1):
                nifti(folder / f"images{tail}" / f"{name}_{channel:04d}.nii.gz")
    tell(folder, SECOND)
    return folder


def tell(folder: Path, content: Any) -> Path:
    path = folder / "dataset.json"
    path.write_text(json.dumps(content))
    return path


def test_folders_are_splits_and_channels_are_called_as_the_dataset_says(dataset: Path) -> None:
    source = open_source(dataset)
    assert is_nnunet(dataset)
    assert (source.case_ids("train"), source.case_ids("test")) == (["p_00", "p_01"], ["p_02"])
    entry = source.entry("p_02")
    assert dict(entry.channels) == {
        "T2": dataset / "imagesTs" / "p_02_0000.nii.gz",
        "ADC": dataset / "imagesTs" / "p_02_0001.nii.gz",
    }
    assert entry.gt_path == dataset / "labelsTs" / "p_02.nii.gz"
    assert (entry.findings, list(source.check())) == ((), [])
    assert (source.name, source.target, source.modality) == ("Dataset007_Prostate", str(dataset), "T2")


def test_regions_of_several_ids_are_one_mask(dataset: Path, tmp_path: Path) -> None:
    nifti(tmp_path / "net" / "p_02.nii.gz", np.where(GT == 2, 1, GT).astype(np.uint8))  # core taken for the rest
    source = open_source(dataset, predictions=tmp_path / "net")
    assert dict(source.spec.regions) == {"whole": (1, 2), "core": (2,)}
    (score,) = score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert [score.regions[name].metrics["dice"].value for name in ("whole", "core")] == [1.0, 0.0]
    assert source.model == "net"


def test_the_first_version_and_images_without_a_channel_number_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "Task03_Liver"
    nifti(folder / "imagesTr" / "liver_1.nii.gz")
    nifti(folder / "labelsTr" / "liver_1.nii.gz")
    nifti(folder / "imagesTs" / "liver_2.nii.gz")
    tell(folder, FIRST)
    source = open_source(folder)
    assert (source.name, source.modality) == ("Liver", "CT")
    assert dict(source.spec.regions) == {"liver": (1,), "tumour": (2,)}
    assert list(source.entry("liver_1").channels) == ["CT"]
    unlabelled = source.entry("liver_2")
    assert (unlabelled.split, list(unlabelled.channels)) == ("test", ["CT"])
    assert [f.code for f in unlabelled.findings] == ["no-ground-truth"]


def test_predictions_have_the_dataset_s_suffix_and_what_lies_beside_them_is_none(dataset: Path, tmp_path: Path) -> None:
    model = tmp_path / "net"
    nifti(model / "p_02.nii.gz")
    nifti(model / "p_09.nii.gz")
    for name in ("p_02.npz", "p_02.pkl", "plans.json", "dataset.json"):  # written beside probabilities
        (model / name).write_bytes(b"")
    source = open_source(dataset, predictions=model)
    assert source.entry("p_02").pred_path == model / "p_02.nii.gz"
    assert source.entry("p_00").pred_path is None
    assert [(f.code, Path(f.file or "").name) for f in source.check()] == [("unused-prediction", "p_09.nii.gz")]


def test_a_prediction_with_an_id_that_the_dataset_lacks_is_an_error(dataset: Path, tmp_path: Path) -> None:
    nifti(tmp_path / "net" / "p_02.nii.gz", GT * 3)
    source = open_source(dataset, predictions=tmp_path / "net")
    (score,) = score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert score.status == "error"
    assert "ids outside the label space [0, 1, 2]: 3 (4 voxels), 6 (2 voxels)" in (score.message or "")


def test_a_missing_channel_and_a_missing_image_are_said_and_scored(dataset: Path, tmp_path: Path) -> None:
    (dataset / "imagesTs" / "p_02_0001.nii.gz").unlink()
    for channel in (0, 1):
        (dataset / "imagesTr" / f"p_00_000{channel}.nii.gz").unlink()
    nifti(dataset / "imagesTr" / "p_77_0000.nii.gz")
    nifti(tmp_path / "net" / "p_02.nii.gz")
    source = open_source(dataset, predictions=tmp_path / "net")
    assert [(f.severity, f.code) for f in source.entry("p_02").findings] == [("warning", "missing-channel")]
    assert [(f.severity, f.code) for f in source.entry("p_00").findings] == [("warning", "missing-file")]
    assert ["p_77_0000" in f.message for f in source.check() if f.code == "unused-image"] == [True]
    (score,) = score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert score.status == "scored"


def test_voxels_to_be_ignored_are_not_scored_as_background(dataset: Path, tmp_path: Path) -> None:
    tell(dataset, {**SECOND, "labels": {"background": 0, "core": 1, "ignore": 2}})
    nifti(tmp_path / "net" / "p_02.nii.gz")
    source = open_source(dataset, predictions=tmp_path / "net")
    assert dict(source.spec.regions) == {"core": (1,)}
    (score,) = score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert score.status == "error"
    assert "ignore label (2)" in (score.message or "")
    (tmp_path / "remap.yaml").write_text("{1: 1, 2: 0}")  # the user decides that they are background
    source = open_source(dataset, predictions=tmp_path / "net", remap=str(tmp_path / "remap.yaml"))
    (score,) = score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert score.status == "scored"


def test_a_case_of_both_splits_is_a_test_case(dataset: Path) -> None:
    nifti(dataset / "labelsTs" / "p_00.nii.gz")
    source = open_source(dataset)
    assert source.case_ids("train") == ["p_01"]
    assert "split-clash" in [f.code for f in source.entry("p_00").findings]
    assert source.entry("p_00").gt_path == dataset / "labelsTs" / "p_00.nii.gz"


def test_files_named_by_the_dataset_are_said_not_to_be_used(dataset: Path) -> None:
    tell(dataset, {**SECOND, "dataset": {"p_00": {"images": ["/elsewhere/x.nii.gz"], "label": "/elsewhere/y.nii.gz"}}})
    assert [f.code for f in open_source(dataset).check()] == ["files-not-by-name"]


def test_a_link_out_of_the_dataset_is_an_error_of_its_case_alone(dataset: Path, tmp_path: Path) -> None:
    (dataset / "labelsTr" / "p_00.nii.gz").rename(tmp_path / "elsewhere.nii.gz")
    (dataset / "labelsTr" / "p_00.nii.gz").symlink_to(tmp_path / "elsewhere.nii.gz")
    source = open_source(dataset)
    assert source.case_ids("train") == ["p_00", "p_01"]
    assert [f.code for f in source.entry("p_00").findings] == ["unsafe-path"]
    assert source.entry("p_00").gt_path is None
    assert source.entry("p_01").findings == ()


def test_a_folder_of_the_dataset_may_not_be_a_link_out_of_it(dataset: Path, tmp_path: Path) -> None:
    (dataset / "labelsTs").rename(tmp_path / "elsewhere")
    (dataset / "labelsTs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePathError, match="labelsTs"):
        open_source(dataset)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"labels": None}, "labels"),
        ({"labels": {"background": 0}}, "nothing but the background"),
        ({"labels": {"background": 0, "liver": []}}, "liver"),
        ({"labels": {"background": 0, "liver": "x"}}, "liver"),
        ({"labels": {"background": 0, "liver": -1}}, "liver"),
        ({"labels": {"0": "background", "one": "liver"}}, "'one'"),
        ({"file_ending": "/../x"}, "file_ending"),
        ({"file_ending": "{x}"}, "file_ending"),
        ({"channel_names": ["T2"]}, "channel_names"),
    ],
)
def test_a_dataset_that_cannot_be_used_names_the_key(dataset: Path, change: dict[str, Any], named: str) -> None:
    path = tell(dataset, {**SECOND, **change})
    with pytest.raises(BundleError, match=named) as raised:
        read_dataset_file(path)
    assert str(path) in str(raised.value)


def test_a_key_that_stands_twice_is_an_error(dataset: Path) -> None:
    (dataset / "dataset.json").write_text('{"labels": {"liver": 1, "liver": 2}}')
    with pytest.raises(BundleError, match="'liver' stands twice"):
        open_source(dataset)


def test_other_folders_are_none(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    tell(tmp_path / "x", SECOND)
    assert not is_nnunet(tmp_path / "x")
    (dataset / "dataset.json").unlink()
    assert not is_nnunet(dataset)
    with pytest.raises(BundleNotFoundError, match=r"it holds imagesTr/, imagesTs/, labelsTr/, labelsTs/; .*--gt"):
        open_source(dataset)


def test_options_of_a_bundle_are_refused(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--data-root: is for a bundle"):
        open_source(dataset, data_root=tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        open_source(dataset, predictions=tmp_path / "none")
