"""An export never replaces what it was made from, nor a list that stands beside scans."""

from __future__ import annotations

from pathlib import Path

import pytest

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scans import ScanInputs
from medotter_viewer.errors import WriteError
from medotter_viewer.export.sources_kept import check_not_a_source


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
