"""Colours of the docks, taken from the palette so that they follow napari's dark and light themes."""

from __future__ import annotations

from typing import Any

from qtpy.QtGui import QColor, QPalette


def is_dark(palette: Any) -> bool:
    """Tell whether text is lighter than what it stands on."""
    text = palette.color(QPalette.ColorRole.WindowText).lightness()
    return bool(text > palette.color(QPalette.ColorRole.Window).lightness())


def tone_color(palette: Any, tone: str) -> Any:
    """Return the text colour of a tone: plain, quiet or error."""
    text = palette.color(QPalette.ColorRole.WindowText)
    if tone == "error":
        return QColor("#ff8f85" if is_dark(palette) else "#b3261e")
    return mixed(text, palette.color(QPalette.ColorRole.Window), 0.42) if tone == "quiet" else text


def mixed(one: Any, other: Any, share: float) -> Any:
    """Return a colour between two: `share` of the other one."""
    parts = zip(one.getRgb()[:3], other.getRgb()[:3], strict=True)
    return QColor(*(round((1 - share) * a + share * b) for a, b in parts))
