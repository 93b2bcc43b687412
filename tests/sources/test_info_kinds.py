"""What `info` calls each kind of path."""

from __future__ import annotations

import json
from pathlib import Path

import nibabel
import numpy as np
import pytest
from dicom_files import uid_of
from scan_files import TARGET, box, write_dicom_scan

from medotter_viewer.cli import main
from medotter_viewer.errors import ReadError
from medotter_viewer.sources.info import path_info


def test_a_submission_tells_its_scans_slices_and_polygons(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("A,1,0,0,2,0,2,2\nA,1,5,5,7,5,7,7\nA,3,0,0,2,0,2,2\nB,1,0,0,2,0,2,2\n")
    info = path_info(tmp_path / "s.csv")
    assert (info["kind"], info["status"], info["lines"], info["polygons"]) == ("submission", "ok", 4, 4)
    assert info["items"] == [
        {"kind": "scan", "id": "A", "slices": 2, "polygons": 3},
        {"kind": "scan", "id": "B", "slices": 1, "polygons": 1},
    ]


def test_a_malformed_submission_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("A,1,0,0,2,0,2,2\nA,1,0,0,2\n")
    info = path_info(tmp_path / "s.csv")
    assert info["status"] == "malformed"
    assert [note["where"] for note in info["notes"] if note["severity"] == "error"] == ["2"]


def test_a_table_without_any_polygon_is_no_submission(tmp_path: Path) -> None:
    (tmp_path / "seeds.csv").write_text("A,24,80.566,125.610\n")
    with pytest.raises(ReadError, match=r"no submission of polygons: line 1"):
        path_info(tmp_path / "seeds.csv")


def test_a_dataset_of_nnunet_lists_its_cases(tmp_path: Path) -> None:
    for folder in ("labelsTr", "imagesTr"):
        (tmp_path / folder).mkdir()
    image = nibabel.Nifti1Image(np.ones((2, 2, 2), np.uint8), np.eye(4))
    nibabel.save(image, tmp_path / "labelsTr" / "a.nii.gz")
    nibabel.save(image, tmp_path / "imagesTr" / "a_0000.nii.gz")
    told = {"channel_names": {"0": "CT"}, "labels": {"background": 0, "organ": 1}, "file_ending": ".nii.gz"}
    (tmp_path / "dataset.json").write_text(json.dumps(told))
    info = path_info(tmp_path)
    assert info["kind"] == "nnunet"
    assert info["items"] == [{"kind": "case", "id": "a", "split": "train"}]


def test_a_folder_that_is_nothing_says_what_would_be(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ReadError, match=r"it holds notes\.txt; name files or folders .*, or a single file of it"):
        path_info(tmp_path)


def test_items_are_printed_as_tables_one_for_each_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.csv").write_text("A,1,0,0,2,0,2,2\n")
    assert main(["info", str(tmp_path / "s.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3].split() == ["kind", "id", "slices", "polygons"]
    assert lines[-1].split() == ["scan", "A", "1", "1"]


def test_points_are_shown_as_they_stand_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('[{"direction": ["P", "I", "R"]}, {"label": 20, "X": 8.0, "Y": 9.0, "Z": 2.5}]')
    info = path_info(tmp_path / "p.json")
    point = {"kind": "point", "label": 20, "name": "L1", "file_xyz": [8.0, 9.0, 2.5], "world": None}
    assert (info["kind"], info["axcodes"], info["items"]) == ("centroids", ["P", "I", "R"], [point])


def test_a_file_without_points_says_so(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('[{"direction": ["P", "I", "R"]}]')
    assert [note["code"] for note in path_info(tmp_path / "p.json")["notes"]] == ["no-points"]


def test_an_image_with_whole_numbers_is_not_listed_as_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nibabel.save(
        nibabel.Nifti1Image(np.arange(1000, dtype=np.int16).reshape(10, 10, 10), np.eye(4)), tmp_path / "a.nii"
    )
    assert main(["info", str(tmp_path / "a.nii")]) == 0
    assert "labels: 1000 whole numbers from 0 to 999: an image rather than a label map" in capsys.readouterr().out


def test_a_series_and_its_structures_tell_their_frame_of_reference(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, n_slices=2)
    told = [path_info(folder / part)["frame_of_reference"] for part in ("CT", "RTst")]
    assert told == [uid_of("frame", "frame of reference")] * 2
