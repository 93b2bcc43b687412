"""A CT of a spine that never existed: every vertebra has its label, and its point in the middle of the vertebral body.

Labels are VerSe's. The point is not the centre of mass of the mask, which the processes draw towards the back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.core.volume import Volume
from medotter_viewer.phantoms.paint import Array, Canvas, Phantom, Point, join, ras_grid

_STEP_HU = 10
_BOTTOM_MM = 52.0  # from the lower edge of the image to the middle of L5: room for the sacrum
# Label: height of the body, and of the disc below it, mm. From the feet upwards.
_SIZES = {
    24: (27, 9),
    23: (27, 11),
    22: (27, 10),
    21: (26, 9),
    20: (25, 8),
    19: (24, 6),
    18: (22, 5),
    17: (21, 4),
    16: (20, 4),
    15: (20, 4),
}


@dataclass(frozen=True, slots=True, eq=False)
class SpinePhantom:
    """A spine and its points.

    Parameters
    ----------
    phantom : Phantom
        CT and vertebra labels.
    points : Landmarks
        Middle of each labelled vertebra's body, mm RAS+, on hundredths of a voxel: any axis order holds them exactly.
    """

    phantom: Phantom
    points: Landmarks


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where a vertebra is: coordinates to its right, front and head along its own axes, from the middle of its body."""

    label: int
    centre: Point
    height: float
    disc: float
    u: Array
    v: Array
    w: Array


def spine_phantom(
    seed: int,
    labels: Sequence[int] = tuple(range(17, 25)),
    *,
    shape: Sequence[int] = (48, 64, 126),
    spacing: Point = (2.5, 2.5, 2.5),
    centre_world: Point = (0.0, 0.0, 0.0),
    scoliosis_mm: float = 0.0,
    lordosis_mm: float = 14.0,
) -> SpinePhantom:
    """Return a CT of the lower spine in RAS order.

    Parameters
    ----------
    seed : int
        Chooses the person.
    labels : sequence of int
        VerSe labels that are labelled, of 15 (T8) to 24 (L5). L5 lies 52 mm above the lower edge; vertebrae above it
        are painted as far as the image reaches, labelled or not.
    shape, spacing : sequence of int, of float
        Voxels and mm per axis.
    centre_world : sequence of float
        Where the middle of the volume lies, mm RAS+.
    scoliosis_mm, lordosis_mm : float
        How far the spine bends to the patient's right, and to the front.

    Returns
    -------
    SpinePhantom
        One channel ``image`` (int16 HU), labels (uint8) named by their vertebra, and points.

    Examples
    --------
    >>> spine = spine_phantom(1, (23, 24), shape=(24, 32, 36), spacing=(5, 5, 5))
    >>> spine.phantom.names, sorted(spine.points.points_world)
    ({23: 'L4', 24: 'L5'}, [23, 24])
    """
    canvas = Canvas(np.random.default_rng([seed, 5]), shape, spacing, background=-1000.0)
    curve = _Curve(canvas, scoliosis_mm, lordosis_mm)
    _paint_soft_tissue(canvas, curve)
    spongy = 70 * canvas.noise(4.0)
    grid = ras_grid(shape, spacing, centre_world)
    points: dict[int, tuple[float, float, float]] = {}
    _paint_sacrum(canvas, curve, spongy)
    for place in _places(canvas, curve):
        _paint_disc(canvas, place)
        _paint_vertebra(canvas, place, spongy, place.label if place.label in labels else None)
        if place.label in labels:
            world = np.asarray(place.centre) + centre_world
            x, y, z = grid.voxel_to_world(np.round(grid.world_to_voxel(world), 2)).tolist()
            points[place.label] = (x, y, z)
    grain = 14.0 * canvas.noise(3.0) + 8.0 * canvas.rng.standard_normal(canvas.shape)
    stored = np.clip(np.rint((canvas.image + grain) / _STEP_HU) * _STEP_HU, -1000, 1500).astype(np.int16)
    names = {label: vertebra_name(label) for label in sorted(points)}
    phantom = Phantom({"image": Volume(stored, grid, "HU")}, LabelMap(canvas.labels, grid), names)
    return SpinePhantom(phantom, Landmarks(dict(sorted(points.items()))))


class _Curve:
    """The line through the middles of the bodies, as a function of height."""

    def __init__(self, canvas: Canvas, scoliosis_mm: float, lordosis_mm: float) -> None:
        self.low, self.high = float(canvas.z.min()), float(canvas.z.max())
        self.scoliosis, self.lordosis = scoliosis_mm, lordosis_mm

    def at(self, z: Array | float) -> tuple[Array, Array]:
        """Return x and y at heights."""
        along = (np.asarray(z) - self.low) / 280.0
        x = self.scoliosis * np.sin(np.pi * along * 1.2)
        y = 18.0 + self.lordosis * np.sin(2 * np.pi * (along - 0.10) / 1.1)
        return x, y

    def frame(self, z: float) -> tuple[Array, Array, Array]:
        """Return the unit vectors to the vertebra's right, front and head."""
        (x0, y0), (x1, y1) = self.at(z - 5), self.at(z + 5)
        up = np.array([float(x1 - x0), float(y1 - y0), 10.0])
        up /= np.linalg.norm(up)
        front = np.array([0.0, 1.0, 0.0]) - up[1] * up
        front /= np.linalg.norm(front)
        return np.cross(front, up), front, up


def _places(canvas: Canvas, curve: _Curve) -> Iterator[_Place]:
    z = curve.low + _BOTTOM_MM
    below = None
    for label, (height, disc) in _SIZES.items():
        if below is not None:
            z += (below + height) / 2 + disc
        below = height
        if z - height / 2 > curve.high:
            return
        x, y = curve.at(z)
        centre = (float(x), float(y), z)
        yield _Place(label, centre, height, disc, *_local(canvas, curve, centre))


