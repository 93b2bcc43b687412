"""Turn a true label map into a wrong one whose error is known.

Every function returns a new label map on the same grid and leaves its argument alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.phantoms.paint import Point, smooth_noise

Mask = NDArray[np.bool_]


def swapped(labels: LabelMap, first: int, second: int) -> LabelMap:
    """Return the label map with two ids exchanged: each region scores 0, their union is untouched."""
    data = labels.data.copy()
    data[labels.data == first] = second
    data[labels.data == second] = first
    return dataclasses.replace(labels, data=data)


def removed(labels: LabelMap, label: int, *, into: int = 0) -> LabelMap:
    """Return the label map without an id; its voxels become background, or the id `into`."""
    data = labels.data.copy()
    data[data == label] = into
    return dataclasses.replace(labels, data=data)


def shifted(labels: LabelMap, step: Sequence[int], label: int | None = None) -> LabelMap:
    """Return the label map moved by whole voxels along its array axes.

    Parameters
    ----------
    step : sequence of int
        Voxels per array axis. What leaves the volume is lost, what enters is background: nothing wraps.
    label : int, optional
        Move this id only: it leaves background behind and covers what it meets. None moves everything.
    """
    moving = labels.data if label is None else np.where(labels.data == label, labels.data, 0)
    moved = np.zeros_like(moving)
    target, origin = [], []
    for n, s in zip(moving.shape, step, strict=True):
        target.append(slice(max(s, 0), max(n + min(s, 0), 0)))
        origin.append(slice(max(-s, 0), max(n - max(s, 0), 0)))
    moved[tuple(target)] = moving[tuple(origin)]
    if label is None:
        return dataclasses.replace(labels, data=moved)
    rest = np.where(labels.data == label, 0, labels.data)
    return dataclasses.replace(labels, data=np.where(moved == label, moved, rest).astype(labels.data.dtype))


def mirrored(labels: LabelMap) -> LabelMap:
    """Return the label map with its array flipped left for right and its grid unchanged.

    This is what a wrong sign in an affine does to a prediction.
    """
    axis = next(a for a, (world, _) in enumerate(labels.grid.world_axes) if world == 0)
    return dataclasses.replace(labels, data=np.ascontiguousarray(np.flip(labels.data, axis)))


def with_blob(labels: LabelMap, label: int, centre_world: Point, radius_mm: float) -> LabelMap:
    """Return the label map with a ball of `label` added around a world position (mm RAS+), over background only."""
    index = np.moveaxis(np.indices(labels.data.shape), 0, -1)
    distance = np.linalg.norm(labels.grid.voxel_to_world(index) - np.asarray(centre_world), axis=-1)
    data = labels.data.copy()
    data[(distance <= radius_mm) & (data == 0)] = label
    return dataclasses.replace(labels, data=data)


def eroded(labels: LabelMap, label: int) -> LabelMap:
    """Return the label map with one layer of voxels taken off an id: those with a face on anything else.

    Voxels at the edge of the volume stay, unless another neighbour differs.
    """
    mask = labels.data == label
    data = labels.data.copy()
    data[mask & _touched(~mask, (0, 1, 2))] = 0
    return dataclasses.replace(labels, data=data)


def dilated(labels: LabelMap, label: int) -> LabelMap:
    """Return the label map with one layer of voxels added to an id, over background only."""
    data = labels.data.copy()
    data[(data == 0) & _touched(labels.data == label, (0, 1, 2))] = label
    return dataclasses.replace(labels, data=data)


def roughened(
    labels: LabelMap, seed: int, *, scale_mm: float = 12.0, part: float = 0.5, axes: Sequence[int] = (0, 1, 2)
) -> LabelMap:
    """Return the label map with errors of one voxel along its borders, as a good model makes them.

    Borders between two ids move as those to the background do.

    Parameters
    ----------
    seed : int
        Chooses where.
    scale_mm : float
        How far an error reaches along a border.
    part : float
        Part of the border that is wrong: half of it too far out, half too far in.
    axes : sequence of int
        Array axes along which a border may move.
    """
    field = smooth_noise(np.random.default_rng(seed), labels.data.shape, labels.grid.spacing, scale_mm)
    low, high = np.quantile(field, (part / 2, 1 - part / 2))
    source = labels.data
    data = source.copy()
    present = np.unique(source)
    for label in present:  # where the field is low, higher ids grow into lower ones and into background
        data[(source < label) & _touched(source == label, axes) & (field < low)] = label
    for label in present[::-1]:  # where it is high, the other way round; background wins over all
        data[(source > label) & _touched(source == label, axes) & (field > high)] = label
    return dataclasses.replace(labels, data=data)


def _touched(mask: Mask, axes: Sequence[int]) -> Mask:
    """Voxels with a face neighbour in the mask along one of the axes."""
    near = np.zeros_like(mask)
    for axis in axes:
        to, of = np.moveaxis(near, axis, 0), np.moveaxis(mask, axis, 0)  # views: writing changes `near`
        to[:-1] |= of[1:]
        to[1:] |= of[:-1]
    return near
