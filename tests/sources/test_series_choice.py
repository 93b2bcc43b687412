"""Cases whose image folder holds several series: that which is named, or that contours refer to, is used throughout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ramp, uid_of, write_series
from rtstruct_files import Drawn, Structure, referring_to, square, write_rtstruct
from seg_files import write_seg

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import ReadError, UsageError
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.info import path_info

FINE, COARSE = uid_of("series", "fine"), uid_of("series", "coarse")


def two_series(folder: Path) -> None:
    """Series 1 "fine": 4 slices of 8 x 8 pixels of 1 mm; series 2 "coarse": 2 slices of 4 x 4 pixels of 2 mm."""
    about = {"SeriesNumber": 1, "SeriesDescription": "fine"}
    write_series(folder, ramp(4, (8, 8)), series="fine", names=[f"f{i}" for i in range(4)], thickness=1.0, more=about)
    write_series(
        folder,
        ramp(2, (4, 4)),
        series="coarse",
        names=["c0", "c1"],
        spacing=(2.0, 2.0),
        thickness=1.0,
        more={"SeriesNumber": 2, "SeriesDescription": "coarse"},
    )


def drawn(path: Path, side: float, *uids: str) -> Path:
    """A square on slices 0 and 1, from x = y = -0.5."""
    contours = [Drawn(square(-0.5, -0.5, side, float(z))) for z in (0, 1)]
    return write_rtstruct(path, [Structure(1, "GTV", contours)], more=referring_to(*uids) if uids else {})


def score(**options: Any) -> CaseScore:
    source = open_source(**options)
    (found,) = score_entries(list(source.entries()), source.spec, ScoreOptions())
    return found


@pytest.fixture
def case(tmp_path: Path) -> Path:
    two_series(tmp_path / "image")
    drawn(tmp_path / "gt.dcm", 4)
    drawn(tmp_path / "pred.dcm", 4)
    return tmp_path


def paths(case: Path) -> dict[str, Path]:
    return {"gt": case / "gt.dcm", "pred": case / "pred.dcm", "image": case / "image"}


@pytest.mark.parametrize(("which", "voxels"), [("fine", 2 * 16), ("2", 2 * 4), (FINE, 2 * 16), (COARSE[-8:], 2 * 4)])
def test_contours_are_filled_on_the_series_that_is_named(case: Path, which: str, voxels: int) -> None:
    source = open_source(**paths(case), series=which)
    (found,) = score_entries(list(source.entries()), source.spec, ScoreOptions())
    assert (found.status, found.regions["GTV"].gt_voxels) == ("scored", voxels)
    assert source.record()["series"] == which
    loaded = source.load("gt")
    assert loaded.gt is not None
    assert loaded.first_image is not None
    assert loaded.first_image.data.shape == loaded.gt.data.shape
    assert loaded.errors == []


def test_without_a_choice_the_case_is_an_error_that_lists_them(case: Path) -> None:
    found = score(**paths(case))
    assert found.status == "error"
    for words in ('"fine"', '"coarse"', "--series 1", "--series 2"):
        assert words in (found.message or "")


@pytest.mark.parametrize(("uid", "voxels"), [(FINE, 32), (COARSE, 8)])
def test_the_reference_of_either_file_chooses_for_both(case: Path, uid: str, voxels: int) -> None:
    drawn(case / "pred.dcm", 4, uid)  # the ground truth names none
    found = score(**paths(case))
    assert (found.status, found.regions["GTV"].gt_voxels) == ("scored", voxels)
    assert [n.code for n in found.notes].count("series-chosen") == 1
    assert score(**paths(case), series="1").regions["GTV"].gt_voxels == 32


def test_references_to_different_series_choose_none(case: Path) -> None:
    drawn(case / "gt.dcm", 4, FINE)
    drawn(case / "pred.dcm", 4, COARSE)
    found = score(**paths(case))
    assert found.status == "error"
    assert "refer to 2 of them" in (found.message or "")


def test_contours_beside_several_series_find_their_own(tmp_path: Path) -> None:
    two_series(tmp_path / "one")
    drawn(tmp_path / "one" / "rt.dcm", 4, COARSE)
    both = {"gt": tmp_path / "one", "pred": tmp_path / "one"}
    found = score(**both)
    assert (found.status, found.regions["GTV"].gt_voxels) == ("scored", 8)
    assert {n.code for n in found.notes} == {"series-chosen"}
    assert score(**both, series="fine").regions["GTV"].gt_voxels == 32


def test_label_maps_that_are_series_are_chosen_where_no_image_is(tmp_path: Path) -> None:
    for number, (name, places) in enumerate({"early": [(0, 0), (1, 1)], "late": [(0, 0)]}.items(), 1):
        pixels = np.zeros((3, 3), dtype=np.uint16)
        for place in places:
            pixels[place] = 1
        more = {"SeriesNumber": number}
        write_series(tmp_path / "gt", [pixels], series=name, names=[name], thickness=1.0, more=more)
    both = {"gt": tmp_path / "gt", "pred": tmp_path / "gt"}
    assert score(**both).status == "error"
    assert [score(**both, series=n).regions["1"].gt_voxels for n in "12"] == [2, 1]


def test_a_target_takes_no_series(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--series: is for --gt"):
        open_source(tmp_path, series="1")


def test_info_lists_several_series_and_shows_one(tmp_path: Path) -> None:
    two_series(tmp_path)
    drawn(tmp_path / "rt.dcm", 4, FINE)
    listed = path_info(tmp_path)
    assert listed["kind"] == "dicom_folder"
    assert listed["items"] == [
        {"kind": "series", "number": 1, "modality": "CT", "description": "fine", "slices": 4, "uid": FINE},
        {"kind": "series", "number": 2, "modality": "CT", "description": "coarse", "slices": 2, "uid": COARSE},
    ]
    (note,) = listed["notes"]
    assert (note["severity"], note["code"]) == ("info", "several-series")
    assert "--series 1" in note["message"]
    assert "SECRET" not in json.dumps(listed)
    shown = path_info(tmp_path, series="coarse")
    assert (shown["kind"], shown["shape"], len(shown["items"])) == ("dicom_series", [4, 4, 2], 2)
    with pytest.raises(ReadError, match="--series '3' fits none of 2"):
        path_info(tmp_path, series="3")
    for other in (tmp_path / "rt.dcm", tmp_path.parent):
        with pytest.raises(ReadError, match="leave it out"):
            path_info(other, series="1")


def test_info_counts_frames_as_slices(tmp_path: Path) -> None:
    two_series(tmp_path)
    write_series(
        tmp_path, [np.zeros((4, 3), dtype=np.uint8)], names=["frames"], series="m", spacing=None,
        more={"NumberOfFrames": 2, "Rows": 2, "Columns": 3, "SeriesNumber": 7},
    )  # fmt: skip
    assert [item["slices"] for item in path_info(tmp_path)["items"]] == [4, 2, 2]


# ---------------------------------------------------------------- frames of reference of segmentations


def seg_of(path: Path, frame: str, *, origin: tuple[float, float, float] = (0, 0, 0)) -> Path:
    """One voxel of "A" on a series of 2 slices that is not kept."""
    slices = write_series(path.parent / f"{path.stem}_of", ramp(2), thickness=1.0, frame=frame, origin=origin)
    mask = np.zeros((2, 3, 4, 1), dtype=np.uint8)
    mask[:, 1, 1] = 1
    return write_seg(path, slices, mask, ["A"])


def test_a_seg_of_another_frame_of_reference_is_refused_unless_its_voxels_coincide(tmp_path: Path) -> None:
    write_series(tmp_path / "image", ramp(4), thickness=1.0, frame="ours")
    same = seg_of(tmp_path / "same.dcm", "ours", origin=(0.5, 0, 0))
    on = seg_of(tmp_path / "on.dcm", "theirs", origin=(0, 0, 1))
    off = seg_of(tmp_path / "off.dcm", "theirs", origin=(0.5, 0, 0))
    ours, theirs = uid_of("frame", "ours"), uid_of("frame", "theirs")

    def found(seg: Path) -> CaseScore:
        return score(gt=seg, pred=seg, image=tmp_path / "image")

    assert "other-frame-of-reference" not in {n.code for n in found(same).notes}
    assert found(same).status == "scored"
    assert found(on).status == "scored"
    (note, _) = [n for n in found(on).notes if n.code == "other-frame-of-reference"]
    assert note.severity == "warning"
    for text in (note.message, found(off).message or ""):
        assert ours in text
        assert theirs in text
    assert found(off).status == "error"


def test_two_segs_of_different_frames_are_not_compared_unless_their_voxels_coincide(tmp_path: Path) -> None:
    gt = seg_of(tmp_path / "gt.dcm", "ours")
    on, off = seg_of(tmp_path / "on.dcm", "theirs"), seg_of(tmp_path / "off.dcm", "theirs", origin=(0.5, 0, 0))
    found = score(gt=gt, pred=on)
    assert (found.status, found.regions["A"].metrics["dice"].value) == ("scored", 1.0)
    assert [(n.severity, n.code) for n in found.notes] == [("warning", "other-frame-of-reference")]
    found = score(gt=gt, pred=off, resample_prediction=True)
    assert found.status == "error"
    assert uid_of("frame", "theirs") in (found.message or "")
