"""What a table shows, as values: columns and cells without Qt, so that every text can be tested as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Tone = Literal["plain", "quiet", "error"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Parameters
    ----------
    header : str
        Name, with its unit in brackets.
    why : str
        What the numbers below are, for the tooltip.
    numeric : bool
        Whether its cells are right-aligned.
    stretch : bool
        Whether it takes the room that the others leave.
    least : int
        Pixels it may be cut down to before the table scrolls; 0 keeps it whole.
    """

    header: str
    why: str = ""
    numeric: bool = False
    stretch: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
        What is shown.
    why : str
        Tooltip: where the number comes from.
    tone : {"plain", "quiet", "error"}
        How loud; the theme decides the colour.
    bold, italic : bool
        Weight and slant.
    word : bool
        Whether it holds words where the column holds numbers: left-aligned.
    span : int
        How many columns it covers; 0 for one that is covered.
    swatch : QColor or sequence of QColor or None
        A square of this colour, or in stripes of these, before the text.
    """

    text: str = ""
    why: str = ""
    tone: Tone = "plain"
    bold: bool = False
    italic: bool = False
    word: bool = False
    span: int = 1
    swatch: Any = None
