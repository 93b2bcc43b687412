"""``polygons score``: the contest's numbers as JSON, and what is said of what has none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
from rtstruct_files import Drawn, Structure, write_rtstruct
from scan_files import TARGET, box, submission, write_dicom_scan, write_png_scan

from medotter_viewer.cli import main

SQUARE = box(0, 0, 10)


def run(*arguments: object, code: int = 0) -> dict[str, Any]:
    """The JSON of a command with this exit status."""
    out = Path(str(arguments[0])).with_suffix(".json")
    assert main(["polygons", "score", *map(str, arguments), "--json", str(out)]) == code
    content: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return content


def four_scans(root: Path) -> Path:
    """A is found, B missed, C beside, D has no target; 2.5 mm thick."""
    for name in "ABC":
        write_png_scan(root, f"TC_{name}", {TARGET: {1: [SQUARE]}}, thickness=2.5)
    write_png_scan(root, "TC_D", {"BODY": {1: [SQUARE]}}, thickness=2.5)
    return root


def test_every_number_of_a_scan(tmp_path: Path) -> None:
    write_png_scan(tmp_path / "tc", "S", {TARGET: {1: [box(0, 0, 20, 10)], 2: [SQUARE]}}, n_slices=3, thickness=2.5)
    path = submission(tmp_path / "s.csv", {"S": {1: [SQUARE], 3: [box(0, 0, 1)]}})
    found = run(path, "--scans", tmp_path / "tc")
    assert (found["n_scans"], found["notes"]) == (1, [])
    scan = found["scans"]["S"]
    assert (scan["tp_mm3"], scan["fp_mm3"], scan["fn_mm3"], scan["t_mm3"]) == (250, 2.5, 500, 750)
    assert scan["e_mm3"] == pytest.approx(500 * 750 / 250 + 2.5)
    assert scan["a_mm2"] == pytest.approx((36 * 3.141592653589793 * 750**2) ** (1 / 3))
    assert scan["slices"] == {
        "1": {"tp_mm2": 100, "fp_mm2": 0, "fn_mm2": 100, "thickness_mm": 2.5},
        "2": {"tp_mm2": 0, "fp_mm2": 0, "fn_mm2": 100, "thickness_mm": 2.5},
        "3": {"tp_mm2": 0, "fp_mm2": 1, "fn_mm2": 0, "thickness_mm": 2.5},
    }
    assert (found["mean"], found["score"]) == (scan["score"], pytest.approx(1e6 * scan["score"]))


def test_the_mean_is_over_every_scan_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = four_scans(tmp_path / "tc")
    path = submission(tmp_path / "s.csv", {"TC_A": {1: [SQUARE]}, "TC_C": {1: [box(30, 30, 10)]}})
    found = run(path, "--scans", root)
    assert {name: scan["score"] for name, scan in found["scans"].items()} == dict(
        zip(("TC_A", "TC_B", "TC_C", "TC_D"), (1, 0, 0, 0), strict=True)
    )
    assert (found["n_scans"], found["mean"], found["score"]) == (4, 0.25, 250000)
    assert [note["code"] for note in found["scans"]["TC_D"]["notes"]] == ["scan-without-target"]
    assert found["scans"]["TC_B"]["e_mm3"] is None  # no true positive: no finite error
    shown = capsys.readouterr().out
    assert "250000.00" in shown
    assert "TC_D" in shown


def test_scans_without_target_can_be_left_out_and_are_listed(tmp_path: Path) -> None:
    root = four_scans(tmp_path / "tc")
    found = run(submission(tmp_path / "s.csv", {"TC_A": {1: [SQUARE]}}), "--scans", root, "--skip-empty-truth")
    assert (found["n_scans"], sorted(found["scans"])) == (3, ["TC_A", "TC_B", "TC_C"])
    assert found["score"] == pytest.approx(1e6 / 3)
    left_out, without = found["notes"]
    assert (left_out["code"], left_out["where"]) == ("scan-left-out", "TC_D")
    assert (without["severity"], without["code"]) == ("info", "scan-not-submitted")
    assert without["message"] == "no polygon of 2 scans, which score 0 and count: TC_B, TC_C"


def test_a_target_that_no_scan_has_is_wrong_usage_and_lists_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = four_scans(tmp_path / "tc")
    path = submission(tmp_path / "s.csv", {"TC_A": {1: [SQUARE]}})
    assert main(["polygons", "score", str(path), "--scans", str(root), "--target", "GTV_9"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("medotter-viewer polygons score: --target GTV_9: no scan of")
    assert f"structures are {TARGET}, BODY;" in said
    found = run(path, "--scans", root, "--target", "BODY")
    assert {name: scan["score"] for name, scan in found["scans"].items()} == dict.fromkeys(
        ("TC_A", "TC_B", "TC_C", "TC_D"), 0
    )


def test_a_target_whose_contours_lie_nowhere_is_there_all_the_same(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path / "tc", "S", {"GTV": {1: [SQUARE]}})
    far = Drawn([(x, y, 500.0) for x, y in SQUARE])
    write_rtstruct(folder / "RTst" / "rt.dcm", [Structure(1, "GTV", [far])])
    found = run(submission(tmp_path / "s.csv", {}), "--scans", tmp_path / "tc", "--target", "GTV")
    assert (found["score"], found["scans"]["S"]["slices"]) == (0, {})
    assert "contour-outside-stack" in {note["code"] for note in found["scans"]["S"]["notes"]}


def test_where_every_scan_is_left_out_there_is_no_score(tmp_path: Path) -> None:
    write_png_scan(tmp_path / "tc", "S", {"BODY": {1: [SQUARE]}})
    found = run(submission(tmp_path / "s.csv", {}), "--scans", tmp_path / "tc", "--skip-empty-truth", code=1)
    assert (found["score"], found["mean"], found["n_scans"]) == (None, None, 0)


def test_an_empty_submission_is_valid_and_scores_zero(tmp_path: Path) -> None:
    found = run(submission(tmp_path / "s.csv", {}), "--scans", four_scans(tmp_path / "tc"))
    assert (found["score"], found["n_scans"]) == (0, 4)


@pytest.mark.parametrize(
    ("line", "reason"), [("TC_Z,1,0,0,1,0,1,1", "TC_Z"), ("TC_A,2,0,0,1,0,1,1", "slice 2"), ("TC_A,1,5", "odd")]
)
def test_a_malformed_submission_has_no_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, reason: str
) -> None:
    root, path = four_scans(tmp_path / "tc"), submission(tmp_path / "s.csv", {"TC_A": {1: [SQUARE]}})
    path.write_text(path.read_text() + line + "\n")
    found = run(path, "--scans", root, code=1)
    assert (found["score"], found["mean"], found["scans"]) == (None, None, {})
    assert [(n["severity"], n["where"]) for n in found["notes"]] == [("error", "2")]
    error = capsys.readouterr().err
    assert "line 2" in error
    assert reason in error


def test_a_scan_that_cannot_be_scored_leaves_no_score_but_the_others(tmp_path: Path) -> None:
    write_png_scan(tmp_path / "tc", "A", {TARGET: {1: [SQUARE]}})
    write_png_scan(tmp_path / "tc", "B", {TARGET: {1: [SQUARE]}}, thickness=None)
    write_dicom_scan(tmp_path / "tc", "C", {TARGET: {1: [SQUARE]}}, frame="elsewhere", named=False)
    found = run(submission(tmp_path / "s.csv", {"A": {1: [SQUARE]}}), "--scans", tmp_path / "tc", code=1)
    assert (found["score"], found["mean"], found["n_scans"]) == (None, None, 3)
    assert {name: scan["score"] for name, scan in found["scans"].items()} == {"A": 1, "B": None, "C": None}
    for name, reason in (("B", "slice 1: no slice thickness (0018,0050)"), ("C", "frame of reference")):
        scan = found["scans"][name]
        assert scan["slices"] == {}
        assert any(note["severity"] == "error" and reason in note["message"] for note in scan["notes"])


def test_overlapping_rings_are_united_or_summed_as_asked(tmp_path: Path) -> None:
    truth: Mapping[str, Any] = {"BODY": {}, TARGET: {1: [SQUARE]}, "radiomics_gtv2": {1: [box(5, 0, 10)]}}
    write_png_scan(tmp_path / "tc", "S", truth)
    path = submission(tmp_path / "s.csv", {"S": {1: [box(0, 0, 15, 10), box(0, 0, 15, 10), box(2, 2, 2)]}})
    for rule, volumes in (("union", (150, 0, 0)), ("sum", (150, 154, 50))):
        scan = run(path, "--scans", tmp_path / "tc", "--overlap", rule)["scans"]["S"]
        assert (scan["tp_mm3"], scan["fp_mm3"], scan["fn_mm3"]) == volumes


@pytest.mark.parametrize(
    ("options", "missed"),
    [
        ((), 0),
        (("--target", "GTV"), 100),
        (("--target", "organ"), 25),
        (("--structures", "names.dat"), 125),
    ],
)
def test_the_target_is_a_type_of_the_dictionary_or_a_name(
    tmp_path: Path, options: tuple[str, ...], missed: int
) -> None:
    write_png_scan(tmp_path / "tc", "S", {"GTV": {1: [SQUARE]}, "Heart": {1: [box(20, 20, 5)]}})
    (tmp_path / "tc" / "structure_dict.dat").write_text("organ|Heart\n")
    (tmp_path / "names.dat").write_text("radiomics_gtv|GTV|Heart\n")
    named = [str(tmp_path / one) if one.endswith(".dat") else one for one in options]
    found = run(submission(tmp_path / "s.csv", {}), "--scans", tmp_path / "tc", *named)
    assert found["scans"]["S"]["fn_mm3"] == missed


@pytest.mark.parametrize(("nested", "area"), [("keyhole", 300), ("same winding", 300), ("two lines", 400)])
def test_holes_are_keyholes_within_one_line_and_lines_are_united(tmp_path: Path, nested: str, area: int) -> None:
    outer, inner = box(4.5, 4.5, 20), box(9.5, 9.5, 10)
    bridge = [outer[0], inner[0]]
    rings = {
        "keyhole": [[*outer, *bridge, *inner[:0:-1], inner[0]]],
        "same winding": [[*outer, *bridge, *inner[1:], inner[0]]],
        "two lines": [outer, inner],
    }[nested]
    write_png_scan(tmp_path / "png", "S", {TARGET: {1: rings}})
    write_dicom_scan(tmp_path / "dicom", "S", {TARGET: {1: rings}})
    path = submission(tmp_path / "s.csv", {})
    for layout in ("png", "dicom"):
        found = run(path, "--scans", tmp_path / layout)
        assert found["scans"]["S"]["slices"]["1"]["fn_mm2"] == pytest.approx(area)


def test_degenerate_rings_add_nothing_and_break_nothing(tmp_path: Path) -> None:
    rings = {
        1: [(0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (50.0, 100.0), (50.0, 300.0), (50.0, 100.0), (0.0, 100.0)],
        2: [(0.0, 0.0), (5.0, 0.0), (10.0, 0.0)],
        3: [(3.0, 3.0)] * 3,
        4: [*SQUARE, SQUARE[0]],
        5: [point for point in SQUARE for _ in range(2)],
        6: [(1.0, 1.0)],
        7: [(0.0, 0.0), (10.0, 0.0), (10.0, 1e-7), (0.0, 1e-7)],
    }
    write_png_scan(tmp_path / "tc", "S", {TARGET: {n: [ring] for n, ring in rings.items()}}, n_slices=7)
    found = run(submission(tmp_path / "s.csv", {}), "--scans", tmp_path / "tc")
    areas = {int(n): s["fn_mm2"] for n, s in found["scans"]["S"]["slices"].items()}
    assert areas == pytest.approx({1: 10000, 2: 0, 3: 0, 4: 100, 5: 100, 6: 0, 7: 1e-6})


def test_a_folder_of_label_maps_is_scored_and_one_without_predictions_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "AB":
        write_png_scan(tmp_path / "tc", name, {TARGET: {1: [box(9.5, 9.5, 10)]}})
    (tmp_path / "model").mkdir()
    assert main(["polygons", "score", str(tmp_path / "model"), "--scans", str(tmp_path / "tc")]) == 2
    said = capsys.readouterr().err
    assert "model: holds no submission.csv, and no file that is named for a scan (e.g. A.nii.gz)" in said
    data = np.zeros((64, 64, 1), dtype=np.uint8)
    data[10:20, 10:20] = 1
    nib.save(nib.Nifti1Image(data, np.diag([-1, -1, 1, 1])), tmp_path / "model" / "A.nii.gz")
    found = run(tmp_path / "model", "--scans", tmp_path / "tc", code=1)  # B is missing: incomplete
    assert "B: no prediction: it scores 0, the result is incomplete" in capsys.readouterr().err
    assert {name: scan["score"] for name, scan in found["scans"].items()} == {"A": 1, "B": 0}
    notes = [(note["severity"], note["code"]) for note in found["scans"]["B"]["notes"]]
    assert notes == [("warning", "no-prediction")]


def test_a_folder_without_scans_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = submission(tmp_path / "s.csv", {})
    assert main(["polygons", "score", str(path), "--scans", str(tmp_path)]) == 1
    assert "no scan" in capsys.readouterr().err
    assert main(["polygons", "score", str(tmp_path / "no.csv"), "--scans", str(tmp_path)]) == 2


def test_polygons_beside_the_image_are_told_with_the_frame_that_is_meant(tmp_path: Path) -> None:
    write_png_scan(tmp_path / "tc", "S", {TARGET: {1: [box(5, 5, 10)]}})
    turned = [(-x, -y) for x, y in box(5, 5, 10)]  # RAS
    found = run(submission(tmp_path / "s.csv", {"S": {1: [turned]}}), "--scans", tmp_path / "tc")
    (note,) = [note for note in found["scans"]["S"]["notes"] if note["code"] == "polygons-outside-image"]
    assert note["severity"] == "warning"
    assert "scan S: its polygons lie beside the image: x -15 to -5, y -15 to -5; the image: " in note["message"]
    assert "DICOM's LPS" in note["message"]
    good = run(submission(tmp_path / "g.csv", {"S": {1: [box(5, 5, 10)]}}), "--scans", tmp_path / "tc")
    assert "polygons-outside-image" not in {note["code"] for note in good["scans"]["S"]["notes"]}
