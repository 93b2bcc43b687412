"""Random but repeatable pairs of masks and of instance masks, in two and three dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
MaskCase = tuple[Mask, Mask, tuple[float, ...]]
InstanceCase = tuple[NDArray[np.int32], NDArray[np.int32]]

KINDS = ("perturbed", "border", "far apart", "stray", "noise", "voxels")


def mask_cases(n: int, seed: int = 2024) -> Iterator[MaskCase]:
    """Yield gt, pred and spacing; neither mask is empty. Dimensions and kinds take turns."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < n:
        ndim, kind = 2 + made % 2, KINDS[made // 2 % len(KINDS)]
        shape = tuple(rng.integers(6, 64 if ndim == 2 else 26, ndim).tolist())
        gt, pred = _pair(rng, shape, kind)
        if gt.any() and pred.any():
            yield gt, pred, _spacing(rng, ndim)
            made += 1


def _spacing(rng: np.random.Generator, ndim: int) -> tuple[float, ...]:
    """Isotropic, as scanners write it, or anything."""
    choice = rng.integers(3)
    if choice == 0:
        return (1.0,) * ndim
    if choice == 1:
        return tuple(rng.choice([0.5, 0.7, 0.8, 1.0, 3.0, 5.0], ndim).tolist())
    return tuple(rng.uniform(0.3, 6.0, ndim).tolist())


def _pair(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> tuple[Mask, Mask]:
    if kind == "noise":
        return rng.random(shape) < rng.uniform(0.02, 0.9), rng.random(shape) < rng.uniform(0.02, 0.9)
    if kind == "voxels":
        gt, pred = np.zeros((2, *shape), dtype=bool)
        for mask in (gt, pred):
            for _ in range(rng.integers(1, 5)):
                mask[tuple(rng.integers(0, shape))] = True
        return gt, pred
    if kind == "far apart":
        return _ball(rng, shape, np.zeros(len(shape)), 0.3), _ball(rng, shape, np.array(shape) - 1.0, 0.3)
    if kind == "border":
        side = rng.integers(0, 2, len(shape)) * (np.array(shape) - 1.0)
        return _ball(rng, shape, side, 0.6), _ball(rng, shape, side, 0.6)
    centre = rng.uniform(0.3, 0.7, len(shape)) * shape
    gt = _ball(rng, shape, centre, 0.4)
    pred = np.roll(gt, rng.integers(-2, 3, len(shape)).tolist(), axis=tuple(range(gt.ndim)))
    pred = pred & (rng.random(shape) > 0.1)
    if kind == "stray":
        pred[tuple(slice(int(i), int(i) + int(rng.integers(1, 4))) for i in rng.integers(0, shape))] = True
    return gt, pred


def _ball(rng: np.random.Generator, shape: tuple[int, ...], centre: NDArray[np.float64], size: float) -> Mask:
    """An ellipsoid with radii of up to `size` of each axis."""
    radii = np.maximum(rng.uniform(0.1, size, len(shape)) * shape, 0.8)
    grid = np.indices(shape).reshape(len(shape), -1).T
    return ((((grid - centre) / radii) ** 2).sum(axis=1) <= 1).reshape(shape)


def instance_cases(n: int, seed: int = 2024) -> Iterator[InstanceCase]:
    """Yield gt and pred with some objects each and some background; ids have gaps and no order."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < n:
        shape: Any = (48, 64) if made % 2 == 0 else (10, 24, 28)
        gt = _objects(rng, shape, int(rng.integers(2, 30)))
        pred = _changed(rng, gt)
        if all(labels.any() and not labels.all() for labels in (gt, pred)):
            yield _renamed(rng, gt), _renamed(rng, pred)
            made += 1


def _objects(rng: np.random.Generator, shape: tuple[int, ...], n: int) -> NDArray[np.int32]:
    labels = np.zeros(shape, dtype=np.int32)
    for number in range(1, n + 1):
        centre = rng.uniform(0, 1, len(shape)) * shape
        labels[_ball(rng, shape, centre, 0.2)] = number
    return labels


def _changed(rng: np.random.Generator, gt: NDArray[np.int32]) -> NDArray[np.int32]:
    """Shift all objects a little; then lose, merge, split and invent some."""
    axes = tuple(range(gt.ndim))
    pred = np.roll(gt, rng.integers(-1, 2, gt.ndim).tolist(), axis=axes)
    highest = int(gt.max())
    for number in range(1, highest + 1):
        fate = rng.random()
        here = pred == number
        if fate < 0.1:
            pred[here] = 0
        elif fate < 0.25:
            pred[here] = rng.integers(1, highest + 1)
        elif fate < 0.4:
            cut = np.indices(gt.shape)[int(rng.integers(gt.ndim))]
            pred[here & (cut > np.median(cut[here]) if here.any() else False)] = highest + number
        elif fate < 0.6:
            pred[here & (rng.random(gt.shape) < 0.3)] = 0
    for extra in range(int(rng.integers(0, 4))):
        pred[_ball(rng, gt.shape, rng.uniform(0, 1, gt.ndim) * gt.shape, 0.1) & (pred == 0)] = 3 * highest + extra
    return pred


def _renamed(rng: np.random.Generator, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Give every object another id, up to 5000."""
    names = np.r_[0, rng.choice(np.arange(1, 5001), int(labels.max()), replace=False)].astype(np.int32)
    return names[labels]
