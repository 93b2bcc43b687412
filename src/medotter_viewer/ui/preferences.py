"""What a user chose under Preferences; the defaults where napari has no such page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medotter_viewer.core.spec import HD95_NAMES
from medotter_viewer.core.windows import BY_NAME, SOFT_TISSUE, Window, window_of_task
from medotter_viewer.review.choices import verdict_list
from medotter_viewer.session.read_ahead import CASES, MEGABYTES

PLUGIN = "medotter-viewer"
OF_THE_TASK = "suits the task"
"""The choice of a window that depends on what is looked at."""
MOST_AHEAD, MOST_MEGABYTES, MOST_WIDTH = 8, 1 << 16, 6


@dataclass(frozen=True, slots=True)
class Preferences:
    """Choices for every new review.

    Parameters
    ----------
    wheel_scrolls : bool
        Whether the wheel scrolls slices; else it zooms, as napari has it.
    hd95 : str
        Which hd95 is shown.
    window : Window
        The first CT window.
    reader : str
        Name that verdicts carry; empty leaves it as chosen in the Review panel.
    verdicts : tuple of str
        The list of verdicts; empty leaves it as chosen there.
    read_ahead : int
        How many cases are read before they are asked for; 0 reads none.
    read_ahead_mb : int
        How much memory these may take together, in MiB.
    contour_width : int
        Of the ground truth's outlines, in both of napari's themes; the prediction's are half as wide.
    """

    wheel_scrolls: bool = True
    hd95: str = "directed_max"
    window: Window = SOFT_TISSUE
    reader: str = ""
    verdicts: tuple[str, ...] = ()
    read_ahead: int = CASES
    read_ahead_mb: int = MEGABYTES
    contour_width: int = 2


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
    known = Preferences()
    words = _text(review, "verdicts")
    return Preferences(
        wheel_scrolls=bool(getattr(review, "wheel_scrolls", known.wheel_scrolls)),
        hd95=hd95 if (hd95 := getattr(review, "hd95", None)) in HD95_NAMES else known.hd95,
        window=BY_NAME.get(_text(review, "window_preset"), suitable),
        reader=_text(review, "reader"),
        verdicts=verdict_list(words.split(",")) if words else (),
        read_ahead=_whole(review, "read_ahead", known.read_ahead, 0, MOST_AHEAD),
        read_ahead_mb=_whole(review, "read_ahead_mb", known.read_ahead_mb, 1, MOST_MEGABYTES),
        contour_width=_whole(review, "contour_width", known.contour_width, 1, MOST_WIDTH),
    )


def _text(review: Any, name: str) -> str:
    """A text; empty where it is none."""
    value = getattr(review, name, None)
    return value.strip() if isinstance(value, str) else ""


def _whole(review: Any, name: str, default: int, low: int, high: int) -> int:
    """A whole number within bounds; the default for anything else."""
    value: Any = getattr(review, name, None)
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()
    return int(value) if is_whole and low <= value <= high else default
