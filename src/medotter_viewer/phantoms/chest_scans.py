"""CT scans of a chest with tumours whose outlines are known as polygons, not as voxels.

The tumours' polygons come from a formula and the image is painted from the same formula, so that areas are those of the
polygons. Nothing here reads or writes a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.scans import Seed
from medotter_viewer.core.volume import Volume
from medotter_viewer.geometry.polygons import TracedPolygon, fill, keyhole, trace
from medotter_viewer.phantoms.markers import reoriented
from medotter_viewer.phantoms.paint import Array, Canvas, Point, ras_grid, smooth_noise
from medotter_viewer.phantoms.torso_frame import Frame, heart, paint_bones, paint_frame

Mask = NDArray[np.bool_]

_STEP_HU = 8
_POINT_MM = 3.0  # between the points of a tumour's outline
_DIGITS = 2  # of a coordinate in mm, as tools write them
_LOWEST_MM = 57.0  # height of the first slice in the torso: above the diaphragm
_LUNG_HU = -450
_SMALLEST_MM2 = 300.0  # a vessel's edge is no lung


@dataclass(frozen=True, slots=True)
class Tumour:
    """A lobed ellipsoid.

    Parameters
    ----------
    centre : (x, y, z)
        mm from the middle of the torso: to the patient's right, front and head. The heart is at about (-10, 26, 80).
    radius_mm, half_height_mm : float
        Within its middle slice, and from there to its ends.
    necrosis : float
        Radius of its dead middle as part of its own; 0 is none.
    turn : float
        Turns its lobes, radians: no two tumours need look the same.
    """

    centre: Point
    radius_mm: float
    half_height_mm: float
    necrosis: float = 0.0
    turn: float = 0.0

    def radius(self, angle: Array, z: Array | float, part: float = 1.0) -> Array:
        """Return the distance in mm of its surface from its axis; below 0 above and below it."""
        height = (np.asarray(z) - self.centre[2]) / (self.half_height_mm * part)
        lobes = 1 + 0.10 * np.cos(3 * angle + self.turn) + 0.05 * np.cos(5 * angle + 2 * self.turn)
        return np.asarray(self.radius_mm * part * lobes * np.sign(1 - height**2) * np.sqrt(np.abs(1 - height**2)))

    def outline(self, z: float, part: float = 1.0) -> Ring | None:
        """Return the ring at a height as (n, 2) x, y in mm from the middle, n even; None where there is nothing."""
        largest = float(self.radius(np.zeros(1), z, part)[0])
        if largest < 2.5:
            return None
        n = 2 * max(6, round(np.pi * largest / _POINT_MM))
        angle = 2 * np.pi * np.arange(n) / n
        return np.stack([np.cos(angle), np.sin(angle)], axis=1) * self.radius(angle, z, part)[:, None] + self.centre[:2]

    def depth(self, x: Array, y: Array, z: Array, part: float = 1.0) -> Array:
        """Return how many mm a place lies inside, seen within its slice."""
        dx, dy = x - self.centre[0], y - self.centre[1]
        return self.radius(np.arctan2(dy, dx), z, part) - np.hypot(dx, dy)


@dataclass(frozen=True, slots=True, eq=False)
class ChestScan:
    """A CT and what is drawn on it.

    Parameters
    ----------
    image : Volume
        (columns, rows, slices) int16 HU, axes LPS: the first slice is that nearest to the feet.
    numbers : tuple of int
        Number of each slice.
    tumours : tuple of ScanContours
        The rings of each tumour by slice number, mm LPS; dead tissue is a hole on a keyhole.
    structures : dict of str to ScanContours
        ``body``, ``lungs`` and ``heart``.
    seeds : tuple of (slice number, x, y)
        One point inside each tumour, mm LPS.
    """

    image: Volume
    numbers: tuple[int, ...]
    tumours: tuple[ScanContours, ...]
    structures: dict[str, ScanContours]
    seeds: tuple[Seed, ...]


def chest_scan(
    seed: int,
    tumours: Sequence[Tumour],
    *,
    shape: Sequence[int] = (96, 72, 20),
    spacing: Point = (3.5, 3.5, 3.0),
    centre_world: Point = (0.0, 0.0, 0.0),
    from_head: bool = False,
) -> ChestScan:
    """Return a scan of a chest at the height of the heart.

    Parameters
    ----------
    seed : int
        Chooses the person.
    tumours : sequence of Tumour
        Painted in this order.
    shape, spacing : sequence of int, of float
        Columns, rows and slices, and mm between them.
    centre_world : sequence of float
        Where the middle of the volume lies, mm RAS+.
    from_head : bool
        Number the slices from the head instead of from the feet.

    Examples
    --------
    >>> scan = chest_scan(1, [Tumour((70, 0, 80), 20, 15)], shape=(48, 36, 10), spacing=(7, 7, 6))
    >>> scan.image.grid.axcodes, sorted(scan.structures), scan.tumours[0].n_rings
    ('LPS', ['body', 'heart', 'lungs'], 5)
    """
    n = shape[2]
    first = round(_LOWEST_MM / spacing[2])  # slices above the middle of the torso
    tall = (shape[0], shape[1], 2 * (first + n) - 1)
    canvas = Canvas(np.random.default_rng([seed, 3]), tall, spacing, background=-1000.0, wobble_mm=3.0)
    frame = paint_frame(canvas)
    paint_bones(canvas, frame)
    x, y, z = np.meshgrid(*_lines(tall, spacing), indexing="ij", sparse=True)
    lungs = (canvas.image < _LUNG_HU) & (frame.cavity > 0)
    for tumour in tumours:
        canvas.paint(tumour.depth(x, y, z), 48 + 10 * canvas.noise(5.0), soft_mm=1.8)
        if tumour.necrosis:
            canvas.paint(tumour.depth(x, y, z, tumour.necrosis), -3.0, soft_mm=1.8)
    grain = 12.0 * smooth_noise(canvas.rng, tall, spacing, 2.5) + 5.0 * canvas.rng.standard_normal(tall)
    here = np.s_[:, :, tall[2] // 2 + first : tall[2] // 2 + first + n]
    stored = np.clip(np.rint((canvas.image + grain)[here] / _STEP_HU) * _STEP_HU, -1024, 1500).astype(np.int16)
    image = reoriented(Volume(stored, ras_grid(shape, spacing, centre_world), "HU"), "LPS")
    numbers = tuple(range(n, 0, -1) if from_head else range(1, n + 1))
    heights = dict(zip(numbers, z[0, 0, here[2]].tolist(), strict=True))
    masks = _masks(frame, lungs, canvas)
    drawn = {name: _drawn(mask[here], spacing, numbers, centre_world) for name, mask in masks.items()}
    rings = tuple(_tumour_rings(tumour, heights, centre_world) for tumour in tumours)
    seeds = tuple(_seed(tumour, heights, centre_world) for tumour in tumours)
    return ChestScan(image, numbers, rings, drawn, seeds)


def rasterised(scan: ChestScan, contours: ScanContours) -> Mask:
    """Return the pixels of a scan's image whose centres lie in one of the rings, (columns, rows, slices)."""
    grid = scan.image.grid
    columns, rows, _ = grid.shape
    mask = np.zeros(grid.shape, dtype=np.bool_)
    for index, number in enumerate(scan.numbers):
        for ring in contours.rings.get(number, ()):
            world = np.column_stack([-ring, np.zeros(len(ring))])
            mask[:, :, index] |= fill([grid.world_to_voxel(world)[:, :2]], (rows, columns)).T
    return mask


