"""The label maps of the benchmarks that write files of a whole torso: ellipsoids, the same in every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def ellipsoids(dice: np.random.Generator, shape: tuple[int, int, int], count: int) -> NDArray[np.uint8]:
    """Return ids 1 to `count`, each an ellipsoid in the middle of the volume; first axis closest in memory."""
    size = np.array(shape)
    labels = np.zeros(shape, np.uint8, order="F")
    for label in range(1, count + 1):
        centre, radii = dice.uniform(0.25, 0.75, 3) * size, dice.uniform(0.05, 0.12, 3) * size
        low = np.maximum(np.floor(centre - radii), 0).astype(int)
        high = np.minimum(np.ceil(centre + radii) + 1, size).astype(int)
        box = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
        away = sum(((a - c) / r) ** 2 for a, c, r in zip(np.ogrid[box], centre, radii, strict=True))
        labels[box][away < 1] = label
    return labels
