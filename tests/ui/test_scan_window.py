"""Scans and points in real windows: what is drawn, where, and what the docks say of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import scored, settle, wait_for
from scan_phantoms import SCAN_SPEC, block_scan

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ContourRules, ScanContours
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.spec import EvalSpec, Headline

pytestmark = pytest.mark.window


def named(case: Case, case_id: str) -> Case:
    return replace(case, entry=CaseEntry(case_id))


def colored(pixels: Any, red: int, green: int, blue: int) -> Any:
    """Rows and columns of the pixels of about a colour."""
    return np.nonzero((np.abs(pixels[..., :3].astype(int) - (red, green, blue)) < 60).all(axis=-1))


@pytest.mark.parametrize("pose", ["feet first supine", "head first prone", "tilted by 12 degrees"])
def test_the_outline_is_drawn_around_the_bright_block(pose: str, open_cases: Any) -> None:
    case = replace(block_scan(pose, shift=0.0), pred_contours=ScanContours({}))
    window = open_cases([case])
    window.looking.look(limits=(0, 300))
    settle()
    pixels = window.viewer.screenshot(canvas_only=True, flash=False)
    bright, outline = colored(pixels, 255, 255, 255), colored(pixels, 0, 211, 255)
    middle = pixels.shape[0] // 2, pixels.shape[1] // 2
    keep = (bright[0] < pixels.shape[0] - 80) | (bright[1] < middle[1])  # without the scale bar
    for axis in (0, 1):
        low, high = bright[axis][keep].min(), bright[axis][keep].max()
        # the image is interpolated: its brightness falls off within half a pixel on either side
        half = window.viewer.scene.camera.zoom * window.display.layer("image:image").scale[1 + axis] / 2
        assert outline[axis].min() == pytest.approx(low, abs=half + 3)
        assert outline[axis].max() == pytest.approx(high, abs=half + 3)


def test_a_scan_shows_its_score_and_the_volumes_it_is_made_of(open_cases: Any) -> None:
    window = open_cases([named(block_scan(), "a")], replace(SCAN_SPEC, contours=ContourRules(target="tumour")))
    dock = window.docks.scores
    rows = [[cell.text for cell in dock.case_model.cells(row)] for row in range(dock.case_model.rowCount())]
    # slices of 4 mm: 6 of 9 mm by 10 mm right on two of three, 3 missed and 3 invented; the third all missed
    assert [row[:3] for row in rows[1:]] == [
        ["TP volume", "480", "mm³"],
        ["FP volume", "240", "mm³"],
        ["FN volume", "600", "mm³"],
    ]
    assert rows[0][0] == "scan_score"
    assert "hd95" not in dock.header.text() + dock.header.toolTip()
    assert not dock.table.isVisible()
    wait_for(lambda: dock.plot.profile is not None, "areas of slices")
    assert dock.plot.title == "tumour, per slice"
    np.testing.assert_allclose(dock.plot.profile.gt, [0, 0, 90, 90, 90, 0])
    np.testing.assert_allclose(dock.plot.profile.both, [0, 0, 0, 60, 60, 0], atol=1e-9)
    assert window.viewer.dims.current_step[0] == 2
    assert [word for word, _ in window.overlay.legend] == ["ground truth", "prediction"]
    assert "slice 3/6  ·  number 14" in window.overlay.corner_text


def test_outlines_follow_the_slices(open_cases: Any) -> None:
    window = open_cases([block_scan()])
    layer = window.looking.vectors.layer("pred_rings")
    assert len(layer.data) == 0
    window.step_slice(1)
    settle(0.1)
    assert len(layer.data) == 1
    window.blink()
    assert not layer.visible


def test_cases_of_every_kind_follow_each_other(open_cases: Any) -> None:
    scan = block_scan()
    empty = ScanContours({})
    cases = [
        named(scan, "scan"),
        named(block_scan(image=False), "no image"),
        named(replace(block_scan(image=False), stack=None), "no positions"),
        named(replace(scan, gt_contours=empty, pred_contours=empty), "no rings"),
        named(replace(scan, gt_contours=None, pred_contours=None), "image alone"),
        named(Case(CaseEntry("x"), gt_landmarks=Landmarks({20: (0, 0, 0), 21: (0, 0, -30)})), "points"),
        named(Case(CaseEntry("x")), "nothing"),
        named(replace(scan, pred_contours=ScanContours({99: [np.eye(2)[[0, 1, 0]]]})), "elsewhere"),
    ]
    window = open_cases(cases)
    said = {}
    for _ in range(2):
        for case in cases:
            window.session.go_to(case.case_id)
            wait_for(lambda name=case.case_id: window.session.case.case_id == name and scored(window), case.case_id)
            settle(0.05)
            said[case.case_id] = window.overlay.banner_text
    assert "no image" in said["no image"]
    assert "order of their numbers" in said["no positions"]
    assert "slices that the scan lacks (99)" in said["elsewhere"]
    assert "no prediction" not in said["no rings"]
    window.session.go_to("scan")
    wait_for(lambda: window.session.case.case_id == "scan", "the first again")
    settle(0.1)
    assert len(window.looking.vectors.layer("gt_rings").data) == 1


def test_points_open_in_a_sagittal_plane_with_their_rates(open_cases: Any, tmp_path: Path) -> None:
    grid = block_scan().channels["image"]
    places = {20 + n: (-30.0 + 40 - 2 * n, -60.0, 104.0 + 4 * n) for n in range(3)}
    moved = {label: (x + 2, y, z) for label, (x, y, z) in places.items()}
    case = Case(CaseEntry("spine"), {"image": grid}, gt_landmarks=Landmarks(places), pred_landmarks=Landmarks(moved))
    spec = EvalSpec("vertebra", {"L1": (20,)}, ("dice", "id_rate", "d_mean"), Headline("L1", "dice"))
    window = open_cases([case], spec)
    assert window.viewer.dims.order == (2, 0, 1)
    assert (window.overlay.letters.left, window.overlay.letters.top) == ("A", "S")
    dock = window.docks.scores
    rows = {cells[0].text: cells[1].text for cells in map(dock.case_model.cells, range(dock.case_model.rowCount()))}
    assert (rows["d_mean"], rows["n_missing"]) == ("2.00", "0")
    assert "hd95" not in dock.header.text()
    assert [word for word, _ in window.overlay.legend][:2] == ["ground truth points", "predicted points"]
