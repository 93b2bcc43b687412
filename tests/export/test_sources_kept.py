"""An export never replaces what it was made from, nor a list that stands beside scans, nor joins a series."""

from __future__ import annotations

from pathlib import Path

import pytest

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scans import ScanInputs
from medotter_viewer.errors import WriteError
from medotter_viewer.export.sources_kept import check_not_a_source


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


@pytest.fixture
def scan(tmp_path: Path) -> CaseEntry:
    """Return a scan with images and contours, its prediction a folder of its own beside a submission."""
    folder = tmp_path / "scans" / "S1"
    for name in ("CT/1.dcm", "RTst/1.dcm"):
        written(folder / name)
    written(tmp_path / "preds" / "submission.csv")
    own = written(tmp_path / "preds" / "S1" / "1.dcm").parent
    return CaseEntry("S1", pred_path=own, scan=ScanInputs(folder, prediction=own))


def test_a_list_beside_the_scans_is_kept_and_a_new_name_is_free(tmp_path: Path) -> None:
    folder = tmp_path / "scans" / "S1"
    folder.mkdir(parents=True)
    seeds = tmp_path / "scans" / "a_seed_locations.csv"
    seeds.write_text("S1,1,0,0\n")
    entries = [CaseEntry("S1", scan=ScanInputs(folder))]
    with pytest.raises(WriteError, match=r"a_seed_locations\.csv: is a file beside the scans"):
        check_not_a_source([folder / ".." / "a_seed_locations.csv"], entries)
    check_not_a_source([tmp_path / "scans" / "mine.csv", tmp_path / "mine.csv"], entries)


def test_a_prediction_is_kept_however_its_path_is_written(tmp_path: Path) -> None:
    pred = tmp_path / "pred.nii.gz"
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(WriteError, match="is the prediction that is being reviewed"):
        check_not_a_source([tmp_path / "link" / "pred.nii.gz"], [CaseEntry("A", pred_path=pred)])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scans/S1/CT/1.dcm", "a scan"),
        ("scans/S1/RTst/1.dcm", "a scan"),
        ("scans/S1/CT/new.dcm", "a scan"),
        ("scans/S1/new.csv", "a scan"),
        ("scans/S1/CT/deeper/new.dcm", "a scan"),
        ("preds/S1/1.dcm", "the prediction"),
        ("preds/S1/new.dcm", "the prediction"),
    ],
)
def test_nothing_is_written_into_the_folders_of_a_scan(scan: CaseEntry, tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(WriteError, match=f"lies in .*, {words} that is being reviewed"):
        check_not_a_source([tmp_path / name], [scan])
    (tmp_path / "link").symlink_to((tmp_path / name).parent)
    if (tmp_path / name).parent.is_dir():
        with pytest.raises(WriteError, match=f"{words} that is being reviewed"):
            check_not_a_source([tmp_path / "link" / Path(name).name], [scan])


def test_beside_these_folders_new_files_are_free(scan: CaseEntry, tmp_path: Path) -> None:
    check_not_a_source([tmp_path / "preds/S1.dcm", tmp_path / "scans/S10/x.dcm", tmp_path / "x.dcm"], [scan])


def test_a_folder_with_a_submission_may_get_other_new_files(tmp_path: Path) -> None:
    submission = written(tmp_path / "preds" / "submission.csv")
    entry = CaseEntry("S1", pred_path=submission, scan=ScanInputs(tmp_path / "S1"))
    check_not_a_source([submission.with_name("mine.csv"), submission.with_name("mine.scores.csv")], [entry])
    with pytest.raises(WriteError, match=r"submission\.csv: is the prediction"):
        check_not_a_source([submission], [entry])


@pytest.mark.parametrize(
    ("part", "words"), [("channels", "an image"), ("gt_path", "a ground truth"), ("pred_path", "the prediction")]
)
def test_a_folder_of_any_case_is_kept(tmp_path: Path, part: str, words: str) -> None:
    folder = written(tmp_path / "series" / "1.dcm").parent
    entries = [CaseEntry("A"), CaseEntry("B", **{part: {"image": folder} if part == "channels" else folder})]
    for name in ("1.dcm", "new.dcm"):
        with pytest.raises(WriteError, match=f"lies in .*series, {words} that is being reviewed"):
            check_not_a_source([folder / name], entries)


def test_a_file_that_a_folder_links_to_is_its_own(tmp_path: Path) -> None:
    away = written(tmp_path / "away" / "1.dcm")
    deep = written(tmp_path / "deep" / "1.dcm")
    folder = tmp_path / "series"
    folder.mkdir()
    (folder / "1.dcm").symlink_to(away)
    (folder / "more").symlink_to(deep.parent)
    entry = CaseEntry("A", channels={"image": folder})
    for path in (away, deep, folder / "1.dcm"):
        with pytest.raises(WriteError, match="an image that is being reviewed"):
            check_not_a_source([path], [entry])
    check_not_a_source([away.with_name("2.dcm")], [entry])


def test_a_link_that_is_a_source_and_a_link_to_a_source_are_kept(tmp_path: Path) -> None:
    truth = written(tmp_path / "truth.nii.gz")
    (tmp_path / "named.nii.gz").symlink_to(truth)
    (tmp_path / "mine.nii.gz").symlink_to(truth)
    entry = CaseEntry("A", gt_path=tmp_path / "named.nii.gz")
    for name in ("named", "mine", "truth"):
        with pytest.raises(WriteError, match="is a ground truth"):
            check_not_a_source([tmp_path / f"{name}.nii.gz"], [entry])


def test_only_the_own_predicted_points_may_be_replaced(tmp_path: Path) -> None:
    one, two = (written(tmp_path / f"{name}.json") for name in ("one", "two"))
    entries = [CaseEntry("A", pred_landmarks_path=one), CaseEntry("B", pred_landmarks_path=two)]
    check_not_a_source([one], entries, own_points_of=entries[0])
    for path, own in ((one, None), (one, entries[1]), (two, entries[0])):
        with pytest.raises(WriteError, match="is the prediction that is being reviewed"):
            check_not_a_source([path], entries, own_points_of=own)
    as_truth = [*entries, CaseEntry("C", gt_landmarks_path=one)]
    with pytest.raises(WriteError, match="is a ground truth"):
        check_not_a_source([one], as_truth, own_points_of=entries[0])
