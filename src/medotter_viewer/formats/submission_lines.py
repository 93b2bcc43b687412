"""One line of a submission to numbers, or why not: strictly, and as the contest's own reader takes it.

The contest's reader is a Java program; what it accepts beyond the format is written down in `contest_line`.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_DECIMAL_LETTERS = b"0123456789+-.eE,"
# In linear time: digits can be matched in one way only, and a line may be as long as the file.
_DECIMAL = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_JAVA_BLANK = bytes(range(33))  # what String.trim removes
_JAVA_INT = re.compile(rb"[+-]?\d+")
_JAVA_HEX = re.compile(rb"[+-]?0[xX]([0-9a-fA-F]+(\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?\d+")
_JAVA_WORD = re.compile(rb"[+-]?(NaN|Infinity)")
_LARGEST = 1e100  # products of two coordinates stay finite
_LONGEST_INT = 2**31 - 1
_PIECE = 1 << 16  # bytes of a line whose fields are split at a time: a line may be as long as the file


class Line(NamedTuple):
    """One polygon: id of the scan as written, 1-based slice number, x1, y1, x2, y2, ... in mm LPS."""

    scan: bytes
    slice_number: int
    values: Sequence[float]


class Lines(NamedTuple):
    """Many polygons: ids of scans, slice numbers, all numbers, and how many of them are each polygon's."""

    scans: Sequence[bytes]
    slice_numbers: NDArray[np.int32]
    values: NDArray[np.float64]
    n_values: NDArray[np.int64]


class LineError(ValueError):
    """Why a line is malformed."""


ParseLine = Callable[[bytes], Line]


def strict_line(line: bytes) -> Line:
    """Return the polygon of a line that keeps to the format.

    Fields are separated by commas, with nothing around them: scan, slice, and at least three pairs of finite decimal
    numbers (``-1.5``, ``1e3``; ASCII digits, point as decimal sign).

    Raises
    ------
    LineError
        With the reason.

    Examples
    --------
    >>> strict_line(b"TC1,2,0,0,10,0,10,1e1").values
    [0.0, 0.0, 10.0, 0.0, 10.0, 10.0]
    """
    scan, _, rest = line.partition(b",")
    number, _, text = rest.partition(b",")
    if not scan or not number.isdigit() or len(number) > 9 or text.translate(None, _DECIMAL_LETTERS):
        raise LineError(_reason(line))
    try:
        values = _floats(text)
    except ValueError:
        raise LineError(_reason(line)) from None
    if len(values) % 2 or len(values) < 6 or not (min(values) > -_LARGEST and max(values) < _LARGEST):
        raise LineError(_reason(line))
    return Line(scan, int(number), values)


def strict_lines(lines: Sequence[bytes]) -> Lines | None:
    """Return the polygons of many lines, each of which `strict_line` would accept; None where one is in doubt.

    Several times as fast as line by line: numbers are converted all at once.
    """
    if not lines or max(map(len, lines)) > _PIECE:
        return None
    try:
        scans, numbers, texts = zip(*[line.split(b",", 2) for line in lines], strict=True)
        distinct = {number: int(number) for number in set(numbers)}
    except ValueError:
        return None
    text = b",".join(texts)
    n_values = np.array([part.count(b",") for part in texts], dtype=np.int64) + 1
    good = b"" not in scans and all(number.isdigit() and len(number) <= 9 for number in distinct)
    if not good or text.translate(None, _DECIMAL_LETTERS) or (n_values % 2).any() or n_values.min() < 6:
        return None
    try:
        values = np.array(list(map(float, text.split(b","))))
    except ValueError:
        return None
    if not np.abs(values).max() < _LARGEST:
        return None
    return Lines(scans, np.array([distinct[number] for number in numbers], dtype=np.int32), values, n_values)