def _lines(shape: Sequence[int], spacing: Point) -> list[Array]:
    return [np.asarray((np.arange(n) - (n - 1) / 2) * step) for n, step in zip(shape, spacing, strict=True)]


def _to_lps(points: Array, centre_world: Point) -> Ring:
    """Points x, y in mm from the middle as tools write them."""
    lps: Ring = np.round(-(points + np.asarray(centre_world)[:2]), _DIGITS) + 0.0  # no -0
    return lps


def _tumour_rings(tumour: Tumour, heights: dict[int, float], centre_world: Point) -> ScanContours:
    rings: dict[int, list[Ring]] = {}
    for number, z in sorted(heights.items()):
        outer = tumour.outline(z)
        if outer is None:
            continue
        ring = _to_lps(outer, centre_world)
        hole = tumour.outline(z, tumour.necrosis) if tumour.necrosis else None
        if hole is not None:
            ring = np.round(keyhole(ring, [_to_lps(hole, centre_world)]), _DIGITS)
        rings[number] = [ring]
    return ScanContours(rings)


def _seed(tumour: Tumour, heights: dict[int, float], centre_world: Point) -> Seed:
    """A point in the tumour's middle slice, off its centre: between the dead middle and the surface."""
    number = min(heights, key=lambda n: abs(heights[n] - tumour.centre[2]))
    aside = tumour.radius_mm * (1 + tumour.necrosis) / 2
    x, y = _to_lps(np.array([[tumour.centre[0] + aside * 0.8, tumour.centre[1]]]), centre_world)[0]
    return number, float(x), float(y)


def _masks(frame: Frame, lungs: Mask, canvas: Canvas) -> dict[str, Mask]:
    room = np.minimum(frame.cavity - 4, canvas.z - frame.dome + 6)
    return {"body": frame.body > 0, "lungs": lungs, "heart": np.minimum(heart(canvas), room) > 0}


def _drawn(mask: Mask, spacing: Point, numbers: Sequence[int], centre_world: Point) -> ScanContours:
    """Smooth rings around the larger pieces of a mask, as a program draws them; holes are left out."""
    half = (np.asarray(mask.shape[:2]) - 1) / 2
    rings: dict[int, list[Ring]] = {}
    for index, number in enumerate(numbers):
        found: list[TracedPolygon] = trace(mask[:, :, index].T)
        large = [one.exterior for one in found if one.area * spacing[0] * spacing[1] >= _SMALLEST_MM2]
        if large:
            rings[number] = [_to_lps(_smooth((ring - half) * spacing[:2]), centre_world) for ring in large]
    return ScanContours(dict(sorted(rings.items())))


def _smooth(ring: Ring, step_mm: float = 5.0) -> Ring:
    """A ring with its corners taken off, in points that lie equally far from each other."""
    closed = np.concatenate([ring, ring[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    places = np.linspace(0, along[-1], max(8, round(along[-1] / step_mm)), endpoint=False)
    points = np.stack([np.interp(places, along, closed[:, axis]) for axis in (0, 1)], axis=1)
    for _ in range(2):
        points = (np.roll(points, 1, axis=0) + 2 * points + np.roll(points, -1, axis=0)) / 4
    return points
