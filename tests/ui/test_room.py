"""Words on a small canvas: how large, how many of them, and how high above its lower edge. No window needed."""

from __future__ import annotations

import math

from medotter_viewer.ui.room import fitted, raised


def wrapped(width: int = 100):
    """Heights of letters half as wide as high."""
    return lambda pixels, text: pixels * math.ceil(len(text) * pixels / 2 / width)


def test_words_are_as_large_as_fits_and_whole_while_they_can_be() -> None:
    text = "x" * 40
    assert fitted(text, 42, (14, 12, 11), wrapped()) == (14, text)  # 280 px wide: 3 lines of 14
    assert fitted(text, 41, (14, 12, 11), wrapped()) == (12, text)  # 240 px: 3 lines of 12 are 36
    assert fitted(text, 33, (14, 12, 11), wrapped()) == (11, text)  # 220 px: 3 lines of 11


def test_what_fits_at_no_size_ends_with_dots_after_a_whole_word() -> None:
    text = "aaaa bbbb\ncccc dddd eeee"
    # one line of 100 px holds 20 letters of 10 px
    assert fitted(text, 10, (14, 10), wrapped()) == (10, "aaaa bbbb\ncccc …")
    assert fitted("x" * 90, 10, (10,), wrapped()) == (10, "…")


def test_a_corner_is_raised_over_what_its_lines_would_run_into_and_no_higher() -> None:
    bar, letter = (250.0, 48.0), (140.0, 30.0)
    assert raised([], 16, [bar, letter]) == 0
    assert raised([100, 120, 130], 16, [bar, letter]) == 0
    assert raised([100, 150], 16, [bar, letter]) == 30  # the second line, 16 px up, would run into the letter
    assert raised([100, 120, 150], 16, [bar, letter]) == 0  # the third is over it
    assert raised([260], 16, [bar, letter]) == 48