def _local(canvas: Canvas, curve: _Curve, centre: Point) -> tuple[Array, Array, Array]:
    dx, dy, dz = canvas.x - centre[0], canvas.y - centre[1], canvas.z - centre[2]
    u, v, w = (axis[0] * dx + axis[1] * dy + axis[2] * dz for axis in curve.frame(centre[2]))
    return u, v, w


def _paint_soft_tissue(canvas: Canvas, curve: _Curve) -> None:
    x, y, z = canvas.x, canvas.y, canvas.z
    cx, cy = curve.at(z)
    skin = y + 74 + 0.001 * x * x + 0 * z
    canvas.paint(skin, 15.0)
    canvas.paint(skin - 3, -100 + 8 * canvas.noise(6.0))
    fibre = 52 + 6 * canvas.noise(5.0) - 40 * np.clip(canvas.noise(4.0) - 1.4, 0, 1)
    for side in (-1.0, 1.0):
        back = 1 - np.hypot((x - cx - side * 30) / 28, (y - cy + 52) / 26)
        canvas.paint(np.minimum(26 * back, skin - 12), fibre)
        thick = np.clip((curve.high - z) / 9, 4, 22)  # psoas grows towards the pelvis
        psoas = thick - np.hypot(x - cx - side * (34 + 0.3 * thick), y - cy + 2)
        canvas.paint(psoas, fibre)
    bowel = y - cy - 32 + 3 * canvas.noise(9.0)
    canvas.paint(bowel, 35 + 30 * canvas.noise(9.0), soft_mm=4.0)
    canvas.paint(9 - np.hypot(x - cx + 12, y - cy - 29), 155.0)  # aorta
    canvas.paint(10 - np.hypot((x - cx - 14) * 0.9, (y - cy - 28) * 1.2), 115.0)  # vena cava


def _paint_disc(canvas: Canvas, place: _Place) -> None:
    """The disc below a body, and the ligaments in front of and behind it."""
    oval = 1 - np.hypot(place.u / 22, place.v / 16)
    under = -place.height / 2 - place.disc / 2
    canvas.paint(np.minimum(16 * oval, place.disc / 2 + 2 - np.abs(place.w - under)), 88.0)


def _paint_vertebra(canvas: Canvas, place: _Place, spongy: Array, label: int | None) -> None:
    u, v, w = place.u, place.v, place.w
    size = 0.62 + 0.014 * place.height  # smaller towards the head
    half = place.height / 2
    waist = 1 - 0.11 * (1 - np.clip(np.abs(w) / half, 0, 1) ** 2)
    hollow = np.clip(-v / 14, 0, 1) * 4 * np.exp(-((u / 9) ** 2))  # the canal presses into the back of the body
    oval = (1 - np.hypot(u / (23 * size * waist), v / (16.5 * size * waist))) * 16 - hollow
    body = np.minimum(oval, half - np.abs(w))
    parts = [body]
    for side in (-1.0, 1.0):
        pedicle = 5.5 * size - np.hypot(u - side * 13 * size, 0.7 * (w - 4))
        parts.append(np.minimum(pedicle, np.minimum(-v - 6, v + 33)))
        along = np.clip((side * u - 14) / 26, 0, 1)
        wing = 4.6 * size - np.hypot(v + 31 + 5 * along, 0.8 * (w - 3))
        parts.append(np.minimum(wing, np.minimum(side * u - 12, 38 * size - side * u)))
        facet = 6.5 * size - np.hypot(side * u - 15 * size, v + 36)
        parts.append(np.minimum(facet, np.minimum(half + 3 - w, w + half + 6)))
        roof = 3.6 - np.abs((v + 45) + 0.45 * (side * u) - 0.15 * w)
        parts.append(np.minimum(roof, np.minimum(np.minimum(side * u + 2, 20 * size - side * u), 9 - np.abs(w + 3))))
    droop = 0.35 * (v + 45)  # the spinous process points downwards
    spinous = np.minimum(4 - np.abs(u), np.minimum(-v - 42, v + 70 * size))
    parts.append(np.minimum(spinous, 9 - np.abs(w + 4 - droop)))
    bone = join(*parts, blend_mm=4.0)
    canal = 1 - np.hypot(u / 11, (v + 26) / 9)
    bone = np.minimum(bone, -canal * 9)
    bone = bone + 0.5 * canvas.noise(7.0)
    canvas.paint(bone, 560.0, label, soft_mm=1.5)
    canvas.paint(np.minimum(body, bone) - 2.6, 210 + spongy, soft_mm=1.2)
    canvas.paint(bone - 3.6, 240 + spongy, soft_mm=1.2)
    canvas.paint(np.minimum(canal * 9, half + 8 - np.abs(w)), 28.0)


def _paint_sacrum(canvas: Canvas, curve: _Curve, spongy: Array) -> None:
    z = curve.low + _BOTTOM_MM
    x, y = curve.at(z)
    centre = (float(x), float(y) - 8.0, z - 40)
    dx, dy, dz = canvas.x - centre[0], canvas.y - centre[1], canvas.z - centre[2]
    lean = dy + 0.75 * dz  # its upper face looks to the front
    wedge = np.minimum(np.minimum(17 - np.abs(lean), 17 - (dz - 0.45 * dy)), (1 - np.abs(dx) / 52) * 40)
    canvas.paint(wedge, 480.0, soft_mm=1.5)
    canvas.paint(wedge - 2.6, 170 + spongy)
