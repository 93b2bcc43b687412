"""A brain MR in four channels with a one-sided glioma: three nested regions whose truth is known.

World: RAS+ mm. The skull is stripped: outside the brain every channel is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume
from medotter_viewer.phantoms.paint import Array, Canvas, Phantom, join, ras_grid, smooth_noise

BRAIN_NAMES = {1: "necrotic core", 2: "oedema", 3: "enhancing tumour"}
CHANNELS = ("t1", "t1c", "t2", "flair")

# Brightness of each tissue in the four channels.
_CSF, _GREY, _WHITE = (170, 170, 930, 150), (430, 450, 560, 520), (610, 625, 400, 430)
_DEEP, _OEDEMA = (480, 500, 500, 500), (400, 410, 800, 830)
_NECROSIS, _ENHANCING = (240, 260, 890, 420), (430, 930, 660, 700)


@dataclass(frozen=True, slots=True, eq=False)
class _Painter:
    """One canvas per channel, painted together."""

    canvases: tuple[Canvas, ...]

    def paint(self, depth: Array, values: Sequence[float], *, soft_mm: float = 1.2) -> None:
        for canvas, value in zip(self.canvases, values, strict=True):
            canvas.paint(depth, float(value), soft_mm=soft_mm)


def brain_phantom(
    seed: int = 0,
    *,
    side: Literal["left", "right"] = "left",
    shape: Sequence[int] = (96, 112, 72),
    spacing_mm: float = 1.8,
    centre_world: Sequence[float] = (0.0, 0.0, 0.0),
) -> Phantom:
    """Return a brain in RAS order with a tumour on one side.

    Parameters
    ----------
    seed : int
        Chooses folds, size, and form of the tumour.
    side : {"left", "right"}
        The patient's side the tumour is on.
    shape, spacing_mm, centre_world : sequence of int, float, sequence of float
        Voxels, mm (equal in all directions), and where the middle of the volume lies in mm RAS+. The brain is
        about 140 x 172 x 118 mm.

    Returns
    -------
    Phantom
        Channels t1, t1c, t2, flair (int16) and labels (uint8) named by `BRAIN_NAMES`: whole tumour {1, 2, 3},
        tumour core {1, 3}, enhancing tumour {3}.

    Examples
    --------
    >>> phantom = brain_phantom(shape=(32, 36, 24), spacing_mm=5.4)
    >>> list(phantom.channels), phantom.labels.grid.axcodes
    (['t1', 't1c', 't2', 'flair'], 'RAS')
    """
    rng = np.random.default_rng([seed, 3])
    spacing = (spacing_mm,) * 3
    first = Canvas(rng, shape, spacing, background=0.0, wobble_mm=2.0, wobble_scale_mm=30.0)
    painter = _Painter((first, *(first.blank() for _ in CHANNELS[1:])))
    brain = _paint_brain(first, painter)
    labels = _paint_tumour(first, painter, brain, -1.0 if side == "left" else 1.0)
    grid = ras_grid(shape, spacing, centre_world)
    channels = {}
    coil = 1 + 0.05 * first.noise(60.0)  # uneven coil sensitivity, the same in all channels
    for name, canvas in zip(CHANNELS, painter.canvases, strict=True):
        grain = 14 * smooth_noise(rng, shape, spacing, 1.3) + 4 * rng.standard_normal(canvas.shape)
        signal = np.where(brain > 0, np.maximum(canvas.image * coil + grain, 8), 0)
        channels[name] = Volume((np.rint(signal / 12) * 12).astype(np.int16), grid)
    return Phantom(channels, LabelMap(labels, grid), dict(BRAIN_NAMES))


def _paint_brain(canvas: Canvas, painter: _Painter) -> Array:
    """Paint the healthy brain and return its depth."""
    x, y, z = canvas.x, canvas.y, canvas.z
    size = canvas.rng.uniform(0.97, 1.02)
    halves = [canvas.ellipsoid((s * 25, 2, 8), (43 * size, 85 * size, 54 * size), turn_deg=s * 3) for s in (-1, 1)]
    lobes = [canvas.ellipsoid((s * 46, 10, -20), (20, 46, 22), turn_deg=s * 6) for s in (-1, 1)]
    base = z + 20 - 0.12 * y  # the hemispheres rest on the skull in front and on the tentorium behind
    hull = join(*halves, *lobes, blend_mm=20)
    cerebrum = join(np.minimum(join(*halves, blend_mm=22), base), *lobes, blend_mm=16)
    cerebellum = join(*(canvas.ellipsoid((s * 22, -46, -37), (30, 29, 22)) for s in (-1, 1)), blend_mm=14)
    stem = canvas.tube([(0, -14, -4), (0, -12, -28), (0, -18, -70)], [16, 16, 10])
    brain = join(cerebrum, cerebellum, stem, blend_mm=4) + 0.5 * canvas.noise(9.0)

    painter.paint(brain, _CSF)
    _paint_folds(canvas, painter, cerebrum, hull)
    painter.paint(stem, _WHITE)
    leaves = np.abs(z + 38 - 0.35 * (y + 48) + 4 * canvas.noise(12.0)) % 6.0 - 3
    painter.paint(cerebellum - 1.5, _GREY)
    painter.paint(np.minimum(cerebellum - 3, 1.1 - np.abs(leaves)), _CSF, soft_mm=1.4)
    painter.paint(cerebellum - 10 + 2 * canvas.noise(5.0), _WHITE)
    callosum = canvas.tube([(0, 30, 6), (0, 22, 21), (0, -12, 25), (0, -34, 16)], [4, 4, 4, 5])
    wide = np.minimum(callosum + 6 - np.abs(x) * 0.25, 22 - np.abs(x))
    painter.paint(wide, _WHITE)
    for s in (-1.0, 1.0):
        painter.paint(canvas.ellipsoid((s * 12, -12, 4), (9, 15, 9), turn_deg=s * 20), _DEEP)
        painter.paint(canvas.ellipsoid((s * 25, 5, 4), (8, 22, 12), turn_deg=s * -14), _DEEP)
        path = [(11, 34, 10), (9, 16, 15), (11, -14, 18), (20, -34, 10), (30, -30, -8), (33, -4, -20)]
        horn = canvas.tube([(s * a, b, c) for a, b, c in path], [4.5, 6, 5.5, 7, 4, 2.5])
        painter.paint(horn + 0.6 * canvas.noise(9.0), _CSF)
    painter.paint(canvas.ellipsoid((0, -6, 0), (2.2, 14, 9)), _CSF)
    painter.paint(canvas.ellipsoid((0, -37, -32), (6, 5, 8)), _CSF)
    return brain


def _paint_folds(canvas: Canvas, painter: _Painter, cerebrum: Array, hull: Array) -> None:
    """Paint grey matter on the surface and along the furrows, and white matter within.

    A furrow is where a random field changes its sign. The field is read at the place where the ray from the middle
    of the hemisphere through a voxel leaves the brain, so that furrows are sheets that go straight in.
    """
    x, y, z = canvas.x, canvas.y, canvas.z
    sign = np.where(x > 0, 1.0, -1.0)
    dx, dy, dz = x - 16 * sign, y - 2, z - 4
    ray = 52 / np.sqrt((dx * 1.3) ** 2 + (dy * 0.65) ** 2 + dz**2 + 1)
    bend = 3.5 * canvas.noise(6.5)
    field = canvas.sample(canvas.noise(3.6), 16 * sign + dx * ray + bend, 2 + dy * ray - bend, 4 + dz * ray + bend)
    core = 30 - np.hypot(x, 0.6 * (y + 2)) - np.maximum(z, 0)  # the middle of the base has no furrows
    too_deep = np.maximum(np.maximum(hull - 18 - 4 * canvas.noise(12.0), core), 0)
    furrows = np.hypot(5.0 * field / np.maximum(ray, 0.6), too_deep) - np.clip(1.3 - 0.06 * cerebrum, 0.3, 1.3)
    # The cleft between the hemispheres ends above the corpus callosum, in front of it and behind it.
    to_cleft = np.minimum(np.maximum(24 - z, 0), np.maximum(46 - np.abs(y), 0))
    cleft = np.hypot(x + 1.2 * canvas.noise(30.0), to_cleft) - 1.0
    side = np.maximum(32 - np.abs(x), 0) + np.maximum(np.abs(y - 12) - 20, 0)
    fissure = np.hypot(z + 5 - 0.3 * y + 2 * canvas.noise(9.0), side) - 1.2
    cortex = np.minimum(np.minimum(cerebrum - 1.4, furrows), np.minimum(cleft, fissure))
    painter.paint(cortex, _GREY)
    painter.paint(cortex - 3.6, _WHITE, soft_mm=1.4)


def _paint_tumour(canvas: Canvas, painter: _Painter, brain: Array, s: float) -> NDArray[np.uint8]:
    """Oedema around an enhancing rim around a necrotic core; return the labels."""
    rng = canvas.rng
    right, front, up = (float(v) for v in np.array([s * 34, 6, 22]) + rng.uniform(-1, 1, 3) * (4, 16, 6))
    radius = rng.uniform(17, 20)
    whole = canvas.ellipsoid((right, front, up), (radius + 8, radius + 14, radius + 6), turn_deg=rng.uniform(-40, 40))
    # Oedema follows the white matter in fingers and does not cross the midline.
    whole = np.minimum(whole + 5.0 * canvas.noise(6.5), np.minimum(brain - 4, s * canvas.x - 4))
    radii = (radius, radius * 1.1, radius * 0.95)
    core = canvas.ellipsoid((right, front + 3, up), radii, turn_deg=rng.uniform(-40, 40))
    core = np.minimum(core + 2.2 * canvas.noise(6.5), whole - 2)
    dead = core - 5.5 - 2.2 * canvas.noise(5.0)
    painter.paint(whole, _OEDEMA, soft_mm=2.4)
    painter.paint(core, _ENHANCING)
    painter.paint(dead, _NECROSIS)
    labels = np.zeros(canvas.shape, dtype=np.uint8)
    for depth, label in ((whole, 2), (core, 3), (dead, 1)):
        labels[depth > 0] = label
    return labels
