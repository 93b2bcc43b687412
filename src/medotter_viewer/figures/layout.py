"""Where the three panes stand on the paper: one scale in mm for all of them, as large as fits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medotter_viewer.figures.planes import Box

Rect = tuple[float, float, float, float]
WIDTH, HEIGHT = 12.0, 6.4  # inches at most, of all panes together
GAP, TITLE = 0.12, 0.3  # inches between panes, and above each of them


@dataclass(frozen=True, slots=True)
class Layout:
    """Panes in inches: left, top, width and height of each, measured from the top left; and the size of all."""

    panes: tuple[Rect, ...]
    width: float
    height: float


def arrange(boxes: Sequence[Box]) -> Layout:
    """Return where the panes stand.

    Side by side, or, where three get larger that way, the second over the third beside the first.

    Parameters
    ----------
    boxes : sequence of (left, right, bottom, top)
        What each pane shows, in mm.

    Examples
    --------
    >>> layout = arrange([(0, 400, 400, 0)])
    >>> round(layout.width, 6), round(layout.height, 6)
    (6.1, 6.4)
    """
    sizes = [(right - left, bottom - top) for left, right, bottom, top in boxes]
    rows = [[[size] for size in sizes]]
    if len(sizes) == 3:
        rows.append([[sizes[0]], sizes[1:]])
    scales = [_scale(columns) for columns in rows]
    best = max(range(len(rows)), key=lambda n: scales[n])
    return _place(rows[best], scales[best])


def _scale(columns: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Inches per mm at which columns of panes fill the paper."""
    wide = sum(max(w for w, _ in column) for column in columns)
    fits = [(WIDTH - GAP * (len(columns) - 1)) / wide]
    fits += [(HEIGHT - TITLE * len(column)) / sum(h for _, h in column) for column in columns]
    return min(fits)


def _place(columns: Sequence[Sequence[tuple[float, float]]], scale: float) -> Layout:
    panes: list[Rect] = []
    left = height = 0.0
    for column in columns:
        top = 0.0
        for width_mm, height_mm in column:
            panes.append((left, top + TITLE, width_mm * scale, height_mm * scale))
            top += TITLE + height_mm * scale
        height = max(height, top)
        left += max(w for w, _ in column) * scale + GAP
    return Layout(tuple(panes), left - GAP, height)
