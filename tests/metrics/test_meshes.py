"""Surfaces of masks and the distances between them, by hand: a cube against a shifted cube."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.meshes import mask_mesh, surface_pair


def cube(low: int, high: int, n: int = 16, shift: int = 0) -> Any:
    mask = np.zeros((n, n, n), dtype=bool)
    mask[low + shift : high + shift, low:high, low:high] = True
    return mask


def test_the_surface_of_a_cube_lies_half_a_step_outside_its_voxels() -> None:
    mesh = mask_mesh(cube(4, 8))
    assert mesh is not None
    np.testing.assert_allclose(mesh.vertices.min(axis=0), 3.5)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), 7.5)
    # a face of 4 x 4 voxels has a vertex over each
    assert np.count_nonzero(mesh.vertices[:, 0] == 3.5) == 16
    assert mesh.faces.max() == len(mesh.vertices) - 1


def test_at_the_edge_of_the_array_the_surface_is_closed() -> None:
    mesh = mask_mesh(np.ones((2, 2, 2), dtype=bool))
    assert mesh is not None
    edges = np.sort(np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]), axis=1)
    _, times = np.unique(edges, axis=0, return_counts=True)
    assert set(times) == {2}  # every edge has a triangle on both sides


def test_distances_of_a_shifted_cube_are_the_shift_in_mm() -> None:
    # shifted by 3 voxels of 2 mm: the end that sticks out is 6 mm off, sides that lie on each other are 0 mm off
    pair = surface_pair(cube(4, 12), cube(4, 12, shift=3), spacing=(2.0, 1.0, 1.0))
    assert pair.pred is not None
    assert pair.distances_mm is not None
    at_end = pair.pred.vertices[:, 0] == 14.5
    np.testing.assert_allclose(pair.distances_mm[at_end], 6.0)
    on_side = (pair.pred.vertices[:, 1] == 3.5) & (pair.pred.vertices[:, 0] < 12)
    np.testing.assert_allclose(pair.distances_mm[on_side], 0.0)
    sticking_out = (pair.pred.vertices[:, 1] == 3.5) & (pair.pred.vertices[:, 0] == 13)
    # from (13, 3.5) to the rim of the end, (11.5, 4): 1.5 voxels of 2 mm and half a voxel of 1 mm
    np.testing.assert_allclose(pair.distances_mm[sticking_out], np.hypot(3.0, 0.5))
    assert pair.halvings == 0


def test_the_scale_ends_at_the_hd95_of_the_voxels() -> None:
    moved = surface_pair(cube(4, 12), cube(4, 12, shift=3), spacing=(2.0, 1.0, 1.0))
    # 64 of the 8^3 - 6^3 = 296 surface voxels of a cube, more than 5 %, lie in the end that is 6 mm off
    assert moved.top_mm == 6.0
    told = surface_pair(cube(4, 12), cube(4, 12, shift=3), spacing=(2.0, 1.0, 1.0), hd95_mm=2.5)
    assert told.top_mm == 2.5


def test_places_are_those_of_the_whole_array() -> None:
    whole = np.zeros((40, 50, 60), dtype=bool)
    whole[20:24, 30:34, 40:44] = True
    pair = surface_pair(whole, whole, spacing=(1, 1, 1))
    assert pair.gt is not None
    np.testing.assert_allclose(pair.gt.vertices.min(axis=0), (19.5, 29.5, 39.5))
    assert pair.distances_mm is not None
    assert pair.distances_mm.max() == 0


def test_large_boxes_are_halved_and_stay_where_they_are() -> None:
    pair = surface_pair(cube(4, 12), cube(4, 12), spacing=(1, 1, 1), most_voxels=100)
    assert pair.halvings == 1  # 512 voxels become 64
    assert pair.gt is not None
    # halved voxels reach from 4 to 11; their faces lie within half a halved voxel
    assert np.abs(pair.gt.vertices.min(axis=0) - 3.5).max() < 0.1
    assert np.abs(pair.gt.vertices.max(axis=0) - 11.5).max() < 0.1


def test_a_sheet_of_one_voxel_is_still_there_when_it_was_halved() -> None:
    sheet = np.zeros((8, 8, 8), dtype=bool)
    sheet[3] = True
    assert mask_mesh(sheet, halvings=1) is not None


@pytest.mark.parametrize(("gt", "pred", "there"), [(True, False, "gt"), (False, True, "pred"), (False, False, "")])
def test_a_side_without_voxels_has_no_surface(gt: bool, pred: bool, there: str) -> None:
    masks = [cube(4, 8) if one else cube(4, 4) for one in (gt, pred)]
    pair = surface_pair(*masks, spacing=(1, 1, 1))
    assert [name for name in ("gt", "pred") if getattr(pair, name) is not None] == [there] * bool(there)
    assert pair.distances_mm is None
    assert pair.top_mm == 0


def test_masks_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(MetricInputError, match="two boolean masks"):
        surface_pair(cube(4, 8), cube(4, 8, n=17), spacing=(1, 1, 1))
    with pytest.raises(MetricInputError, match="two boolean masks"):
        surface_pair(cube(4, 8)[0], cube(4, 8)[0], spacing=(1, 1))
    with pytest.raises(MetricInputError, match="spacing"):
        surface_pair(cube(4, 8), cube(4, 8), spacing=(1, 0, 1))
