"""Everything of the torso phantom that is not an organ of the abdomen: wall, bones, lungs, heart, table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from medotter_viewer.phantoms.paint import Array, Canvas, branches, cut, join

_RIB_PITCH_MM, _VERTEBRA_MM = 27.0, 31.0
_LUNG_VESSELS = ((1, -0.6, -0.9), (1, 0.7, -0.7), (1, 0.1, 0.5), (0.8, -1.3, 0.1), (0.7, 1.1, 0.2))


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The rooms organs lie in.

    Parameters
    ----------
    body, cage, cavity : ndarray
        Depth in mm of the skin, of the surface the ribs lie on, and of the room within the wall.
    dome : ndarray
        Height in mm of the diaphragm over each voxel's (x, y).
    """

    body: Array
    cage: Array
    cavity: Array
    dome: Array


def paint_frame(canvas: Canvas) -> Frame:
    """Paint skin, fat, muscle, lungs, heart and table, and return the rooms they leave."""
    rng, x, y, z = canvas.rng, canvas.x, canvas.y, canvas.z
    size, fat = rng.uniform(0.97, 1.03), rng.uniform(11, 19)
    taper = 1 - 0.0011 * np.maximum(z - 10, 0) - 0.0006 * np.maximum(-z - 30, 0)
    # The back stays where the spine is; only the front comes nearer where the chest is narrower.
    cage = _oval(x, y + 89 - 91 * size * taper, 127 * size * taper, 91 * size * taper)
    # More fat at the flanks than over the breastbone and the spine.
    layer = fat * (0.75 + 0.5 * (x / 130) ** 2) + 1.5 * canvas.noise(28.0)
    body = np.minimum(cage + 10 + layer, y + 114)
    spine_room = canvas.ellipsoid((0, -96, 0), (34, 38, 900))
    cavity = cut(cage - 5, spine_room)
    dome = _dome(canvas)
    canvas.paint(_table(canvas), -150.0, soft_mm=1.2)
    canvas.paint(_table(canvas) - 3, -880.0, soft_mm=1.2)
    canvas.paint(body, 15.0)
    canvas.paint(body - 2.2, -104 + 7 * canvas.noise(6.0) + 35 * np.clip(canvas.noise(4.0) - 1.9, 0, 1))
    fibre = 54 + 5 * canvas.noise(4.0) - 45 * np.clip(canvas.noise(4.0) - 1.5, 0, 1)
    _paint_muscle(canvas, np.minimum(cage + 9, body - 12), cage, fibre)
    canvas.paint(cavity, -102 + 8 * canvas.noise(6.0) + 60 * np.clip(canvas.noise(4.0) - 1.4, 0, 1))
    for side in (-1.0, 1.0):
        psoas = canvas.tube([(side * 24, -58, -10), (side * 38, -56, -90), (side * 52, -44, -170)], [6, 18, 23])
        canvas.paint(psoas, fibre)
    frame = Frame(body, cage, cavity, dome)
    _paint_chest(canvas, frame)
    return frame


def _oval(x: Array, y: Array, half_width: Array, half_depth: Array) -> Array:
    """Depth of a cylinder between an ellipse and a rounded box."""
    q = (np.abs(x / half_width) ** 2.3 + np.abs(y / half_depth) ** 2.3) ** (1 / 2.3)
    radius: Array = half_depth + (half_width - half_depth) * np.abs(x) / (np.abs(x) + np.abs(y) + 1)
    return (1 - q) * radius


def _dome(canvas: Canvas) -> Array:
    """Two humps, the right one higher, falling off towards the wall and most of all to the back."""
    x, y = canvas.x, canvas.y
    right = 58 - 84 * (((x - 58) / 88) ** 2 + ((y - 14) / 94) ** 2) ** 1.35
    left = 46 - 84 * (((x + 64) / 84) ** 2 + ((y - 14) / 94) ** 2) ** 1.35
    front = 32 - 80 * ((x / 80) ** 2 + ((y - 40) / 66) ** 2) ** 1.35  # the heart rests on it
    return np.maximum(join(right, left, front, blend_mm=24.0), -54.0) + 1.5 * canvas.noise(28.0)


