"""Contours and points lie where image and files put them; what cannot be drawn is said. No window needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel
from scan_phantoms import BLOCK, POSES, SCAN_SPEC, SHAPE, STEP_MM, block_ring, block_scan, block_stack

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.session.first_view import first_view
from medotter_viewer.ui.banner import banner_text
from medotter_viewer.ui.contour_layers import contour_specs
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.layers import specs
from medotter_viewer.ui.legend import merged, vector_legend
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.placing import Placed, place
from medotter_viewer.ui.vector_display import MOST_RINGS, VectorDisplay
from medotter_viewer.ui.vectors import vector_specs

SPINE = EvalSpec("vertebra", {"L1": (20,)}, ("dice", "id_rate"), Headline("L1", "dice"))


class Shown:
    """A viewer without a window in which cases are shown."""

    def __init__(self) -> None:
        self.viewer = ViewerModel()
        self.display, self.vectors = Display(self.viewer), VectorDisplay(self.viewer)

    def show(self, case: Case, options: ShowOptions | None = None, spec: EvalSpec = SCAN_SPEC) -> Placed:
        options, placed = options or ShowOptions(), place(case, spec)
        self.display.apply([*specs(case, spec, options), *contour_specs(case, placed, options)])
        self.vectors.apply(vector_specs(placed, options))
        return placed

    def go_to(self, case: Case, *, axis: int = 0) -> None:
        index, found = first_view(case, SCAN_SPEC)
        assert index is not None
        assert found == axis
        self.display.set_slice(index, axis=axis)
        self.vectors.follow()

    def corners_mm(self, role: str) -> np.ndarray:
        """Displayed mm of the points of the only outline of a layer, without the one that closes it."""
        layer: Any = self.vectors.layer(role)
        (path,) = layer.data
        np.testing.assert_array_equal(path[0], path[-1])
        return np.asarray(path[:-1] * layer.scale + layer.translate)


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.mark.parametrize("pose", list(POSES))
def test_a_contour_runs_along_the_edges_of_the_pixels_it_encloses(pose: str, shown: Shown) -> None:
    """Which displayed voxels are bright is read from the image layer, not from any geometry of contours."""
    case = block_scan(pose, shift=0.0)
    shown.show(case)
    image: Any = shown.display.layer("image:image")
    bright = np.argwhere(np.asarray(image.data) == 300)
    edges = [
        np.sort(np.array([bright[:, a].min() - 0.5, bright[:, a].max() + 0.5]) * image.scale[a] + image.translate[a])
        for a in range(3)
    ]
    for index in np.unique(bright[:, 0]):
        shown.display.set_slice(int(index))
        shown.vectors.follow()
        corners = shown.corners_mm("gt_rings")
        np.testing.assert_allclose(corners[:, 0], index * image.scale[0] + image.translate[0], rtol=0, atol=1e-9)
        for a in (1, 2):
            np.testing.assert_allclose(np.unique(np.round(corners[:, a], 6)), edges[a], rtol=0, atol=1e-6)


@pytest.mark.parametrize("pose", list(POSES))
def test_contours_filled_by_pixels_are_the_bright_ones(pose: str, shown: Shown) -> None:
    case = block_scan(pose, shift=0.0)
    shown.show(case, ShowOptions(mode="fill"))
    image, filled = shown.display.layer("image:image"), shown.display.layer("gt")
    np.testing.assert_array_equal(np.asarray(filled.data), np.asarray(image.data) // 300)
    for axis in (1, 2):  # planes across the slices
        keys: list[Any] = [slice(None)] * 3
        keys[axis] = 14
        np.testing.assert_array_equal(filled.data[tuple(keys)], np.asarray(image.data)[tuple(keys)] // 300)


def test_supine_and_prone_lie_as_in_the_patient(shown: Shown) -> None:
    # head first supine: first pixel at x -20, y 35; columns 6..11 of 1.5 mm, rows 4..8 of 2 mm
    for pose, x, y in (
        ("head first supine", (-11.75, -2.75), (42, 52)),
        ("head first prone", (-37.25, -28.25), (18, 28)),
    ):
        case = block_scan(pose)
        shown.show(case)
        shown.go_to(case)
        corners = shown.corners_mm("gt_rings")  # displayed axes P and L are y and x of LPS
        assert (corners[:, 2].min(), corners[:, 2].max()) == pytest.approx(x, abs=1e-9)
        assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx(y, abs=1e-9)


def test_only_the_slice_that_is_looked_at_is_in_the_layer(shown: Shown) -> None:
    case = block_scan()
    shown.show(case)
    held = []
    for index in range(SHAPE[2]):
        shown.display.set_slice(index)
        shown.vectors.follow()
        held.append(tuple(len(shown.vectors.layer(role).data) for role in ("gt_rings", "pred_rings")))
    # slices 1 to 3 from the feet are displayed 4, 3, 2; the prediction misses the last of them
    assert held == [(0, 0), (0, 0), (1, 0), (1, 1), (1, 1), (0, 0)]


def test_planes_across_the_slices_and_3d_show_no_outlines(shown: Shown) -> None:
    case = block_scan()
    shown.show(case)
    shown.go_to(case)
    assert len(shown.vectors.layer("gt_rings").data) == 1
    shown.viewer.dims.order = (1, 0, 2)
    shown.vectors.follow()
    assert len(shown.vectors.layer("gt_rings").data) == 0
    shown.viewer.dims.order = (0, 1, 2)
    shown.viewer.dims.ndisplay = 3
    shown.vectors.follow()
    assert len(shown.vectors.layer("gt_rings").data) == 0


def test_a_scan_opens_on_its_most_wrong_slice() -> None:
    # 9 x 10 mm missed on the third slice; 3 x 10 mm missed and as much invented on the other two
    assert first_view(block_scan(), SCAN_SPEC) == (2, 0)
    right = replace(block_scan(), pred_contours=block_scan().gt_contours)
    assert first_view(right, SCAN_SPEC) == (2, 0)  # no error: the first with most of the target
    assert first_view(replace(right, gt_contours=ScanContours({}), pred_contours=ScanContours({})), SCAN_SPEC) == (3, 0)


RINGS = {
    "spike": [(0, 0), (0, 9), (9, 9), (9, 18), (9, 9), (9, 0)],
    "closed": [(0, 0), (9, 0), (9, 9), (0, 9), (0, 0)],
    "doubled": [(0, 0), (0, 0), (9, 0), (9, 0), (9, 9), (9, 9), (0, 9)],
    "bow-tie": [(0, 0), (9, 9), (9, 0), (0, 9)],
    "thin": [(0, 0), (9, 0), (9, 1e-7)],
    "keyhole": [(0, 0), (9, 0), (9, 9), (0, 9), (0, 3), (3, 3), (3, 6), (6, 6), (6, 3), (0, 3)],
    "crossed": [(9, 9), (0, 0), (3, 3), (0, 3), (3, 0), (6, 9), (9, 0), (0, 6)],
}
FLAT = {
    "collinear": [(0, 0), (0, 1), (0, 2)],
    "back and forth": [(4, 4), (3, 4), (4, 4)],
    "one": [(1, 1)],
    "same": [(1, 1)] * 4,
    "none": [],
    "not a number": [(0, 0), (np.nan, 1), (2, 2)],
}


def with_rings(rings: list[Any], number: int = 13) -> Case:
    found = ScanContours({number: [np.array(r, dtype=float).reshape(-1, 2) for r in rings]})
    return replace(block_scan(), gt_contours=found, pred_contours=ScanContours({}))


def test_rings_of_every_kind_are_drawn_or_listed(shown: Shown) -> None:
    case = with_rings([*RINGS.values(), *FLAT.values()])
    placed = shown.show(case)
    shown.display.set_slice(SHAPE[2] - 1 - 2)  # number 13 is the third from the feet
    shown.vectors.follow()
    assert len(shown.vectors.layer("gt_rings").data) == len(RINGS)
    assert placed.notes == (f"ground truth: {len(FLAT)} contours without area (slice 13): not drawn",)
    assert placed.notes[0] in banner_text(case, notes=placed.notes)


def test_rings_on_slices_that_the_scan_lacks_are_listed(shown: Shown) -> None:
    case = block_scan()
    assert case.gt_contours is not None
    far = ScanContours({**case.gt_contours.rings, 99: [np.array([(0, 0), (9, 0), (9, 9.0)])]})
    placed = shown.show(replace(case, gt_contours=far))
    assert placed.notes == ("ground truth: 1 contour on slices that the scan lacks (99): not drawn",)


def test_thousands_of_rings_on_a_slice_show_the_largest(shown: Shown) -> None:
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1.0)])
    case = with_rings([*(square * 0.1 + n % 50 for n in range(10_000)), square * 9])
    shown.show(case)
    shown.display.set_slice(SHAPE[2] - 1 - 2)
    shown.vectors.follow()
    layer: Any = shown.vectors.layer("gt_rings")
    assert len(layer.data) == MOST_RINGS
    assert max(np.ptp(path[:, 2]) for path in layer.data) == pytest.approx(9 / 1.5)
    assert shown.vectors.n_left_out() == 10_001 - MOST_RINGS


def test_without_an_image_contours_lie_on_an_empty_grid_of_the_right_scale(shown: Shown) -> None:
    case = block_scan(image=False)
    shown.show(case)
    shown.go_to(case)
    ground: Any = shown.display.layer("ground")
    assert ground.data.shape == SHAPE[::-1]
    assert tuple(ground.scale) == (STEP_MM, 2.0, 1.5)
    assert "no image" in banner_text(case)
    corners = shown.corners_mm("gt_rings")
    assert np.ptp(corners[:, 2]) == pytest.approx(9.0)
    assert np.ptp(corners[:, 1]) == pytest.approx(10.0)
    shown.show(block_scan())
    assert not shown.display.layer("ground").visible


def test_without_positions_slices_follow_their_numbers(shown: Shown) -> None:
    case = replace(block_scan(image=False), stack=None)
    placed = shown.show(case)
    assert placed.grid is not None
    assert not placed.grid.has_world
    assert "in the order of their numbers" in banner_text(case)
    index, axis = first_view(case, SCAN_SPEC)
    assert (index, axis) == (3, 0)  # numbers 11 to 16, the most wrong is 14
    shown.go_to(case)
    assert np.ptp(shown.corners_mm("gt_rings")[:, 2]) == pytest.approx(9.0)


def test_without_positions_nothing_is_drawn_over_an_image(shown: Shown) -> None:
    placed = shown.show(replace(block_scan(), stack=None))
    assert placed.gt is None
    assert placed.notes[0] == "ground truth: 3 contours not drawn, the files do not say where the slices lie"


def test_upright_slices_do_not_take_contours_of_x_and_y(shown: Shown) -> None:
    sagittal = np.array([[0.0, 1, 0], [0, 0, -1], [1, 0, 0]])
    case = replace(block_scan(image=False), stack=block_stack(sagittal))
    placed = shown.show(case)
    assert "x and y do not place them on upright slices" in placed.notes[0]


@pytest.mark.parametrize("side", ["gt_contours", "pred_contours"])
def test_a_side_that_is_missing_or_empty_leaves_its_layer_empty(side: str, shown: Shown) -> None:
    role = side.replace("contours", "rings")
    case = block_scan()
    shown.show(case)
    shown.go_to(case)
    for nothing in (None, ScanContours({}), ScanContours({12: []})):
        shown.show(replace(block_scan(), **{side: nothing}))
        shown.vectors.follow()
        assert len(shown.vectors.layer(role).data) == 0


def test_seeds_lie_on_their_slice_and_those_that_do_not_are_listed(shown: Shown) -> None:
    case = replace(block_scan(), seeds=((13, -10.0, 45.0), (77, 0.0, 0.0)))
    placed = shown.show(case)
    layer: Any = shown.vectors.layer("seeds")
    # x -10 is 10 mm from the first column of 1.5 mm, y 45 10 mm from the first row of 2 mm; number 13 is displayed 3
    mm = layer.data * layer.scale + layer.translate
    np.testing.assert_allclose(mm, [[-(100 + 2 * STEP_MM), 45.0, -10.0]], rtol=0, atol=1e-9)
    assert placed.notes == ("1 of 2 seeds lie on no slice: not drawn",)
    assert layer.projection_mode == "none"


def test_other_structures_are_grey_and_hidden_until_asked_for(shown: Shown) -> None:
    case = block_scan()
    assert case.gt_contours is not None
    lung = ScanContours({13: [np.array([(-20, 35), (20, 35), (20, 60.0)])]})
    case = replace(case, structures={"target": case.gt_contours, "lung": lung})
    placed = shown.show(case)
    assert placed.others is not None
    assert sum(len(rings) for rings in placed.others.rings.values()) == 1  # the target is drawn already
    layer: Any = shown.vectors.layer("other_rings")
    assert not layer.visible
    shown.show(case, ShowOptions(others=True))
    shown.display.set_slice(3)
    shown.vectors.follow()
    assert layer.visible
    assert len(layer.data) == 1
    assert ("other structures", "#B8B8B8") in vector_legend(placed, ShowOptions(others=True))


def test_errors_of_a_scan_are_counted_pixel_by_pixel(shown: Shown) -> None:
    case = block_scan()
    placed = shown.show(case, ShowOptions(mode="error"))
    errors = np.asarray(shown.display.layer("error").data)
    # shifted by two of six columns: per slice 4 x 5 pixels right, 2 x 5 missed, 2 x 5 invented; the third all missed
    assert [np.count_nonzero(errors[3] == value) for value in (1, 2, 3)] == [20, 10, 10]
    assert np.count_nonzero(errors[2]) == 30
    assert [word for word, _ in vector_legend(placed, ShowOptions(mode="error"))] == [
        "right",
        "missed (FN)",
        "invented (FP)",
    ]
    assert not shown.vectors.layer("gt_rings").visible


@pytest.mark.parametrize("pose", list(POSES))
def test_errors_of_a_scan_with_a_predicted_label_map_are_counted_against_its_contours(pose: str, shown: Shown) -> None:
    case = block_scan(pose, shift=0.0)
    labels = np.zeros(SHAPE, dtype=np.uint8)
    labels[BLOCK] = 1
    labels[BLOCK[0], BLOCK[1], 3] = 0  # missed on the last of three slices
    labels[0, 0, 0] = 1
    assert case.stack is not None
    case = replace(case, pred=LabelMap(labels, case.stack.grid), pred_contours=None)
    shown.show(case, ShowOptions(mode="error"))
    errors = np.asarray(shown.display.layer("error").data)
    assert [np.count_nonzero(errors == value) for value in (1, 2, 3)] == [60, 30, 1]
    shown.show(case, ShowOptions(mode="fill"))
    assert np.count_nonzero(shown.display.layer("gt").data) == 90
    assert np.count_nonzero(shown.display.layer("pred").data) == 61


def spine(**parts: Any) -> Case:
    grid = Grid((20, 30, 40), np.array([[2.0, 0, 0, -10], [0, 2, 0, -20], [0, 0, 3, 5], [0, 0, 0, 1]]))
    labels = LabelMap(np.zeros(grid.shape, dtype=np.uint8), grid)
    case = Case(
        CaseEntry("S/1", pred_path=Path("pred")),
        gt=labels,
        gt_landmarks=Landmarks({20: (10, 0, 65), 21: (10, 0, 35), 22: (10, 4, 8)}),
        pred_landmarks=Landmarks({20: (10, 6, 65), 21: (10, 0, 60), 19: (10, 0, 90)}),
    )
    return replace(case, **parts)


def test_points_lie_at_their_world_position_and_carry_names(shown: Shown) -> None:
    placed = shown.show(spine(), spec=SPINE)
    gt, pred = shown.vectors.layer("gt_points"), shown.vectors.layer("pred_points")
    # displayed mm are (-z, -y, -x) of RAS+
    np.testing.assert_allclose(
        gt.data * gt.scale + gt.translate, [(-65, 0, -10), (-35, 0, -10), (-8, -4, -10)], atol=1e-9
    )
    # L1 is 6 mm off and identified: one name for both; L2 lies nearer to L1; L3 is missed; T12 is extra
    assert list(gt.features["name"].str.strip()) == ["", "L2", "L3 missed"]
    assert list(pred.features["name"].str.strip()) == ["L1", "L2", "T12 extra"]
    lines: Any = shown.vectors.layer("distances")
    lengths = np.linalg.norm(lines.data[:, 1] * lines.scale, axis=1)
    np.testing.assert_allclose(lengths, [6.0, 25.0])
    assert [tuple(np.round(c[:3], 2)) for c in lines.edge_color] == [(0.0, 0.83, 1.0), (0.94, 0.89, 0.26)]
    assert merged(vector_legend(placed, ShowOptions())) == [
        ("ground truth points", "#00D3FF"),
        ("predicted points", "#FF8C1A"),
        ("not identified", "#F0E442"),
    ]


def test_a_name_stands_at_the_ground_truth_where_the_predicted_point_is_not_drawn(shown: Shown) -> None:
    far = Landmarks({20: (27, 0, 65)})  # 17 mm to the side: identified, but drawn up to 15 mm beside a sagittal plane
    shown.show(spine(gt_landmarks=Landmarks({20: (10, 0, 65)}), pred_landmarks=far), spec=SPINE)
    gt, pred = shown.vectors.layer("gt_points"), shown.vectors.layer("pred_points")
    shown.viewer.dims.order = (2, 0, 1)
    for x, at_gt in ((24, ""), (10, "L1"), (12, "")):
        shown.display.set_slice((28 - x) // 2, axis=2)  # displayed from x = 28 to the left
        shown.vectors.follow()
        assert list(gt.features["name"].str.strip()) == [at_gt]
        assert list(pred.features["name"].str.strip()) == ["L1"]


def test_hiding_a_side_hides_its_points_and_gives_the_other_its_names(shown: Shown) -> None:
    shown.show(spine(), ShowOptions(hidden=frozenset({"pred"})), spec=SPINE)
    assert shown.vectors.layer("gt_points").visible
    assert not shown.vectors.layer("pred_points").visible
    assert not shown.vectors.layer("distances").visible
    assert list(shown.vectors.layer("gt_points").features["name"].str.strip()) == ["L1", "L2", "L3 missed"]


@pytest.mark.parametrize(
    "parts",
    [
        {"gt": None},
        {"gt": None, "pred_landmarks": None},
        {"gt": None, "gt_landmarks": None},
        {"gt_landmarks": None, "pred_landmarks": None},
        {"gt_landmarks": Landmarks({}), "pred_landmarks": Landmarks({})},
        {"gt": None, "gt_landmarks": Landmarks({}), "pred_landmarks": None},
    ],
)
def test_points_without_masks_and_masks_without_points_are_shown(parts: dict[str, Any], shown: Shown) -> None:
    case = spine(**parts)
    placed = shown.show(case, spec=SPINE)
    first_view(case, SPINE)
    banner_text(case, notes=placed.notes)
    there = [side for side in (case.gt_landmarks, case.pred_landmarks) if side is not None and side.points_world]
    assert (placed.grid is None) == (case.gt is None and not there)
    shown.show(block_scan())
    assert all(len(shown.vectors.layer(r).data) == 0 for r in ("gt_points", "pred_points") if shown.vectors.layer(r))


def test_points_without_any_grid_lie_in_a_box_of_mm(shown: Shown) -> None:
    shown.show(spine(gt=None), spec=SPINE)
    ground, gt = shown.display.layer("ground"), shown.vectors.layer("gt_points")
    assert tuple(ground.scale) == (1.0, 1.0, 1.0)
    np.testing.assert_allclose((gt.data * gt.scale + gt.translate)[0], (-65, 0, -10), atol=1e-9)


def test_points_near_the_slice_are_drawn_and_far_ones_are_not(shown: Shown) -> None:
    shown.show(spine(), spec=SPINE)
    assert tuple(shown.viewer.dims.margin_left) == (8.0, 15.0, 15.0)
    shown.show(block_scan())
    assert tuple(shown.viewer.dims.margin_left) == (0.0, 0.0, 0.0)


def test_layers_stay_the_same_objects_above_the_images_and_below_the_users(shown: Shown) -> None:
    shown.show(block_scan())
    mine = shown.viewer.add_points(np.zeros((1, 3)), units=("mm",) * 3)
    first = shown.vectors.layer("gt_rings")
    shown.show(spine(), spec=SPINE)
    shown.show(replace(block_scan(), seeds=((13, -10.0, 45.0),)))
    assert shown.vectors.layer("gt_rings") is first
    names = [layer.name for layer in shown.viewer.layers]
    assert names.index("image") < names.index("ground truth contours") < names.index("prediction contours")
    assert names.index("prediction contours") < names.index("seeds")
    assert shown.viewer.layers[-1] is mine
    for layer in shown.viewer.layers:
        assert [str(unit) for unit in layer.units] == ["millimeter"] * 3


def test_lines_keep_their_width_on_the_screen(shown: Shown) -> None:
    case = block_scan()
    shown.show(case)
    shown.go_to(case)
    layer: Any = shown.vectors.layer("gt_rings")
    shown.viewer.scene.camera.zoom = 4.0
    shown.vectors.follow_zoom()
    thick = layer.edge_width[0]
    shown.viewer.scene.camera.zoom = 8.0
    shown.vectors.follow_zoom()
    assert layer.edge_width[0] == pytest.approx(thick / 2)


def test_closing_takes_every_layer_away(shown: Shown) -> None:
    shown.show(replace(block_scan(), seeds=((13, -10.0, 45.0),)))
    shown.vectors.close()
    shown.display.close()
    assert len(shown.viewer.layers) == 0


def test_a_position_inside_a_ring_is_told(shown: Shown) -> None:
    case = block_scan("feet first prone", shift=0.0)
    placed = shown.show(case)
    image: Any = shown.display.layer("image:image")
    data = np.asarray(image.data)
    for index in [(4, 20, 30), tuple(np.argwhere(data == 300)[7]), (1, 1, 1)]:
        position = np.array(index) * image.scale + image.translate
        assert placed.gt is not None
        assert placed.gt.covers(position) == (data[index] == 300)
    assert BLOCK[0].start == 6
    assert block_ring(case.stack, 0).shape == (4, 2)  # type: ignore[arg-type]
