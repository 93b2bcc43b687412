"""Folders of files that name their structures, and of series and masks that are folders themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ramp, write_series
from rtstruct_files import Drawn, Structure, square, write_rtstruct

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import UsageError
from medotter_viewer.formats import mask_folder, registry
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.source import CaseSource


def structures(path: Path, **sides: float) -> None:
    """Squares on slices 1 and 2, each from the corner of the first pixel."""
    named = [
        Structure(number, name, [Drawn(square(-0.5, -0.5, side, float(z))) for z in (1, 2)])
        for number, (name, side) in enumerate(sides.items(), 1)
    ]
    write_rtstruct(path, named)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two series of 8 x 8 pixels of 1 mm, 4 slices; body and gtv overlap, case two has a node instead of the gtv."""
    for name in ("one", "two"):
        write_series(tmp_path / "image" / name, ramp(4, (8, 8)))
    structures(tmp_path / "gt" / "one.dcm", body=6, gtv=4)
    structures(tmp_path / "gt" / "two.dcm", body=6, node=2)
    structures(tmp_path / "pred" / "one.dcm", gtv=2, body=6)
    structures(tmp_path / "pred" / "two.dcm", body=6, node=2)
    return tmp_path


def opened(folders: Path, **options: Any) -> CaseSource:
    return open_source(gt=folders / "gt", pred=folders / "pred", image=folders / "image", **options)


def scores(source: CaseSource) -> dict[str, CaseScore]:
    return {s.case_id: s for s in score_entries(list(source.entries()), source.spec, ScoreOptions())}


def test_a_folder_that_is_a_series_is_the_image_of_the_case_of_its_name(folders: Path) -> None:
    source = opened(folders)
    assert [(e.case_id, dict(e.channels)) for e in source.entries()] == [
        ("one", {"image": folders / "image" / "one"}),
        ("two", {"image": folders / "image" / "two"}),
    ]


def test_names_of_all_cases_are_the_regions_and_overlaps_belong_to_both(folders: Path) -> None:
    source = opened(folders)
    assert list(source.spec.regions) == ["body", "gtv", "node"]
    found = scores(source)
    assert {i: s.status for i, s in found.items()} == {"one": "scored", "two": "scored"}
    one = found["one"].regions
    assert one["body"].metrics["dice"].value == 1.0
    assert one["body"].gt_voxels == 72  # 6 x 6 on two slices, the gtv's voxels included
    assert one["gtv"].metrics["dice"].value == pytest.approx(2 * 8 / (32 + 8))
    assert one["node"].metrics["dice"].status == "absent"
    assert found["two"].regions["node"].metrics["dice"].value == 1.0


def test_files_in_a_folder_of_their_own_are_called_as_it(folders: Path) -> None:
    for side in ("gt", "pred"):
        for name in ("one", "two"):
            (folders / side / name).mkdir()
            (folders / side / f"{name}.dcm").rename(folders / side / name / "RS.123.dcm")
    assert opened(folders).case_ids() == ["one", "two"]
    assert {s.status for s in scores(opened(folders)).values()} == {"scored"}


def test_plain_predictions_are_matched_by_the_names_that_are_given(folders: Path) -> None:
    import nibabel

    labels = np.zeros((8, 8, 4), dtype=np.uint8)
    labels[:6, :6, 1:3], labels[:4, :4, 1:3] = 1, 2
    affine = np.diag([-1.0, -1.0, 1.0, 1.0])
    for name in ("one", "two"):
        (folders / "pred" / f"{name}.dcm").unlink()
        nibabel.save(nibabel.Nifti1Image(labels, affine), folders / "pred" / f"{name}.nii.gz")
    unnamed = scores(opened(folders))
    assert unnamed["one"].status == "error"
    assert "--labels" in (unnamed["one"].message or "")
    (folders / "names.yaml").write_text("1: body\n2: gtv\n")
    named = scores(opened(folders, labels=folders / "names.yaml"))["one"].regions
    assert named["gtv"].metrics["dice"].value == 1.0
    assert named["body"].gt_voxels == 72
    assert named["body"].pred_voxels == 72 - 32  # one id a voxel: the inside is gtv alone


def test_a_series_and_a_folder_of_one_rtstruct_are_one_case_whatever_they_are_called(folders: Path) -> None:
    for side in ("gt", "pred"):
        (folders / side / "two.dcm").unlink()
    (folders / "pred" / "one.dcm").rename(folders / "pred" / "RS.other.dcm")
    source = open_source(gt=folders / "gt", pred=folders / "pred", image=folders / "image" / "one")
    assert source.case_ids() == ["gt"]
    assert dict(source.entry("gt").channels) == {"image": folders / "image" / "one"}
    found = scores(source)["gt"].regions
    assert found["body"].metrics["dice"].value == 1.0
    assert found["gtv"].metrics["dice"].value == pytest.approx(2 * 8 / (32 + 8))
    shown = open_source(gt=folders / "gt", image=folders / "image" / "one")
    assert shown.load("gt").gt is not None


def test_a_folder_of_one_rtstruct_beside_a_folder_of_series_is_paired_by_name(folders: Path) -> None:
    (folders / "gt" / "one.dcm").unlink()
    source = open_source(gt=folders / "gt", image=folders / "image")
    assert [(e.case_id, dict(e.channels)) for e in source.entries()] == [
        ("two", {"image": folders / "image" / "two"}),
    ]


def test_single_objects_have_no_names(folders: Path) -> None:
    with pytest.raises(UsageError, match="name their structures"):
        opened(folders, instances=True)


def test_a_series_is_one_case_with_its_files(folders: Path) -> None:
    source = open_source(
        gt=folders / "gt" / "one.dcm", pred=folders / "pred" / "one.dcm", image=folders / "image" / "one"
    )
    assert {i: s.status for i, s in scores(source).items()} == {"one": "scored"}


def test_folders_of_masks_are_instance_maps_only_where_ids_are_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    monkeypatch.setattr(registry, "FOLDERS", (*registry.FOLDERS, mask_folder))
    for number in (1, 2):
        mask = np.zeros((6, 6), dtype=np.uint8)
        mask[number * 2, 1:4] = 255
        for side in ("gt", "pred"):
            path = tmp_path / side / "tile" / "masks" / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(mask).save(path)
    source = open_source(gt=tmp_path / "gt", pred=tmp_path / "pred", instances=True)
    assert source.case_ids() == ["tile"]
    assert scores(source)["tile"].regions["instances"].metrics["tp"].value == 2
    plain = open_source(gt=tmp_path / "gt", pred=tmp_path / "pred")
    assert plain.case_ids() == ["tile/masks/1", "tile/masks/2"]
