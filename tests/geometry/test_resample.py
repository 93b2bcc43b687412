"""Nearest-neighbour resampling against plain indexing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer import Grid, LabelMap
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.resample import resample_labels

DATA = np.arange(1, 61, dtype=np.uint8).reshape(3, 4, 5)
AFFINE = np.array([[0.7, 0, 0, -31.0], [0, 0.9, 0, 17.0], [0, 0, 2.5, 5.0], [0, 0, 0, 1.0]])
LABELS = LabelMap(DATA, Grid(DATA.shape, AFFINE))


def moved(shift_voxel: tuple[float, ...], shape: tuple[int, ...] = DATA.shape) -> Grid:
    """Grid whose voxel 0 lies at `shift_voxel` of LABELS."""
    affine = AFFINE.copy()
    affine[:3, 3] = AFFINE[:3, :3] @ np.asarray(shift_voxel, dtype=float) + AFFINE[:3, 3]
    return Grid(shape, affine)


def test_onto_its_own_grid_nothing_changes() -> None:
    out = resample_labels(LABELS, LABELS.grid)
    assert out.data.tolist() == DATA.tolist()
    assert out.data.dtype == DATA.dtype
    assert out.grid is LABELS.grid


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_flipped_grid_of_the_same_world_is_a_flip(axis: int) -> None:
    affine = AFFINE.copy()
    affine[:3, 3] += affine[:3, axis] * (DATA.shape[axis] - 1)
    affine[:3, axis] *= -1
    out = resample_labels(LABELS, Grid(DATA.shape, affine))
    assert out.data.tolist() == np.flip(DATA, axis).tolist()


@pytest.mark.parametrize("axes", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_swapped_axes_of_the_same_world_are_a_transpose(axes: tuple[int, ...]) -> None:
    affine = AFFINE[:, [*axes, 3]]
    out = resample_labels(LABELS, Grid(tuple(DATA.shape[a] for a in axes), affine))
    assert out.data.tolist() == DATA.transpose(axes).tolist()


def test_a_grid_moved_by_whole_voxels_is_a_slice() -> None:
    out = resample_labels(LABELS, moved((1, 2, 1), (2, 2, 3)))
    assert out.data.tolist() == DATA[1:3, 2:4, 1:4].tolist()


def test_half_the_spacing_repeats_every_voxel() -> None:
    affine = AFFINE @ np.diag([0.5, 0.5, 0.5, 1.0])
    affine[:3, 3] = AFFINE[:3, :3] @ [-0.25, -0.25, -0.25] + AFFINE[:3, 3]
    out = resample_labels(LABELS, Grid((6, 8, 10), affine))
    expected = DATA.repeat(2, axis=0).repeat(2, axis=1).repeat(2, axis=2)
    assert out.data.tolist() == expected.tolist()


def test_exactly_between_two_voxels_the_higher_index_is_taken() -> None:
    out = resample_labels(LABELS, moved((0.5, 0, 0), (2, 4, 5)))
    assert out.data.tolist() == DATA[1:].tolist()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_half_a_voxel_outside_is_allowed_and_takes_the_border(axis: int, sign: int) -> None:
    shift = np.zeros(3)
    shift[axis] = 0.5 * sign
    out = resample_labels(LABELS, moved(tuple(shift)))
    index = np.clip(np.floor(np.arange(DATA.shape[axis]) + shift[axis] + 0.5), 0, DATA.shape[axis] - 1).astype(int)
    assert out.data.tolist() == np.take(DATA, index, axis=axis).tolist()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("beyond", "said"), [(0.51, "0.51"), (3.0, "3"), (-0.51, "0.51"), (-2.25, "2.25")])
def test_more_than_half_a_voxel_outside_is_refused_with_the_number(axis: int, beyond: float, said: str) -> None:
    shift = np.zeros(3)
    shift[axis] = beyond
    with pytest.raises(GridMismatchError, match=rf"lies {said} voxels beyond .*0\.5 is allowed"):
        resample_labels(LABELS, moved(tuple(shift)))


def test_a_prediction_that_ends_early_is_refused_although_it_overlaps() -> None:
    with pytest.raises(GridMismatchError, match="ends before the ground truth's"):
        resample_labels(LABELS, Grid((3, 4, 7), AFFINE))


@pytest.mark.parametrize("which", ["labels", "target"])
def test_a_grid_without_world_is_refused(which: str) -> None:
    nowhere = Grid(DATA.shape, AFFINE, has_world=False)
    labels = LabelMap(DATA, nowhere) if which == "labels" else LABELS
    with pytest.raises(GridMismatchError, match="form codes"):
        resample_labels(labels, nowhere if which == "target" else LABELS.grid)


def test_affines_rounded_to_32_bits_do_not_count_as_outside() -> None:
    rounded: NDArray[np.float64] = moved((0.5, 0.5, 0.5)).affine.astype(np.float32).astype(np.float64)
    out = resample_labels(LABELS, Grid(DATA.shape, rounded))
    assert out.data.shape == DATA.shape


def test_large_ids_keep_their_type() -> None:
    labels = LabelMap(DATA.astype(np.int64) * 2**33, LABELS.grid)
    out = resample_labels(labels, moved((1, 0, 0), (2, 4, 5)))
    assert out.data.dtype == np.int64
    assert out.data.tolist() == (DATA[1:].astype(np.int64) * 2**33).tolist()


def test_an_oblique_target_takes_the_nearest_centre() -> None:
    affine = AFFINE.copy()
    angle = 0.2
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    affine[:3, :3] = turn @ AFFINE[:3, :3] * 0.4
    affine[:3, 3] = LABELS.grid.voxel_to_world([1, 1, 2])
    target = Grid((2, 3, 4), affine)
    out = resample_labels(LABELS, target)
    for index in np.ndindex(target.shape):
        nearest = np.rint(LABELS.grid.world_to_voxel(target.voxel_to_world(index))).astype(int)
        assert out.data[index] == DATA[tuple(nearest)]
