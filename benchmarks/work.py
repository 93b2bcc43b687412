"""The work items that are measured, made by formulas and a seeded generator: the same in every run.

Arrays are as the reader of NIfTI files gives them: (i, j, k), first axis closest in memory, smallest unsigned type.
Instance masks are (rows, columns) or (planes, rows, columns), last axis closest in memory, as images are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.unsignedinteger[Any]]
Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A pair of label maps.

    Parameters
    ----------
    name : str
        W1 to W6.
    gt, pred : ndarray of unsigned int
        Of one shape.
    spacing : tuple of float
        mm, in axis order.
    regions : mapping of str to tuple of int
        Ids of each region that is scored; empty for instance masks.
    """

    name: str
    gt: Labels
    pred: Labels
    spacing: tuple[float, ...]
    regions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Blob:
    """A smooth closed surface around a centre.

    Parameters
    ----------
    label : int
        Its id.
    centre, radii : (float, float, float)
        mm along the array's axes, from the centre of the first voxel.
    lumps : float
        How far the surface departs from an ellipsoid, as a share of the radius.
    """

    label: int
    centre: Point
    radii: Point
    lumps: float = 0.15


# Share of a torso's width, depth and height (feet to head) of centre and radii: abdominal and thoracic organs.
ORGANS: tuple[tuple[str, Point, Point], ...] = (
    ("spleen", (0.70, 0.60, 0.56), (0.060, 0.080, 0.060)),
    ("right kidney", (0.36, 0.64, 0.48), (0.050, 0.050, 0.060)),
    ("left kidney", (0.64, 0.64, 0.49), (0.050, 0.050, 0.060)),
    ("gall bladder", (0.40, 0.40, 0.50), (0.025, 0.035, 0.022)),
    ("oesophagus", (0.51, 0.56, 0.72), (0.018, 0.018, 0.120)),
    ("liver", (0.36, 0.46, 0.57), (0.150, 0.150, 0.085)),
    ("stomach", (0.60, 0.42, 0.57), (0.085, 0.085, 0.060)),
    ("aorta", (0.52, 0.61, 0.56), (0.026, 0.026, 0.200)),
    ("inferior vena cava", (0.47, 0.59, 0.52), (0.024, 0.020, 0.150)),
    ("pancreas", (0.52, 0.50, 0.50), (0.085, 0.032, 0.022)),
    ("right adrenal gland", (0.42, 0.60, 0.54), (0.016, 0.022, 0.014)),
    ("left adrenal gland", (0.59, 0.60, 0.54), (0.016, 0.022, 0.014)),
    ("duodenum", (0.45, 0.47, 0.47), (0.040, 0.035, 0.045)),
    ("bladder", (0.50, 0.44, 0.22), (0.080, 0.070, 0.040)),
    ("prostate", (0.50, 0.50, 0.17), (0.042, 0.036, 0.018)),
)


def w1(shape: tuple[int, int, int] = (512, 512, 300)) -> Work:
    """One lesion of about 30 mm, and a false positive far away."""
    spacing = (0.8, 0.8, 3.0)
    size = np.multiply(shape, spacing)
    lesion = Blob(1, _at(size, (0.38, 0.45, 0.55)), (15.0, 13.0, 15.0), 0.2)
    stray = Blob(1, _at(size, (0.80, 0.75, 0.85)), (5.0, 5.0, 7.0))
    return _pair("W1", [lesion], [stray], shape, spacing, {"lesion": (1,)})


def w2(shape: tuple[int, int, int] = (512, 512, 300)) -> Work:
    """Fifteen organs; five of them have a false positive far away."""
    spacing = (0.8, 0.8, 3.0)
    size = np.multiply(shape, spacing)
    organs = [Blob(n, _at(size, centre), _at(size, radii)) for n, (_, centre, radii) in enumerate(ORGANS, 1)]
    stray = [
        Blob(label, _at(size, (0.2 + 0.14 * place, 0.8 - 0.1 * place, 0.9 - 0.18 * place)), (6.0, 6.0, 9.0))
        for place, label in enumerate((1, 4, 6, 10, 14))
    ]
    return _pair("W2", organs, stray, shape, spacing, {name: (n,) for n, (name, _, _) in enumerate(ORGANS, 1)})


