"""The contest's own examples through the command line: scans, single rings and malformed lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lung_scans import EXPECTED, RINGS, SCANS
from scan_files import TARGET, box, submission, write_dicom_scan, write_png_scan

from medotter_viewer.cli import main
from medotter_viewer.core.contours import OVERLAPS, Overlap

WRITERS = {"png": write_png_scan, "dicom": write_dicom_scan}


def scans(root: Path, layout: str, names: list[str]) -> tuple[Path, Path]:
    """Folder of scans, and the submission of what they predict."""
    predicted: dict[str, Any] = {}
    for name in names:
        slices = SCANS[name]
        truth = {k: gt for k, (gt, _, _) in enumerate(slices, 1) if gt}
        thickness = [dz for _, _, dz in slices]
        WRITERS[layout](root / "scans", name, {TARGET: truth}, n_slices=len(slices), thickness=thickness)
        predicted[name] = {k: pred for k, (_, pred, _) in enumerate(slices, 1) if pred}
    return root / "scans", submission(root / "s.csv", predicted)


def polygons_score(path: Path, root: Path, overlap: str) -> dict[str, Any]:
    out = path.with_suffix(".json")
    command = ["polygons", "score", str(path), "--scans", str(root), "--overlap", overlap, "--json", str(out)]
    assert main(command) == 0
    content: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return content


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("layout", WRITERS)
def test_every_scan_has_the_contests_volumes_and_score(tmp_path: Path, layout: str, overlap: Overlap) -> None:
    root, path = scans(tmp_path, layout, list(SCANS))
    found = polygons_score(path, root, overlap)["scans"]
    assert sorted(found) == sorted(SCANS)
    for name, (*volumes, score) in EXPECTED[overlap].items():
        told = [found[name][key] for key in ("tp_mm3", "fp_mm3", "fn_mm3")]
        assert told == pytest.approx(volumes, abs=1e-9), name
        assert found[name]["score"] == pytest.approx(score, abs=5e-7), name


def test_the_overall_score_is_that_of_the_first_round(tmp_path: Path) -> None:
    root, path = scans(tmp_path, "png", [name for name in SCANS if name != "T11"])
    assert polygons_score(path, root, "sum")["score"] == pytest.approx(540313.919535, abs=1e-6)


@pytest.mark.parametrize("layout", WRITERS)
def test_the_area_of_a_ring_is_even_odd_united_and_that_of_its_points_summed(tmp_path: Path, layout: str) -> None:
    truth = {k: [ring] for k, (ring, _, _) in enumerate(RINGS.values(), 1)}
    WRITERS[layout](tmp_path / "scans", "S", {TARGET: truth}, n_slices=len(truth))
    path = submission(tmp_path / "s.csv", {})
    wanted = {
        "union": [even_odd for _, _, even_odd in RINGS.values()],
        "sum": [listed for _, listed, _ in RINGS.values()],
        "union_if_both": [listed for _, listed, _ in RINGS.values()],  # nothing is predicted
    }
    for overlap, areas in wanted.items():
        slices = polygons_score(path, tmp_path / "scans", overlap)["scans"]["S"]["slices"]
        found = [slices.get(str(k), {"fn_mm2": 0})["fn_mm2"] for k in range(1, len(areas) + 1)]
        assert found == pytest.approx(areas, abs=1e-6)


LINES = {
    "T01,1": (1, 1),
    "T01,1,": (1, 1),
    "T01,1,5": (1, 1),
    "T01,1,5,5": (1, 0),
    "T01,1,0,0,20,0": (1, 0),
    "T01,1,0,0,20,0,20,10,0": (1, 0),
    "T01,1,0,0,20,0,20,10,": (1, 0),
    "T01,1, 0,0,20,0,20,10": (1, 0),
    "T01, 1,0,0,20,0,20,10": (1, 1),
    "T01,1,NaN,0,20,0,20,10": (1, 0),
    "T01,0,0,0,20,0,20,10": (1, 1),
    "T01,2,0,0,20,0,20,10": (1, 1),
    "T99,1,0,0,20,0,20,10": (1, 1),
    "#comment": (1, 1),
    "0;0": (1, 1),
    "": (0, 0),
    "T01,1,0,0,20,0,20,10": (0, 0),
}
"""Line, and the exit status of the strict reader and of the contest's."""


@pytest.mark.parametrize("line", LINES)
def test_a_malformed_line_is_one_to_the_strict_reader_and_to_the_contests(
    tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_png_scan(tmp_path / "scans", "T01", {TARGET: {1: [box(0, 0, 20, 10)]}})
    path = tmp_path / "s.csv"
    path.write_text("T01,1,0,0,20,0,20,10,0,10\n" + line + "\n")
    for options, code in zip(((), ("--contest-reader",)), LINES[line], strict=True):
        command = ["polygons", "check", str(path), "--scans", str(tmp_path / "scans"), *options]
        assert main(command) == code, options
        shown = capsys.readouterr()
        assert shown.err.startswith("line 2: ") == bool(code)
        assert (": malformed: " if code else ": ok: ") in shown.out