def _table(canvas: Canvas) -> Array:
    """A shallow trough of carbon fibre under the patient; it does not bend with the body."""
    lines = [(np.arange(n) - (n - 1) / 2) * s for n, s in zip(canvas.shape, canvas.spacing, strict=True)]
    x, y, _ = np.meshgrid(*lines, indexing="ij", sparse=True)
    trough = y + 122 - 0.0006 * x * x
    return np.asarray(np.minimum(6 - np.abs(trough + 6), 165 - np.abs(x)) + 0 * canvas.z)


def _paint_muscle(canvas: Canvas, wall: Array, cage: Array, fibre: Array) -> None:
    canvas.paint(wall, fibre)
    # A plane of fat between the outer and the inner layer at the flanks; none at front and back.
    canvas.paint(np.minimum(1.4 - np.abs(cage - 4 + canvas.noise(28.0)), np.abs(canvas.x) - 55), -60.0, soft_mm=1.0)
    for side in (-1.0, 1.0):
        back = canvas.ellipsoid((side * 34, -92, 0), (32, 21, 900), turn_deg=side * 12)
        canvas.paint(np.minimum(back, wall + 9), fibre)
        latissimus = canvas.ellipsoid((side * 112, -52, 130), (34, 46, 180), turn_deg=side * -40)
        canvas.paint(np.minimum(latissimus, wall + 5), fibre)


def _paint_chest(canvas: Canvas, frame: Frame) -> None:
    rng, y, z = canvas.rng, canvas.y, canvas.z
    middle = join(
        canvas.ellipsoid((-8, 30, 70), (52, 52, 78)),
        canvas.ellipsoid((0, -36, 60), (36, 34, 400)),
        canvas.ellipsoid((0, 40, 150), (30, 60, 70)),
        blend_mm=20.0,
    )
    lungs = np.minimum(cut(frame.cavity - 1, middle), (z - frame.dome) * 0.8)
    # Denser towards the back, where the weight of the lung lies.
    air = -862 - 0.35 * y + 22 * canvas.noise(6.0) + 14 * canvas.noise(2.5)
    canvas.paint(lungs, air, soft_mm=1.8)
    for side in (-1.0, 1.0):
        for heading in _LUNG_VESSELS:
            tree = branches(rng, (side * 34, -8, 100), (side * heading[0], *heading[1:]), 27, 6.0, 7)
            canvas.paint_tubes(list(tree), 40.0, within=lungs + 2, soft_mm=1.2)
    canvas.paint(np.minimum(lungs, 0.5 - np.abs(y - 22 + 0.55 * (z - 80) + 2 * canvas.noise(28.0))), -700.0)
    _paint_heart(canvas, frame)
    # The diaphragm itself, where lung lies on fat.
    canvas.paint(np.minimum(2.0 - np.abs(frame.dome - z - 1), frame.cavity), 50.0)
    canvas.paint(canvas.tube([(-4, -30, 170), (-10, -26, 60), (-24, -14, 38)], [9, 8, 8]), 45.0)
    canvas.paint(canvas.ellipsoid((-5, -29, 130), (3, 2, 30)), -500.0)


def heart(canvas: Canvas) -> Array:
    """Return the depth of the heart before its surface is roughened."""
    return join(
        canvas.ellipsoid((-26, 26, 72), (54, 40, 42), turn_deg=-28, lean=-0.2),
        canvas.ellipsoid((16, 26, 92), (32, 36, 46)),
        blend_mm=16.0,
    )


def _paint_heart(canvas: Canvas, frame: Frame) -> None:
    inside = np.minimum(frame.cavity - 4, canvas.z - frame.dome + 6)
    muscle = np.minimum(heart(canvas) + 1.2 * canvas.noise(9.0), inside)
    canvas.paint(muscle + 1.5, 45.0)
    canvas.paint(muscle, 108 + 5 * canvas.noise(6.0))
    left = canvas.ellipsoid((-40, 20, 72), (30, 17, 26), turn_deg=-32, lean=-0.2)
    right = canvas.ellipsoid((-8, 46, 74), (36, 15, 30), turn_deg=-24)
    atria = join(canvas.ellipsoid((28, 24, 94), (20, 24, 30)), canvas.ellipsoid((-4, -2, 104), (28, 15, 22)))
    for chamber in (left, right, atria):
        canvas.paint(
            np.minimum(chamber + 1.5 * canvas.noise(6.0), muscle - 4), 152 + 4 * canvas.noise(6.0), soft_mm=2.5
        )


