"""``compare`` and ``info`` on instance masks and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

GT = np.zeros((12, 20), dtype=np.uint16)
GT[1:5, 1:5] = 7
GT[1:5, 8:12] = 300
PRED = np.zeros((12, 20), dtype=np.uint8)
PRED[1:5, 1:5] = 1
PRED[1:5, 9:13] = 2
PRED[8:10, 1:3] = 3


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    Image.fromarray(GT).save(tmp_path / "gt.png")
    np.save(tmp_path / "pred.npy", PRED)
    return tmp_path / "gt.png", tmp_path / "pred.npy"


def test_instances_are_one_region_with_all_metrics(cli: Any, pair: tuple[Path, Path]) -> None:
    done = cli("compare", *pair, "--instances", "--json", "-")
    assert (done.code, done.err) == (0, "")
    assert (done.data["status"], done.data["notes"], done.data["case"]) == ("scored", [], {})
    (region,) = done.data["regions"].values()
    assert region["counts"] == {"gt": 32, "pred": 36, "intersection": 28}
    expected = {"f1": 0.8, "dq": 0.8, "sq": 0.8, "pq": 0.64, "aji": 0.7, "aji_plus": 0.7, "tp": 2, "fp": 1, "fn": 0}
    assert {m: region[m]["value"] for m in expected} == pytest.approx(expected)


def test_the_table_writes_counts_as_counts(cli: Any, pair: tuple[Path, Path]) -> None:
    lines = cli("compare", *pair, "--instances").out.splitlines()
    assert lines[0].split()[:10] == ["region", "f1", "dq", "sq", "pq", "aji", "aji_plus", "tp", "fp", "fn"]
    assert lines[2].split()[:10] == ["instances", *["0.800"] * 3, "0.640", "0.700", "0.700", "2", "1", "0"]


@pytest.mark.parametrize("option", ["--labels", "--remap"])
def test_names_and_remaps_do_not_go_with_instances(
    cli: Any, pair: tuple[Path, Path], tmp_path: Path, option: str
) -> None:
    (tmp_path / "names.yaml").write_text("1: 1\n", encoding="utf-8")
    done = cli("compare", *pair, "--instances", option, tmp_path / "names.yaml")
    assert done.code == 2
    assert "--instances" in done.err


def test_pictures_are_compared_by_shape_alone(cli: Any, pair: tuple[Path, Path], tmp_path: Path) -> None:
    np.save(tmp_path / "other.npy", PRED[:-1])
    done = cli("compare", pair[0], tmp_path / "other.npy", "--instances")
    assert done.code == 1
    assert "prediction 1 x 11 x 20 pixels; ground truth 1 x 12 x 20 pixels" in done.err
    assert "form codes" not in done.err
    assert "mm" not in done.err
    assert "--resample-prediction" not in done.err
    resampled = cli("compare", pair[0], tmp_path / "other.npy", "--instances", "--resample-prediction")
    assert (resampled.code, "cannot resample" in resampled.err) == (1, True)


def test_pictures_are_compared_as_structures_too(cli: Any, pair: tuple[Path, Path]) -> None:
    done = cli("compare", pair[0], pair[0], "--json", "-")
    assert {name: r["dice"]["value"] for name, r in done.data["regions"].items()} == {"7": 1.0, "300": 1.0}


def test_a_picture_in_colour_is_no_mask(cli: Any, pair: tuple[Path, Path], tmp_path: Path) -> None:
    Image.fromarray(np.dstack([PRED] * 4)).save(tmp_path / "rgba.png")
    done = cli("compare", pair[0], tmp_path / "rgba.png", "--instances")
    assert done.code == 1
    assert "RGBA PNG: 4 channels of colour or alpha are no label ids" in done.err


def test_info_tells_colours_from_ids_and_pixels_from_mm(cli: Any, pair: tuple[Path, Path], tmp_path: Path) -> None:
    mask = cli("info", pair[0], "--json", "-").data
    assert (mask["kind"], mask["shape"], mask["labels"]) == ("image", [1, 12, 20], {"0": 208, "7": 16, "300": 16})
    assert (mask["spacing"], mask["affine"], mask["axcodes"], mask["notes"]) == (None, None, None, [])
    Image.fromarray(np.dstack([PRED] * 3)).save(tmp_path / "rgb.png")
    colours = cli("info", tmp_path / "rgb.png", "--json", "-").data
    assert (colours["labels"], colours["channels"], colours["range"]) == (None, ["red", "green", "blue"], [0, 3])
    assert [note["code"] for note in colours["notes"]] == ["not-a-label-map"]


def test_a_picture_beside_a_volume_takes_its_place(cli: Any, tmp_path: Path) -> None:
    import nibabel

    stack = np.zeros((3, 4, 5), dtype=np.uint8)
    stack[1, 1:3, 1:4] = 1
    nibabel.save(nibabel.Nifti1Image(stack, np.diag([1, 1, 2, 1.0])), tmp_path / "gt.nii.gz")
    np.save(tmp_path / "pred.npy", stack)
    done = cli("compare", tmp_path / "gt.nii.gz", tmp_path / "pred.npy", "--json", "-")
    assert done.data["regions"]["1"]["dice"]["value"] == 1
    assert [n["message"] for n in done.data["notes"]] == [
        "prediction: a picture or plain array does not say where it lies; it takes its partner's grid"
    ]
