"""Draw soft-edged shapes into a volume: what every phantom is made of.

A shape is a *depth*: an array that says how many mm a voxel lies inside a surface (negative outside). Depths are
combined by minimum and maximum, so that organs can be carved, cut and joined without a mesh.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume

Array = NDArray[np.float64]
Point = Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class Phantom:
    """A made-up case whose truth is known.

    Parameters
    ----------
    channels : dict of str to Volume
        Images by channel name, all on one grid.
    labels : LabelMap
        The truth, on the same grid.
    names : dict of int to str
        What each label id is.
    """

    channels: dict[str, Volume]
    labels: LabelMap
    names: dict[int, str]

    @property
    def image(self) -> Volume:
        """The first channel."""
        return next(iter(self.channels.values()))


def ras_grid(shape: Sequence[int], spacing: Point, centre_world: Point = (0.0, 0.0, 0.0)) -> Grid:
    """Return a grid in RAS order whose middle lies at `centre_world` (mm)."""
    affine = np.diag([*spacing, 1.0])
    affine[:3, 3] = np.asarray(centre_world) - (np.asarray(shape) - 1) / 2 * np.asarray(spacing)
    return Grid(tuple(shape), affine)


def smooth_noise(rng: np.random.Generator, shape: Sequence[int], spacing: Point, scale_mm: float) -> Array:
    """Return Gaussian noise of mean 0 and deviation 1 whose features are about `scale_mm` wide.

    White noise is blurred in the frequency domain: one pass whatever the width, and no edge effects to hide.
    """
    spectrum = np.fft.rfftn(rng.standard_normal(tuple(shape)))
    for axis, (n, step) in enumerate(zip(shape, spacing, strict=True)):
        frequencies = np.fft.rfftfreq(n, step) if axis == 2 else np.fft.fftfreq(n, step)
        weight = np.exp(-2 * (np.pi * frequencies * scale_mm) ** 2)
        spectrum *= weight.reshape([-1 if a == axis else 1 for a in range(3)])
    spectrum[0, 0, 0] = 0
    noise = np.fft.irfftn(spectrum, s=tuple(shape), axes=(0, 1, 2))
    return np.asarray(noise / max(float(noise.std()), 1e-12))


class Canvas:
    """An image and a label map being painted, and the mm coordinates of their voxels.

    Parameters
    ----------
    shape, spacing : sequence of int, of float
        Voxels and mm per axis, RAS order.
    background : float
        Intensity before anything is painted.
    wobble_mm : float
        How far the coordinates are bent by a smooth random field: no two bodies are made of equal ellipsoids.

    Attributes
    ----------
    x, y, z : ndarray
        Bent mm coordinates from the middle of the volume; they grow to the patient's right, front and head.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        shape: Sequence[int],
        spacing: Point,
        *,
        background: float,
        wobble_mm: float = 0.0,
        wobble_scale_mm: float = 40.0,
    ) -> None:
        self.rng, self.shape, self.spacing = rng, tuple(shape), tuple(spacing)
        self._fields: dict[float, Array] = {}
        lines = [(np.arange(n) - (n - 1) / 2) * s for n, s in zip(shape, spacing, strict=True)]
        bent = [
            line + wobble_mm * self.noise(wobble_scale_mm) for line in np.meshgrid(*lines, indexing="ij", sparse=True)
        ]
        self.x, self.y, self.z = bent
        self._lines, self._background = lines, background
        self.image: Array = np.full(self.shape, background, dtype=np.float64)
        self.labels = np.zeros(self.shape, dtype=np.uint8)

    def blank(self) -> Canvas:
        """Return a second canvas over the same coordinates: another channel of the same body."""
        other = copy.copy(self)
        other.image, other.labels = np.full_like(self.image, self._background), np.zeros_like(self.labels)
        return other

    def noise(self, scale_mm: float) -> Array:
        """Return a smooth random field of deviation 1."""
        if scale_mm not in self._fields:
            self._fields[scale_mm] = smooth_noise(self.rng, self.shape, self.spacing, scale_mm)
        # The field is periodic: the same one moved about serves as another, at a tenth of the cost.
        offsets = tuple(int(self.rng.integers(n)) for n in self.shape)
        return np.roll(self._fields[scale_mm], offsets, axis=(0, 1, 2))

    def paint(self, depth: Array, value: float | Array, label: int | None = None, *, soft_mm: float = 1.6) -> None:
        """Blend `value` in where `depth` is positive, fading over `soft_mm` each side; set `label` inside."""
        self._blend(np.s_[:], depth, value, label, soft_mm)

    def paint_tubes(
        self,
        segments: Sequence[tuple[Point, Point, float]],
        value: float,
        label: int | None = None,
        *,
        within: Array | None = None,
        soft_mm: float = 1.3,
    ) -> None:
        """Paint straight tubes (from, to, radius in mm), where `within` is positive."""
        reach = 14.0  # wider than the wobble
        for start, end, radius in segments:
            box = []
            for axis, line in enumerate(self._lines):
                low, high = sorted((start[axis], end[axis]))
                first, last = np.searchsorted(line, (low - radius - reach, high + radius + reach))
                box.append(slice(int(first), int(last)))
            place = tuple(box)
            if all(s.stop > s.start for s in box):
                depth = radius - distance_to_segment(self.x[place], self.y[place], self.z[place], start, end)
                if within is not None:
                    depth = np.minimum(depth, within[place])
                self._blend(place, depth, value, label, soft_mm)

    def _blend(
        self,
        place: slice | tuple[slice, ...],
        depth: Array,
        value: float | Array,
        label: int | None,
        soft_mm: float,
    ) -> None:
        """Mix a value into a part of the image by a smooth step of the depth."""
        step = np.clip(depth / (2 * soft_mm) + 0.5, 0, 1)
        step *= step * (3 - 2 * step)
        self.image[place] += step * (value - self.image[place])
        if label is not None:
            self.labels[place][depth > 0] = label

    def ellipsoid(self, centre: Point, radii: Point, *, turn_deg: float = 0.0, lean: float = 0.0) -> Array:
        """Return the depth of an ellipsoid.

        Parameters
        ----------
        turn_deg : float
            Turned about the head-foot axis, counter-clockwise from the patient's right to the front.
        lean : float
            mm by which its axis moves towards the right per mm towards the head.
        """
        dx, dy, dz = self.x - centre[0], self.y - centre[1], self.z - centre[2]
        dx = dx - lean * dz
        cos, sin = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
        u, v, w = (cos * dx + sin * dy) / radii[0], (cos * dy - sin * dx) / radii[1], dz / radii[2]
        q = np.sqrt(u * u + v * v + w * w)
        slope = np.sqrt((u / radii[0]) ** 2 + (v / radii[1]) ** 2 + (w / radii[2]) ** 2)
        # First-order distance: nearly mm at the surface however flat the ellipsoid is; finite at the centre.
        return np.asarray(np.minimum(q * (1 - q) / np.maximum(slope, 1e-9), min(radii)) * (q > 1e-6))

    def tube(self, points: Sequence[Point], radii: Sequence[float]) -> Array:
        """Return the depth of a bent tube through points, with a radius at each of them."""
        depths = [
            (first + second) / 2 - distance_to_segment(self.x, self.y, self.z, a, b)
            for a, b, first, second in zip(points, points[1:], radii, radii[1:], strict=False)
        ]
        return join(*depths, blend_mm=3.0)

    def sample(self, field: Array, x: Array, y: Array, z: Array) -> Array:
        """Return a field at other places (mm from the middle), linearly between voxels; clamped at the edge."""
        corners, weights = [], []
        for place, n, step in zip((x, y, z), self.shape, self.spacing, strict=True):
            index = np.clip(place / step + (n - 1) / 2, 0, n - 1.001)
            corners.append(index.astype(np.intp))
            weights.append(index - corners[-1])
        total = np.zeros(np.broadcast(x, y, z).shape)
        for up in np.ndindex(2, 2, 2):
            part = np.prod([w if u else 1 - w for u, w in zip(up, weights, strict=True)], axis=0)
            total += part * field[tuple(c + u for c, u in zip(corners, up, strict=True))]
        return total


