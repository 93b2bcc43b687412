"""``polygons export``: from a bundle to a submission, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.formats.polygon_csv import read_submission


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "result" / "rings.csv"


@pytest.fixture(autouse=True)
def folder(out: Path) -> None:
    out.parent.mkdir()


def test_predictions_of_a_bundle_are_written_and_a_missing_one_fails(tiny: Any, cli: Any, out: Path) -> None:
    found = cli("polygons", "export", tiny.folder, "--predictions", tiny.predictions, "--region", "one", "--out", out,
                "--zip", "--json", "-")  # fmt: skip
    assert found.code == 1
    assert (found.data["cases"], found.data["region"]) == (2, "one")
    assert found.data["files"] == [str(out), str(out.with_suffix(".scores.csv")), str(out.with_suffix(".zip"))]
    sought = tiny.predictions / "B" / "2"
    assert found.lines == [f"case B/2: not written: no prediction, looked for {sought} with a known suffix"]
    rings = read_submission(out).rings
    assert {scan: list(slices) for scan, slices in rings.items()} == {"A/1": [2, 3], "B/1": [2, 3, 4, 5]}
    with out.with_suffix(".scores.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "scan"]
    volumes = {row["scan_id"]: (float(row["tp_mm3"]), float(row["fn_mm3"]), float(row["score"])) for row in rows}
    assert volumes["B/1"] == (pytest.approx(64), 0, 1)
    assert volumes["A/1"][:2] == (pytest.approx(32), pytest.approx(32))


def test_people_read_what_was_written(tiny: Any, cli: Any, out: Path) -> None:
    found = cli("polygons", "export", tiny.folder, "--predictions", tiny.predictions, "--region", "one", "--out", out)
    words = [f"wrote {out}", f"wrote {out.with_suffix('.scores.csv')}", "region one: polygons 6, cases 2"]
    assert found.out.splitlines()[-3:] == words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name it by --region; regions are one, two"),
        (("--region", "three"), "no such region; regions are one, two"),
    ],
)
def test_the_region_must_be_named_where_there_are_several(tiny: Any, cli: Any, out: Path, options, said: str) -> None:
    found = cli("polygons", "export", tiny.folder, "--predictions", tiny.predictions, "--out", out, *options)
    assert found.code == 2
    assert said in found.err
    assert list(out.parent.iterdir()) == []


def test_another_name_than_csv_is_a_usage_error(tiny: Any, cli: Any, out: Path) -> None:
    found = cli("polygons", "export", tiny.folder, "--region", "one", "--out", out.with_suffix(".zip"))
    assert (found.code, "ends in .csv" in found.err) == (2, True)


def test_without_any_prediction_nothing_is_written(tiny: Any, cli: Any, out: Path) -> None:
    found = cli("polygons", "export", tiny.folder, "--region", "one", "--out", out)
    assert found.code == 1
    assert found.lines[-1] == f"{out}: not written: no case could be"
    assert list(out.parent.iterdir()) == []


def test_a_mask_is_written_by_its_file_name(cli: Any, out: Path, tmp_path: Path) -> None:
    import nibabel as nib

    data = np.zeros((8, 8, 3), dtype=np.uint8)
    data[2:6, 2:6, 1] = 1
    data[3:5, 3:5, 1] = 0
    nib.save(nib.Nifti1Image(data, np.diag([0.5, 2, 3, 1])), tmp_path / "mask.nii.gz")
    mask = tmp_path / "mask.nii.gz"
    found = cli("polygons", "export", "--gt", mask, "--pred", mask, "--out", out, "--json", "-")
    assert (found.code, found.data["polygons"]) == (0, 1)
    with out.with_suffix(".scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], row["scan_id"]) for row in rows] == [(k, "mask") for k in ("polygon", "slice", "scan")]
    assert float(rows[0]["area_mm2"]) == 12
    assert float(rows[-1]["score"]) == 1