def contest_line(line: bytes) -> Line:
    """Return the polygon of a line as the contest's own reader takes it.

    It accepts one or two points, leaves out an odd last field unread and empty fields at the end, and takes whatever
    Java takes for a number: blanks around it, ``NaN`` and ``Infinity``, a sign before the slice. It does not accept a
    blank beside the slice, or a line without a point.

    Raises
    ------
    LineError
        With the reason.

    Examples
    --------
    >>> contest_line(b"TC1,2, 5,5,7,").values
    [5.0, 5.0]
    """
    scan, _, rest = line.strip(_JAVA_BLANK).partition(b",")
    number, comma, text = rest.partition(b",")
    if not _JAVA_INT.fullmatch(number) or abs(int(number[:12])) > _LONGEST_INT:
        raise LineError(f"slice is {_shown(number)}, expected a whole number")
    text = text.rstrip(b",")
    n_fields = text.count(b",") + 1 if text else 0
    if not comma or n_fields < 2:
        raise LineError("no point: the contest's reader stops at a line without x and y")
    if n_fields % 2:
        text = text.rpartition(b",")[0]
    try:
        values = _floats(text, _java_floats)
    except ValueError as error:
        raise LineError(str(error)) from None
    return Line(scan, int(number), values)


def is_blank(line: bytes, *, contest_reader: bool) -> bool:
    """Tell whether a line is passed over."""
    return not line.strip(_JAVA_BLANK if contest_reader else None)


def _floats(text: bytes, convert: Callable[[bytes], list[float]] | None = None) -> Sequence[float]:
    """Numbers of a list, piece by piece where it is long."""
    if convert is None:
        convert = _decimals
    if len(text) <= _PIECE:
        return convert(text)
    values = array("d")
    at = 0
    while at <= len(text):
        stop = text.find(b",", at + _PIECE)
        stop = len(text) if stop < 0 else stop
        values.extend(convert(text[at:stop]))
        at = stop + 1
    return values


def _decimals(text: bytes) -> list[float]:
    """Without letters other than those of decimal numbers, what Python takes for a number is one."""
    return list(map(float, text.split(b",")))


def _java_floats(text: bytes) -> list[float]:
    return [_java_float(field.strip(_JAVA_BLANK)) for field in text.split(b",")]


def _java_float(field: bytes) -> float:
    """What Double.parseDouble makes of a field."""
    if _JAVA_WORD.fullmatch(field):
        return float(field)
    number = field[:-1] if field[-1:] in b"fFdD" and field else field
    if _DECIMAL.fullmatch(number):
        return float(number)
    if _JAVA_HEX.fullmatch(number) or _JAVA_HEX.fullmatch(field):
        return float.fromhex((number if _JAVA_HEX.fullmatch(number) else field).decode("ascii"))
    raise ValueError(f"{_shown(field)} is no number")


def _reason(line: bytes) -> str:
    """What is wrong with a line that is not as it should be."""
    if b"\0" in line:
        return "holds NUL bytes: is it UTF-16? Expected UTF-8 text"
    scan, comma, rest = line.partition(b",")
    number, _, text = rest.partition(b",")
    for separator in (b";", b"\t", b"|"):
        if separator in line:
            return f'expected "," between fields and "." in numbers, got {_shown(separator)}'
    if not comma:
        return f'no "," in {_shown(line)}, expected scan,slice,x1,y1,x2,y2,...'
    if not scan:
        return "empty field: the scan's id"
    if not (number.isdigit() and len(number) <= 9):
        header = "; is it a header? A submission has none" if number[:1].isalpha() else ""
        return f"slice is {_shown(number)}, expected a whole number without sign or blanks{header}"
    return _reason_of_numbers(text)


def _reason_of_numbers(text: bytes) -> str:
    if not text:
        return "no coordinates, expected at least three points x,y"
    n = 0
    for n, field in enumerate(_fields(text), 1):
        if not field:
            return f"empty field: coordinate {n}"
        if _NOT_FINITE.fullmatch(field):
            return f"coordinate {n} is {_shown(field)}, expected a finite number"
        if not _DECIMAL.fullmatch(field):
            return f"coordinate {n} is {_shown(field)}, expected a decimal number such as -12.5"
        if not abs(float(field)) < _LARGEST:
            return f"coordinate {n} is {_shown(field)}, which is not a finite length, expected mm"
    if n % 2:
        third = "; x,y,z of each point? Expected x,y" if n % 3 == 0 else ""
        return f"odd number of coordinates, {n}: every x needs a y{third}"
    return f"{n // 2} point{'s' * (n > 2)}, expected at least three"


def _fields(text: bytes) -> Iterator[bytes]:
    at = 0
    while (stop := text.find(b",", at)) >= 0:
        yield text[at:stop]
        at = stop + 1
    yield text[at:]


def _shown(field: bytes) -> str:
    """The beginning of a field in quotes, whatever its letters are."""
    text = field[:40].decode("utf-8", "backslashreplace")
    return ascii(text) + ("..." if len(field) > 40 else "")
