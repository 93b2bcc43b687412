"""Where voxels lie, against nibabel and against values worked out by hand."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer import Grid
from medotter_viewer.errors import GridMismatchError, MedotterViewerError

ORDERS = [(axes, signs) for axes in itertools.permutations(range(3)) for signs in itertools.product((1, -1), repeat=3)]
"""Every way to store a volume: array axis a follows world axis axes[a] with signs[a]."""


def ordered_affine(axes: tuple[int, ...], signs: tuple[int, ...], spacing: tuple[float, ...]) -> NDArray[np.float64]:
    affine = np.eye(4)
    affine[:3, :3] = 0
    for a, (world, sign) in enumerate(zip(axes, signs, strict=True)):
        affine[world, a] = sign * spacing[a]
    return affine


def rotation(x: float, y: float, z: float) -> NDArray[np.float64]:
    """Rotation by three angles in radians, about x, then y, then z."""
    cx, cy, cz, sx, sy, sz = *np.cos([x, y, z]), *np.sin([x, y, z])
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


angles = st.floats(-0.6, 0.6)
steps = st.floats(0.2, 8.0)
places = st.floats(-300, 300)


@st.composite
def oblique_affines(draw: st.DrawFn) -> NDArray[np.float64]:
    """Any of the 48 orders, turned by up to 34 degrees about every axis."""
    axes, signs = draw(st.sampled_from(ORDERS))
    affine = ordered_affine(axes, signs, (draw(steps), draw(steps), draw(steps)))
    affine[:3, :3] = rotation(draw(angles), draw(angles), draw(angles)) @ affine[:3, :3]
    affine[:3, 3] = draw(places), draw(places), draw(places)
    return affine


@pytest.mark.parametrize(("axes", "signs"), ORDERS)
def test_each_of_the_48_orders_has_the_axes_that_nibabel_finds(axes: tuple[int, ...], signs: tuple[int, ...]) -> None:
    affine = ordered_affine(axes, signs, (0.5, 2.0, 3.0))
    grid = Grid((4, 5, 6), affine)
    assert grid.spacing == (0.5, 2.0, 3.0)
    assert grid.axcodes == "".join(nibabel.aff2axcodes(affine))
    assert grid.world_axes == tuple(zip(axes, signs, strict=True))
    assert grid.voxel_volume_mm3 == pytest.approx(3.0, rel=1e-15)
    assert grid.oblique_deg == grid.shear_deg == 0


@given(oblique_affines())
def test_axes_of_an_oblique_volume_are_nibabels_where_no_two_axes_compete(affine: NDArray[np.float64]) -> None:
    grid = Grid((4, 5, 6), affine)
    cosines = np.abs(affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0))
    assert sorted(world for world, _ in grid.world_axes) == [0, 1, 2]
    if (cosines.max(axis=0) > 0.75).all():  # each axis is within 41 degrees of one world axis: no rule can disagree
        assert grid.axcodes == "".join(nibabel.aff2axcodes(affine))
        expected = nibabel.io_orientation(affine)
        assert grid.world_axes == tuple((int(world), int(sign)) for world, sign in expected)
    np.testing.assert_allclose(grid.spacing, nibabel.affines.voxel_sizes(affine), rtol=1e-12)
    assert grid.voxel_volume_mm3 == pytest.approx(abs(np.linalg.det(affine[:3, :3])), rel=1e-9)
    assert grid.shear_deg == pytest.approx(0, abs=1e-5)
    expected_deg = np.degrees(nibabel.affines.obliquity(affine).max())
    if (cosines.max(axis=0) > 0.75).all():
        assert grid.oblique_deg == pytest.approx(expected_deg, abs=1e-5)


@given(oblique_affines(), st.tuples(places, places, places))
def test_voxel_to_world_to_voxel_is_where_it_began(
    affine: NDArray[np.float64], point: tuple[float, float, float]
) -> None:
    grid = Grid((4, 5, 6), affine)
    world = grid.voxel_to_world(point)
    np.testing.assert_allclose(world, nibabel.affines.apply_affine(affine, point), atol=1e-9)
    np.testing.assert_allclose(grid.world_to_voxel(world), point, atol=1e-8)


def test_points_keep_their_leading_axes() -> None:
    grid = Grid((4, 5, 6), ordered_affine((2, 0, 1), (1, -1, 1), (0.5, 2.0, 3.0)))
    points = np.arange(2 * 5 * 3, dtype=float).reshape(2, 5, 3)
    world = grid.voxel_to_world(points)
    assert world.shape == (2, 5, 3)
    assert world[1, 0].tolist() == [-2.0 * 16, 3.0 * 17, 0.5 * 15]
    np.testing.assert_allclose(grid.world_to_voxel(world), points, atol=1e-12)


def test_corners_are_voxel_centres() -> None:
    affine = np.diag([2.0, 3.0, 5.0, 1.0])
    affine[:3, 3] = 10, 20, 30
    corners = Grid((2, 3, 4), affine).corners_world()
    assert corners.shape == (8, 3)
    assert corners[0].tolist() == [10, 20, 30]
    assert corners[-1].tolist() == [10 + 2, 20 + 2 * 3, 30 + 3 * 5]


def test_diagonal_is_the_length_of_shape_times_spacing() -> None:
    assert Grid((3, 4, 1), np.diag([2.0, 3.0, 84.0, 1.0])).diagonal_mm == pytest.approx(np.sqrt(6**2 + 12**2 + 84**2))


@pytest.mark.parametrize(
    ("turn", "shift", "expected"),
    [
        (0.0, (0, 0, 0), 0.0),
        (0.0, (3, 4, 0), 5.0),
        # 2 mrad about z: the far corner (511, 511) moves along a chord of its distance from the first voxel
        (0.002, (0, 0, 0), 2 * np.sin(0.001) * 511 * np.sqrt(2)),
        (0.0, (1e-4, 1e-4, 1e-4), np.sqrt(3) * 1e-4),
    ],
)
def test_grids_differ_by_the_way_of_their_worst_corner(turn: float, shift: tuple[float, ...], expected: float) -> None:
    other = np.eye(4)
    other[:3, :3] = rotation(0, 0, turn)
    other[:3, 3] = shift
    one, two = Grid((512, 512, 3), np.eye(4)), Grid((512, 512, 3), other)
    assert one.corner_displacement_mm(two) == pytest.approx(expected, abs=1e-12)
    assert two.corner_displacement_mm(one) == pytest.approx(expected, abs=1e-12)


def test_a_rotation_of_2_mrad_moves_the_far_corner_of_a_512_slice_by_1_45_mm() -> None:
    turned = np.eye(4)
    turned[:3, :3] = rotation(0, 0, 0.002)
    apart = Grid((512, 512, 3), np.eye(4)).corner_displacement_mm(Grid((512, 512, 3), turned))
    assert apart == pytest.approx(1.4453, abs=1e-4)


def test_corners_of_two_shapes_cannot_be_paired() -> None:
    with pytest.raises(GridMismatchError, match=r"\(2, 2, 2\) and \(2, 2, 3\)"):
        Grid((2, 2, 2), np.eye(4)).corner_displacement_mm(Grid((2, 2, 3), np.eye(4)))


def test_shear_of_two_hundredths_is_1_1458_degrees() -> None:
    affine = np.diag([1.0, 1.0, 3.0, 1.0])
    affine[0, 1] = 0.02
    grid = Grid((5, 5, 5), affine)
    assert grid.shear_deg == pytest.approx(1.1458, abs=1e-4)
    assert grid.oblique_deg == pytest.approx(1.1458, abs=1e-4)
    np.testing.assert_allclose(grid.spacing, [1.0, 1.0002, 3.0], atol=1e-5)
    assert grid.voxel_volume_mm3 == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("degrees", [0.05, 1.0, 20.0, 44.0])
def test_obliqueness_is_the_angle_of_the_rotation(degrees: float) -> None:
    affine = np.eye(4)
    affine[:3, :3] = rotation(np.radians(degrees), 0, 0) @ np.diag([1.0, 2.0, 5.0])
    grid = Grid((5, 5, 5), affine)
    assert grid.oblique_deg == pytest.approx(degrees, rel=1e-9)
    assert grid.axcodes == "RAS"


def test_two_axes_that_lean_to_one_world_axis_still_get_two() -> None:
    # Both lie in the x-z plane, 40 and 44 degrees from x: if each took its nearest, z would be left without an axis.
    affine = np.eye(4)
    affine[:3, 0] = np.cos(np.radians(40)), 0, np.sin(np.radians(40))
    affine[:3, 1] = np.cos(np.radians(44)), 0, -np.sin(np.radians(44))
    affine[:3, 2] = 0, 1, 0
    assert [world for world, _ in Grid((3, 3, 3), affine).world_axes] == [0, 2, 1]


@pytest.mark.parametrize(
    ("affine", "message"),
    [
        (np.eye(3), "4x4"),
        (np.full((4, 4), np.nan), "finite"),
        (np.diag([1.0, np.inf, 1.0, 1.0]), "finite"),
        (np.diag([1.0, 0.0, 1.0, 1.0]), "flattens"),
        (np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), "flattens"),
        (np.diag([1e-200, 1.0, 1.0, 1.0]), "flattens"),
        (np.diag([1e200, 1.0, 1.0, 1.0]), "at most"),
    ],
)
def test_affines_that_place_no_volume_are_refused(affine: NDArray[np.float64], message: str) -> None:
    with pytest.raises(GridMismatchError, match=message):
        Grid((2, 2, 2), affine)


@pytest.mark.parametrize("shape", [(2, 2), (2, 2, 2, 2), (2, 0, 2), (2, 2, -1), ()])
def test_shapes_other_than_three_positive_numbers_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(GridMismatchError, match="three positive numbers"):
        Grid(shape, np.eye(4))


def test_voxels_of_ten_nanometres_are_small_not_flat() -> None:
    assert Grid((2, 2, 2), np.diag([1e-5, 1e-5, 1e-5, 1.0])).voxel_volume_mm3 == pytest.approx(1e-15)


@given(st.lists(st.floats(), min_size=16, max_size=16))
def test_any_sixteen_numbers_give_a_grid_with_finite_spacing_or_our_error(values: list[float]) -> None:
    try:
        grid = Grid((2, 3, 4), np.reshape(values, (4, 4)))
    except MedotterViewerError:
        return
    assert min(grid.spacing) > 0
    assert len(grid.axcodes) == 3


def test_a_grid_keeps_its_own_copy_of_the_affine() -> None:
    affine = np.eye(4)
    grid = Grid((2, 2, 2), affine)
    affine[0, 0] = 7
    assert grid.spacing == (1, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        grid.affine[0, 0] = 7


def test_a_phrase_says_shape_spacing_and_axes() -> None:
    affine = ordered_affine((0, 1, 2), (-1, -1, 1), (0.75, 0.75, 5.0))
    assert Grid((512, 512, 40), affine).describe() == "512 x 512 x 40 voxels of 0.75 x 0.75 x 5 mm, LPS"
    assert Grid((2, 3, 4), affine, has_world=False).describe().endswith("orientation unknown")
