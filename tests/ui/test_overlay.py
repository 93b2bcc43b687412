"""Words over the canvas: as large as the canvas, seen in a screenshot, and not in the way of the mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.ui.letters import EdgeLetters

pytestmark = pytest.mark.window


@pytest.fixture
def viewer(new_viewer: Callable[..., Any]) -> Any:
    viewer = new_viewer()
    viewer.window.resize(1000, 700)
    viewer.add_image(np.zeros((4, 60, 60), dtype=np.uint8), contrast_limits=(0, 1), units=("mm",) * 3, scale=(3, 1, 1))
    return viewer


@pytest.fixture
def overlay(viewer: Any, qtbot: Any) -> Any:
    from medotter_viewer.ui.overlay import Overlay

    overlay = Overlay(viewer)
    viewer.status = "a line"  # the status bar takes its height
    last = None
    while last != overlay.size():
        last = overlay.size()
        qtbot.wait(200)
    return overlay


def canvas_pixels(viewer: Any, overlay: Any) -> NDArray[np.uint8]:
    """The canvas as it stands in a picture of the whole window."""
    from qtpy.QtCore import QPoint

    picture = viewer.screenshot(canvas_only=False, flash=False)
    corner = overlay.mapTo(viewer.window._qt_window, QPoint(0, 0))
    pixels: NDArray[np.uint8] = picture[
        corner.y() : corner.y() + overlay.height(), corner.x() : corner.x() + overlay.width(), :3
    ]
    return pixels


def ink(pixels: NDArray[np.uint8]) -> int:
    return int((pixels.min(axis=-1) > 160).sum())


def test_letters_are_seen_at_the_four_edges(viewer: Any, overlay: Any) -> None:
    before = canvas_pixels(viewer, overlay)
    overlay.set_letters(EdgeLetters("R", "L", "A", "P"))
    after = canvas_pixels(viewer, overlay)
    height, width = after.shape[:2]
    middle_rows, middle_columns = slice(height // 2 - 20, height // 2 + 20), slice(width // 2 - 20, width // 2 + 20)
    for place in (
        (middle_rows, slice(0, 40)),
        (middle_rows, slice(-40, None)),
        (slice(0, 40), middle_columns),
        (slice(-40, None), middle_columns),
    ):
        assert ink(after[place]) > ink(before[place]) + 20
    overlay.set_letters(None)
    assert ink(canvas_pixels(viewer, overlay)[middle_rows, :40]) == ink(before[middle_rows, :40])


def test_letters_stand_out_on_white(viewer: Any, overlay: Any) -> None:
    viewer.layers[0].data = np.ones((4, 60, 60), dtype=np.uint8)
    viewer.reset_view(margin=0)
    viewer.scene.camera.zoom *= 3
    overlay.set_letters(EdgeLetters("R", "L", "A", "P"))
    pixels = canvas_pixels(viewer, overlay)
    height = pixels.shape[0]
    at_edge = pixels[height // 2 - 20 : height // 2 + 20, :40]
    assert (at_edge.max(axis=-1) < 90).sum() > 30


def test_the_banner_pushes_the_letter_down(viewer: Any, overlay: Any) -> None:
    overlay.set_letters(EdgeLetters("R", "L", "A", "P"))
    overlay.set_banner("oblique by 2.1 deg\nprediction resampled onto the ground truth's grid")
    pixels = canvas_pixels(viewer, overlay).astype(int)
    middle = pixels.shape[1] // 2
    warm = pixels[5:45, middle - 100 : middle + 100]
    assert ((warm[..., 0] - warm[..., 2]) > 60).sum() > 200
    assert ink(pixels[50:80, middle - 20 : middle + 20]) > 20


def test_the_corner_shows_slice_and_window(viewer: Any, overlay: Any) -> None:
    before = ink(canvas_pixels(viewer, overlay)[-60:, :250])
    overlay.set_corner("slice 3/4\nW 400  L 40  soft tissue")
    assert ink(canvas_pixels(viewer, overlay)[-60:, :250]) > before + 100


def test_a_long_line_of_the_corner_stands_over_the_scale_bar(viewer: Any, overlay: Any) -> None:
    before = canvas_pixels(viewer, overlay)
    overlay.set_corner("a line that is far too long " * 6)
    after = canvas_pixels(viewer, overlay)
    np.testing.assert_array_equal(after[-40:, -165:], before[-40:, -165:])
    assert ink(after[-90:-40]) > ink(before[-90:-40]) + 500


def test_a_banner_that_is_too_long_ends_with_dots_on_its_ground(viewer: Any, overlay: Any) -> None:
    overlay.set_banner("word " * 3000)
    pixels = canvas_pixels(viewer, overlay).astype(int)
    warm = (pixels[..., 0] - pixels[..., 2]) > 60
    last = int(np.flatnonzero(warm.any(axis=1)).max())
    assert 0.2 < last / len(pixels) < 0.41


def test_a_case_that_opens_at_once_is_not_announced(viewer: Any, overlay: Any, qtbot: Any) -> None:
    before = canvas_pixels(viewer, overlay)
    overlay.set_loading("opening set/1 ...")
    np.testing.assert_array_equal(canvas_pixels(viewer, overlay), before)
    qtbot.wait(250)
    assert (canvas_pixels(viewer, overlay) != before).any()
    overlay.set_loading("")
    np.testing.assert_array_equal(canvas_pixels(viewer, overlay), before)


def test_it_grows_with_the_canvas_and_lets_the_mouse_through(viewer: Any, overlay: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    width = overlay.width()
    viewer.window.resize(1300, 800)
    qtbot.waitUntil(lambda: overlay.width() > width)
    assert overlay.size() == overlay.parentWidget().size()
    assert overlay.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)


def test_the_scale_bar_is_on_and_in_mm(viewer: Any, overlay: Any) -> None:
    assert viewer.canvas.overlays["scale_bar"].visible
    assert [str(unit) for unit in viewer.layers.extent.units] == ["millimeter"] * 3
    pixels = canvas_pixels(viewer, overlay)
    assert ink(pixels[-60:, -200:]) > 100
