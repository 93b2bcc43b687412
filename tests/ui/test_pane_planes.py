"""A pane shows what the layer shows in that plane, for every order in which a file can store its axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel
from scan_phantoms import SCAN_SPEC, block_scan

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.phantoms import marker_phantom, reoriented
from medotter_viewer.ui import colors
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.going import ORDERS
from medotter_viewer.ui.layers import ShowOptions, specs
from medotter_viewer.ui.pane_content import PaneContents
from medotter_viewer.ui.pane_layers import PaneLayers
from medotter_viewer.ui.pane_painting import ImagePlane, LabelPlane, color_table, painted
from medotter_viewer.ui.placing import place
from medotter_viewer.ui.second_layers import place_second, second_vectors
from medotter_viewer.ui.vector_display import VectorDisplay

CODES = [
    "".join(letters) for axes in itertools.permutations(("LR", "PA", "IS")) for letters in itertools.product(*axes)
]
SPEC = EvalSpec("seg", {"one": (1,), "two": (2,), "all": (1, 2, 3)}, ("dice",), Headline("one", "dice"))


def make_case(codes: str) -> Case:
    phantom = marker_phantom()
    pred = LabelMap(np.roll(phantom.labels.data, (1, 1), (0, 2)), phantom.labels.grid)
    gt = reoriented(phantom.labels, codes)
    entry = CaseEntry("set/1", dataset="set", remap=Remap(None, "none"))
    return Case(entry, {"image": reoriented(phantom.channels["image"], codes)}, gt, gt, reoriented(pred, codes))


def at_voxels(plane: Any) -> tuple[Any, Any]:
    """Displayed mm of the centres of a plane's voxels."""
    rows, columns = plane.plane.shape[:2]
    return (
        plane.translate[0] + plane.scale[0] * np.arange(rows),
        plane.translate[1] + plane.scale[1] * np.arange(columns),
    )


@pytest.fixture(scope="module")
def shown() -> tuple[ViewerModel, Display]:
    viewer = ViewerModel()
    return viewer, Display(viewer)


MODES = (ShowOptions(limits=(0.0, 50.0)), ShowOptions(mode="error"), ShowOptions(mode="fill", region="all"))


