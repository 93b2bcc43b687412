"""A painted label map is written as it is, beside what it came from, and nothing is replaced."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import nibabel
import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import WriteError
from medotter_viewer.export.label_file import export_labels
from medotter_viewer.formats.nifti import read_labels, write_labels

AFFINE = np.array([[-0.8, 0.1, 0, 20], [0.1, 0.8, 0, -30], [0, 0, 2.5, 40], [0, 0, 0, 1]])


@pytest.fixture
def case(tmp_path: Path) -> Case:
    grid = Grid((4, 5, 6), AFFINE)
    data = np.zeros((4, 5, 6), dtype=np.uint8, order="F")
    data[1:3, 1:4, 2] = 2
    path = tmp_path / "model" / "1.nii.gz"
    path.parent.mkdir()
    write_labels(path, LabelMap(data, grid))
    return Case(CaseEntry("D/1", pred_path=path), pred=LabelMap(data, grid))


def painted(case: Case) -> Case:
    assert case.pred is not None
    data = case.pred.data.copy(order="K")
    data[0, 0, :3] = 1  # three voxels of background
    data[1, 1, 2] = 0
    return replace(case, pred=LabelMap(data, case.pred.grid))


def test_voxels_places_and_who_changed_what(case: Case, tmp_path: Path) -> None:
    done = export_labels(painted(case), tmp_path / "mine.nii.gz", source=case)
    again = read_labels(done.path)[0]
    expected = painted(case).pred
    assert expected is not None
    np.testing.assert_array_equal(again.data, expected.data)
    np.testing.assert_allclose(nibabel.load(done.path).affine, AFFINE, atol=1e-5)
    found = json.loads(done.beside.read_text("utf-8"))
    assert done.beside.name == "mine.provenance.json"
    assert found["changes"] == [{"from": 0, "to": 1, "voxels": 3}, {"from": 2, "to": 0, "voxels": 1}]
    assert found["changed_voxels"] == done.changed_voxels == 4
    assert found["edited_from"] == str(case.entry.pred_path)
    assert len(found["sha256"]) == len(found["edited_from_sha256"]) == 64
    assert found["by"]
    assert found["at"].endswith("+00:00")


def test_neither_the_prediction_nor_a_file_that_is_there_is_replaced(case: Case, tmp_path: Path) -> None:
    source = case.entry.pred_path
    assert source is not None
    before = source.read_bytes()
    with pytest.raises(WriteError):
        export_labels(painted(case), source, source=case)
    there = tmp_path / "mine.nii.gz"
    there.write_bytes(b"mine")
    with pytest.raises(WriteError, match="exists"):
        export_labels(painted(case), there)
    assert (source.read_bytes(), there.read_bytes()) == (before, b"mine")
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["mine.nii.gz"]


@pytest.mark.parametrize("name", ["mine.png", "mine", ".nii.gz", "no_folder/mine.nii", f"{300 * 'm'}.nii.gz"])
def test_names_that_are_none_are_refused(case: Case, tmp_path: Path, name: str) -> None:
    with pytest.raises(WriteError):
        export_labels(case, tmp_path / name)


def test_without_a_label_map_there_is_nothing_to_write(case: Case, tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="no predicted label map"):
        export_labels(replace(case, pred=None), tmp_path / "mine.nii.gz")