def w3(shape: tuple[int, int, int] = (512, 512, 600)) -> Work:
    """A spine of twenty vertebrae, bodies and arches, with two false positives."""
    spacing = (0.7, 0.7, 1.0)
    size = np.multiply(shape, spacing)
    height = size[2] / 22
    parts: list[Blob] = []
    for n in range(1, 21):
        width = (0.055 - 0.0013 * n) * size[0]
        x, y = 0.5 * size[0], (0.55 + 0.05 * np.sin(n / 3.0)) * size[1]
        z = (n + 0.5) * height
        body = Blob(n, (x, y, z), (width, 0.75 * width, 0.44 * height), 0.08)
        spine = Blob(n, (x, y + 1.6 * width, z - 0.1 * height), (0.25 * width, 0.9 * width, 0.26 * height), 0.1)
        wings = Blob(n, (x, y + 1.0 * width, z), (1.5 * width, 0.35 * width, 0.28 * height), 0.1)
        parts += [body, spine, wings]
    stray = [Blob(3, _at(size, (0.2, 0.3, 0.8)), (5, 5, 6)), Blob(17, _at(size, (0.75, 0.2, 0.15)), (6, 4, 5))]
    return _pair("W3", parts, stray, shape, spacing, {f"vertebra {n}": (n,) for n in range(1, 21)})


def w4(shape: tuple[int, int, int] = (240, 240, 155)) -> Work:
    """A brain tumour: oedema 2 around necrosis 1 and enhancing tumour 3; the regions overlap."""
    spacing = (1.0, 1.0, 1.0)
    size = np.multiply(shape, spacing)
    centre = _at(size, (0.38, 0.55, 0.56))
    unit = size.min() / 155
    parts = [
        Blob(2, centre, (34 * unit, 40 * unit, 30 * unit), 0.25),
        Blob(3, centre, (20 * unit, 24 * unit, 19 * unit), 0.2),
        Blob(1, centre, (13 * unit, 16 * unit, 12 * unit), 0.2),
    ]
    stray = [Blob(2, _at(size, (0.7, 0.3, 0.3)), (5 * unit, 4 * unit, 4 * unit))]
    return _pair("W4", parts, stray, shape, spacing, {"WT": (1, 2, 3), "TC": (1, 3), "ET": (3,)})


def w5(shape: tuple[int, int] = (1000, 1000), n: int = 1500) -> Work:
    """Nuclei in a stained section."""
    return _instances("W5", shape, n, seed=5)


def w6(shape: tuple[int, int, int] = (64, 512, 512), n: int = 3000) -> Work:
    """Nuclei in a stack."""
    return _instances("W6", shape, n, seed=6)


WORKS: Mapping[str, Callable[[], Work]] = {"W1": w1, "W2": w2, "W3": w3, "W4": w4, "W5": w5, "W6": w6}

TINY: Mapping[str, Callable[[], Work]] = {
    "W1": lambda: w1((96, 96, 48)),
    "W2": lambda: w2((96, 96, 64)),
    "W3": lambda: w3((80, 80, 120)),
    "W4": lambda: w4((60, 60, 40)),
    "W5": lambda: w5((120, 120), 25),
    "W6": lambda: w6((16, 64, 64), 25),
}
"""The same in small, for warming up and for tests."""


def contours(n: int = 100, points: int = 200, side: int = 512) -> list[NDArray[np.float64]]:
    """Return rings (points, 2) of x, y in pixels: smooth outlines, rounded to 1/1024 so that no rounding decides."""
    dice = np.random.default_rng(11)
    turn = np.linspace(0, 2 * np.pi, points, endpoint=False)
    rings = []
    for _ in range(n):
        radius = dice.uniform(0.08, 0.2) * side * np.ones(points)
        for wave in range(2, 8):
            radius *= 1 + dice.uniform(-0.3, 0.3) / wave * np.cos(wave * turn + dice.uniform(0, 2 * np.pi))
        centre = dice.uniform(0.35, 0.65, 2) * side
        ring = centre + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        rings.append(np.round(ring * 1024) / 1024)
    return rings


def remap_table() -> dict[int, int]:
    """Return twenty entries for the ids of W2: renumbered, merged, swapped, dropped, and ids that do not occur."""
    table = {n: n + 1 for n in range(1, 10)} | {10: 1, 11: 11, 12: 11, 13: 0, 14: 15, 15: 14}
    return table | {n: n - 15 for n in range(16, 21)}


