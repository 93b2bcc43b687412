"""The facts of one file, or what a folder holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from medotter_viewer.errors import ReadError
from medotter_viewer.sources.info import path_info


def write(path: Path, array: Any, affine: Any, **codes: int) -> Path:
    image = nibabel.Nifti1Image(array, affine)
    for name, code in codes.items():
        getattr(image, f"set_{name}")(None if code == 0 else affine, code)
    nibabel.save(image, path)
    return path


def test_a_label_file_says_where_it_lies_and_what_it_counts(tmp_path: Path) -> None:
    array = np.zeros((2, 3, 4), dtype=np.int16)
    array[0, 0] = 7
    info = path_info(write(tmp_path / "a.nii.gz", array, np.diag([-0.5, -2.0, 3.0, 1.0])))
    assert info["kind"] == "nifti"
    assert info["shape"] == [2, 3, 4]
    assert info["spacing"] == [0.5, 2.0, 3.0]
    assert info["axcodes"] == ["L", "P", "S"]
    assert info["affine"][0] == [-0.5, 0, 0, 0]
    assert info["labels"] == {"0": 20, "7": 4}
    assert info["range"] == [0, 7]
    assert info["notes"] == []
    json.dumps(info, allow_nan=False)


def test_an_image_has_no_labels_and_says_why(tmp_path: Path) -> None:
    array = np.array([0.25, 0.5, np.nan, np.inf], dtype=np.float32).reshape(4, 1, 1)
    info = path_info(write(tmp_path / "a.nii", array, np.eye(4)))
    assert info["labels"] is None
    assert info["range"] == [0.25, 0.5]
    assert [note["code"] for note in info["notes"]] == ["not-a-label-map"]
    json.dumps(info, allow_nan=False)


def test_a_file_without_form_codes_claims_no_orientation(tmp_path: Path) -> None:
    info = path_info(
        write(tmp_path / "a.nii", np.zeros((2, 2, 2), np.uint8), np.diag([2, 2, 2, 1.0]), sform=0, qform=0)
    )
    assert info["axcodes"] is None
    assert info["affine"] is None
    assert info["spacing"] == [2, 2, 2]
    assert [note["code"] for note in info["notes"]] == ["no-form-codes"]


def test_obliqueness_is_told_in_degrees(tmp_path: Path) -> None:
    affine = nibabel.affines.from_matvec(nibabel.eulerangles.euler2mat(x=np.radians(10)))
    info = path_info(write(tmp_path / "a.nii", np.zeros((2, 2, 2), np.uint8), affine))
    assert [note["message"] for note in info["notes"]] == ["oblique by 10.00 deg"]


def test_a_bundle_lists_its_cases(tmp_path: Path, write_bundle: Any) -> None:
    gt = np.zeros((2, 2, 2), dtype=np.uint8)
    tiny = write_bundle(tmp_path, {"A/1": {"gt": gt}, "A/2": {"gt": gt, "split": "train"}})
    info = path_info(tmp_path)
    assert (info["kind"], info["task"], info["version"], info["hash"]) == ("bundle", "tiny", "1.0", "0123456789ab")
    assert info["items"] == [
        {"kind": "case", "id": "A/2", "split": "train"},
        {"kind": "case", "id": "A/1", "split": "test"},
    ]
    assert path_info(tiny.bundle)["items"] == info["items"]


def test_what_no_reader_knows_is_a_read_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for path, message in [
        (tmp_path, "name files or folders of equal names by --gt"),
        (tmp_path / "none", "no such file"),
        (tmp_path / "a.txt", "no reader for this kind of file"),
    ]:
        with pytest.raises(ReadError, match=message):
            path_info(path)
