"""Slices painted into colours, pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.ui.derived import ErrorView
from medotter_viewer.ui.pane_painting import (
    ImagePlane,
    LabelPlane,
    LazyPlane,
    Samples,
    color_table,
    outline,
    painted,
    sampled,
)
from medotter_viewer.ui.plane_map import PlaneMap

RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.5)
COLORS = color_table({None: (1.0, 0.0, 1.0, 1.0), 0: (0.0, 0.0, 0.0, 0.0), 1: RED, 2: GREEN})


def steps(n: int, step: float = 1.0, first: float = 0.0) -> Any:
    return first + step * np.arange(n)


def test_the_window_goes_from_black_to_white() -> None:
    plane = np.array([[-200, -160, 40, 240, 300]], dtype=np.int16)
    image = ImagePlane(plane, (1.0, 1.0), (0.0, 0.0), (-160.0, 240.0))
    picture = painted([image], steps(1), steps(5))
    assert picture.shape == (1, 5, 3)
    assert picture[0, :, 0].tolist() == [0, 0, 128, 255, 255]  # 200/400 of 255 is 127.5
    assert (picture == picture[..., :1]).all()


def test_between_two_centres_an_image_is_between_their_values_and_labels_are_the_nearer() -> None:
    image = ImagePlane(np.array([[0, 100]], dtype=np.uint8), (1.0, 10.0), (0.0, 0.0), (0.0, 100.0))
    row = painted([image], steps(1), steps(5, 2.5))[0, :, 0]
    assert row.tolist() == [0, 64, 128, 191, 255]  # 63.75, 127.5 and 191.25, rounded half up
    labels = LabelPlane(np.array([[1, 2]], dtype=np.uint8), (1.0, 10.0), (0.0, 0.0), COLORS)
    row = painted([labels], steps(1), np.array([0.0, 4.9, 5.1, 10.0]))[0]
    assert row.tolist() == [[255, 0, 0], [255, 0, 0], [0, 128, 0], [0, 128, 0]]


def test_a_voxel_reaches_half_a_step_beyond_its_centre_and_beyond_is_black() -> None:
    image = ImagePlane(np.full((2, 2), 7, dtype=np.int32), (2.0, 4.0), (10.0, 20.0), (0.0, 7.0))
    picture = painted([image], steps(8, 1.0, 8.0), steps(6, 2.0, 16.0))
    lit = picture[..., 0] == 255
    # rows 8 to 15: centres 10 and 12 reach from 9 to 13; columns 16 to 26: 20 and 24 reach from 18 to 26
    assert lit[:, 2].tolist() == [False, True, True, True, True, False, False, False]
    assert lit[2].tolist() == [False, True, True, True, True, False]


def test_a_camera_that_is_turned_round_turns_the_picture() -> None:
    image = ImagePlane(np.array([[0, 1, 2, 3]], dtype=np.uint8), (1.0, 1.0), (0.0, 0.0), (0.0, 3.0))
    there = painted([image], steps(1), steps(4))
    back = painted([image], steps(1), steps(4)[::-1])
    assert back[0, ::-1].tolist() == there[0].tolist() != back[0].tolist()


def test_colours_of_an_image_are_shown_as_they_are() -> None:
    colours = np.array([[[10, 20, 30], [200, 100, 50]]], dtype=np.uint8)
    picture = painted([ImagePlane(colours, (1.0, 1.0), (0.0, 0.0))], steps(1), steps(2))
    assert picture.tolist() == colours.tolist()


def test_what_is_no_number_is_black_and_infinity_white() -> None:
    plane = np.array([[np.nan, np.inf, -np.inf, 1.0]], dtype=np.float32)
    picture = painted([ImagePlane(plane, (1.0, 1.0), (0.0, 0.0), (0.0, 1.0))], steps(1), steps(4))
    assert picture[0, :, 0].tolist() == [0, 255, 0, 255]


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "u8", "i8", "?"])
def test_ids_of_every_type_have_their_colours_and_others_the_loud_one(dtype: str) -> None:
    ids = [0, 1, 1, 1] if dtype == "?" else [0, 1, 2, 9]
    plane = np.array([ids]).astype(dtype)
    row = painted([LabelPlane(plane, (1.0, 1.0), (0.0, 0.0), COLORS)], steps(1), steps(4))[0]
    expected = [[0, 0, 0], [255, 0, 0], [0, 128, 0], [255, 0, 255]]
    assert row.tolist() == ([expected[i] for i in ids] if dtype == "?" else expected)


def test_negative_ids_are_loud_too() -> None:
    plane = LabelPlane(np.array([[-1]], dtype=np.int16), (1.0, 1.0), (0.0, 0.0), COLORS)
    assert painted([plane], steps(1), steps(1))[0, 0].tolist() == [255, 0, 255]


def test_labels_let_through_what_lies_under_them() -> None:
    white = ImagePlane(np.ones((1, 1), dtype=np.uint8), (1.0, 1.0), (0.0, 0.0))
    half = LabelPlane(np.full((1, 1), 1, dtype=np.uint8), (1.0, 1.0), (0.0, 0.0), COLORS, opacity=0.4)
    # 0.6 of white and 0.4 of red
    assert painted([white, half], steps(1), steps(1))[0, 0].tolist() == [255, 153, 153]


def test_an_outline_is_thin_on_the_screen_however_large_the_voxels_are() -> None:
    plane = np.array([[0, 1, 0]], dtype=np.uint8)
    labels = LabelPlane(plane, (20.0, 10.0), (0.0, 0.0), COLORS, contour=1)
    picture = painted([labels], steps(20, 1.0, -9.5), steps(30, 1.0, -4.5))
    red = picture[..., 0] == 255
    # the voxel covers columns 10 to 19; there is no edge above or below it, where the plane ends
    assert np.flatnonzero(red.any(axis=0)).tolist() == [10, 19]
    assert red[:, 10].all()


def test_an_outline_runs_on_both_sides_of_two_ids_and_is_as_wide_as_said() -> None:
    ids = np.array([[1, 1, 1, 2, 2, 2, 2]])
    assert outline(ids, 1).astype(int).tolist() == [[0, 0, 1, 1, 0, 0, 0]]
    assert outline(ids, 2).astype(int).tolist() == [[0, 1, 1, 1, 1, 0, 0]]
    assert not outline(np.ones((3, 3)), 2).any()


def test_a_map_goes_to_pixels_and_back() -> None:
    view = PlaneMap((10.0, 20.0), 2.5, 300.0, 200.0, down=-1)
    for point in ((10.0, 20.0), (0.0, 70.0), (13.0, -4.0)):
        x, y = view.to_pixels(point)
        assert view.to_mm(x, y) == pytest.approx(point)
    assert view.to_pixels((11.0, 20.0)).tolist() == [150.0, 97.5]  # up is positive here


def test_a_plane_that_is_laid_on_its_side_keeps_the_order_of_its_axes() -> None:
    view = PlaneMap((10.0, 20.0), 2.0, 300.0, 200.0, swapped=True)  # 10 is of the axis that runs down: the second
    assert view.to_pixels((20.0, 10.0)).tolist() == [150.0, 100.0]
    assert view.to_pixels((25.0, 10.0)).tolist() == [160.0, 100.0]
    assert view.to_mm(160.0, 104.0) == (25.0, 12.0)


def test_a_box_is_fitted_with_its_true_proportions() -> None:
    view = PlaneMap.fitting((0.0, 0.0), (100.0, 50.0), 400.0, 220.0, 10.0)
    assert (view.zoom, view.centre_mm) == (2.0, (50.0, 25.0))
    rows, columns = view.lines()
    assert (len(rows), len(columns)) == (220, 400)
    assert rows[1] - rows[0] == pytest.approx(0.5)
    assert columns[1] - columns[0] == pytest.approx(0.5)
    # pixel 10 is the first of the box: its middle lies a quarter of a mm inside
    assert rows[10] == pytest.approx(0.25)
    twice = view.lines(2.0)
    assert (len(twice[0]), len(twice[1])) == (440, 800)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_error_map_between_outlines_is_that_of_its_own_slice(axis: int) -> None:
    dice = np.random.default_rng(axis)
    gt, pred = (dice.integers(0, 3, (9, 8, 7)).astype(np.uint8) for _ in range(2))
    place, key = ((1.0, 1.5), (0.0, 0.0)), tuple(4 if a == axis else slice(None) for a in range(3))
    view = ErrorView(gt, pred, (1, 2), False)
    lines = [LabelPlane(labels[key], *place, COLORS, width) for labels, width in ((gt, 3), (pred, 1))]
    rows, columns = steps(60, 0.15), steps(70, 0.15)
    shared = painted([LabelPlane(LazyPlane(view, axis, 4), *place, COLORS), *lines], rows, columns)
    apart = painted([LabelPlane(np.asarray(view[key]), *place, COLORS), *lines], rows, columns)
    assert shared.any()
    np.testing.assert_array_equal(shared, apart)


def test_slices_of_one_array_that_lie_elsewhere_are_looked_up_each() -> None:
    data = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    rows, columns, samples = np.array([0, 2]), np.array([1, 3]), Samples()
    for plane in (data[0], data[1], data[0, ::-1], data[0].T[:, [0, 1, 2, 0]], data[0]):
        np.testing.assert_array_equal(samples.of(plane, rows, columns), sampled(plane, rows, columns))
    np.testing.assert_array_equal(samples.of(data[0], rows[::-1], columns), data[0][np.ix_([2, 0], [1, 3])])
