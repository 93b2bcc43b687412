"""An export never replaces what it was made from, nor a list that stands beside scans."""

from __future__ import annotations

from pathlib import Path

import pytest

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scans import ScanInputs
from medotter_viewer.errors import WriteError
from medotter_viewer.export.sources_kept import check_not_a_source


@pytest.fixture
def scan(tmp_path: Path) -> CaseEntry:
    """A scan of DICOM files with a list beside it."""
    folder = tmp_path / "scans" / "S1"
    for name in ("CT/1.dcm", "RTst/RS.dcm"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(b"read")
    (tmp_path / "scans" / "a_seed_locations.csv").write_text("S1,1,0,0\n")
    channels = {"image": folder / "CT"}
    return CaseEntry("S1", channels=channels, gt_path=folder / "RTst", scan=ScanInputs(folder))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("S1/CT/1.dcm", "which is an image"),
        ("S1/CT/new.dcm", "which is an image"),
        ("S1/RTst/RS.dcm", "which is a ground truth"),
        ("S1/new.dcm", "which is a scan"),
        ("S1/../a_seed_locations.csv", "is a file beside the scans"),
    ],
)
def test_nothing_of_a_scan_is_written_over_or_into(scan: CaseEntry, tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(WriteError, match=why):
        check_not_a_source([tmp_path / "scans" / name], [CaseEntry("other"), scan])


def test_new_names_are_free(scan: CaseEntry, tmp_path: Path) -> None:
    check_not_a_source([tmp_path / "scans" / "mine.csv", tmp_path / "mine.csv"], [scan])


def test_a_prediction_is_kept_however_its_path_is_written(tmp_path: Path) -> None:
    pred = tmp_path / "pred.nii.gz"
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(WriteError, match="is the prediction that is being reviewed"):
        check_not_a_source([tmp_path / "link" / "pred.nii.gz"], [CaseEntry("A", pred_path=pred)])


def test_a_folder_that_is_a_prediction_is_kept_too(tmp_path: Path) -> None:
    (tmp_path / "SEG").mkdir()
    with pytest.raises(WriteError, match="which is the prediction"):
        check_not_a_source([tmp_path / "SEG" / "x.dcm"], [CaseEntry("A", pred_path=tmp_path / "SEG")])


def test_only_the_own_predicted_points_may_be_replaced(tmp_path: Path) -> None:
    entries = [
        CaseEntry(i, gt_landmarks_path=tmp_path / f"{i}_gt.json", pred_landmarks_path=tmp_path / f"{i}.json")
        for i in "AB"
    ]
    check_not_a_source([tmp_path / "A.json"], entries, own_points_of="A")
    for name in ("B.json", "A_gt.json", "B_gt.json"):
        with pytest.raises(WriteError, match=name):
            check_not_a_source([tmp_path / name], entries, own_points_of="A")
    with pytest.raises(WriteError, match="the prediction"):
        check_not_a_source([tmp_path / "A.json"], entries)
