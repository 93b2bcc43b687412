"""What rulers and regions of interest say: numbers of the file's own values, by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.volume import Volume
from medotter_viewer.phantoms import reoriented
from medotter_viewer.ui.gestures import Mouse
from medotter_viewer.ui.measure_tool import MeasureTool
from medotter_viewer.ui.measuring import Mark, measured, roi_text, ruler_text

CODES = [
    "".join(letters) for axes in itertools.permutations(("LR", "PA", "IS")) for letters in itertools.product(*axes)
]


def ramp(unit: str = "HU") -> Volume:
    """10 x 10 x 4 voxels of 2 x 3 x 5 mm whose value is 10 i + j + 1000 k; the first lies at the origin."""
    i, j, k = np.indices((10, 10, 4))
    return Volume((10 * i + j + 1000 * k).astype(np.int16), Grid((10, 10, 4), np.diag([2.0, 3.0, 5.0, 1.0])), unit)


# On k = 1: displayed mm are (-z, -y, -x) of the world. i 2 to 4 lies at L -4 to -8, j 5 to 6 at P -15 to -18.
BOX = Mark("rectangle", 0, (-5.0, -18.5, -8.5), (-5.0, -14.5, -3.5))


def test_a_rectangle_takes_the_voxels_whose_centres_are_inside() -> None:
    found = measured(BOX, ramp(), "HU")
    assert found is not None
    s = found.statistics
    # 1025 1026 1035 1036 1045 1046: mean 1035.5; deviations in i 10 0 10, in j 1/2: variance 200/3 + 1/4
    assert (s.n, s.mean, s.low, s.high) == (6, 1035.5, 1025.0, 1046.0)
    assert s.sd == pytest.approx(np.sqrt(200 / 3 + 0.25), abs=1e-12)
    assert (found.area, found.unit, found.area_unit) == (36.0, "HU", "mm²")  # six faces of 2 x 3 mm


@pytest.mark.parametrize("codes", CODES)
def test_however_the_file_stores_its_axes_the_values_are_the_same(codes: str) -> None:
    for axis, start, end in (
        (0, (-5.0, -18.5, -8.5), (-5.0, -14.5, -3.5)),
        (1, (-16.0, -15.0, -8.5), (0.0, -15.0, -3.5)),
        (2, (-16.0, -18.5, -6.0), (0.0, -14.5, -6.0)),
    ):
        mark = Mark("ellipse", axis, start, end)
        assert measured(mark, reoriented(ramp(), codes), "HU") == measured(mark, ramp(), "HU")


def test_an_ellipse_in_a_coronal_plane_has_the_area_of_that_plane() -> None:
    # j = 5; around i = 3, k = 1: half axes 2.5 mm along x and 5.5 along z take i 2, 3, 4 at k 1 and k 0, 2 at i 3
    mark = Mark("ellipse", 1, (-10.5, -15.0, -8.5), (0.5, -15.0, -3.5))
    found = measured(mark, ramp(), "HU")
    assert found is not None
    assert (found.statistics.n, found.area) == (5, 50.0)
    assert found.statistics.mean == pytest.approx((1025 + 1035 + 1045 + 35 + 2035) / 5)


def test_a_slice_the_image_lacks_has_no_values() -> None:
    beyond = Mark("rectangle", 0, (-40.0, -18.5, -8.5), (-40.0, -14.5, -3.5))
    assert measured(beyond, ramp(), "HU") is None
    assert roi_text(None, ramp()) == "outside the image"
    aside = measured(Mark("ellipse", 0, (-5.0, 50.0, 50.0), (-5.0, 60.0, 60.0)), ramp(), "HU")
    assert aside is not None
    assert roi_text(aside, ramp()) == "0 voxels, 0 mm²"


def test_words_name_unit_and_deviation() -> None:
    assert (
        roi_text(measured(BOX, ramp(), "HU"), ramp()) == "mean 1035.5  SD 8.2 HU\nmin 1025  max 1046\n6 voxels  36 mm²"
    )
    assert "a.u." in roi_text(measured(BOX, ramp(""), ""), ramp(""))
    assert roi_text(None, None) == "no image"


def test_colours_have_no_mean() -> None:
    colours = Volume(
        np.zeros((4, 4, 1, 3), dtype=np.uint8), Grid((4, 4, 1), np.eye(4), has_world=False, unit="px"), rgb=True
    )
    assert roi_text(measured(BOX, colours, ""), colours) == "colours: no mean"


def test_a_ruler_is_in_mm_or_in_pixels() -> None:
    mark = Mark("ruler", 0, (0.0, 0.0, 0.0), (0.0, 3.0, 4.0))
    assert ruler_text(mark, Grid((9, 9, 9), np.diag([2.0, 3.0, 5.0, 1.0]))) == "5.0 mm"
    assert ruler_text(mark, Grid((9, 9, 9), np.eye(4), has_world=False, unit="px")) == "5.0 px"
    uneven = Grid((9, 9, 9), np.eye(4), is_uneven=True)
    assert ruler_text(Mark("ruler", 1, (0.0, 0.0, 0.0), (3.0, 0.0, 4.0)), uneven) == "no length: uneven slices"


def test_a_mark_is_seen_on_its_own_slice_only() -> None:
    assert BOX.is_on(0, -5.0, 5.0)
    assert not BOX.is_on(0, 0.0, 5.0)
    assert not BOX.is_on(1, -5.0, 5.0)


# ---------------------------------------------------------------- drawing them


def tool() -> MeasureTool:
    """A tool on a canvas of 1 mm per pixel, on the slice at 7 mm."""
    made = MeasureTool(lambda mouse: (0, (7.0, mouse.y, mouse.x)), lambda: None)
    made.open_case("one")
    return made


def left(x: float, y: float) -> Mouse:
    return Mouse(x, y, "left")


def test_nothing_is_taken_while_no_tool_is_on() -> None:
    one = tool()
    assert not one.press(left(1, 1))
    assert not one.key("escape")


def test_a_drag_draws_one_ruler_and_the_tool_stays() -> None:
    one = tool()
    one.start("ruler")
    assert one.press(left(10, 20))
    one.move(Mouse(30, 20))
    one.release(left(40, 60))
    assert one.marks() == [Mark("ruler", 0, (7.0, 20, 10), (7.0, 20, 30))]
    assert one.tool == "ruler"
    assert not one.press(Mouse(1, 1, "right")), "other buttons are napari's"


def test_two_clicks_draw_one_ruler() -> None:
    one = tool()
    one.start("ruler")
    for x in (10, 50):
        one.press(left(x, 20))
        one.release(left(x, 20))
        one.hover(Mouse(x + 5, 20))
    assert one.marks() == [Mark("ruler", 0, (7.0, 20, 10), (7.0, 20, 50))]
    assert one.draft is None


def test_marks_stay_with_their_case_until_they_are_cleared() -> None:
    one = tool()
    for kind, count in (("ruler", 1), ("roi", 2)):
        one.start(kind)  # type: ignore[arg-type]
        one.press(left(10, 20))
        one.move(Mouse(30, 20))
        one.release(left(30, 20))
        assert len(one.marks()) == count
    one.open_case("two")
    assert one.marks() == []
    one.open_case("one")
    assert [mark.shape for mark in one.marks()] == ["ruler", "ellipse"]
    assert one.key("backspace")
    assert [mark.shape for mark in one.marks()] == ["ruler"]
    assert one.clear() == 1
    assert one.marks() == []


def test_escape_drops_what_is_drawn_first_and_then_the_tool() -> None:
    one = tool()
    one.start("roi")
    one.press(left(10, 20))
    one.release(left(10, 20))
    assert one.draft is not None
    assert one.key("escape")
    assert (one.draft, one.tool) == (None, "ellipse")
    assert one.key("escape")
    assert one.tool is None
    assert not one.key("escape")


def test_the_key_of_regions_goes_from_ellipse_to_rectangle_to_none() -> None:
    one = tool()
    seen = []
    for _ in range(4):
        one.start("roi")
        seen.append(one.tool)
    assert seen == ["ellipse", "rectangle", None, "ellipse"]
    one.start("ruler")
    assert one.tool == "ruler"
    one.start("ruler")
    assert one.tool is None
