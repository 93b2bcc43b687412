"""The same cases with another model's polygons, and what keeps them from being shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from scan_files import TARGET, box, write_png_scan

from medotter_viewer.errors import UsageError
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.other_submission import submission_faults, with_submission


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    write_png_scan(tmp_path / "scans", "TC1", {TARGET: {1: [box(0, 0, 10)]}})
    return tmp_path / "scans"


def test_scans_take_any_submission(scans: Path) -> None:
    other = scans.parent / "mine.csv"
    other.write_text("TC1,1,0,0,10,0,10,10\n")
    source = open_source(scans)
    found = with_submission(source, other)
    assert submission_faults(found, "TC1") == []
    assert found.model == "mine"
    assert found.load("TC1", images=False).pred_contours is not None
    assert source.load("TC1", images=False).pred_contours is None


def test_faults_are_those_of_the_lines(scans: Path) -> None:
    bad = scans.parent / "bad.csv"
    bad.write_text("TC1,1,0,0,10,0,10,10\nTC1,one,0,0,10,0,10,10\nTC1,1,0,0,10\n")
    faults = submission_faults(with_submission(open_source(scans), bad), "TC1")
    assert [fault.where for fault in faults] == ["2", "3"]


def test_a_file_that_is_no_text_is_one_fault(scans: Path) -> None:
    bad = scans.parent / "bad.zip"
    bad.write_bytes(b"PK\x03\x04 nothing")
    assert len(submission_faults(with_submission(open_source(scans), bad), "TC1")) == 1


def test_a_missing_file_and_cases_without_polygons_are_refused(scans: Path, tmp_path: Path, write_bundle) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="no such file"):
        with_submission(open_source(scans), tmp_path / "none.csv")
    import numpy as np

    tiny = write_bundle(tmp_path / "tiny", {"A": {"gt": np.ones((2, 2, 2), dtype=np.uint8)}})
    other = tmp_path / "mine.csv"
    other.write_text("A,1,0,0,10,0,10,10\n")
    with pytest.raises(UsageError, match="no polygons"):
        with_submission(open_source(tiny.bundle), other)


def test_a_bundle_takes_the_submission_of_its_name(shared_data: Path) -> None:
    folder = shared_data / "bundles/scans_png"
    source = open_source(folder / "bundle", data_root=folder / "data", predictions=folder / "predictions/exact")
    found = with_submission(source, folder / "predictions/perturbed/submission.csv")
    assert found.model == "perturbed"
    assert submission_faults(found, found.case_ids()[0]) == []
    malformed = with_submission(source, folder / "predictions/malformed/submission.csv")
    assert submission_faults(malformed, found.case_ids()[0])
