"""Cases that were opened without predictions get some: the same options, another folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.errors import UsageError
from medotter_viewer.sources.bundle import Bundle
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opened_as import opened_as
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.opening_again import open_again

GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1


def write(path: Path) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(GT, np.eye(4)), path)


def test_a_bundle_is_opened_as_before_with_predictions(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path / "tiny", {"A/1": {"gt": GT}}, predictions={"A/1": GT})
    source = open_source(tiny.bundle, remap="identity", data_root=tiny.data)
    assert source.model is None
    found = open_again(source, tiny.predictions)
    assert found.model == "model"
    assert found.entry("A/1").pred_path == (tiny.predictions / "A/1.nii.gz").resolve()
    before, now = opened_as(source), opened_as(found)
    assert before is not None
    assert now == {**before, "predictions": tiny.predictions}


def test_predictions_of_another_model_take_the_place_of_the_first(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path / "tiny", {"A/1": {"gt": GT}}, predictions={"A/1": GT})
    write(tmp_path / "new/A/1.nii.gz")
    source = open_source(tiny.bundle, predictions=tiny.predictions, model_name="old")
    assert open_again(source, tmp_path / "new").model == "new"


def test_ground_truths_without_a_bundle_get_the_predictions_of_their_names(tmp_path: Path) -> None:
    write(tmp_path / "gt/p1.nii.gz")
    write(tmp_path / "unet/p1.nii.gz")
    found = open_again(open_source(gt=tmp_path / "gt"), tmp_path / "unet")
    assert found.entry("p1").pred_path == tmp_path / "unet/p1.nii.gz"
    assert found.model == "unet"


def test_a_folder_that_holds_none_is_refused(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path / "tiny", {"A/1": {"gt": GT}})
    write(tmp_path / "models/unet/A/1.nii.gz")
    with pytest.raises(UsageError, match=r"models holds nothing for any of the 1 cases; did you mean \S*models/unet\?"):
        open_again(open_source(tiny.bundle), tmp_path / "models")


def test_cases_that_come_from_no_files_are_refused(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path / "tiny", {"A/1": {"gt": GT}})
    with pytest.raises(UsageError, match="were not opened from files"):
        open_again(BundleSource(Bundle(tiny.bundle)), tmp_path)
