"""Surfaces in a real window: on with a key, nothing else seen, and back to the slice that was looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import block_case, settle, wait_for

pytestmark = pytest.mark.window


@pytest.fixture
def window(open_review: Any, tmp_path: Path, write_bundle: Any) -> Any:
    cases = {f"D/{n}": block_case(n) for n in range(2)}
    moved = np.roll(block_case(0)["gt"], 2, axis=1)  # 2 voxels of 1.5 mm
    tiny = write_bundle(tmp_path / "tiny", cases, predictions={"D/0": moved, "D/1": block_case(1)["gt"]})
    return open_review(tiny.bundle, tiny.predictions)


def shown(window: Any) -> set[str]:
    return {layer.name for layer in window.viewer.layers if layer.visible}


def turn_on(window: Any, region: str) -> None:
    window.session.select_region(region)
    window.surfaces.toggle()
    wait_for(lambda: window.surfaces.is_on and window.viewer.dims.ndisplay == 3, "surfaces")
    settle()


def test_surfaces_alone_are_seen_and_the_slice_comes_back(window: Any) -> None:
    window.session.select_region("one")
    window.display.set_slice(9)
    window.viewer.scene.camera.zoom *= 1.5
    settle()
    before = (shown(window), tuple(window.viewer.dims.point), window.viewer.dims.order)
    camera = window.viewer.scene.camera
    place = (tuple(camera.center), camera.zoom)
    window.surfaces.toggle()
    wait_for(lambda: window.viewer.dims.ndisplay == 3, "three dimensions")
    settle()
    assert shown(window) == {"prediction surface", "ground truth surface"}
    assert "surfaces of one" in window.overlay.corner_text
    assert any("hd95" in word for word, _ in window.overlay.legend)
    values = window.viewer.layers["prediction surface"].data[2]
    assert values.max() == pytest.approx(3.0)
    window.surfaces.toggle()
    settle()
    assert window.viewer.dims.ndisplay == 2
    assert (shown(window), tuple(window.viewer.dims.point), window.viewer.dims.order) == before
    assert tuple(camera.center) == pytest.approx(place[0])
    assert camera.zoom == pytest.approx(place[1])
    assert "surfaces" not in window.overlay.corner_text


def test_another_region_shows_other_surfaces_in_the_same_layers(window: Any) -> None:
    turn_on(window, "one")
    layers = list(window.viewer.layers)
    window.session.select_region("two")
    wait_for(lambda: "surfaces of two" in window.overlay.corner_text, "the other region")
    assert list(window.viewer.layers) == layers
    assert shown(window) == {"prediction surface", "ground truth surface"}


def test_the_next_case_is_seen_in_slices_again(window: Any) -> None:
    turn_on(window, "one")
    window.session.step(1)
    wait_for(lambda: window.session.case.case_id == "D/1", "next case")
    settle()
    assert not window.surfaces.is_on
    assert window.viewer.dims.ndisplay == 2
    assert not {"prediction surface", "ground truth surface"} & shown(window)
    assert "ground truth" in shown(window)


def test_napari_own_button_back_to_two_dimensions_ends_it(window: Any) -> None:
    turn_on(window, "one")
    window.viewer.dims.ndisplay = 2
    settle()
    assert not window.surfaces.is_on
    assert "ground truth" in shown(window)


def test_steps_between_slices_are_those_of_the_case_again_and_of_the_next(
    open_review: Any, tmp_path: Path, write_bundle: Any
) -> None:
    cases = {f"D/{n}": block_case(n) for n in range(2)}
    cases["D/1"]["affine"] = np.diag([4.0, 3.0, 7.0, 1.0])  # coarser: steps of the first case would cut its slices
    tiny = write_bundle(tmp_path / "tiny", cases, predictions={i: case["gt"] for i, case in cases.items()})
    window = open_review(tiny.bundle, tiny.predictions)
    dims = window.viewer.dims
    assert dims.nsteps == (16, 30, 24)
    turn_on(window, "one")
    window.surfaces.toggle()
    settle()
    assert dims.nsteps == (16, 30, 24)
    assert [axis.step for axis in dims.range] == [3.0, 1.5, 2.0]
    before = dims.current_step[0]
    window.step_slice(1)
    assert dims.current_step[0] == before + 1
    assert window.looking.go.slice_place(0)[0] == before + 1
    window.session.step(1)
    wait_for(lambda: window.session.case.case_id == "D/1", "next case")
    settle()
    assert [axis.step for axis in dims.range] == [7.0, 3.0, 4.0]
    assert dims.nsteps == (16, 30, 24)


def test_side_planes_show_the_slices_while_surfaces_are_on_the_canvas(window: Any) -> None:
    turn_on(window, "one")
    window.tools.toggle_planes()
    settle()
    planes = window.tools.planes
    for pane in (planes.panes.first, planes.panes.second):
        assert len(pane.content.planes) == 3, "image, ground truth, prediction"
    assert "voxel" in planes.panes.line.text()
    window.surfaces.toggle()
    settle()
    assert len(planes.panes.first.content.planes) == 3
    window.display.layer("gt").visible = False
    settle()
    assert len(planes.panes.first.content.planes) == 2, "what is hidden on the canvas is hidden there"
    window.tools.toggle_planes()


def test_layers_that_were_hidden_by_hand_stay_hidden(window: Any) -> None:
    window.display.layer("gt").visible = False
    turn_on(window, "one")
    window.surfaces.toggle()
    settle()
    assert not window.display.layer("gt").visible


def test_a_second_press_before_it_is_there_cancels(window: Any) -> None:
    window.session.select_region("one")
    window.surfaces.toggle()
    window.surfaces.toggle()
    settle(0.5)
    assert window.viewer.dims.ndisplay == 2
    assert window.overlay.loading_text == ""
