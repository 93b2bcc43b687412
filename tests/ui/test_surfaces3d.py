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
