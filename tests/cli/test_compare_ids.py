"""``compare`` on plain ids that cannot agree, and what its distances are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

GT = np.zeros((4, 4, 4), dtype=np.uint16)
GT[1] = 1  # 16 voxels


def nifti(path: Path, array: Any) -> Path:
    import nibabel

    nibabel.save(nibabel.Nifti1Image(array, np.eye(4), dtype=array.dtype), path)
    return path


def codes(outcome: Any) -> dict[str, str]:
    return {note["code"]: note["message"] for note in outcome.data["notes"]}


def test_masks_of_another_foreground_id_are_named_with_their_voxels_and_a_remedy(cli: Any, tmp_path: Path) -> None:
    gt, pred = nifti(tmp_path / "gt.nii.gz", GT), nifti(tmp_path / "pred.nii.gz", GT * 255)
    outcome = cli("compare", gt, pred, "--json", "-")
    assert outcome.code == 0
    message = codes(outcome)["no-common-id"]
    assert "one id 1 (16 voxels)" in message
    assert "one id 255 (16 voxels)" in message
    (tmp_path / "remap.yaml").write_text("1: 255")
    remedied = cli("compare", gt, pred, "--remap", tmp_path / "remap.yaml", "--json", "-")
    assert remedied.data["regions"]["255"]["dice"]["value"] == 1.0
    assert codes(remedied) == {}
    (tmp_path / "names.yaml").write_text("{1: organ, 255: organ}")
    named = cli("compare", gt, pred, "--labels", tmp_path / "names.yaml", "--json", "-")
    assert named.data["regions"]["organ"]["dice"]["value"] == 1.0
    assert codes(named) == {}


def test_an_empty_side_or_an_equal_id_needs_no_word(cli: Any, tmp_path: Path) -> None:
    gt, empty = nifti(tmp_path / "gt.nii.gz", GT), nifti(tmp_path / "empty.nii.gz", GT * 0)
    assert codes(cli("compare", gt, empty, "--json", "-")) == {}
    assert codes(cli("compare", gt, gt, "--json", "-")) == {}


@pytest.mark.parametrize(("n", "said"), [(50, False), (51, True)])
def test_many_ids_that_never_agree_look_like_no_structures(cli: Any, tmp_path: Path, n: int, said: bool) -> None:
    ids = np.zeros((4, 4, 4), dtype=np.uint16)
    ids.flat[: n - 1] = np.arange(2, n + 1)
    other = np.zeros_like(ids)
    other.flat[-1] = 1
    outcome = cli("compare", nifti(tmp_path / "a.nii", ids), nifti(tmp_path / "b.nii", other), "--json", "-")
    assert ("no-structures" in codes(outcome)) is said
    if said:
        assert "--instances" in codes(outcome)["no-structures"]


def test_more_than_five_hundred_ids_are_refused_as_in_folders(cli: Any, tmp_path: Path) -> None:
    ids = np.arange(512, dtype=np.uint16).reshape(8, 8, 8)
    path = nifti(tmp_path / "a.nii", ids)
    outcome = cli("compare", path, path)
    assert outcome.code == 1
    assert "511 different ids occur, expected at most 500 structures; give --instances" in outcome.err
    assert cli("compare", path, path, "--instances").code == 0


def test_the_distance_is_named_with_its_unit(cli: Any, tmp_path: Path) -> None:
    from PIL import Image

    path = nifti(tmp_path / "a.nii", GT)
    assert cli("compare", path, path, "--hd95", "pooled").out.startswith("hd95 in mm: pooled, percentile of")
    assert "hd95" not in cli("compare", path, path, "--instances").out
    picture = tmp_path / "p.png"
    Image.fromarray(np.eye(8, dtype=np.uint8)).save(picture)
    assert cli("compare", picture, picture).out.startswith("hd95 in px: directed_max")
