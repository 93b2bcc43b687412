"""Which intensities are shown from black to white: CT presets, and limits that suit an image nobody has set up.

Pure: an array in, two numbers out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.volume import Volume

_SAMPLE = 1 << 18  # voxels that are looked at
_AIR_HU, _FAT_HU = -900, -50
_COLOURS = (0.0, 255.0)


@dataclass(frozen=True, slots=True)
class Window:
    """A display window.

    Parameters
    ----------
    name : str
        What it is for.
    level, width : float
        Middle and extent in the image's unit: HU for the presets.
    """

    name: str
    level: float
    width: float

    @classmethod
    def from_limits(cls, low: float, high: float, name: str = "") -> Window:
        """Return the window from `low` to `high`.

        Examples
        --------
        >>> Window.from_limits(-160, 240)
        Window(name='', level=40.0, width=400)
        """
        return cls(name, (low + high) / 2, high - low)

    @property
    def text(self) -> str:
        """As on a radiologist's screen.

        Examples
        --------
        >>> SOFT_TISSUE.text, Window("", 12345.6, 0.25).text
        ('W 400  L 40  soft tissue', 'W 0.25  L 12346')
        """
        return f"W {_short(self.width)}  L {_short(self.level)}  {self.name}".rstrip()


SOFT_TISSUE = Window("soft tissue", 40, 400)
PRESETS: tuple[Window, ...] = (
    SOFT_TISSUE,
    Window("lung", -600, 1500),
    Window("bone", 400, 1800),
    Window("brain", 40, 80),
    Window("liver", 60, 160),
    Window("mediastinum", 50, 350),
)
BY_NAME: Mapping[str, Window] = {window.name: window for window in PRESETS}
_BY_TASK: Mapping[str, Window] = {"lung_contour": BY_NAME["lung"], "vertebra": BY_NAME["bone"]}


def window_of_task(task_type: str | None) -> Window:
    """Return the CT window that suits a task type: lung for contours of lung scans, bone for vertebrae."""
    return _BY_TASK.get(task_type or "", SOFT_TISSUE)


def _short(value: float) -> str:
    """Four digits, and never a power of ten of a large number."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def limits(window: Window) -> tuple[float, float]:
    """Return the intensities shown black and white.

    Examples
    --------
    >>> limits(SOFT_TISSUE)
    (-160.0, 240.0)
    """
    return (window.level - window.width / 2, window.level + window.width / 2)


def has_hu(volume: Volume, modality: str | None = None) -> bool:
    """Tell whether the CT presets mean anything for an image.

    Parameters
    ----------
    volume : Volume
        A declared unit of HU settles it.
    modality : str, optional
        What the task says its images are. One task may hold other images too, so that CT is only believed when a
        hundredth of the image lies below -50, as fat and air do.

    Returns
    -------
    bool
        Without a word on the modality: whether the values are whole numbers that reach down to air (-900).
    """
    if volume.rgb:
        return False
    if volume.unit:
        return volume.unit.upper() == "HU"
    known = (modality or "").strip().upper()
    if known and "CT" not in known:
        return False
    sample = _sample(volume.data)
    if known:
        return bool(np.count_nonzero(sample < _FAT_HU) > sample.size / 100)
    return bool(sample.min(initial=0.0) <= _AIR_HU) and np.issubdtype(volume.data.dtype, np.integer)


def default_limits(volume: Volume, modality: str | None = None) -> tuple[float, float]:
    """Return limits for an image that nobody has set up yet.

    Returns
    -------
    tuple of float
        Soft tissue for CT; otherwise from the 0.5th percentile to the 99.9th of what is not background (the commonest
        value, where it fills a tenth of the image). A constant image gives an interval of 1 from its value. Colours
        are shown as they are: 0 to 255.
    """
    if volume.rgb:
        return _COLOURS
    if has_hu(volume, modality):
        return limits(SOFT_TISSUE)
    sample = _sample(volume.data)
    if sample.size == 0:
        return (0.0, 1.0)
    values, counts = np.unique(sample, return_counts=True)
    inside = sample[sample != values[counts.argmax()]] if counts.max() >= sample.size / 10 else sample
    low, high = float(np.percentile(sample, 0.5)), float(np.percentile(inside if inside.size else sample, 99.9))
    return (low, high) if high > low else (low, low + 1.0)


def value_range(volume: Volume) -> tuple[float, float]:
    """Return lowest and highest intensity of a sample, never the same number twice; 0 and 255 for colours."""
    if volume.rgb:
        return _COLOURS
    sample = _sample(volume.data)
    if sample.size == 0:
        return (0.0, 1.0)
    low, high = float(sample.min()), float(sample.max())
    return (low, high) if high > low else (low, low + 1.0)


def _sample(data: NDArray[np.number[Any]]) -> NDArray[np.float32]:
    """Finite values of a regular part of an array."""
    step = max(1, round((data.size / _SAMPLE) ** (1 / data.ndim)))
    part = np.asarray(data[(slice(None, None, step),) * data.ndim], dtype=np.float32).ravel()
    return part[np.isfinite(part)]
