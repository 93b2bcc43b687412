"""Cases made of pictures and plain arrays: compared by shape, never by a position they do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import Remap
from medotter_viewer.sources.loading import load_case

MASK = np.zeros((3, 4, 5), dtype=np.uint8)
MASK[1, 1:3, 2:4] = 1


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """Function that writes the parts of a case (``.npy`` or ``.nii.gz``) and reads them."""

    def write(name: str, array: Any) -> Path:
        path = tmp_path / name
        if name.endswith(".npy"):
            np.save(path, array)
        else:
            nibabel.save(nibabel.Nifti1Image(array, np.diag([1, 2, 3, 1.0])), path)
        return path

    def read(gt: str, pred: str, image: str | None = None, *, cut: int = 0, **options: Any) -> Case:
        channels = {"image": write("image" + image, MASK)} if image else {}
        paths = write("gt" + gt, MASK), write("pred" + pred, MASK[cut:])
        entry = CaseEntry("D/1", channels=channels, gt_path=paths[0], pred_path=paths[1], remap=Remap(None, "none"))
        return load_case(entry, **options)

    return read


@pytest.mark.parametrize("images", [True, False])
def test_pictures_among_themselves_are_one_grid_without_a_word(load: Any, images: bool) -> None:
    case = load(".npy", ".npy", ".npy", images=images)
    assert case.findings == ()
    assert case.gt.grid is case.pred.grid
    assert not case.gt.grid.has_world


@pytest.mark.parametrize(("gt", "pred"), [(".npy", ".nii.gz"), (".nii.gz", ".npy")])
def test_beside_a_volume_with_a_position_an_array_takes_it(load: Any, gt: str, pred: str) -> None:
    case = load(gt, pred, ".npy")
    assert case.pred.grid.has_world
    assert case.gt.grid.spacing == (1.0, 2.0, 3.0)
    assert case.first_image.grid is case.gt.grid
    assert [f.severity for f in case.findings] == ["info", "info"]
    assert all("a picture or plain array does not say where it lies" in f.message for f in case.findings)


def test_an_image_with_a_position_lends_it_to_both_masks(load: Any) -> None:
    case = load(".npy", ".npy", ".nii.gz")
    assert case.gt.grid.has_world
    assert case.pred.grid is case.gt.grid


@pytest.mark.parametrize("resample", [True, False])
def test_other_shapes_are_refused_in_pixels(load: Any, resample: bool) -> None:
    case = load(".npy", ".npy", cut=1, resample_prediction=resample)
    (error,) = case.errors
    assert "prediction 2 x 4 x 5 pixels; ground truth 3 x 4 x 5 pixels" in error.message
    assert "--resample-prediction" not in error.message