def distance_to_segment(x: Array, y: Array, z: Array, start: Point, end: Point) -> Array:
    """Return the distance in mm from each point to a straight segment."""
    a, d = np.asarray(start, dtype=np.float64), np.subtract(end, start).astype(np.float64)
    px, py, pz = x - a[0], y - a[1], z - a[2]
    t = np.clip((px * d[0] + py * d[1] + pz * d[2]) / max(float(d @ d), 1e-9), 0, 1)
    return np.asarray(np.sqrt((px - t * d[0]) ** 2 + (py - t * d[1]) ** 2 + (pz - t * d[2]) ** 2))


def join(*depths: Array, blend_mm: float = 8.0) -> Array:
    """Return the union of shapes, with the groove between two of them filled over `blend_mm`."""
    total = depths[0]
    for depth in depths[1:]:
        overlap = np.maximum(blend_mm - np.abs(total - depth), 0) / blend_mm
        total = np.maximum(total, depth) + overlap * overlap * blend_mm / 4
    return total


def cut(depth: Array, *others: Array) -> Array:
    """Return what of a shape lies outside all the others."""
    for other in others:
        depth = np.minimum(depth, -other)
    return depth


def branches(
    rng: np.random.Generator, start: Point, heading: Point, length_mm: float, radius_mm: float, generations: int
) -> Iterator[tuple[Point, Point, float]]:
    """Yield the segments of a tree of vessels that forks in two at the end of each segment."""
    direction = np.asarray(heading, dtype=np.float64)
    direction = direction / np.linalg.norm(direction)
    end = np.asarray(start) + direction * length_mm
    yield tuple(start), tuple(end), radius_mm
    if generations > 1:
        aside = np.cross(direction, rng.standard_normal(3))
        aside /= np.linalg.norm(aside)
        for side in (1.0, -1.0):
            spread = side * rng.uniform(0.45, 0.8)
            shrunk = radius_mm * rng.uniform(0.72, 0.8)
            onward = tuple(float(v) for v in direction + spread * aside)
            yield from branches(rng, tuple(end), onward, length_mm * rng.uniform(0.72, 0.92), shrunk, generations - 1)