def cube(side: int, labels: int) -> Work:
    """Return a cube of side**3 voxels with a number of blobs in a lattice, each a label; 1 mm voxels."""
    per_axis = int(np.ceil(labels ** (1 / 3)))
    pitch = side / per_axis
    places = np.stack(np.unravel_index(np.arange(labels), (per_axis,) * 3), axis=1)
    blobs = [
        Blob(n, _point((place + 0.5) * pitch), _point(np.array([0.42, 0.36, 0.39]) * pitch))
        for n, place in enumerate(places, 1)
    ]
    return _pair("cube", blobs, [], (side,) * 3, (1.0, 1.0, 1.0), {str(n): (n,) for n in range(1, labels + 1)})


def far_masks() -> dict[str, tuple[NDArray[np.bool_], NDArray[np.bool_], Point]]:
    """Return pairs of masks of up to 100,000 surface voxels each that are nowhere near: no search can stop early."""
    dice = np.random.default_rng(99)
    shape, spacing = (512, 512, 300), (0.8, 0.8, 3.0)

    def empty() -> NDArray[np.bool_]:
        return _background(shape, np.bool_, "F")

    def cloud(low: Point, high: Point, n: int = 100_000) -> NDArray[np.bool_]:
        mask = empty()
        at = (np.array(low) + dice.random((n, 3)) * (np.array(high) - low)).astype(int)
        mask[tuple(at.T)] = True
        return mask

    def ball(centre: Point, radius: float) -> NDArray[np.bool_]:
        mask = empty()
        axes = np.ogrid[: shape[0], : shape[1], : shape[2]]
        far = sum(((a - c) * s / radius) ** 2 for a, c, s in zip(axes, centre, spacing, strict=True))
        mask[far < 1] = True
        return mask

    def shell() -> NDArray[np.bool_]:
        """A thin wall around everything: from its middle, all of it is equally far."""
        return ball((256, 256, 150), 190) & ~ball((256, 256, 150), 188)

    low_corner, high_corner = ((0, 0, 0), (200, 200, 100)), ((312, 312, 200), (512, 512, 300))
    return {
        "noise cloud against a small blob far away": (cloud(*low_corner), ball((440, 440, 260), 20), spacing),
        "two large blobs far apart": (ball((120, 120, 70), 95), ball((390, 390, 230), 95), spacing),
        "noise cloud against noise cloud far away": (cloud(*low_corner), cloud(*high_corner), spacing),
        "noise clouds that fill the same volume": (
            cloud((0, 0, 0), shape),
            cloud((0, 0, 0), shape),
            spacing,
        ),
        "a small cloud in the middle of a shell": (cloud((252, 252, 149), (260, 260, 152), 500), shell(), spacing),
        "a large blob moved by 32 voxels": (ball((240, 256, 150), 95), ball((272, 256, 150), 95), spacing),
        "two flat sheets at opposite ends": (
            cloud((0, 0, 0), (512, 512, 1)),
            cloud((0, 0, 299), (512, 512, 300)),
            spacing,
        ),
    }


def _at(size: NDArray[np.float64], share: Point) -> Point:
    return _point(size * share)


def _point(values: NDArray[np.float64]) -> Point:
    return float(values[0]), float(values[1]), float(values[2])


def _background(shape: tuple[int, ...], kind: Any, order: Literal["C", "F"]) -> NDArray[Any]:
    """Zeros in pages of their own: those of `np.zeros` are one page until they are written to, and quick to read."""
    return np.full(shape, 0, kind, order=order)


def _pair(
    name: str,
    blobs: list[Blob],
    stray: list[Blob],
    shape: tuple[int, int, int],
    spacing: Point,
    regions: Mapping[str, tuple[int, ...]],
) -> Work:
    """Ground truth, and a prediction whose surfaces wander by a few voxels, with what is stray besides."""
    kind = np.uint8 if max(b.label for b in blobs) < 256 else np.uint16
    gt, pred = _background(shape, kind, "F"), _background(shape, kind, "F")
    for number, blob in enumerate(blobs):
        _draw(gt, blob, spacing, seed=number, wander=0.0)
        _draw(pred, blob, spacing, seed=number, wander=1.6 * min(spacing))
    for number, blob in enumerate(stray):
        _draw(pred, blob, spacing, seed=1000 + number, wander=0.0)
    return Work(name, gt, pred, spacing, regions)


