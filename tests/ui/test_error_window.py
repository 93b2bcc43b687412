"""Walking through errors and to hd95 in a real window, by its keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import block_case, scored, settle, wait_for

pytestmark = pytest.mark.window


@pytest.fixture
def window(tmp_path: Path, write_bundle: Any, open_review: Any) -> Any:
    """A case with a missed slice, a slice with the wrong label, and something invented; voxels of 9 mm3."""
    case = block_case()
    pred = case["gt"].copy()
    pred[15:21, 8:16, 4] = 0  # 48 voxels of one
    pred[3:8, 12:20, 11] = 1  # 40 of two are called one
    pred[3:5, 2:4, 13:15] = 1  # 8
    cases = {"D/0": case, "D/1": block_case(1)}
    tiny = write_bundle(tmp_path / "errors", cases, predictions={"D/0": pred, "D/1": block_case(1)["gt"]})
    return open_review(tiny.bundle, tiny.predictions)


def press(window: Any, qtbot: Any, key: str) -> None:
    from qtpy.QtCore import Qt

    canvas = window.viewer.window._qt_viewer.canvas.native
    canvas.setFocus()
    qtbot.keyClick(canvas, getattr(Qt.Key, f"Key_{key}"))
    settle(0.05)


def steps(window: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in window.viewer.dims.current_step)


def line(window: Any) -> str:
    return window.docks._line.text()


def test_keys_walk_through_errors_and_frame_them(window: Any, qtbot: Any) -> None:
    errors = window.session.errors
    fitted = window.viewer.scene.camera.zoom
    press(window, qtbot, "J")
    wait_for(lambda: errors.current is not None and errors.items.is_measured, "errors found")
    # the missed slice is k = 4 of 16: displayed 11; its middle i 17.5, j 11.5: of equals the first, 17 and 11
    assert steps(window) == (11, 29 - 11, 23 - 17)
    assert window.viewer.scene.camera.zoom > fitted
    assert "error 1 of 3" in line(window)
    assert "missed (FN): one" in line(window)
    assert "432 mm³ (48 voxels)" in line(window)
    press(window, qtbot, "J")
    assert (errors.current.kind, steps(window)[0]) == ("wrong", 15 - 11)
    assert "two → one" in line(window)
    press(window, qtbot, "J")
    assert (errors.current.kind, steps(window)) == ("fp", (15 - 13, 29 - 2, 23 - 3))
    press(window, qtbot, "K")
    assert errors.current.kind == "wrong"
    press(window, qtbot, "9")
    assert errors.current.kind == "fn"
    marks = window.looking.marks.layer
    assert len(marks.data) == 8  # four corners with their rims
    window.step_slice(1)
    assert len(marks.data) == 0  # the piece is one slice thick
    window.step_slice(-1)
    window.looking.hide(True)
    assert not marks.visible
    window.looking.hide(False)
    assert marks.visible


def test_the_what_if_comes_to_the_front_and_changes_nothing(window: Any, qtbot: Any) -> None:
    press(window, qtbot, "9")
    wait_for(lambda: window.session.errors.current is not None, "errors found")
    score = window.session.score
    press(window, qtbot, "N")
    wait_for(lambda: window.session.errors.without.is_complete, "scores without it")
    assert window.docks.errors.isVisible()
    # one: 240 of 288 voxels are right, 288 + 40 + 8 - 48 are predicted
    assert score.regions["one"].metrics["dice"].value == pytest.approx(480 / (288 + 288))
    after = window.session.errors.without.score
    assert after.regions["one"].metrics["dice"].value == pytest.approx(576 / (288 + 336))
    assert window.session.score is score
    assert not window.session.edited
    assert "what if, nothing is changed" in window.docks.errors.alarm.text()
    press(window, qtbot, "N")
    assert window.session.errors.without is None


def test_the_arrow_of_hd95_is_seen_at_both_ends_and_goes_by_the_same_key(window: Any, qtbot: Any) -> None:
    window.session.select_region("one")
    settle(0.1)
    pair = window.session.hd95_pair
    press(window, qtbot, "0")
    wait_for(lambda: pair.pairs is not None, "pair found")
    value = window.session.score.regions["one"].metrics["hd95"].value
    assert pair.pairs.hd95_mm == pytest.approx(value)
    assert pair.pairs.deciding.direction == "pred_to_gt"
    gt, pred = pair.pairs.deciding.gt_voxel, pair.pairs.deciding.pred_voxel
    assert steps(window)[0] == 15 - pred[2]
    marks = window.looking.marks.layer
    for k in (pred[2], gt[2]):
        window.display.set_slice(15 - k)
        settle(0.05)
        assert len(marks.data) >= 2, k
    assert "arrow" in window.overlay.corner_text
    assert "pred end on slice" in window.overlay.corner_text
    press(window, qtbot, "0")
    assert len(marks.data) == 0
    assert "arrow" not in window.overlay.corner_text


def test_another_case_takes_the_marks_away_and_keeps_layers(window: Any, qtbot: Any) -> None:
    press(window, qtbot, "J")
    wait_for(lambda: window.session.errors.current is not None, "errors found")
    layers = len(window.viewer.layers)
    window.session.step(1)
    wait_for(lambda: window.session.current_id == "D/1" and scored(window), "next case")
    settle(0.1)
    assert len(window.looking.marks.layer.data) == 0
    assert len(window.viewer.layers) == layers
    press(window, qtbot, "J")
    wait_for(lambda: "no errors" in line(window), "said")
    assert np.all(np.asarray(window.viewer.dims.nsteps) == (16, 30, 24))
