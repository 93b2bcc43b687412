"""What a user chose under Preferences; the defaults where napari has no such page."""

from __future__ import annotations

from dataclasses import dataclass

from medotter_viewer.core.spec import HD95_NAMES
from medotter_viewer.core.windows import BY_NAME, SOFT_TISSUE, Window, window_of_task

PLUGIN = "medotter-viewer"
OF_THE_TASK = "suits the task"
"""The choice of a window that depends on what is looked at."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Choices for every new review."""

    wheel_scrolls: bool = True
    hd95: str = "directed_max"
    window: Window = SOFT_TISSUE


def read_preferences(task_type: str | None = None) -> Preferences:
    """Return the user's preferences, or the defaults for what is not set or not known.

    Parameters
    ----------
    task_type : str, optional
        Of the specification: unless the user chose a window, lungs open in the lung window, vertebrae in that for bone
        and all else in that for soft tissue.
    """
    suitable = window_of_task(task_type)
    from napari.settings import get_plugin_settings

    try:
        review = get_plugin_settings(PLUGIN).review
    except (AttributeError, KeyError, ValueError):  # the plugin is switched off, or not registered in this process
        return Preferences(window=suitable)
    return Preferences(
        wheel_scrolls=bool(review.wheel_scrolls),
        hd95=review.hd95 if review.hd95 in HD95_NAMES else "directed_max",
        window=BY_NAME.get(review.window_preset, suitable),
    )
