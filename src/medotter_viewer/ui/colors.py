"""Which colour a label id and a role have: the same id has the same colour in every case.

numpy only. A colour never depends on which ids a case happens to hold. Palette and accents stay apart under the two
common forms of red-green blindness; magenta is kept for ids that should not be there, orange for the prediction,
yellow for a wrong label.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterable, Mapping

from medotter_viewer.core.accents import FN_ACCENT as FN_ACCENT
from medotter_viewer.core.accents import FP_ACCENT as FP_ACCENT
from medotter_viewer.core.accents import GT_ACCENT as GT_ACCENT
from medotter_viewer.core.accents import PRED_ACCENT as PRED_ACCENT
from medotter_viewer.core.accents import SECOND_ACCENT as SECOND_ACCENT
from medotter_viewer.core.accents import TP_ACCENT as TP_ACCENT
from medotter_viewer.core.accents import WRONG_ACCENT as WRONG_ACCENT
from medotter_viewer.metrics.error_map import FN, FP, TP, WRONG

Rgba = tuple[float, float, float, float]
ColorDict = Mapping[int | None, Rgba]


def rgba(code: str, alpha: float = 1.0) -> Rgba:
    """Return the colour of a code like ``"#FF8C1A"``.

    Examples
    --------
    >>> rgba("#FF0033")
    (1.0, 0.0, 0.2, 1.0)
    """
    red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return (red, green, blue, alpha)


CLEAR: Rgba = (0.0, 0.0, 0.0, 0.0)
LOUD: Rgba = rgba("#FF00FF")
"""Colour of an id outside the label space."""
OTHER_ACCENT, SEED_ACCENT = "#B8B8B8", "#FFFFFF"
"""Contours of structures that are not scored; points that are known to lie in a tumour."""

# Far from each other in OKLab, seen normally and with deuteranopia and protanopia; bright enough for a dark image, and
# away from magenta, from the prediction's orange and from the yellow of a wrong label.
_CODES = (
    "00D3FF 8559FF F4002C C84E90 BC7AA6 00D385 A6FFDE 6F9BFF A6B100 009B64 F4A6C8 6FFF90 856FC8 00A6D3 "
    "E9647A 0BF4F4 64BCA6 A6DEA6 90D300 A69B4E 85DE7A 3785E9 FF9BF4 "
)
_PALETTE = tuple(rgba("#" + code) for code in re.findall(r"\w+", _CODES))
_GOLDEN = 0.6180339887498949


def label_color(label: int) -> Rgba:
    """Return the colour of a label id; background 0 is transparent.

    Ids beyond the palette walk around the colour circle by the golden ratio, leaving magenta out, in three
    brightnesses: ids that follow each other differ clearly.

    Examples
    --------
    >>> label_color(0)[3], label_color(1) == label_color(50), label_color(1) == rgba("#00D3FF")
    (0.0, False, True)
    """
    if label == 0:
        return CLEAR
    if 0 < label <= len(_PALETTE):
        return _PALETTE[label - 1]
    turn = (label * _GOLDEN) % 1.0 * 0.84
    hue = turn if turn < 0.76 else turn + 0.16  # magenta lies at 5/6
    return (*colorsys.hsv_to_rgb(hue, (0.85, 0.5, 0.7)[label % 3], (1.0, 1.0, 0.8)[label % 3]), 1.0)


def label_colors(ids: Iterable[int]) -> dict[int | None, Rgba]:
    """Return the colours of a label map in which each of `ids`, the label space, has its own.

    Returns
    -------
    dict
        For napari's ``DirectLabelColormap``: with 0 (transparent) and None (every other id: loud).
    """
    return {None: LOUD, 0: CLEAR, **{i: label_color(i) for i in ids if i != 0}}


def accent_colors(ids: Iterable[int], accent: str, *, unknown: Rgba = CLEAR) -> dict[int | None, Rgba]:
    """Return the colours of a label map in which all of `ids` have one colour and every other id has `unknown`."""
    return {None: unknown, 0: CLEAR, **{i: rgba(accent) for i in ids if i != 0}}


def error_colors(*, only_wrong: bool = False) -> dict[int | None, Rgba]:
    """Return the colours of an error map: what is right recedes, what is wrong stands out.

    Parameters
    ----------
    only_wrong : bool
        Whether only voxels with a wrong label are tinted, as a ground under contours.
    """
    if only_wrong:
        return {None: CLEAR, 0: CLEAR, TP: CLEAR, FN: CLEAR, FP: CLEAR, WRONG: rgba(WRONG_ACCENT, 0.45)}
    return {
        None: CLEAR,
        0: CLEAR,
        TP: rgba(TP_ACCENT, 0.25),
        FN: rgba(FN_ACCENT),
        FP: rgba(FP_ACCENT),
        WRONG: rgba(WRONG_ACCENT),
    }