def pictures(viewer: ViewerModel, display: Display, codes: str, options: ShowOptions) -> list[Any]:
    """First, inner and last slice of every plane, painted; painted of what the layers hold."""
    display.apply(specs(make_case(codes), SPEC, options))
    visible = [layer for layer in viewer.layers if layer.visible]
    found = []
    for axis in range(3):
        count = visible[0].data.shape[axis]
        for index in (0, count // 3, count - 1):
            place = [0, 0, 0]
            place[axis] = index
            planes = PaneLayers().planes(viewer.layers, axis, display.to_mm(place)[axis])
            assert len(planes) == len(visible) > 1
            for plane, layer in zip(planes, visible, strict=True):
                np.testing.assert_array_equal(plane.plane, np.take(np.asarray(layer.data), index, axis=axis))
            found.append(painted(planes, *at_voxels(planes[0])))
    return found


@pytest.fixture(scope="module")
def reference(shown: Any) -> list[Any]:
    return [pictures(*shown, "RAS", options) for options in MODES]


@pytest.mark.parametrize("codes", CODES)
def test_panes_are_the_slices_of_the_layers(codes: str, shown: Any, reference: list[Any]) -> None:
    n = 1 if codes not in ("LPI", "SLA", "PIR") else len(MODES)
    for options, expected in zip(MODES[:n], reference[:n], strict=True):
        for found, wanted in zip(pictures(*shown, codes, options), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("codes", ["RAS", "LPI", "SLA"])
def test_panes_are_what_the_canvas_would_show(codes: str, shown: Any) -> None:
    viewer, display = shown
    display.apply(specs(make_case(codes), SPEC, ShowOptions(mode="error")))
    for axis in range(3):
        viewer.dims.order = ORDERS[axis]
        display.set_slice(4, axis=axis)
        planes = PaneLayers().planes(viewer.layers, axis, viewer.dims.point[axis])
        for plane, layer in zip(planes, [layer for layer in viewer.layers if layer.visible], strict=True):
            np.testing.assert_array_equal(plane.plane, layer._data_view)


@pytest.mark.parametrize("codes", CODES)
def test_a_marker_on_the_right_is_seen_at_the_left_of_a_pane(codes: str, shown: Any) -> None:
    viewer, display = shown
    grid = marker_phantom((60, 50, 40), (2.0, 2.5, 3.0)).labels.grid
    image = np.zeros(grid.shape, dtype=np.int16)
    image[50, 10, 30] = 1000  # right, back, head
    volume = reoriented(type(marker_phantom().channels["image"])(image, grid), codes)
    display.apply(specs(Case(CaseEntry("set/1"), {"image": volume}), SPEC, ShowOptions(limits=(0, 500))))
    world = grid.voxel_to_world((50, 10, 30))
    position = (-world[2], -world[1], -world[0])
    for axis in range(3):
        (plane,) = PaneLayers().planes(viewer.layers, axis, position[axis])
        rows, columns = at_voxels(plane)
        picture = painted([plane], rows, columns)[..., 0]
        ((row, column),) = np.argwhere(picture == 255)
        down, across = (a for a in range(3) if a != axis)
        assert (rows[row], columns[column]) == pytest.approx((position[down], position[across]))
        is_left, is_up = column < len(columns) / 2, row < len(rows) / 2
        # the right of the patient is at the left, the head up; the back down, and at the right of a sagittal plane
        assert (is_left, is_up) == {0: (True, False), 1: (True, True), 2: (False, True)}[axis]


def test_a_volume_is_not_copied(shown: Any) -> None:
    viewer, display = shown
    case = make_case("LPI")
    display.apply(specs(case, SPEC, ShowOptions()))
    for axis in range(3):
        position = viewer.dims.point[axis]
        for plane in PaneLayers().planes(viewer.layers, axis, position):
            if isinstance(plane, ImagePlane):
                assert np.shares_memory(plane.plane, case.channels["image"].data)


def test_hidden_layers_and_places_outside_are_left_out(shown: Any) -> None:
    viewer, display = shown
    display.apply(specs(make_case("RAS"), SPEC, ShowOptions(mode="off")))
    found = PaneLayers().planes(viewer.layers, 0, viewer.dims.point[0])
    assert [type(plane) for plane in found] == [ImagePlane]
    assert PaneLayers().planes(viewer.layers, 0, 1e6) == []


def test_a_pane_follows_what_is_set_by_hand(shown: Any) -> None:
    viewer, display = shown
    display.apply(specs(make_case("RAS"), SPEC, ShowOptions()))
    image, pred = display.layer("image:image"), display.layer("pred")
    image.contrast_limits, pred.opacity, pred.contour = (10.0, 20.0), 0.25, 3
    found = PaneLayers().planes(viewer.layers, 1, viewer.dims.point[1])
    assert isinstance(found[0], ImagePlane)
    assert found[0].limits == (10.0, 20.0)
    assert isinstance(found[-1], LabelPlane)
    assert (found[-1].opacity, found[-1].contour) == (0.25, 3)


def test_contours_of_a_second_model_are_seen_in_all_planes_unless_they_are_hidden() -> None:
    case = block_scan()
    placed = place(case, SCAN_SPEC)
    assert placed.grid is not None
    viewer, order = ViewerModel(), display_order(placed.grid)
    vectors = VectorDisplay(viewer)
    inside = order.displayed_index((10, 6, 2), placed.grid.shape)  # of the block, moved by two columns
    point = np.asarray(order.translate) + np.asarray(order.scale) * inside
    color = color_table({1: colors.rgba(colors.SECOND_ACCENT)})[1].tolist()
    for hidden in (frozenset[str](), frozenset({"second"})):
        options = ShowOptions(hidden=hidden)
        vectors.apply(second_vectors(place_second(case, "other", placed, SCAN_SPEC), placed, options))
        axial, *across = (PaneContents(viewer, vectors).content(placed.grid, a, point[a]) for a in range(3))
        assert [line.color for line in axial.lines] == [colors.SECOND_ACCENT] * (not hidden)
        for content in across:
            cuts = [plane for plane in content.planes if isinstance(plane, LabelPlane)]
            assert [cut.colors[1].tolist() for cut in cuts] == [color] * (not hidden)
