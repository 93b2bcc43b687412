"""The command ``landmarks``: its JSON, its table, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

KEYS = ["id_rate", "id_rate_official", "id_rate_all_gt", "d_mean", "n_gt", "n_pred", "n_hits", "n_missing", "n_extra"]


def write(path: Path, *points: tuple[float, ...], direction: str | None = "RAS") -> Path:
    entries: list[dict[str, Any]] = [dict(zip(("label", "X", "Y", "Z"), p, strict=True)) for p in points]
    path.write_text(json.dumps(([{"direction": list(direction)}] if direction else []) + entries))
    return path


@pytest.fixture
def image(tmp_path: Path) -> Path:
    import nibabel

    path = tmp_path / "image.nii.gz"
    nibabel.save(nibabel.Nifti1Image(np.zeros((60, 60, 120), dtype=np.uint8), np.eye(4)), path)
    return path


@pytest.fixture
def competing(tmp_path: Path) -> tuple[Path, Path]:
    """L1 predicted 18 mm from itself and 12 mm from L2, which is not predicted."""
    gt = write(tmp_path / "gt.json", (20, 30, 30, 20), (21, 30, 30, 50))
    return gt, write(tmp_path / "pred.json", (20, 30, 30, 38))


def test_the_json_is_the_contract(cli: Any, competing: tuple[Path, Path], image: Path) -> None:
    done = cli("landmarks", *competing, "--image", image, "--json", "-")
    assert (done.code, done.err) == (0, "")
    data = done.data
    assert list(data) == [*KEYS, "points", "level_shift", "notes"]
    assert [data[key] for key in KEYS] == [0.0, 0.5, 0.0, 18.0, 2, 1, 0, 1, 0]
    assert data["points"] == {
        "20": {
            "name": "L1",
            "gt_world": [30.0, 30.0, 20.0],
            "pred_world": [30.0, 30.0, 38.0],
            "distance_mm": 18.0,
            "nearest": 21,
            "hit": False,
        },
        "21": {
            "name": "L2",
            "gt_world": [30.0, 30.0, 50.0],
            "pred_world": None,
            "distance_mm": None,
            "nearest": None,
            "hit": False,
        },
    }
    assert data["level_shift"] is None
    assert [set(note) for note in data["notes"]] == [{"severity", "code", "file", "where", "message"}]


def test_candidates_choose_the_rule(cli: Any, competing: tuple[Path, Path], image: Path) -> None:
    data = cli("landmarks", *competing, "--image", image, "--candidates", "common", "--json", "-").data
    assert (data["id_rate"], data["n_hits"], data["points"]["20"]["nearest"]) == (0.5, 1, 20)
    data = cli("landmarks", *competing, "--image", image, "--max-distance", 17, "--json", "-").data
    assert data["id_rate_official"] == 0.0


def test_exactly_20_mm_and_an_extra_vertebra(cli: Any, tmp_path: Path, image: Path) -> None:
    gt = write(tmp_path / "gt.json", (20, 30, 30, 20), (21, 30, 30, 70))
    pred = write(tmp_path / "pred.json", (20, 30, 30, 40), (21, 30, 30, 70), (24, 1, 1, 1))
    data = cli("landmarks", gt, pred, "--image", image, "--json", "-").data
    assert [data[key] for key in KEYS] == [0.5, 1.0, 0.5, 10.0, 2, 3, 1, 0, 1]
    assert data["points"]["24"] == {
        "name": "L5",
        "gt_world": None,
        "pred_world": [1.0, 1.0, 1.0],
        "distance_mm": None,
        "nearest": 20,
        "hit": None,
    }


def test_the_table_is_in_anatomical_order(cli: Any, tmp_path: Path, image: Path) -> None:
    gt = write(tmp_path / "gt.json", (20, 30, 30, 20), (28, 30, 30, 50), (19, 30, 30, 80), (26, 1, 1, 1))
    done = cli("landmarks", gt, gt, "--image", image)
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[2:5]] == ["T12", "T13", "L1"]
    assert "id_rate: 1.000 (3 of 3, candidates all_gt)" in done.out
    assert "sacrum (26)" in done.out


def test_a_shift_is_diagnosed(cli: Any, tmp_path: Path, image: Path) -> None:
    spine = [(label, 30, 30, 100 - 20 * i) for i, label in enumerate((18, 19, 20, 21))]
    gt = write(tmp_path / "gt.json", *spine)
    pred = write(tmp_path / "pred.json", *((label - 1, *p) for label, *p in spine))
    done = cli("landmarks", gt, pred, "--image", image, "--json", "-")
    assert done.data["level_shift"] == 1
    assert done.data["id_rate"] == 0.0


def test_nothing_to_identify_is_null(cli: Any, tmp_path: Path, image: Path) -> None:
    empty = write(tmp_path / "empty.json", direction="LAS")
    data = cli("landmarks", empty, empty, "--image", image, "--json", "-").data
    assert [data[key] for key in KEYS] == [None, None, None, None, 0, 0, 0, 0, 0]
    assert cli("landmarks", empty, empty, "--image", image).code == 0


class TestWithoutDirection:
    def test_is_refused_with_the_option_named(self, cli: Any, tmp_path: Path, image: Path) -> None:
        path = write(tmp_path / "x.json", (20, 42, 78, 57), direction=None)
        done = cli("landmarks", path, path, "--image", image)
        assert (done.code, len(done.lines)) == (1, 1)
        assert "--centroid-layout" in done.err

    @pytest.mark.parametrize("layout", ["miccai19", "miccai20"])
    def test_with_a_layout_no_image_is_needed(self, cli: Any, tmp_path: Path, layout: str) -> None:
        gt = write(tmp_path / "gt.json", (20, 42, 78, 57), direction=None)
        pred = write(tmp_path / "pred.json", (20, 42, 81, 61), direction=None)
        data = cli("landmarks", gt, pred, "--centroid-layout", layout, "--json", "-").data
        assert (data["id_rate"], data["d_mean"]) == (1.0, 5.0)

    def test_but_not_against_voxels(self, cli: Any, tmp_path: Path) -> None:
        gt = write(tmp_path / "gt.json", (20, 42, 78, 57), direction=None)
        pred = write(tmp_path / "pred.json", (20, 42, 81, 61))
        done = cli("landmarks", gt, pred, "--centroid-layout", "miccai20")
        assert done.code == 2
        assert "--image" in done.err


def test_voxels_without_an_image_are_refused(cli: Any, competing: tuple[Path, Path]) -> None:
    done = cli("landmarks", *competing)
    assert (done.code, len(done.lines)) == (2, 1)
    assert "--image" in done.err


@pytest.mark.parametrize("bad", ["0", "-3", "inf", "nan", "far"])
def test_an_impossible_distance_is_wrong_usage(cli: Any, competing: tuple[Path, Path], bad: str) -> None:
    assert cli("landmarks", *competing, f"--max-distance={bad}").code == 2


def test_a_missing_file_is_named(cli: Any, competing: tuple[Path, Path], image: Path) -> None:
    for gt, pred, picture in [("no.json", competing[1], image), (*competing, "no.nii.gz")]:
        done = cli("landmarks", gt, pred, "--image", picture)
        assert (done.code, len(done.lines)) == (1, 1)
        assert "no." in done.err


def test_a_label_that_stands_twice_fails(cli: Any, tmp_path: Path, image: Path) -> None:
    path = write(tmp_path / "x.json", (20, 1, 1, 1), (20, 2, 2, 2))
    done = cli("landmarks", path, path, "--image", image)
    assert done.code == 1
    assert "label 20 (L1) stands twice" in done.err


def test_one_remark_about_both_files_is_made_once(cli: Any, tmp_path: Path, image: Path) -> None:
    path = write(tmp_path / "x.json", (20, 500, 1, -3))
    notes = cli("landmarks", path, path, "--image", image, "--json", "-").data["notes"]
    assert [note["code"] for note in notes] == ["landmark-outside-image"]


class TestMasks:
    """Of a mask the centre of mass of each vertebra is taken, and that is said."""

    @pytest.fixture
    def mask(self, tmp_path: Path) -> Path:
        import nibabel

        labels = np.zeros((60, 60, 120), dtype=np.uint8)
        labels[30, 30, 18:23], labels[30, 30, 48:53] = 20, 21
        nibabel.save(nibabel.Nifti1Image(labels, np.eye(4)), tmp_path / "mask.nii.gz")
        return tmp_path / "mask.nii.gz"

    def test_a_predicted_mask_needs_no_image(self, cli: Any, competing: tuple[Path, Path], mask: Path) -> None:
        done = cli("landmarks", competing[0], mask, "--json", "-")
        assert (done.code, done.data["id_rate"], done.data["d_mean"]) == (0, 1.0, 0.0)
        assert done.data["points"]["21"]["pred_world"] == [30.0, 30.0, 50.0]
        (note,) = done.data["notes"]
        assert (note["code"], note["severity"]) == ("points-from-mask", "warning")
        assert "predicted points" in note["message"]

    def test_so_does_one_of_the_ground_truth(self, cli: Any, competing: tuple[Path, Path], mask: Path) -> None:
        done = cli("landmarks", mask, competing[1])
        assert done.code == 0
        assert "vertebrae that the image cuts off count too" in " ".join((done.out + done.err).split())

    def test_two_masks_are_noted_twice(self, cli: Any, mask: Path) -> None:
        data = cli("landmarks", mask, mask, "--json", "-").data
        assert [note["code"] for note in data["notes"]] == ["points-from-mask"] * 2

    def test_a_mask_without_orientation_is_refused(
        self, cli: Any, competing: tuple[Path, Path], tmp_path: Path
    ) -> None:
        import nibabel

        image = nibabel.Nifti1Image(np.full((3, 3, 3), 20, dtype=np.uint8), np.eye(4))
        image.set_sform(None, 0)
        image.set_qform(None, 0)
        nibabel.save(image, tmp_path / "flat.nii.gz")
        done = cli("landmarks", competing[0], tmp_path / "flat.nii.gz")
        assert done.code == 1
        assert "orientation is unknown" in done.err
