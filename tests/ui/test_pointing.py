"""The line at the bottom tells what is under the pointer, also when slices go by under it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from canvas_mouse import CanvasMouse
from review_windows import block_case, settle

pytestmark = pytest.mark.window


def test_the_readout_follows_slices_and_pictures_that_move_under_a_pointer_that_stands_still(
    open_review: Any, tmp_path: Path, write_bundle: Any
) -> None:
    case = block_case()
    tiny = write_bundle(tmp_path / "tiny", {"D/0": case}, predictions={"D/0": case["gt"]})
    window = open_review(tiny.bundle, tiny.predictions)
    window.display.set_slice(9)  # displayed from the head: k = 6 of 16
    at = window.display.to_mm((9, 17, 5))  # j = 12 of 30, i = 18 of 24: inside region one, whose k is 4..9
    mouse = CanvasMouse(window)
    mouse.press(at)
    mouse.release(at)
    settle(0.1)
    line = window.docks._line
    assert "voxel 18 12 6" in line.text()
    assert "gt one (1)" in line.text()
    window.step_slice(-4)
    assert "voxel 18 12 10" in line.text()
    assert "gt background" in line.text()
    assert f"HU {case['image'][18, 12, 10]:g}" in line.text()
    camera = window.viewer.scene.camera
    camera.center = (0.0, camera.center[1], camera.center[2] + 2.0)  # one voxel of 2 mm towards the left
    assert "voxel 17 12 10" in line.text()
    window.show_message("something else")
    window.step_slice(1)
    assert line.text() == "something else"