def paint_bones(canvas: Canvas, frame: Frame) -> None:
    """Paint ribs, breastbone and spine; last, since nothing covers them."""
    spongy = 60 * canvas.noise(4.0)
    _paint_ribs(canvas, frame, spongy)
    _paint_spine(canvas, spongy)


def _paint_ribs(canvas: Canvas, frame: Frame, spongy: Array) -> None:
    x, y, z = canvas.x, canvas.y, canvas.z
    angle = np.arctan2(np.abs(x) / 127, -(y - 2) / 91)  # 0 at the spine, pi at the breastbone
    fall = 125 * (1 - np.cos(np.minimum(angle, 2.5))) / 2  # ribs run down on their way to the front
    phase = (z + fall + 6) % _RIB_PITCH_MM - _RIB_PITCH_MM / 2
    root = np.floor((z + fall + 6) / _RIB_PITCH_MM)  # number of the rib, counted from the middle of the volume
    across = frame.cage - 1.5
    depth = 6.0 - np.sqrt((1.2 * across) ** 2 + (0.9 * phase) ** 2)
    # The two lowest ribs are short, and below them there is none.
    reach = np.where(root >= 0, 3.2, np.where(root >= -2, 2.0 + 0.6 * (root + 2), 0.0))
    depth = np.minimum(depth, (reach - angle) * 60)
    depth = np.minimum(depth, (angle - 0.30) * 60)
    gristle = np.clip((angle - 2.15) * 6, 0, 1)  # cartilage towards the front
    canvas.paint(depth, 560 * (1 - gristle) + 105 * gristle, soft_mm=1.5)
    canvas.paint(depth - 3.2, 230 * (1 - gristle) + 105 * gristle + spongy * (1 - gristle), soft_mm=1.2)
    plate = np.minimum(np.minimum(6 - np.abs(frame.cage + 0.5), 19 - np.abs(x)), np.minimum(y - 20, z - 36))
    canvas.paint(plate, 380.0)
    canvas.paint(plate - 2.5, 150 + spongy)


def _paint_spine(canvas: Canvas, spongy: Array) -> None:
    x, z = canvas.x, canvas.z
    y = canvas.y - 5 * np.cos(z / 70)  # the curve of the lower back
    level = (z + 7) % _VERTEBRA_MM - _VERTEBRA_MM / 2
    waist = 1 - 0.10 * np.cos(level / _VERTEBRA_MM * 2 * np.pi)
    oval = 1 - np.sqrt((x / (23 * waist)) ** 2 + ((y + 62) / (17.5 * waist)) ** 2)
    column = oval * 18
    disc = np.abs(level) - 11.5
    vertebra = np.minimum(column, -disc)
    canvas.paint(column, 92.0)
    canvas.paint(vertebra, 520.0, soft_mm=1.4)
    canvas.paint(vertebra - 2.6, 205 + spongy)
    canal_q = np.sqrt((x / 11.5) ** 2 + ((y + 88) / 9.5) ** 2)
    ring = np.minimum((1.55 - canal_q) * 10, 12 - np.abs(level + 3))
    canvas.paint(ring, 480.0)
    for side in (-1.0, 1.0):
        along = np.clip((side * x - 10) / 30, 0, 1)
        wing = 4.8 - np.sqrt((y + 88 + 7 * along) ** 2 + (0.8 * (level - 1)) ** 2)
        canvas.paint(np.minimum(wing, np.minimum(side * x - 10, 42 - side * x)), 430.0)
        facet = 7 - np.sqrt((side * x - 17) ** 2 + (y + 96) ** 2)
        canvas.paint(np.minimum(facet, 13 - np.abs(level - 10)), 520.0)
        canvas.paint(np.minimum(facet - 2.4, 13 - np.abs(level - 10)), 260.0)
    spine = np.minimum(4.2 - np.abs(x), np.minimum(-94 - y, y + 107))
    canvas.paint(np.minimum(spine, 10 - np.abs(level + 4)), 470.0)
    canvas.paint((1 - canal_q) * 10, 25.0)
    canvas.paint((0.55 - canal_q) * 10, 48.0)
