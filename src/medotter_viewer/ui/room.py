"""Room on a canvas that may be small: how large words of a banner are, and above what a corner is written. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Measure = Callable[[int, str], float]
"""Takes pixels of a font and a text and returns how high it is, wrapped."""


def fitted(text: str, height: float, sizes: Sequence[int], measure: Measure) -> tuple[int, str]:
    """Return the largest size at which a text fits a height, and the text; at the smallest it loses its end.

    Parameters
    ----------
    text : str
        Of one line or several.
    height : float
        Room, pixels.
    sizes : sequence of int
        Of fonts, descending.
    measure : callable
        See `Measure`.

    Examples
    --------
    >>> fitted("a b c d e", 30, (14, 10), lambda pixels, text: pixels * len(text.split()))
    (10, 'a b …')
    """
    for pixels in sizes:
        if measure(pixels, text) <= height:
            return pixels, text
    pixels, ends = sizes[-1], [i for i, sign in enumerate(text) if sign.isspace()]
    low, high = 0, len(ends)  # how many words may stand before the three dots
    while low < high:
        middle = (low + high + 1) // 2
        if measure(pixels, f"{text[: ends[middle - 1]]} …") <= height:
            low = middle
        else:
            high = middle - 1
    return pixels, f"{text[: ends[low - 1]]} …" if low else "…"


def raised(widths: Sequence[float], line_height: float, taken: Sequence[tuple[float, float]]) -> float:
    """Return by how much a corner of lines is raised so that none of them runs into what stands beside it.

    Parameters
    ----------
    widths : sequence of float
        Of the lines from the lowest up, with what is left free at their left.
    line_height : float
        pixels.
    taken : sequence of (float, float)
        Where something begins that reaches down to the lower edge, from the left, and how high it is.

    Examples
    --------
    >>> raised((100, 180), 16, [(150, 48)]), raised((100, 100, 100, 180), 16, [(150, 48)])
    (48, 0)
    """
    in_the_way = [
        high
        for left, high in taken
        if any(width > left for place, width in enumerate(widths) if place * line_height < high)
    ]
    return max(in_the_way, default=0)
