"""Lengths and areas on displayed planes: those of the patient, however the file stores them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.geometry.measuring import distance_mm, pixel_area_mm2
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.phantoms import reoriented

CODES = [
    "".join(letters) for axes in itertools.permutations(("LR", "PA", "IS")) for letters in itertools.product(*axes)
]


def test_a_length_is_that_of_the_spacing_along_each_axis() -> None:
    grid = Grid((10, 10, 10), np.diag([2.0, 3.0, 5.0, 1.0]))
    # displayed axes are I, P, L: 5, 3 and 2 mm a step
    assert distance_mm(grid, (0, 0, 0), (5, 0, 0)) == pytest.approx(5)
    assert distance_mm(grid, (0, 0, 0), (0, 9, 12)) == pytest.approx(15)
    assert distance_mm(grid, (1, 2, 3), (1, 2, 3)) == 0


def test_areas_of_faces_are_those_of_the_plane() -> None:
    grid = Grid((10, 10, 10), np.diag([2.0, 3.0, 5.0, 1.0]))
    assert [pixel_area_mm2(grid, axis) for axis in range(3)] == pytest.approx([6, 10, 15])


@pytest.mark.parametrize("codes", CODES)
def test_the_order_of_axes_in_the_file_does_not_matter(codes: str) -> None:
    grid = Grid((4, 5, 6), np.diag([2.0, 3.0, 5.0, 1.0]))
    turned = reoriented(LabelMap(np.zeros(grid.shape, dtype=np.uint8), grid), codes).grid
    assert distance_mm(turned, (0, 0, 0), (10, 6, 4)) == pytest.approx(np.sqrt(100 + 36 + 16))
    assert [pixel_area_mm2(turned, axis) for axis in range(3)] == pytest.approx([6, 10, 15])


def test_on_an_oblique_grid_a_length_is_the_distance_in_the_patient() -> None:
    angle = np.radians(20)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    affine = np.eye(4)
    affine[:3, :3] = turn @ np.diag([1.0, 2.0, 4.0])
    grid = Grid((20, 20, 20), affine)
    one, other = np.array([3, 4, 5]), np.array([10, 16, 5])
    order = display_order(grid)
    shown = [
        np.asarray(order.translate) + np.asarray(order.scale) * order.displayed_index(p, grid.shape)
        for p in (one, other)
    ]
    world = np.linalg.norm(grid.voxel_to_world(one) - grid.voxel_to_world(other))
    assert world == pytest.approx(25)  # 7 steps of 1 mm and 12 of 2 mm, at right angles
    assert distance_mm(grid, *shown) == pytest.approx(25)


def test_on_a_sheared_grid_a_length_is_the_distance_in_the_patient_too() -> None:
    affine = np.eye(4)
    affine[0, 1] = 0.5  # a step along j goes half a mm along x
    grid = Grid((9, 9, 9), affine)
    # one step along j: (0.5, 1, 0) mm; drawn as sqrt(1.25) mm along P
    length = np.sqrt(1.25)
    assert distance_mm(grid, (0, 0, 0), (0, length, 0)) == pytest.approx(length)
    # a step along i and one along j: (1.5, 1, 0) mm; P and L grow against j and i
    assert distance_mm(grid, (0, 0, 0), (0, length, 1)) == pytest.approx(np.sqrt(1.5**2 + 1))
    assert pixel_area_mm2(grid, 0) == pytest.approx(1)


def test_between_uneven_slices_there_is_no_length_and_no_area() -> None:
    grid = Grid((9, 9, 9), np.diag([1.0, 1.0, 3.0, 1.0]), is_uneven=True)
    assert distance_mm(grid, (0, 0, 0), (0, 3, 4)) == pytest.approx(5)
    assert distance_mm(grid, (0, 0, 0), (3, 0, 0)) is None
    assert pixel_area_mm2(grid, 0) == pytest.approx(1)
    assert pixel_area_mm2(grid, 1) is None
