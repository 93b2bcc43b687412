"""The place that a verdict is bound to: mm RAS+ of the middle of the canvas, on the slice that is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel

from medotter_viewer.core.grid import Grid
from medotter_viewer.review.records import Place
from medotter_viewer.ui.looked_at import place_at, place_looked_at

AXES = {"RAS": np.diag([2.0, 1.5, 3.0, 1.0]), "LPS": np.diag([-2.0, -1.5, 3.0, 1.0])}
SHAPE = (24, 30, 16)


def grid_of(affine: np.ndarray, **more: Any) -> Grid:
    affine = affine.copy()
    affine[:3, 3] = (-20.0, 5.0, 100.0)
    return Grid(SHAPE, affine, **more)


@pytest.mark.parametrize("axes", AXES)
def test_a_displayed_position_is_the_world_position_it_shows(axes: str) -> None:
    grid = grid_of(AXES[axes])
    world = grid.voxel_to_world((5, 7, 9))
    x, y, z = world
    place = place_at(grid, (-z, -y, -x), 0, "liver")  # displayed axes run towards feet, back and left
    assert place.position_world == pytest.approx(tuple(world))
    assert place.position_voxel == pytest.approx((5, 7, 9))
    assert (place.plane, place.region) == ("axial", "liver")
    assert place.slice_number == SHAPE[2] - 9  # from the head down, the first is 1


def test_between_two_slices_the_one_that_is_seen_counts_and_in_the_plane_the_place_is_exact() -> None:
    grid = grid_of(AXES["RAS"])
    x, y, z = grid.voxel_to_world((5.25, 7.5, 9.0))
    place = place_at(grid, (-z + 1.0, -y, -x), 0)
    assert place.position_voxel == pytest.approx((5.25, 7.5, 9.0))
    assert place.position_world == pytest.approx((x, y, z))


@pytest.mark.parametrize(("axis", "plane", "number"), [(1, "coronal", SHAPE[1] - 7), (2, "sagittal", SHAPE[0] - 5)])
def test_other_planes(axis: int, plane: str, number: int) -> None:
    grid = grid_of(AXES["RAS"])
    x, y, z = grid.voxel_to_world((5, 7, 9))
    place = place_at(grid, (-z, -y, -x), axis)
    assert (place.plane, place.slice_number) == (plane, number)


def test_an_oblique_grid_gives_the_place_in_the_patient_not_on_the_screen() -> None:
    turn = np.radians(20.0)
    affine = np.eye(4)
    affine[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    grid = grid_of(affine)
    from medotter_viewer.ui.readout import position_of

    place = place_at(grid, position_of(grid, (20, 3, 9)), 0)
    assert place.position_voxel == pytest.approx((20, 3, 9))
    assert place.position_world == pytest.approx(tuple(grid.voxel_to_world((20, 3, 9))))


@pytest.mark.parametrize("more", [{"has_world": False}, {"unit": "px"}])
def test_without_a_world_there_is_the_voxel_alone(more: dict[str, Any]) -> None:
    place = place_at(grid_of(AXES["RAS"], **more), (0.0, 0.0, 0.0), 0)
    assert place.position_world is None
    assert place.position_voxel is not None


def test_the_middle_of_the_canvas_on_the_slice_that_is_shown() -> None:
    grid = grid_of(AXES["RAS"])
    x, y, z = grid.voxel_to_world((5, 7, 9))
    viewer = ViewerModel()
    viewer.add_image(np.zeros(SHAPE[::-1]), scale=(3.0, 1.5, 2.0), translate=(-145.0, -48.5, -26.0), units=("mm",) * 3)
    viewer.dims.set_point(0, -z)
    viewer.scene.camera.center = (0.0, -y, -x)
    place = place_looked_at(viewer, grid, None)
    assert place.position_world == pytest.approx((x, y, z))
    assert (place.plane, place.slice_number) == ("axial", SHAPE[2] - 9)
    linked = place_looked_at(viewer, grid, crosshair=True)
    assert linked.position_world == pytest.approx(tuple(-v for v in viewer.dims.point[::-1]))
    assert linked.position_world[:2] != pytest.approx((x, y))  # type: ignore[index]
    viewer.dims.order = (1, 0, 2)
    viewer.dims.set_point(1, -y)
    viewer.scene.camera.center = (0.0, -z, -x)
    coronal = place_looked_at(viewer, grid, "liver")
    assert coronal.position_world == pytest.approx((x, y, z))
    assert (coronal.plane, coronal.region) == ("coronal", "liver")


def test_without_anything_shown_only_the_region_is_told() -> None:
    assert place_looked_at(ViewerModel(), None, "liver") == Place(region="liver")
