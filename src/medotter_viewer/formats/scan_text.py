"""Lines and numbers of the text files of a scan folder: bounded in size, strict about what a number is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from medotter_viewer.errors import ReadError

FARTHEST_MM = 1e6
"""No coordinate is beyond a kilometre."""
_SHOWN = 40  # letters of a bad value
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_lines(path: Path, max_bytes: int) -> Iterator[tuple[int, str]]:
    """Yield number (1-based) and text of each line, without its end; bytes that are no UTF-8 become U+FFFD.

    Raises
    ------
    ReadError
        If the file is not there, is no regular file, or is larger than `max_bytes`.
    """
    try:
        if path.exists() and not path.is_file():
            raise ReadError(f"{path}: not a regular file; expected a text")
        size = path.stat().st_size
        if size > max_bytes:
            raise ReadError(f"{path}: {size / 2**20:.1f} MiB, expected a text of at most {max_bytes / 2**20:g} MiB")
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            for number, line in enumerate(file, 1):
                yield number, line.rstrip("\n")
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error.strerror or error}") from error


def to_number(text: str) -> float:
    """Return a number as the scan's files write them; blanks around it do not matter.

    Raises
    ------
    ValueError
        If it is anything else; the message says what was got.

    Examples
    --------
    >>> to_number(" 9.76562e-1"), to_number("-250")
    (0.976562, -250.0)
    """
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"got {text.strip()[:_SHOWN]!r}, expected a number such as 0.976562 or 9.76562e-1")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"got {text.strip()[:_SHOWN]!r}, which is too large a number")
    return value


def to_slice_number(text: str) -> int:
    """Return a slice number: digits only.

    Raises
    ------
    ValueError
        If it is anything else; the message says what was got.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"got {text[:_SHOWN]!r}, expected a slice number")
    return int(text)


def shown(text: str) -> str:
    """Return a text from a file short enough for a message, in quotes."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
