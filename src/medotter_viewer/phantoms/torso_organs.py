"""The organs of the torso phantom: where each lies, how it is shaped, what it looks like.

Coordinates are mm from the middle of the volume, growing to the patient's right, front and head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from medotter_viewer.phantoms.paint import Array, Canvas, Point, branches, cut, join
from medotter_viewer.phantoms.torso_frame import Frame

TORSO_NAMES = {
    1: "spleen",
    2: "kidney_right",
    3: "kidney_left",
    4: "liver",
    5: "stomach",
    6: "aorta",
    7: "gallbladder",
    8: "inferior_vena_cava",
}


@dataclass(frozen=True, slots=True)
class _Organ:
    """Shape, mean HU, and how it is filled; an organ without an id is painted but not labelled."""

    shape: Callable[[Canvas], Array]
    value: float
    fill: Callable[[Canvas, Array, float], None] | None = None
    roughness_mm: float = 1.3


def paint_organs(canvas: Canvas, frame: Frame, without: frozenset[str]) -> None:
    """Paint and label every organ but those in `without`."""
    room = np.minimum(frame.cavity - 3, frame.dome - canvas.z - 3)
    ids = {name: number for number, name in TORSO_NAMES.items()}
    for name, organ in _ORGANS.items():
        # All random numbers are drawn for a lacking organ too: without one, the others do not change.
        depth = organ.shape(canvas) + organ.roughness_mm * canvas.noise(9.0)
        mottle = 4.0 * canvas.noise(6.0)
        if name in without:
            continue
        if name not in ("aorta", "inferior_vena_cava"):
            depth = np.minimum(depth, room)
        canvas.paint(depth, organ.value + mottle, ids.get(name))
        if organ.fill is not None:
            organ.fill(canvas, depth, organ.value)


def _placed(canvas: Canvas, centre: Point, spread: Point = (4.0, 4.0, 5.0)) -> tuple[float, float, float]:
    """Return a place that is a little elsewhere in every person."""
    moved = np.asarray(centre) + np.asarray(spread) * canvas.rng.uniform(-1, 1, 3)
    return float(moved[0]), float(moved[1]), float(moved[2])


def _liver(canvas: Canvas) -> Array:
    size = canvas.rng.uniform(0.94, 1.06)
    right = canvas.ellipsoid(_placed(canvas, (66, -2, -2)), (66 * size, 84 * size, 74 * size), turn_deg=20)
    left = canvas.ellipsoid(_placed(canvas, (4, 46, 14)), (76, 34 * size, 36 * size), turn_deg=-10)
    hollow = canvas.ellipsoid((-22, -34, -56), (74, 64, 74), turn_deg=25)  # stomach, duodenum and kidney press
    return cut(join(right, left, blend_mm=18), hollow)


def _fill_liver(canvas: Canvas, depth: Array, value: float) -> None:
    """Portal and hepatic veins, brighter than the liver in this phase of the contrast."""
    rng, inside = canvas.rng, depth - 5
    for start, heading, length, radius in (
        ((20, 8, -8), (1, 0.1, 0.1), 30, 6.0),
        ((24, 2, 44), (1, 0.5, -0.9), 30, 4.5),
        ((18, 6, 46), (0.1, 1, -0.8), 28, 4.0),
    ):
        canvas.paint_tubes(list(branches(rng, start, heading, length, radius, 5)), value + 42, within=inside)


def _gallbladder(canvas: Canvas) -> Array:
    return canvas.ellipsoid(_placed(canvas, (46, 42, -42), (4, 3, 3)), (14, 24, 23), turn_deg=35)


def _stomach(canvas: Canvas) -> Array:
    x, y, z = _placed(canvas, (0, 0, 0))
    fundus = canvas.ellipsoid((-62 + x, -8 + y, 30 + z), (38, 38, 36))
    body = canvas.ellipsoid((-58 + x, 32 + y, 0 + z), (34, 29, 46), lean=-0.3)
    antrum = canvas.tube([(-48 + x, 48 + y, -30 + z), (-14 + x, 56 + y, -44 + z), (20, 46, -38)], [20, 17, 13])
    return join(fundus, body, antrum, blend_mm=16)


def _fill_stomach(canvas: Canvas, depth: Array, value: float) -> None:
    """Fluid at the back and gas at the front: the patient lies on the back, so their border is level."""
    lumen = depth - 4.5 - 1.2 * canvas.noise(6.0)
    canvas.paint(lumen, value - 52 + 12 * canvas.noise(6.0))
    canvas.paint(np.minimum(lumen, canvas.y - 30), -930.0)


def _spleen(canvas: Canvas) -> Array:
    x, y, z = _placed(canvas, (-94, -40, 4))
    size = canvas.rng.uniform(0.92, 1.1)
    whole = canvas.ellipsoid((x, y, z), (40 * size, 58 * size, 56 * size), turn_deg=-18)
    return cut(whole, canvas.ellipsoid((x + 46, y + 36, z - 6), (40, 58, 70), turn_deg=-20))


def _kidney(canvas: Canvas, side: float, height: float) -> Array:
    x, y, z = _placed(canvas, (side * 62, -46, height), (4, 3, 6))
    turn, lean = side * -38.0, side * -0.16
    bean = canvas.ellipsoid((x, y, z), (27, 31, 56), turn_deg=turn, lean=lean)
    return cut(bean, canvas.ellipsoid((x - side * 21, y + 11, z), (17, 10, 22), turn_deg=turn, lean=lean))


def _fill_kidney(canvas: Canvas, depth: Array, value: float) -> None:
    """A bright cortex around a duller, patchy medulla."""
    canvas.paint(depth - 7 - 2.5 * canvas.noise(6.0), value - 38 + 10 * canvas.noise(6.0))


def _aorta(canvas: Canvas) -> Array:
    return canvas.tube([(-17, -40, 160), (-14, -36, 40), (-9, -30, -40), (-8, -29, -170)], [12, 11, 9, 8.5])


def _vena_cava(canvas: Canvas) -> Array:
    return canvas.tube([(18, -29, -170), (20, -27, -50), (25, -10, 20), (20, 2, 60)], [10, 10, 11.5, 12])


def _pancreas(canvas: Canvas) -> Array:
    path = [(28, 16, -48), (8, 10, -30), (-30, 0, -16), (-72, -16, 2)]
    return canvas.tube(path, [13, 10, 9, 8]) + 2.0 * canvas.noise(4.0)


# Later ones are painted over earlier ones.
_ORGANS = {
    "pancreas": _Organ(_pancreas, 88.0),
    "liver": _Organ(_liver, 108.0, _fill_liver),
    "spleen": _Organ(_spleen, 122.0),
    "stomach": _Organ(_stomach, 72.0, _fill_stomach, 1.8),
    "gallbladder": _Organ(_gallbladder, 10.0, None, 0.8),
    "kidney_right": _Organ(lambda canvas: _kidney(canvas, 1.0, -72.0), 188.0, _fill_kidney),
    "kidney_left": _Organ(lambda canvas: _kidney(canvas, -1.0, -56.0), 188.0, _fill_kidney),
    "inferior_vena_cava": _Organ(_vena_cava, 138.0, None, 0.6),
    "aorta": _Organ(_aorta, 158.0, None, 0.4),
}
