"""DICOM's display colours, CIELab in three 16-bit numbers, to red, green and blue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# DICOM means a D50 white, but the usual writers convert with that of sRGB (D65): so colours come back as chosen.
_WHITE = np.array([0.950456, 1.0, 1.088754])
_XYZ_TO_RGB = np.array(
    [
        [3.2404542, -1.5371385, -0.4985314],
        [-0.9692660, 1.8760108, 0.0415560],
        [0.0556434, -0.2040259, 1.0572252],
    ]
)


def to_rgb(stored: Sequence[float]) -> tuple[int, int, int]:
    """Return red, green, blue (0 to 255) of Recommended Display CIELab Value, three numbers from 0 to 65535.

    Examples
    --------
    >>> to_rgb((65535, 32896, 32896)), to_rgb((0, 32896, 32896))
    ((255, 255, 255), (0, 0, 0))
    """
    lightness = stored[0] * 100 / 65535
    green_red, blue_yellow = (value * 255 / 65535 - 128 for value in stored[1:3])
    middle = (lightness + 16) / 116
    parts = np.array([middle + green_red / 500, middle, middle - blue_yellow / 200])
    xyz = _WHITE * np.where(parts > 6 / 29, parts**3, 3 * (6 / 29) ** 2 * (parts - 4 / 29))
    linear = np.clip(_XYZ_TO_RGB @ xyz, 0, 1)
    shown = np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)
    red, green, blue = np.rint(shown * 255).astype(int).tolist()
    return red, green, blue