def _draw(labels: Labels, blob: Blob, spacing: Point, *, seed: int, wander: float) -> None:
    """Set the voxels of a blob; with `wander` mm, its surface moves in and out and the whole by less."""
    dice = np.random.default_rng([seed, 42])
    waves = dice.normal(0, 1.3, (6, 3)), dice.uniform(0, 2 * np.pi, 6)
    other = np.random.default_rng([seed, 43])
    ripples = other.normal(0, 4.0, (8, 3)), other.uniform(0, 2 * np.pi, 8)
    shift = other.uniform(-0.5, 0.5, 3) * wander
    centre, radii = np.array(blob.centre) + shift, np.array(blob.radii)
    reach = radii * (1 + 1.7 * blob.lumps) + 2 * wander
    low = np.maximum(np.floor((centre - reach) / spacing).astype(int), 0)
    high = np.minimum(np.ceil((centre + reach) / spacing).astype(int) + 1, labels.shape)
    if (low >= high).any():
        return
    axes = [
        ((np.arange(a, b) * s - c) / r).astype(np.float32)
        for a, b, s, c, r in zip(low, high, spacing, centre, radii, strict=True)
    ]
    box = labels[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
    x, y = axes[0][:, None], axes[1][None, :]
    for k, z in enumerate(axes[2]):
        distance = np.sqrt(x * x + y * y + z * z)
        toward = [axis / np.maximum(distance, 1e-6) for axis in (x, y, z)]
        surface = 1 + blob.lumps * _ripple(toward, *waves)
        if wander:
            surface += wander / radii.min() * _ripple(toward, *ripples)
        box[..., k][distance < surface] = blob.label


def _ripple(toward: list[NDArray[np.float32]], directions: Any, phases: Any) -> NDArray[np.float32]:
    """A smooth function of direction, mostly between -1 and 1."""
    total = np.zeros(np.broadcast_shapes(*(t.shape for t in toward)), np.float32)
    for (a, b, c), phase in zip(directions.astype(np.float32), phases.astype(np.float32), strict=True):
        total += np.cos(a * toward[0] + b * toward[1] + c * toward[2] + phase)
    return total / np.float32(np.sqrt(len(phases)))


def _instances(name: str, shape: tuple[int, ...], n: int, *, seed: int) -> Work:
    """Nuclei in a shaken lattice; some are lost, merged, split or invented."""
    dice = np.random.default_rng(seed)
    flat = np.array([0.5, 1, 1]) if len(shape) == 3 else np.ones(2)  # in stacks, planes lie further apart than pixels
    pitch = (np.prod(np.divide(shape, flat)) / n) ** (1 / len(shape)) * flat
    cells = np.floor(np.divide(shape, pitch)).astype(int)
    while cells.prod() < n:
        cells[np.argmin(cells * pitch / shape)] += 1
    pitch = np.divide(shape, cells)
    chosen = np.sort(dice.permutation(cells.prod())[:n])
    places = np.stack(np.unravel_index(chosen, cells), axis=1)
    centres = (places + 0.5 + dice.uniform(-0.15, 0.15, places.shape)) * pitch
    radii = dice.uniform(0.26, 0.42, places.shape) * pitch
    kind = np.uint16 if 2 * n < 65536 else np.int32
    gt, pred = _background(shape, kind, "C"), _background(shape, kind, "C")
    fates = dice.random(n)
    names = 1 + dice.permutation(n)
    for number in range(n):
        _nucleus(gt, number + 1, centres[number], radii[number])
        fate = fates[number]
        if fate < 0.08:
            continue  # lost
        label = int(names[number - 1 if fate < 0.12 and number else number])  # joined to the one before
        moved = centres[number] + dice.normal(0, 0.05, len(shape)) * pitch
        grown = radii[number] * dice.uniform(0.85, 1.15)
        _nucleus(pred, label, moved, grown)
        if fate > 0.96:  # split: one half is another nucleus
            _nucleus(pred, n + number + 1, moved + grown * 0.5, grown * 0.75)
        elif fate > 0.90:  # invented, over the corner of the cell
            _nucleus(pred, n + number + 1, (places[number] + 1) * pitch, radii[number] * 0.6)
    return Work(name, gt, pred, (1.0,) * len(shape))


def _nucleus(labels: Labels, label: int, centre: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
    low = np.maximum(np.floor(centre - radii), 0).astype(int)
    high = np.minimum(np.ceil(centre + radii) + 1, labels.shape).astype(int)
    axes = np.ix_(*(np.arange(a, b) for a, b in zip(low, high, strict=True)))
    inside = sum(((a - c) / r) ** 2 for a, c, r in zip(axes, centre, radii, strict=True))
    labels[tuple(slice(a, b) for a, b in zip(low, high, strict=True))][inside < 1] = label
