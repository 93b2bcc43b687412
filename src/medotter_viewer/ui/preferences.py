"""What a user chose under Preferences; the defaults where napari has no such page."""

from __future__ import annotations

from dataclasses import dataclass

from medotter_viewer.core.spec import HD95_NAMES
from medotter_viewer.core.windows import BY_NAME, SOFT_TISSUE, Window

PLUGIN = "medotter-viewer"


@dataclass(frozen=True, slots=True)
class Preferences:
    """Choices for every new review."""

    wheel_scrolls: bool = True
    hd95: str = "directed_max"
    window: Window = SOFT_TISSUE


def read_preferences() -> Preferences:
    """Return the user's preferences, or the defaults for what is not set or not known."""
    from napari.settings import get_plugin_settings

    try:
        review = get_plugin_settings(PLUGIN).review
    except (AttributeError, KeyError, ValueError):  # the plugin is switched off, or not registered in this process
        return Preferences()
    return Preferences(
        wheel_scrolls=bool(review.wheel_scrolls),
        hd95=review.hd95 if review.hd95 in HD95_NAMES else "directed_max",
        window=BY_NAME.get(review.window_preset, SOFT_TISSUE),
    )
