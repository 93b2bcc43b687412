"""``polygons export`` of scans: label maps as polygons with the same score, one case as an RTSTRUCT, who made what."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
from rtstruct_files import Drawn, Structure, write_rtstruct
from scan_files import TARGET, box, write_dicom_scan, write_png_scan

from medotter_viewer.cli.output import ProgressLine
from medotter_viewer.core.case import Case
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.geometry.axial_slices import stack_slices
from medotter_viewer.geometry.ring_masks import ring_mask
from medotter_viewer.sources.scan_source import ScanSource

WRITERS = {"png": write_png_scan, "dicom": write_dicom_scan}
TRUTH = {1: [box(9.5, 9.5, 10)], 2: [box(9.5, 9.5, 10)]}


def write_mask(path: Path, mask: Any, affine: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nib.save(nib.Nifti1Image(np.asarray(mask, dtype=np.uint8), affine), path)
    return path


@pytest.fixture(params=WRITERS)
def scans(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Scans A, B and C with label maps of A and B in `model`."""
    for name in "ABC":
        WRITERS[request.param](tmp_path / "scans", name, {TARGET: TRUTH}, n_slices=3, thickness=2.0)
    data = np.zeros((64, 64, 3))
    data[10:20, 10:16, :2] = 1
    data[12:14, 12:14, 1] = 0
    for name in "AB":
        write_mask(tmp_path / "model" / f"{name}.nii.gz", data, np.diag([-1, -1, 2.5, 1]))
    return tmp_path / "scans"


