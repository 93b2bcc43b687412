"""How arrays are turned to be shown: one content looks the same whatever order its file stores it in."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nibabel.orientations import apply_orientation, inv_ornt_aff
from numpy.typing import NDArray

from medotter_viewer import Grid
from medotter_viewer.geometry.orientation import DISPLAY_AXES, display_order, display_to_world, world_to_display

CONTENT = np.arange(2 * 3 * 4).reshape(2, 3, 4)  # stored as RAS
AFFINE = np.array([[0.5, 0, 0, -7.0], [0, 2.0, 0, 11.0], [0, 0, 3.0, 13.0], [0, 0, 0, 1.0]])
ORIENTATIONS = [
    np.column_stack([axes, flips])
    for axes in itertools.permutations(range(3))
    for flips in itertools.product((1, -1), repeat=3)
]


def stored(orientation: NDArray[np.int_]) -> tuple[NDArray[np.int_], Grid]:
    """The same content in another order, as nibabel turns it."""
    array = apply_orientation(CONTENT, orientation)
    return array, Grid(array.shape, AFFINE @ inv_ornt_aff(orientation, CONTENT.shape))


@pytest.mark.parametrize("orientation", ORIENTATIONS, ids=lambda o: str(o.ravel().tolist()))
def test_one_content_in_any_of_48_orders_is_shown_alike(orientation: NDArray[np.int_]) -> None:
    array, grid = stored(orientation)
    order = display_order(grid)
    shown = order.apply(array)
    # RAS to I, P, L: axes reversed, every one of them turned round.
    assert shown.tolist() == CONTENT.transpose(2, 1, 0)[::-1, ::-1, ::-1].tolist()
    assert order.scale == (3.0, 2.0, 0.5)
    # First displayed voxel: most superior z 13 + 3*3, most anterior y 11 + 2*2, most right x -7 + 0.5.
    assert order.translate == (-22.0, -15.0, 6.5)
    assert np.shares_memory(shown, array)


@pytest.mark.parametrize("orientation", ORIENTATIONS[::5], ids=lambda o: str(o.ravel().tolist()))
def test_displayed_index_and_array_index_name_the_same_voxel(orientation: NDArray[np.int_]) -> None:
    array, grid = stored(orientation)
    order = display_order(grid)
    shown = order.apply(array)
    for index in np.ndindex(shown.shape):
        voxel = order.voxel_index(index, array.shape)
        assert array[tuple(voxel.astype(int))] == shown[index]
        assert order.displayed_index(voxel, array.shape).tolist() == list(index)
        place = np.add(order.translate, np.multiply(index, order.scale))
        np.testing.assert_allclose(world_to_display(grid.voxel_to_world(voxel)), place, atol=1e-12)


@given(st.sampled_from(ORIENTATIONS), st.lists(st.tuples(*[st.floats(-5, 9)] * 3), min_size=1, max_size=4))
def test_voxel_index_is_the_inverse_of_displayed_index(
    orientation: NDArray[np.int_], points: list[tuple[float, float, float]]
) -> None:
    array, grid = stored(orientation)
    order = display_order(grid)
    there = order.displayed_index(points, array.shape)
    assert there.shape == (len(points), 3)
    np.testing.assert_allclose(order.voxel_index(there, array.shape), points, atol=1e-12)


def test_the_displayed_frame_is_minus_z_y_x_of_lps() -> None:
    x_ras, y_ras, z_ras = 3.0, 5.0, 7.0
    x_lps, y_lps, z_lps = -x_ras, -y_ras, z_ras
    assert world_to_display([x_ras, y_ras, z_ras]).tolist() == [-z_lps, y_lps, x_lps]
    assert DISPLAY_AXES == ("I", "P", "L")


@given(st.lists(st.tuples(*[st.floats(-1e3, 1e3)] * 3), min_size=1, max_size=5))
def test_world_to_display_to_world_is_where_it_began(points: list[tuple[float, float, float]]) -> None:
    np.testing.assert_array_equal(display_to_world(world_to_display(points)), points)


def test_the_right_side_of_an_lps_volume_is_at_screen_left_and_the_front_is_up() -> None:
    array = np.zeros((4, 4, 4), dtype=np.uint8)
    array[0, 0, 3] = 1  # x, y of LPS smallest: the most right, most anterior, most superior voxel
    order = display_order(Grid(array.shape, np.diag([-1.0, -1.0, 1.0, 1.0])))
    assert np.argwhere(order.apply(array)).tolist() == [[0, 0, 0]]


@given(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.sampled_from(ORIENTATIONS))
def test_the_centre_of_an_oblique_volume_is_shown_where_it_lies(
    about_x: float, about_z: float, orientation: NDArray[np.int_]
) -> None:
    turn = nibabel.eulerangles.euler2mat(z=about_z, x=about_x)
    array, grid = stored(orientation)
    oblique = Grid(array.shape, nibabel.affines.from_matvec(turn, [5, 6, 7]) @ grid.affine)
    order = display_order(oblique)
    centre = np.add(order.translate, np.multiply(order.scale, np.subtract(order.apply(array).shape, 1)) / 2)
    expected = world_to_display(oblique.voxel_to_world(np.subtract(array.shape, 1) / 2))
    np.testing.assert_allclose(centre, expected, atol=1e-9)
    assert min(order.scale) > 0
    assert sorted(order.scale) == pytest.approx([0.5, 2.0, 3.0])
