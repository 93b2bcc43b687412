"""Which voxels a step of a label layer's history names, and where they are in the file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.ui.strokes import changed_by, in_file, is_written, redrawn


def part(box: tuple[slice, ...], mask: Any) -> Any:
    return SimpleNamespace(slice_key=box, mask=mask)


def test_boxes_masks_and_lists_of_indices_add_up() -> None:
    mask = np.array([[[True, False], [False, True]]])
    item = [
        part((slice(3, 4), slice(5, 7), slice(8, 10)), mask),
        part((slice(0, 1), slice(0, 1), slice(0, 2)), None),
        ((np.array([9]), np.array([8]), np.array([7])), np.array([1]), 2),
    ]
    found = changed_by(item)
    assert found is not None
    assert list(zip(*(axis.tolist() for axis in found), strict=True)) == [
        (3, 5, 8),
        (3, 6, 9),
        (0, 0, 0),
        (0, 0, 1),
        (9, 8, 7),
    ]


def test_what_is_not_understood_is_not_guessed() -> None:
    assert changed_by(None) is None
    assert changed_by([]) is None
    assert changed_by([object()]) is None
    assert changed_by([part((slice(0, 2),) * 3, np.ones((1, 2, 2), dtype=bool))]) is None


def test_a_step_is_written_or_still_to_be() -> None:
    data = np.zeros((3, 3, 3), dtype=np.uint8)
    data[1, 1, 1] = 5
    at_one, at_two = ((np.array([n, 2]),) * 3 for n in (1, 2))
    assert is_written([(at_one, np.array([0, 0]), 5)], data)
    assert not is_written([(at_two, np.array([0, 0]), 5)], data)
    assert not is_written([(at_two, np.array([0, 0]), np.array([7, 8]))], data)
    assert is_written([], data)
    assert is_written([part((slice(0, 1),) * 3, None)], data)  # a box with a mask is told at the end of a drag


def test_what_is_drawn_anew_lies_in_the_slice_that_is_looked_at() -> None:
    dims = SimpleNamespace(displayed=(0, 2), ndim=3, current_step=(4, 6, 8))
    found = redrawn(SimpleNamespace(offset=[1, 2], data=np.zeros((2, 1))), dims)
    assert found is not None
    assert [axis.tolist() for axis in found] == [[1, 2], [6, 6], [2, 2]]
    assert redrawn(SimpleNamespace(), dims) is None


def test_displayed_places_are_found_in_the_file() -> None:
    affine = np.array([[0, 2.0, 0, 0], [-1.0, 0, 0, 0], [0, 0, 3.0, 0], [0, 0, 0, 1]])
    grid = Grid((4, 5, 6), affine)
    array = np.zeros(grid.shape, dtype=np.uint8)
    voxels = (np.array([1, 2]), np.array([3, 0]), np.array([4, 1]))
    display_order(grid).apply(array)[voxels] = 1
    found = in_file(voxels, grid)
    assert found is not None
    assert sorted(zip(*(a.tolist() for a in found), strict=True)) == sorted(map(tuple, np.argwhere(array).tolist()))
    assert in_file((np.array([99]), np.array([0]), np.array([0])), grid) is None
