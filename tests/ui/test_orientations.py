"""However a file stores its axes, the same patient is seen the same way and scored the same."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.phantoms import marker_phantom, reoriented
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.scoring.slices import slice_profile
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.layers import ShowOptions, specs
from medotter_viewer.ui.letters import EdgeLetters, edge_letters

CODES = [
    "".join(letters) for axes in itertools.permutations(("LR", "PA", "IS")) for letters in itertools.product(*axes)
]
SPEC = EvalSpec("seg", {"one": (1,), "two": (2,), "all": (1, 2, 3)}, ("dice", "hd95"), Headline("one", "dice"))
OPTIONS = (ShowOptions(), ShowOptions(mode="error"), ShowOptions(region="all"))
ORDERS = {"axial": (0, 1, 2), "coronal": (1, 0, 2), "sagittal": (2, 0, 1)}


def make_case(codes: str) -> Case:
    phantom = marker_phantom()
    wrong = np.roll(phantom.labels.data, (1, 1), (0, 2))
    wrong[4, 5, 3] = 3
    pred = LabelMap(wrong, phantom.labels.grid)
    gt = reoriented(phantom.labels, codes)
    entry = CaseEntry("set/1", dataset="set", remap=Remap(None, "none"))
    return Case(entry, {"image": reoriented(phantom.channels["image"], codes)}, gt, gt, reoriented(pred, codes))


def numbers(score: CaseScore) -> dict[tuple[str, str], float | None]:
    return {(r, m): value.value for r, region in score.regions.items() for m, value in region.metrics.items()}


class Reference:
    """What is shown and scored of a case that is stored as RAS, found once."""

    def __init__(self) -> None:
        case = make_case("RAS")
        self.shown = [(options, specs(case, SPEC, options)) for options in OPTIONS]
        self.numbers = numbers(score_case(case, SPEC))
        self.profiles = [slice_profile(case, SPEC, axis=axis) for axis in range(3)]


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


@pytest.fixture(scope="module")
def display() -> Display:
    return Display(ViewerModel())


def test_there_are_48_ways_to_store_a_volume() -> None:
    assert len(set(CODES)) == 48


@pytest.mark.parametrize("codes", CODES)
def test_every_way_looks_and_scores_the_same(codes: str, reference: Reference, display: Display) -> None:
    case = make_case(codes)
    assert case.gt is not None
    assert case.gt.grid.axcodes == codes
    for options, expected in reference.shown:
        display.apply(specs(case, SPEC, options))
        for spec in expected:
            layer = display.layer(spec.role)
            np.testing.assert_array_equal(np.asarray(layer.data), np.asarray(spec.data), err_msg=spec.role)
            np.testing.assert_allclose(layer.scale, spec.scale, rtol=0, atol=1e-9)
            np.testing.assert_allclose(layer.translate, spec.translate, rtol=0, atol=1e-9)
    known = reference.numbers
    found = numbers(score_case(case, SPEC))
    assert known.keys() == found.keys()
    assert {name for _, name in known} >= {"dice", "hd95"}
    for key, value in known.items():
        assert found[key] == pytest.approx(value, rel=0, abs=1e-12), key
    for axis, one in enumerate(reference.profiles):
        other = slice_profile(case, SPEC, axis=axis)
        assert one is not None
        assert other is not None
        assert one.worst == other.worst
        np.testing.assert_array_equal(one.error_mm2, other.error_mm2)


def test_the_sides_are_written_as_a_radiologist_expects() -> None:
    assert edge_letters(ORDERS["axial"]) == EdgeLetters("R", "L", "A", "P")
    assert edge_letters(ORDERS["coronal"]) == EdgeLetters("R", "L", "S", "I")
    assert edge_letters(ORDERS["sagittal"]) == EdgeLetters("A", "P", "S", "I")


def test_a_turned_camera_turns_the_letters() -> None:
    assert edge_letters(ORDERS["axial"], vertical="up") == EdgeLetters("R", "L", "P", "A")
    assert edge_letters(ORDERS["axial"], horizontal="left") == EdgeLetters("L", "R", "A", "P")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_letters_name_the_side_where_a_marker_is_seen(order: tuple[int, int, int]) -> None:
    """A voxel at the end of each displayed axis lies at the edge that carries the axis' letter."""
    letters = edge_letters(order)
    assert (letters.bottom, letters.right) == ("IPL"[order[1]], "IPL"[order[2]])
    opposite = {"I": "S", "P": "A", "L": "R"}
    assert (letters.top, letters.left) == (opposite[letters.bottom], opposite[letters.right])


def bright_spot(pixels: Any) -> tuple[float, float]:
    """Row and column of the middle of what is near white."""
    rows, columns = np.nonzero(pixels[..., :3].min(axis=-1) > 200)
    return float(rows.mean()), float(columns.mean())


@pytest.mark.window
@pytest.mark.parametrize("codes", ["RAS", "LPI", "SLA"])
@pytest.mark.parametrize("view", list(ORDERS))
def test_a_marker_on_the_right_is_seen_at_the_left(codes: str, view: str, new_viewer: Any) -> None:
    grid = marker_phantom((60, 50, 40), (2.0, 2.5, 3.0)).labels.grid
    image = np.zeros(grid.shape, dtype=np.int16)
    marker = (50, 10, 30)  # right, back, head
    image[49:52, 9:12, 29:32] = 1000
    volume = reoriented(type(marker_phantom().channels["image"])(image, grid), codes)
    case = Case(CaseEntry("set/1"), {"image": volume})
    viewer = new_viewer()
    viewer.window.resize(900, 700)
    viewer.dims.order = ORDERS[view] if viewer.dims.ndim == 3 else viewer.dims.order
    display = Display(viewer)
    display.apply(specs(case, SPEC, ShowOptions(limits=(0, 500))))
    viewer.dims.order = order = ORDERS[view]
    display.fit()
    world = grid.voxel_to_world(marker)
    shown_mm = (-world[2], -world[1], -world[0])
    viewer.dims.set_point((0, 1, 2), shown_mm)
    pixels = viewer.screenshot(canvas_only=True, flash=False)
    height, width = pixels.shape[:2]
    camera = viewer.scene.camera
    row = height / 2 + (shown_mm[order[1]] - camera.center[1]) * camera.zoom
    column = width / 2 + (shown_mm[order[2]] - camera.center[2]) * camera.zoom
    found = bright_spot(pixels)
    assert abs(found[0] - row) <= 2
    assert abs(found[1] - column) <= 2
    right_is_left, back_is_down = column < width / 2, row > height / 2
    if view == "sagittal":
        assert column > width / 2  # back is at the right
    else:
        assert right_is_left
    if view == "axial":
        assert back_is_down
    else:
        assert row < height / 2  # head is at the top
