"""Numbers and texts of a DICOM header, read from its bytes: a number is what it says or an error, never a guess.

pydicom finds the elements; it is not asked for their values, because it warns about or repairs what is malformed.
"""

from __future__ import annotations

import math
import re
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from medotter_viewer.errors import ReadError

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")  # in linear time
_WHOLE = re.compile(r"[+-]?\d+")
_BINARY = {"US": "H", "SS": "h", "UL": "I", "SL": "i", "FL": "f", "FD": "d", "US or SS": "H"}
_PARSER_ERRORS = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    EOFError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    MemoryError,
    RuntimeError,
    struct.error,
    zlib.error,
)


@contextmanager
def parsing(path: Path) -> Iterator[None]:
    """Turn what a parser raises about a damaged file into ReadError, and keep its warnings from the user.

    Raises
    ------
    ReadError
        If anything in the block finds the file damaged, or it cannot be opened.
    """
    from pydicom.errors import BytesLengthException, InvalidDicomError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (*_PARSER_ERRORS, InvalidDicomError, BytesLengthException) as error:
        raise ReadError(f"{path}: damaged DICOM file: {_one_line(error)}; copy or export it again") from error
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error.strerror or error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class Header:
    """The elements of a file, or of an item of one of its sequences.

    Parameters
    ----------
    path : Path
        The file, for messages.
    dataset : pydicom.Dataset
        Elements as they were read; nothing is converted.
    where : str
        Which item, for messages, e.g. ``"frame 3"``.
    """

    path: Path
    dataset: Any
    where: str = ""
    _raws: dict[int, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # As read: asking the data set for an element may convert it, with warnings.
        object.__setattr__(self, "_raws", {int(element.tag): element for element in self.dataset.values()})

    @property
    def place(self) -> str:
        """File, and item where it is one."""
        return f"{self.path}: {self.where}: " if self.where else f"{self.path}: "

    def has(self, keyword: str) -> bool:
        """Tell whether an element is there, blank or not."""
        return _tag(keyword) in self._raws

    def text(self, keyword: str) -> str | None:
        r"""Return the text of an element as it stands, several values with ``\`` between; None if absent or blank."""
        found = self._raw(keyword)
        if found is None:
            return None
        value, _, _ = found
        text = value.decode("latin-1") if isinstance(value, bytes) else "\\".join(map(str, _listed(value)))
        return text.strip(" \0\r\n\t") or None

    def data(self, keyword: str) -> bytes:
        """Return the bytes of an element; none if it is absent."""
        found = self._raw(keyword)
        return found[0] if found is not None and isinstance(found[0], bytes) else b""

    def words(self, keyword: str) -> str | None:
        """Return a text for people, in the character set of the file; None if absent or blank."""
        if not self.has(keyword):
            return None
        with parsing(self.path):
            value = self.dataset[_tag(keyword)].value
            text = " ".join(map(str, _listed(value)))
        return " ".join("".join(c if c.isprintable() else " " for c in text).split()) or None

    def numbers(self, keyword: str, count: int) -> tuple[float, ...] | None:
        """Return the numbers of an element; None if it is absent.

        Raises
        ------
        ReadError
            If there are not exactly `count`, or one is not written as DICOM writes numbers (digits, sign, point,
            exponent).

        Notes
        -----
        A decimal comma is an error: ``0,143`` could be 0.143 or 143.
        """
        found = self._raw(keyword)
        if found is None:
            return None
        value, kind, order = found
        if isinstance(value, bytes) and kind in _BINARY:
            size = struct.calcsize(_BINARY[kind])
            if len(value) != size * count:
                raise self._wrong(keyword, f"{len(value)} bytes", f"{count} numbers of {size} bytes")
            stored = struct.unpack(f"{order}{count}{_BINARY[kind]}", value)
            if not all(math.isfinite(v) for v in stored):
                raise self._wrong(keyword, str(stored), "finite numbers")
            return tuple(float(v) for v in stored)
        text = value.decode("latin-1") if isinstance(value, bytes) else "\\".join(map(str, _listed(value)))
        parts = [part.strip(" \0") for part in text.split("\\")]
        if len(parts) != count or not all(_NUMBER.fullmatch(part) for part in parts):
            shape = "a number" if count == 1 else f"{count} numbers with \\ between"
            raise self._wrong(keyword, repr(text.rstrip(" \0")).replace("\\\\", "\\"), f"{shape} (decimal point)")
        values = tuple(float(part) for part in parts)
        if any(abs(v) > 1e12 for v in values):
            raise self._wrong(keyword, text.strip(), "numbers of at most 1e12")
        return values

    def number(self, keyword: str) -> float | None:
        """Return the number of an element; None if it is absent or blank.

        Raises
        ------
        ReadError
            If it is not one number.
        """
        if self.text(keyword) is None and not self._is_binary(keyword):
            return None
        found = self.numbers(keyword, 1)
        return None if found is None else found[0]

    def whole(self, keyword: str) -> int | None:
        """Return the whole number of an element; None if it is absent or blank.

        Raises
        ------
        ReadError
            If it is not one whole number.
        """
        if self._is_binary(keyword):
            found = self.numbers(keyword, 1)
            return None if found is None else int(found[0])
        text = self.text(keyword)
        if text is None:
            return None
        if not _WHOLE.fullmatch(text) or len(text) > 12:
            raise self._wrong(keyword, repr(text), "a whole number")
        return int(text)

    def attribute(self, keyword: str) -> int | None:
        """Return the tag that an element names; None if it is absent or malformed."""
        found = self._raw(keyword)
        if found is None or not isinstance(found[0], bytes) or len(found[0]) != 4:
            return None
        group, element = struct.unpack(f"{found[2]}2H", found[0])
        return int(group << 16 | element)

    def items(self, keyword: str, where: str = "") -> list[Header]:
        """Return the items of a sequence, none if it is absent; `where` names one of them, its number is added."""
        if not self.has(keyword):
            return []
        with parsing(self.path):
            value = self.dataset[_tag(keyword)].value
            found = list(value) if value is not None and not isinstance(value, bytes) else []
        name = where or keyword
        if len(found) == 1:
            return [Header(self.path, found[0], name)]
        return [Header(self.path, item, f"{name} {n}") for n, item in enumerate(found, 1)]

    def _is_binary(self, keyword: str) -> bool:
        found = self._raw(keyword)
        return found is not None and isinstance(found[0], bytes) and len(found[0]) > 0 and found[1] in _BINARY

    def _raw(self, keyword: str) -> tuple[Any, str, str] | None:
        """Value as stored, its kind (VR) and byte order; None if absent."""
        tag = _tag(keyword)
        element = self._raws.get(tag)
        if element is None:
            return None
        kind = element.VR if element.VR not in (None, "UN") else _usual_kind(tag)
        order = "<" if getattr(element, "is_little_endian", True) else ">"
        return (b"" if element.value is None else element.value), str(kind), order

    def _wrong(self, keyword: str, got: str, expected: str) -> ReadError:
        tag = _tag(keyword)
        return ReadError(
            f"{self.place}({tag >> 16:04X},{tag & 0xFFFF:04X}) {keyword} is {got}, expected {expected}; "
            "correct the header or export the file again"
        )


def uid_name(uid: str | None) -> str:
    """Return what a registered UID stands for, e.g. ``"CT Image Storage"``; empty for others."""
    from pydicom.uid import UID_dictionary

    return str(UID_dictionary[uid][0]) if uid in UID_dictionary else ""


@cache
def _tag(keyword: str) -> int:
    from pydicom.datadict import tag_for_keyword

    tag = tag_for_keyword(keyword)
    if tag is None:
        raise KeyError(keyword)
    return int(tag)


@cache
def _usual_kind(tag: int) -> str:
    from pydicom.datadict import dictionary_VR

    return str(dictionary_VR(tag))


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str | bytes | int | float) or not hasattr(value, "__iter__") else list(value)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
