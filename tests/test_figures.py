"""The picture of a case: which slice, where on the paper, which side is which."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text
from numpy.typing import NDArray
from scan_phantoms import BLOCK, SCAN_SPEC, SHAPE, block_scan

from medotter_viewer.core.accents import GT_ACCENT, PRED_ACCENT
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import default_limits
from medotter_viewer.errors import ReadError, UsageError
from medotter_viewer.figures import triplet
from medotter_viewer.figures.layout import GAP, HEIGHT, TITLE, WIDTH, arrange
from medotter_viewer.figures.planes import (
    PLANES,
    Frame,
    bar_length_mm,
    cut,
    edge_segments,
    position_text,
    turned_deg,
    window_limits,
)
from medotter_viewer.figures.scene import make_scene, planes_of
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.ui.layers import ShowOptions, specs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXIAL, CORONAL, SAGITTAL = PLANES
SPEC = EvalSpec.from_mapping({"eval_regions": {"a": [1], "b": [2], "both": [1, 2]}, "main_region": "a"})
RAS = Grid((6, 5, 4), np.diag([2.0, 3.0, 4.0, 1.0]))  # i to the right 2 mm, j to the front 3 mm, k to the head 4 mm


def _case(grid: Grid = RAS, **parts: Any) -> Case:
    return Case(CaseEntry("SET/0001", remap=Remap(None, "none")), **parts)


def _labels(*voxels: tuple[int, int, int], grid: Grid = RAS, value: int = 1) -> LabelMap:
    data = np.zeros(grid.shape, dtype=np.uint8)
    for voxel in voxels:
        data[voxel] = value
    return LabelMap(data, grid)


def _texts(figure: Figure) -> list[str]:
    return [t.get_text() for t in [*figure.texts, *(t for axes in figure.axes for t in [*axes.texts, axes.title])]] + [
        axes.get_title(loc="left") for axes in figure.axes
    ]


# ---------------------------------------------------------------- which slice


def test_each_plane_goes_through_its_slice_with_the_largest_error() -> None:
    gt = _labels((0, 0, 0), (1, 1, 1))
    pred = _labels((1, 1, 1), (4, 2, 3), (5, 2, 3), (4, 3, 3))
    scene = make_scene(_case(gt=gt, pred=pred), SPEC, None, None)
    # errors: fn (0,0,0), fp (4,2,3) (5,2,3) (4,3,3); displayed axes run to the feet, the back and the left
    assert scene.indices == (4 - 1 - 3, 5 - 1 - 2, 6 - 1 - 4)


def test_the_chosen_region_decides_the_slice() -> None:
    gt = LabelMap(_labels((1, 1, 1)).data + _labels((2, 2, 2), value=2).data, RAS)
    case = _case(gt=gt, pred=_labels())
    assert make_scene(case, SPEC, "a", None).indices[0] == 2
    assert make_scene(case, SPEC, "b", None).indices[0] == 1


def test_without_labels_the_middle_is_shown() -> None:
    case = _case(channels={"ct": Volume(np.zeros(RAS.shape), RAS)})
    assert make_scene(case, SPEC, None, None).indices == (2, 2, 3)


# ---------------------------------------------------------------- edges and millimetres


def test_the_edges_of_a_block_of_four_pixels_are_eight_pixel_edges_long() -> None:
    pixels = np.zeros((5, 6), dtype=bool)
    pixels[1:3, 2:4] = True
    segments = edge_segments(pixels)
    assert np.abs(segments[:, 1] - segments[:, 0]).sum() == 8
    assert sorted(map(tuple, segments.reshape(-1, 4).tolist())) == [
        (1.5, 0.5, 1.5, 2.5),
        (1.5, 0.5, 3.5, 0.5),
        (1.5, 2.5, 3.5, 2.5),
        (3.5, 0.5, 3.5, 2.5),
    ]


def test_a_label_at_the_rim_is_closed_and_two_labels_share_one_edge() -> None:
    assert np.abs(np.diff(edge_segments(np.ones((2, 3), dtype=bool)), axis=1)).sum() == 10
    assert np.abs(np.diff(edge_segments(np.array([[1, 2]])), axis=1)).sum() == 6 + 1
    assert edge_segments(np.zeros((3, 3))).shape == (0, 2, 2)


def test_extents_are_the_outer_edges_of_the_voxels_in_mm() -> None:
    frame = Frame.of(RAS)
    assert frame.shape == (4, 5, 6)
    # x: right ends at R (5 + .5) * 2 = 11, left ends at R -1; y of the axial: front at A 13.5, back at A -1.5
    assert frame.extent(AXIAL) == (-11, 1, 1.5, -13.5)
    assert frame.extent(CORONAL) == (-11, 1, 2, -14)
    assert frame.extent(SAGITTAL) == (-13.5, 1.5, 2, -14)


def test_contours_lie_on_the_edges_of_their_voxel_in_mm() -> None:
    scene = make_scene(_case(gt=_labels((4, 1, 2))), SPEC, None, None)
    outline = scene.outline("gt", AXIAL)
    assert (outline.reshape(-1, 2).min(axis=0), outline.reshape(-1, 2).max(axis=0)) == (
        pytest.approx([-9, -4.5]),
        pytest.approx([-7, -1.5]),
    )


def test_the_nearest_slice_is_the_one_whose_slab_holds_the_position() -> None:
    frame = Frame((3, 1, 1), (5.0, 1.0, 1.0), (10.0, 0.0, 0.0))
    found = [frame.nearest_slice(0, mm) for mm in (7.4, 7.6, 12.4, 12.6, 22.4, 22.6)]
    assert found == [None, 0, 0, 1, 2, None]


def test_positions_name_the_side_of_the_origin() -> None:
    assert [position_text(0, 5), position_text(0, -5), position_text(1, -2.25), position_text(2, -1)] == [
        "I 5.0 mm",
        "S 5.0 mm",
        "A 2.2 mm",
        "R 1.0 mm",
    ]


@pytest.mark.parametrize(("width", "length"), [(100, 20), (66, 10), (400, 100), (3.4, 1), (0.5, 0.1)])
def test_scale_bars_are_round(width: float, length: float) -> None:
    assert bar_length_mm(width) == pytest.approx(length)


def test_the_angle_between_two_grids_is_that_of_a_known_rotation() -> None:
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]]
    assert turned_deg(RAS, Grid((9, 9, 9), turn @ RAS.affine)) == pytest.approx(np.degrees(0.1))
    assert turned_deg(RAS, Grid((9, 9, 9), np.diag([-1.0, -2.0, 3.0, 1.0]))) == 0


def test_panes_have_one_scale_and_fit_the_paper() -> None:
    for sizes in ([(300, 200), (300, 100), (200, 100)], [(300, 200), (300, 900), (200, 900)]):
        layout = arrange([(0, w, h, 0) for w, h in sizes])
        scales = {round(pane[2] / w, 9) for pane, (w, _) in zip(layout.panes, sizes, strict=True)}
        scales |= {round(pane[3] / h, 9) for pane, (_, h) in zip(layout.panes, sizes, strict=True)}
        assert len(scales) == 1
        assert layout.width <= WIDTH + 1e-9
        assert layout.height <= HEIGHT + 1e-9
        for one, other in itertools.combinations(layout.panes, 2):
            beside = one[0] + one[2] + GAP <= other[0] + 1e-9
            assert beside or one[1] + one[3] + TITLE <= other[1] + 1e-9


# ---------------------------------------------------------------- sides


def _turned(array: NDArray[Any], affine: NDArray[np.float64], axes: tuple[int, ...], flips: tuple[bool, ...]) -> Any:
    """Return the same content with its axes in another order and direction."""
    turn = np.zeros((4, 4))
    turn[3, 3] = 1
    for new, (old, flip) in enumerate(zip(axes, flips, strict=True)):
        turn[old, new] = -1 if flip else 1
        turn[old, 3] = array.shape[old] - 1 if flip else 0
    data = array.transpose(axes)[tuple(slice(None, None, -1 if f else 1) for f in flips)]
    return data, Grid(data.shape, affine @ turn)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
@pytest.mark.parametrize("flips", [(False, False, False), (True, True, False), (False, True, True)])
def test_patient_right_is_at_screen_left_whatever_order_the_file_has(
    axes: tuple[int, ...], flips: tuple[bool, ...]
) -> None:
    content = np.zeros(RAS.shape, dtype=np.uint8)
    content[4, 3, 2] = 1  # to the right, the front and the head of the middle
    data, grid = _turned(content, RAS.affine, axes, flips)
    image = Volume(data.astype(np.float32) * 100, grid)
    figure = triplet(_case(gt=LabelMap(data, grid), channels={"mr": image}), SPEC)
    # The scan's middle lies at R 5, A 6, S 6 mm: the voxel is at R 8, A 9, S 8.
    for axes_, plane, place in zip(figure.axes, PLANES, [(-8, -9), (-8, -8), (-9, -8)], strict=True):
        letters = {t.get_text(): t.get_position() for t in axes_.texts if len(t.get_text()) == 1}
        at = [letters[letter] for letter in plane.letters]
        assert at[0][0] < 0.1 < 0.9 < at[1][0]
        assert at[3][1] < 0.1 < 0.9 < at[2][1]
        left, right = axes_.get_xlim()
        bottom, top = axes_.get_ylim()
        assert left < right
        assert top < bottom
        (gt,) = [c for c in axes_.collections if len(c.get_paths()) == 4]
        assert np.concatenate(gt.get_segments()).mean(axis=0) == pytest.approx(place)
        (drawn,) = axes_.images
        pixels = np.asarray(drawn.get_array())
        row, column = np.argwhere(pixels == 100)[0]
        x0, x1, y1, y0 = drawn.get_extent()
        centre = x0 + (column + 0.5) * (x1 - x0) / pixels.shape[1], y0 + (row + 0.5) * (y1 - y0) / pixels.shape[0]
        assert centre == pytest.approx(place)
    assert [axes_.get_title(loc="left").split()[0] for axes_ in figure.axes] == ["axial", "coronal", "sagittal"]


def test_letters_and_positions_are_left_out_where_the_file_does_not_say() -> None:
    grid = Grid(RAS.shape, RAS.affine, has_world=False)
    figure = triplet(_case(gt=_labels((1, 1, 1), grid=grid)), SPEC)
    assert not [t for t in _texts(figure) if t in "RLAPSI" and t]
    assert any("orientation unknown" in t for t in _texts(figure))
    assert figure.axes[0].get_title(loc="left") == "axial   slice 3/4"


# ---------------------------------------------------------------- what the picture says


def test_the_title_names_case_region_and_dice_and_the_panes_their_slice() -> None:
    case = _case(gt=_labels((1, 1, 1), (2, 1, 1)), pred=_labels((1, 1, 1)))
    texts = _texts(triplet(case, SPEC))
    assert "SET/0001   a   dice 0.667" in texts
    assert "axial   slice 3/4   S 4.0 mm" in texts


@pytest.mark.parametrize(
    ("gt", "pred", "words"),
    [
        (_labels(), _labels((1, 1, 1)), "dice 0.000"),
        (_labels(), _labels(), "absent in both"),
        (_labels((1, 1, 1)), None, "no prediction"),
    ],
)
def test_what_has_no_plain_dice_is_said_in_words(gt: LabelMap, pred: LabelMap | None, words: str) -> None:
    assert f"SET/0001   a   {words}" in _texts(triplet(_case(gt=gt, pred=pred), SPEC))


def test_a_capped_and_an_unlabelled_region_are_no_bare_numbers() -> None:
    raw = {"eval_regions": {"a": [1], "b": [2]}, "partial_label": True, "main_region": "a"}
    raw["empty_structure"] = {"dice": {"gt_nonempty_pred_empty": 0.25}}
    spec = EvalSpec.from_mapping(raw)
    case = _case(gt=_labels((1, 1, 1)), pred=_labels((2, 2, 2), value=2))
    case = replace(case, entry=replace(case.entry, remap=Remap({7: 1}, "dict")))
    assert "SET/0001   a   dice cap 0.25 (spec)" in _texts(triplet(case, spec))
    assert "SET/0001   b   not labelled" in _texts(triplet(case, spec, region="b"))


def test_native_labels_are_drawn_with_a_note_where_the_remap_is_not_known() -> None:
    native = _labels((1, 1, 1), (1, 2, 1), value=77)
    case = replace(_case(gt_native=native), entry=CaseEntry("SET/0001"))
    scene = make_scene(case, SPEC, None, None)
    assert scene.indices[0] == 2
    assert np.abs(np.diff(scene.outline("native", AXIAL), axis=1)).sum() == 2 * (2 + 6)
    assert any("own ids" in note for note in scene.notes)


def test_swapped_labels_are_filled_where_contours_would_coincide() -> None:
    one, two = (1, 1, 1), (4, 1, 1)
    gt = LabelMap(_labels(one).data + _labels(two, value=2).data, RAS)
    pred = LabelMap(_labels(one, value=2).data + _labels(two).data, RAS)
    case = _case(gt=gt, pred=pred)
    wrong = make_scene(case, SPEC, "macro_avg", None).wrong_label(AXIAL)
    assert wrong is not None
    assert wrong.sum() == 2
    assert make_scene(case, SPEC, "both", None).wrong_label(AXIAL) is None


def test_errors_of_the_case_stand_below_the_picture() -> None:
    finding = Finding("error", "grid-mismatch", "grids differ: by 12 mm")
    assert "grids differ: by 12 mm" in _texts(triplet(_case(gt=_labels((1, 1, 1)), findings=(finding,)), SPEC))


def test_an_image_on_another_grid_is_drawn_where_it_lies() -> None:
    affine = np.diag([4.0, 6.0, 8.0, 1.0])
    affine[:3, 3] = [1, 1.5, 2]
    coarse = Volume(np.arange(12, dtype=np.float32).reshape(3, 2, 2), Grid((3, 2, 2), affine))
    figure = triplet(_case(gt=_labels((1, 1, 0)), channels={"ct": coarse}), SPEC)
    (image,) = figure.axes[0].images
    assert image.get_extent() == pytest.approx([-11, 1, 1.5, -10.5])
    assert np.asarray(image.get_array()).tolist() == cut(coarse.data, coarse.grid, AXIAL, 1).tolist()
    far = Volume(coarse.data, Grid((3, 2, 2), affine + np.array([[0, 0, 0, 0]] * 2 + [[0, 0, 0, 100], [0] * 4])))
    figure = triplet(_case(gt=_labels((1, 1, 0)), channels={"ct": far}), SPEC)
    assert not figure.axes[0].images
    assert "no image here" in _texts(figure)


def test_a_margin_shows_the_region_and_what_is_around_it_in_all_planes() -> None:
    figure = triplet(_case(gt=_labels((3, 2, 2))), SPEC, margin_mm=1)
    limits = [(*axes.get_xlim(), *axes.get_ylim()) for axes in figure.axes]
    assert limits == [(-8, -4, -3.5, -8.5), (-8, -4, -5, -11), (-8.5, -3.5, -5, -11)]


def test_of_a_single_slice_only_its_own_plane_is_drawn() -> None:
    flat = Grid((6, 5, 1), RAS.affine)
    assert planes_of(flat) == [AXIAL]
    assert len(triplet(_case(gt=_labels((1, 1, 0), grid=flat)), SPEC).axes) == 1


def test_the_prediction_is_thinner_and_above_the_ground_truth() -> None:
    figure = triplet(_case(gt=_labels((1, 1, 1)), pred=_labels((1, 1, 1))), SPEC)
    gt, pred = [c for c in figure.axes[0].collections if len(c.get_paths()) == 4]
    assert gt.get_linewidth()[0] > 2 * pred.get_linewidth()[0]
    assert gt.get_zorder() < pred.get_zorder()
    assert [line.get_color() for line in figure.legends[0].get_lines()] == [GT_ACCENT, PRED_ACCENT]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["ground truth", "prediction"]


@pytest.mark.parametrize("region", ["a", "macro_avg"])
def test_points_without_a_predicted_mask_are_counted_and_the_mask_is_said_to_be_missing(region: str) -> None:
    points = Landmarks({20: (0.0, 0.0, 0.0), 21: (0.0, 0.0, -30.0)})
    case = _case(gt=_labels((1, 1, 1)), pred_landmarks=points)
    texts = _texts(triplet(case, replace(SPEC, task_type="vertebra"), region=region))
    shown = "a" if region == "a" else "all regions"
    assert f"SET/0001   {shown}   no predicted mask" in texts
    assert "points of vertebrae (prediction 2) are not drawn here: plot_spine draws them" in texts


def test_scale_bars_have_a_dark_edge() -> None:
    for axes in triplet(_case(gt=_labels((1, 1, 1))), SPEC).axes:
        (bar,) = axes.lines
        (edge,) = bar.get_path_effects()
        assert edge._gc["foreground"] == "black"
        assert edge._gc["linewidth"] > bar.get_linewidth()


def test_titles_of_narrow_panes_do_not_meet() -> None:
    figure = triplet(_case(gt=_labels((1, 1, 1), grid=Grid((15, 15, 40), np.diag([3.0, 3.0, 4.0, 1.0])))), SPEC)
    FigureCanvasAgg(figure).draw()
    titles = [next(t for t in axes.findobj(Text) if t.get_text() == axes.get_title(loc="left")) for axes in figure.axes]
    boxes = [title.get_window_extent() for title in titles]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


# ---------------------------------------------------------------- windows


def test_a_window_is_a_name_a_pair_or_what_the_screen_takes() -> None:
    ct = Volume(np.linspace(-1000, 1000, 120).reshape(RAS.shape).astype(np.int16), RAS)
    assert window_limits(ct, "lung") == (-1350, 150)
    assert window_limits(ct, (100, 50)) == (0, 100)
    mr = Volume(np.arange(1, 121, dtype=np.int16).reshape(RAS.shape), RAS)
    for volume, modality in ((ct, None), (ct, "CT"), (ct, "MRI"), (mr, "CT"), (mr, None)):
        assert window_limits(volume, None, modality) == default_limits(volume, modality)
    assert window_limits(ct) == (-160, 240)


def test_the_picture_has_the_limits_of_the_layer_on_screen() -> None:
    data = np.linspace(-120, 900, 120).reshape(RAS.shape).astype(np.float32)
    case = _case(gt=_labels((1, 1, 1)), channels={"ct": Volume(data, RAS)})
    for modality in ("CT", "MRI", None):
        layer = next(s for s in specs(case, SPEC, ShowOptions(modality=modality)) if s.is_image)
        figure = triplet(case, SPEC, modality=modality)
        assert [axes.images[0].get_clim() for axes in figure.axes] == [layer.contrast_limits] * 3
    assert triplet(case, SPEC, modality="CT").axes[0].images[0].get_clim() == (-160, 240)


# ---------------------------------------------------------------- refusals and side effects


def test_an_unknown_region_channel_or_window_is_named_with_what_there_is() -> None:
    case = _case(gt=_labels((1, 1, 1)), channels={"t1": Volume(np.zeros(RAS.shape), RAS)})
    with pytest.raises(UsageError, match=r"'c', expected one of a, b, both, macro_avg"):
        triplet(case, SPEC, region="c")
    with pytest.raises(UsageError, match=r"'t2'; the case has t1"):
        triplet(case, SPEC, channel="t2")
    with pytest.raises(UsageError, match=r"'sunny', expected \(width, level\) or one of soft tissue"):
        triplet(case, SPEC, window="sunny")
    with pytest.raises(UsageError, match="width 0"):
        triplet(case, SPEC, window=(0, 40))


def test_a_case_without_any_data_says_why() -> None:
    finding = Finding("error", "missing-file", "no such file: x.nii.gz")
    with pytest.raises(ReadError, match="nothing to draw: no such file"):
        triplet(_case(findings=(finding,)), SPEC)


def test_no_pyplot_figure_is_left_behind() -> None:
    figure = triplet(_case(gt=_labels((1, 1, 1))), SPEC)
    assert len(figure.axes) == 3
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


# ---------------------------------------------------------------- contours


@pytest.mark.parametrize("pose", ["head first supine", "feet first prone", "tilted by 12 degrees"])
def test_contours_of_the_most_wrong_slice_are_drawn_around_what_they_enclose(pose: str) -> None:
    case = block_scan(pose, shift=4.0)
    scene = make_scene(case, SCAN_SPEC, None, None)
    (plane,) = scene.planes
    assert plane is AXIAL
    assert scene.parts == ("gt", "pred")
    # moved by 4 of 6 columns, 8 of 10 columns are wrong; the last slice misses only 6
    assert scene.indices[0] != _displayed_slice(case, BLOCK[2].stop - 1)
    bright = np.argwhere(cut(case.channels["image"].data, scene.grid, plane, scene.indices[0])) * 1.0
    low, high = bright.min(axis=0) - 0.5, bright.max(axis=0) + 0.5
    frame = Frame.of(scene.grid)
    points = scene.outline("gt", plane).reshape(-1, 2)
    np.testing.assert_allclose(points.min(axis=0), frame.to_mm(plane, low[::-1]), atol=1e-6)
    np.testing.assert_allclose(points.max(axis=0), frame.to_mm(plane, high[::-1]), atol=1e-6)
    moved = scene.outline("pred", plane).reshape(-1, 2).min(axis=0) - points.min(axis=0)
    assert sorted(np.abs(moved)) == pytest.approx([0, 4 * 1.5], abs=1e-6)


def test_the_picture_of_a_scan_has_both_colours_its_score_and_one_pane() -> None:
    case = block_scan(shift=4.0)
    figure = triplet(case, SCAN_SPEC)
    (axes,) = figure.axes
    assert {to_hex(lines.get_color()[0]).upper() for lines in _outlines(axes)} == {GT_ACCENT, PRED_ACCENT}
    score = score_case(case, SCAN_SPEC).case["scan_score"].value
    assert f"scan   scan score {score:.3f}" in _texts(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ground truth", "prediction"]


def test_a_predicted_label_map_of_a_scan_is_drawn_along_its_pixels_with_the_slice_s_own_number() -> None:
    case = block_scan(shift=4.0)
    assert case.stack is not None
    data = np.zeros(SHAPE, dtype=np.uint8)
    data[BLOCK] = 1
    predicted = replace(case, pred_contours=None, pred=LabelMap(data, case.stack.grid))
    scene = make_scene(predicted, SCAN_SPEC, None, None)
    assert scene.parts == ("gt", "pred")
    (plane,) = scene.planes
    for side in ("gt", "pred"):  # the block itself: both outlines are the same
        points = scene.outline(side, plane).reshape(-1, 2)
        np.testing.assert_allclose(np.ptp(points, axis=0), (6 * 1.5, 5 * 2), atol=1e-6)
    # slice 1 of the file is number 12; the first of three equal ones from the head is slice 3, number 14
    (axes,) = triplet(predicted, SCAN_SPEC).axes
    shown = scene.indices[0] + 1
    assert f"slice {shown}/6  ·  number {11 + 6 - shown}" in axes.get_title(loc="left")


def test_lungs_and_vertebrae_are_drawn_in_the_windows_that_suit_them() -> None:
    image = Volume(np.full(RAS.shape, -600, dtype=np.int16), RAS, unit="HU")
    case = _case(gt=_labels((1, 2, 3)), channels={"image": image})
    texts = {
        task: [text for text in _texts(triplet(case, replace(SPEC, task_type=task), modality="CT")) if " W " in text]
        for task in ("seg", "lung_contour", "vertebra")
    }
    assert [text.split("W ")[1] for (text,) in texts.values()] == ["400  L 40", "1500  L -600", "1800  L 400"]


def test_a_margin_of_a_scan_goes_around_its_rings() -> None:
    (axes,) = triplet(block_scan(shift=2.0), SCAN_SPEC, margin_mm=3.0).axes
    assert abs(np.diff(axes.get_xlim())[0]) == pytest.approx((6 + 2) * 1.5 + 2 * 3)
    assert abs(np.diff(axes.get_ylim())[0]) == pytest.approx(5 * 2 + 2 * 3)


def test_contours_without_a_place_are_said_to_be_missing_from_the_picture() -> None:
    figure = triplet(replace(block_scan(), stack=None), SCAN_SPEC)
    assert "ground truth: 3 contours not drawn, the files do not say where the slices lie" in _texts(figure)
    assert not any(_outlines(axes) for axes in figure.axes)


def test_contours_without_an_image_are_drawn_with_a_note() -> None:
    figure = triplet(block_scan(image=False, shift=4.0), SCAN_SPEC)
    assert "no image: contours only" in _texts(figure)
    assert len(_outlines(figure.axes[0])) == 2


def _outlines(axes: Any) -> list[Any]:
    """Outlines of contours; ticks at the rim are white."""
    return [lines for lines in axes.collections if to_hex(lines.get_color()[0]) != "#ffffff" and lines.get_segments()]


def _displayed_slice(case: Case, index: int) -> int:
    order = display_order(case.stack.grid)  # type: ignore[union-attr]
    return int(order.displayed_index([0, 0, index], SHAPE)[0])
