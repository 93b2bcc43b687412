"""What stands in the lower left corner of the canvas: slice, its number, channel and window. Pure."""

from __future__ import annotations

from medotter_viewer.core.windows import PRESETS, Window
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.placing import Placed


def slice_line(placed: Placed | None, axis: int, position_mm: float, index: int, count: int) -> str:
    """Return the line for the slice that is looked at; empty where there is only one.

    Parameters
    ----------
    placed : Placed or None
        What is drawn: a scan's slices have the numbers that its lists and submissions name.
    axis : int
        Displayed axis across the slice.
    position_mm : float
        Where along it.
    index, count : int
        Displayed index, and how many there are.
    """
    if count <= 1:
        return ""
    side = None if placed is None else placed.gt or placed.pred or placed.others
    number = None
    if side is not None and side.axis == axis and (found := side.index_at(position_mm)) is not None:
        number = side.stack.numbers[found]
    return f"slice {index + 1}/{count}" + ("" if number is None else f"  ·  number {number}")


def across_line(placed: Placed | None, axis: int, show: ShowOptions) -> str:
    """Return why no outlines are seen in a plane in which those of the case are only points."""
    side = None if placed is None else placed.gt or placed.pred
    across = side is not None and side.axis != axis and show.mode == "contour"
    return "outlines are drawn on their own slices; G fills them here" * across


def channel_line(channel: str, limits: tuple[float, float], *, has_hu: bool, alone: bool) -> str:
    """Return channel and window, the window by its name where it is a preset of CT.

    Examples
    --------
    >>> channel_line("t1", (0.0, 100.0), has_hu=False, alone=True)
    'W 100  L 50'
    >>> channel_line("ct", (0.0, 100.0), has_hu=True, alone=True), channel_line("ct", (0, 80), has_hu=True, alone=True)
    ('W 100  L 50 HU', 'W 80  L 40  brain')
    """
    shown = Window.from_limits(*limits)
    known = next((w for w in PRESETS if (w.level, w.width) == (shown.level, shown.width)), None)
    text = known.text if known is not None and has_hu else shown.text + " HU" * has_hu
    return text if alone else f"{channel}  {text}"
