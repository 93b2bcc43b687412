"""Window and level by hand: Shift and the right button dragged on the canvas, right for wider, up for higher.

A window of HU is kept for all CT cases to come. Intensities without a unit differ from scan to scan, so there what is
kept is where the limits lie in the range that the image is shown in by default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import Window, default_limits, has_hu, limits
from medotter_viewer.ui.gestures import Gesture, Mouse
from medotter_viewer.ui.layers import IMAGE_PREFIX
from medotter_viewer.ui.looking import Looking

_DOUBLING_PX = 150.0  # dragged to the right for twice the width: from a narrow window to a wide one in one go
_LEVEL_PX = 200.0  # dragged up for a level that is higher by one width


def dragged(start: Window, right_px: float, up_px: float, *, whole: bool) -> Window:
    """Return the window after the mouse has been dragged.

    Parameters
    ----------
    start : Window
        Before.
    right_px, up_px : float
        How far, in pixels.
    whole : bool
        Whether level and width are whole numbers, as HU are; the width is at least 1 then.

    Examples
    --------
    >>> dragged(Window("", 40, 400), 150, 0, whole=True), dragged(Window("", 40, 400), 0, -50, whole=True)
    (Window(name='', level=40, width=800), Window(name='', level=-60, width=400))
    """
    width = start.width * 2 ** (right_px / _DOUBLING_PX)
    level = start.level + start.width * up_px / _LEVEL_PX
    return Window("", round(level), max(1, round(width))) if whole else Window("", level, width)


def relative_limits(base: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """Return where limits lie in a range: 0 is its lower end and 1 its upper one.

    Examples
    --------
    >>> relative_limits((100.0, 300.0), 150.0, 400.0)
    (0.25, 1.5)
    """
    extent = base[1] - base[0]
    return (low - base[0]) / extent, (high - base[0]) / extent


class WindowLevel(Gesture):
    """Dragging window and level of the image that is shown.

    Parameters
    ----------
    looking : Looking
        What is shown, and how.
    channel : callable
        Returns name and image of the channel that is shown; None while there is none, and where it is colours.
    say : callable
        Says something in the status line.
    """

    def __init__(
        self, looking: Looking, channel: Callable[[], tuple[str, Volume] | None], say: Callable[[str], None]
    ) -> None:
        self._looking, self._channel, self._say = looking, channel, say
        self._first: Window | None = looking.show.window
        self._drag: tuple[Mouse, str, Volume, Window, Any] | None = None

    def press(self, mouse: Mouse) -> bool:
        """Begin, where Shift and nothing else is held with the right button."""
        if not _is_mine(mouse) or (shown := self._shown()) is None:
            return False
        name, volume, layer = shown
        low, high = (float(v) for v in layer.contrast_limits)
        self._drag = (mouse, name, volume, Window.from_limits(low, high), layer)
        return True

    def move(self, mouse: Mouse) -> None:
        """Follow the mouse: the layer alone, all else comes at the end."""
        if self._drag is None:
            return
        start, _, volume, window, layer = self._drag
        whole = has_hu(volume, self._looking.show.modality)
        found = dragged(window, mouse.x - start.x, start.y - mouse.y, whole=whole)
        low, high = limits(found)
        if high > low:
            layer.contrast_limits = (low, high)
            self._looking.show_corner()

    def release(self, mouse: Mouse) -> None:
        """Keep what was dragged to, if it was dragged at all."""
        if self._drag is None:
            return
        (start, name, volume, _, layer), self._drag = self._drag, None
        if mouse.is_far_from(start, 0.5):
            self._keep(name, volume, *(float(v) for v in layer.contrast_limits))

    def double_click(self, mouse: Mouse) -> bool:
        """Go back to the window that the review began with."""
        if not _is_mine(mouse) or self._shown() is None:
            return False
        self.reset()
        return True

    def reset(self) -> None:
        """Show the image in the window that the review began with; one without HU in its own range."""
        if (shown := self._shown()) is None:
            return
        name, volume, _ = shown
        if has_hu(volume, self._looking.show.modality):
            self._looking.look(window=self._first, limits=None)
        else:
            kept = {key: value for key, value in self._looking.show.relative.items() if key != name}
            self._looking.look(relative=kept, limits=None)

    def next_preset(self) -> None:
        """Take the next CT preset; an image without HU goes back to its own range, for it has none."""
        shown = self._shown()
        if shown is None or has_hu(shown[1], self._looking.show.modality):
            self._looking.next_window()
            return
        self.reset()
        self._say("the window presets are for CT: the image is shown in its own range")

    def _keep(self, name: str, volume: Volume, low: float, high: float) -> None:
        show = self._looking.show
        if has_hu(volume, show.modality):
            self._looking.look(window=Window.from_limits(low, high), limits=None)
        else:
            part = relative_limits(default_limits(volume, show.modality), low, high)
            self._looking.look(relative={**show.relative, name: part}, limits=None)

    def _shown(self) -> tuple[str, Volume, Any] | None:
        found = self._channel()
        layer = None if found is None else self._looking.display.layer(IMAGE_PREFIX + found[0])
        return None if found is None or layer is None else (*found, layer)


def _is_mine(mouse: Mouse) -> bool:
    return mouse.button == "right" and mouse.modifiers == {"shift"}
