"""A CT of a torso that never existed: every voxel's organ is known, and left differs from right.

World: RAS+ mm. The liver lies on the patient's right (+x), spleen and stomach on the left, the aorta left of the
midline. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.phantoms.paint import Canvas, Phantom, Point, join, ras_grid, smooth_noise
from medotter_viewer.phantoms.torso_frame import Frame, paint_bones, paint_frame
from medotter_viewer.phantoms.torso_organs import TORSO_NAMES, paint_organs

__all__ = ["TORSO_NAMES", "torso_phantom"]

_STEP_HU = 8  # intensities are multiples of this: invisible in any window, and files much smaller


def torso_phantom(
    seed: int = 0,
    *,
    scan: int = 0,
    shape: Sequence[int] = (160, 128, 56),
    spacing: Point = (2.2, 2.2, 5.0),
    centre_world: Point = (0.0, 0.0, 0.0),
    without: Collection[str] = (),
) -> Phantom:
    """Return a CT of the lower chest and the abdomen in RAS order, with its organs labelled.

    Parameters
    ----------
    seed : int
        Chooses the person: size, fat, place and form of every organ.
    scan : int
        Chooses the day: the same person breathes otherwise, and the noise is another.
    shape, spacing : sequence of int, of float
        Voxels and mm per axis. The body fills about 310 x 240 mm; less of it is seen on a smaller grid.
    centre_world : sequence of float
        Where the middle of the volume lies, mm RAS+.
    without : collection of str
        Names of organs this person lacks, e.g. ``{"gallbladder"}``.

    Returns
    -------
    Phantom
        One channel ``image`` (int16, HU) and labels (uint8) named by `TORSO_NAMES`.

    Examples
    --------
    >>> phantom = torso_phantom(shape=(40, 32, 14), spacing=(8.8, 8.8, 20.0))
    >>> phantom.image.unit, phantom.image.grid.axcodes, phantom.labels.data.dtype.name
    ('HU', 'RAS', 'uint8')
    """
    day = np.random.default_rng([seed, scan, 2])
    canvas = Canvas(np.random.default_rng([seed, 1]), shape, spacing, background=-1000.0, wobble_mm=3.0)
    canvas.z = canvas.z + day.uniform(-3, 3)
    canvas.x = canvas.x + smooth_noise(day, shape, spacing, 30.0)
    canvas.y = canvas.y + smooth_noise(day, shape, spacing, 30.0)
    frame = paint_frame(canvas)
    _paint_bowel(canvas, frame)
    paint_organs(canvas, frame, frozenset(without))
    paint_bones(canvas, frame)
    grain = 9.0 * smooth_noise(day, shape, spacing, 1.7) + 4.0 * day.standard_normal(canvas.shape)
    image = canvas.image + np.where(frame.body > -1, grain, 0.0)
    stored = np.clip(np.rint(image / _STEP_HU) * _STEP_HU, -1000, 1500).astype(np.int16)
    grid = ras_grid(shape, spacing, centre_world)
    return Phantom({"image": Volume(stored, grid, "HU")}, LabelMap(canvas.labels, grid), dict(TORSO_NAMES))


def _paint_bowel(canvas: Canvas, frame: Frame) -> None:
    """Small bowel as winding tubes, colon with gas and what else is in it."""
    rng, inside = canvas.rng, frame.cavity - 6
    for _ in range(15):
        point = np.array([rng.uniform(-65, 60), rng.uniform(5, 55), rng.uniform(-145, -60)])
        walk = [point]
        for _ in range(5):
            point = np.clip(point + rng.normal(0, (24, 14, 10)), (-80, 0, -150), (75, 62, -55))
            walk.append(point)
        radii = rng.uniform(9, 12, 5)
        tubes = [(tuple(a), tuple(b), float(r)) for a, b, r in zip(walk, walk[1:], radii, strict=False)]
        canvas.paint_tubes(tubes, 62.0, within=inside)
        canvas.paint_tubes([(a, b, r - 4.0) for a, b, r in tubes], float(rng.uniform(15, 45)), within=inside)
    colon = join(
        canvas.tube([(104, -18, -150), (100, -10, -95), (92, 22, -72)], [24, 21, 19]),
        canvas.tube([(92, 22, -72), (45, 62, -88), (-40, 66, -78), (-92, 22, -42)], [19, 18, 17, 17]),
        canvas.tube([(-92, 22, -42), (-106, -24, -70), (-104, -28, -150)], [17, 15, 14]),
    )
    colon = np.minimum(colon + 2.2 * canvas.noise(9.0), inside)
    canvas.paint(colon, 55.0)
    canvas.paint(colon - 3.5, 5 + 45 * canvas.noise(6.0))
    gas = (canvas.noise(14.0) - 0.1) * 9 + 0.16 * (canvas.y - 20)  # rises to the front
    canvas.paint(np.minimum(colon - 3.5, gas), -880.0)