def rows(path: Path, kind: str) -> list[dict[str, str]]:
    with path.with_suffix(".scores.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["kind"] == kind]


def test_label_maps_of_scans_score_the_same_as_polygons(scans: Path, tmp_path: Path, cli: Any) -> None:
    out, model = tmp_path / "s.csv", tmp_path / "model"
    first = cli("score", scans, "--predictions", model, "--json", "-", "--no-cache").data
    found = cli("polygons", "export", scans, "--predictions", model, "--out", out, "--json", "-")
    assert (found.code, found.data["cases"], found.data["polygons"]) == (1, 2, 4)
    assert found.lines == [
        f"case C: not written: no prediction, looked for submission.csv and {model / 'C'} with a known suffix"
    ]
    again = cli("polygons", "score", out, "--scans", scans, "--json", "-").data
    tables = {row["scan_id"]: row for row in rows(out, "scan")}
    for case_id in "AB":
        value = first["cases"][case_id]["case"]["scan_score"]["value"]
        assert 0 < value < 1
        assert again["scans"][case_id]["score"] == pytest.approx(value, rel=1e-9)
        assert float(tables[case_id]["score"]) == pytest.approx(value, rel=1e-9)
    assert (float(tables["A"]["tp_mm3"]), float(tables["A"]["fn_mm3"])) == (2 * 116, 2 * 84)
    assert {row["source"] for row in rows(out, "polygon")} == {"model"}


def test_cases_are_chosen_by_name_and_progress_counts_their_polygons(
    scans: Path, tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, told = tmp_path / "s.csv", []
    monkeypatch.setattr(
        ProgressLine, "__call__", lambda _self, done, total, *_, more="": told.append((done, total, more))
    )
    found = cli("polygons", "export", scans, "--predictions", tmp_path / "model", "--out", out, "--case", "B", "--case",
                "A", "--json", "-")  # fmt: skip
    assert (found.code, found.data["cases"], found.err) == (0, 2, "")
    assert told == [(1, 2, " cases, polygons 2"), (2, 2, " cases, polygons 4")]
    assert [row["scan_id"] for row in rows(out, "scan")] == ["A", "B"]
    found = cli("polygons", "export", scans, "--predictions", tmp_path / "model", "--out", out, "--case", "Z")
    assert found.code == 2
    assert "--case Z: no such case; 'medotter-viewer cases' lists them" in found.err


def test_an_rtstruct_holds_one_case(scans: Path, tmp_path: Path, cli: Any) -> None:
    out = tmp_path / "a.dcm"
    words = ("polygons", "export", scans, "--predictions", tmp_path / "model", "--out", out)
    several = cli(*words)
    assert (several.code, "an RTSTRUCT holds one case: name it by --case; cases are A, B, C" in several.err) == (
        2,
        True,
    )
    found = cli(*words, "--case", "A")
    if (scans / "A" / "CT").is_dir():
        assert (found.code, found.out.splitlines()) == (0, [f"wrote {out}", f"case A: regions {TARGET}; contours 2"])
        (roi,) = read_structures(out)[0].rois
        assert (roi.name, [len(c.points_lps) for c in roi.contours]) == (TARGET, [4, 11])
        again = cli("score", scans, "--predictions", tmp_path / "again", "--json", "-") if _moved(out) else None
        value = again.data["cases"]["A"]["case"]["scan_score"]["value"]
        first = cli("score", scans, "--predictions", tmp_path / "model", "--json", "-", "--no-cache").data
        assert value == pytest.approx(first["cases"]["A"]["case"]["scan_score"]["value"], rel=1e-9)
    else:
        assert found.code == 1
        assert "refers to the series of DICOM images that it was drawn on" in found.err
        assert not out.exists()
    assert cli(*words, "--case", "A", "--zip").code == 2


def _moved(out: Path) -> Path:
    """The file as a prediction of its own."""
    (out.parent / "again").mkdir()
    return out.rename(out.parent / "again" / "A.dcm")


class TestPlainFolders:
    """A series, a ground truth and a prediction that is drawn, by --image, --gt and --pred."""

    def files(self, root: Path, *structures: Structure) -> list[Any]:
        folder = write_dicom_scan(root, "S", {TARGET: TRUTH}, n_slices=3)
        mask = np.zeros((64, 64, 3))
        mask[10:20, 10:20, :2] = 1
        gt = write_mask(root / "gt.nii.gz", mask, np.diag([-1, -1, 2.5, 1]))
        (root / "names.yaml").write_text("{1: tumour}")
        pred = write_rtstruct(root / "pred.dcm", structures)
        return ["--gt", gt, "--pred", pred, "--image", folder / "CT", "--labels", root / "names.yaml"]

    @staticmethod
    def drawn(*rings: Any) -> list[Drawn]:
        return [Drawn([(x, y, 2.5) for x, y in ring]) for ring in rings]

    def test_a_drawn_prediction_is_exported_as_it_was_drawn(self, tmp_path: Path, cli: Any) -> None:
        outer, inner = box(9.25, 9.25, 10), box(12.125, 12.125, 4)
        words = self.files(tmp_path, Structure(1, "tumour", self.drawn(inner, outer)))
        found = cli("polygons", "export", *words, "--region", "tumour", "--out", tmp_path / "s.csv", "--json", "-")
        assert (found.code, found.data["polygons"], found.data["findings"]) == (0, 1, [])
        (polygon,) = rows(tmp_path / "s.csv", "polygon")
        assert (polygon["slice_id"], polygon["source"], float(polygon["area_mm2"])) == ("2", "imported", 84)
        line = (tmp_path / "s.csv").read_text().split(",")
        assert line[:2] == ["gt", "2"]
        assert {"9.25", "19.25", "12.125", "16.125"} == {number.strip() for number in line[2:]}
        (scan,) = rows(tmp_path / "s.csv", "scan")
        both = 9.75**2 - 16
        assert float(scan["tp_mm3"]) == pytest.approx(2.5 * both)

    def test_a_drawn_ground_truth_is_scored_as_it_was_drawn(self, tmp_path: Path, cli: Any) -> None:
        words = self.files(tmp_path, Structure(1, "tumour", self.drawn(box(9.25, 9.25, 10))))
        write_rtstruct(tmp_path / "gt.dcm", [Structure(3, "tumour", self.drawn(box(9.25, 9.25, 10, 5)))])
        words = ["--gt", tmp_path / "gt.dcm", *words[2:6]]
        found = cli("polygons", "export", *words, "--region", "tumour", "--out", tmp_path / "s.csv", "--json", "-")
        assert (found.code, found.data["findings"]) == (0, [])
        (scan,) = rows(tmp_path / "s.csv", "scan")
        volumes = [float(scan[name]) for name in ("tp_mm3", "fp_mm3", "fn_mm3")]
        assert volumes == [125, 125, 0]  # filled with pixels it would be 5 or 6 rows of 10

    def test_rings_that_cross_are_traced_and_it_is_said(self, tmp_path: Path, cli: Any) -> None:
        words = self.files(tmp_path, Structure(1, "tumour", self.drawn(box(9.25, 9.25, 10), box(14.5, 14.5, 10))))
        found = cli("polygons", "export", *words, "--region", "tumour", "--out", tmp_path / "s.csv", "--json", "-")
        (note,) = found.data["findings"]
        assert (found.code, note["severity"], note["code"]) == (0, "warning", "contours-retraced")
        assert "written along the edges of pixels, not as it was drawn: slice 2: rings 1 and 2 cross" in note["message"]
        assert {row["source"] for row in rows(tmp_path / "s.csv", "polygon")} == {"model"}


@pytest.mark.real_data
@pytest.mark.parametrize("change", ["as drawn", "moved by a pixel", "eroded"])
@pytest.mark.parametrize("bundle", ["scans_png", "scans_dicom"])
def test_real_scans_score_the_same_as_label_maps_and_as_polygons(
    shared_data: Path, tmp_path: Path, cli: Any, bundle: str, change: str
) -> None:
    from scipy import ndimage

    root = shared_data / "bundles" / bundle
    source = ScanSource(root / "data")
    for case_id in source.case_ids():
        case: Case = source.load(case_id, images=False)
        assert case.stack is not None
        assert case.gt_contours is not None
        mask = ring_mask(case.gt_contours.rings, stack_slices(case.stack.grid, case.stack))
        assert mask.any()
        if change == "moved by a pixel":
            mask = np.roll(mask, 1, axis=0)
        elif change == "eroded":
            mask = ndimage.binary_erosion(mask, np.ones((3, 3, 1)))
        write_mask(tmp_path / "model" / f"{case_id}.nii.gz", mask, case.stack.grid.affine)
    for target in (root / "data", root / "bundle"):
        first = cli("score", target, "--predictions", tmp_path / "model", "--json", "-").data
        out = tmp_path / f"{target.name}.csv"
        assert cli("polygons", "export", target, "--predictions", tmp_path / "model", "--out", out).code == 0
        again = cli("polygons", "score", out, "--scans", root / "data", "--json", "-").data
        assert sorted(again["scans"]) == sorted(first["cases"])
        for case_id, scan in again["scans"].items():
            metrics = first["cases"][case_id]["case"]
            for name, value in (("scan_score", scan["score"]), ("tp_mm3", scan["tp_mm3"]), ("fp_mm3", scan["fp_mm3"])):
                assert value == pytest.approx(metrics[name]["value"], rel=1e-9), (case_id, name)
            assert 0.5 < scan["score"] < 1
        assert again["score"] == pytest.approx(first["aggregate"]["headline"]["value"], rel=1e-9)


@pytest.mark.parametrize("name", ["sub.csv", "scans/x_seed_locations.csv"])
def test_what_is_read_is_not_written_over(scans: Path, tmp_path: Path, cli: Any, name: str) -> None:
    text = "A,1,10,10,20,10,20,20\n" if name == "sub.csv" else "A,1,10,10\n"
    file = tmp_path / name
    file.write_text(text)
    predictions = file if name == "sub.csv" else tmp_path / "model"
    found = cli("polygons", "export", scans, "--predictions", predictions, "--out", file)
    assert (found.code, file.read_text()) == (1, text)
    assert found.lines[-1].endswith("it stays as it is: choose another name")
