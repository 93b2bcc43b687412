"""What names and values out of strangers' files may do to a terminal: be read, and nothing else.

A file may be called, or hold, letters that clear the screen, rename the window, overwrite the line, turn the writing
direction or look like a further line of output. Everything a command prints goes through here.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

# C0 without tab, DEL and C1; line and paragraph separators; what turns the writing direction.
_COMMANDS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_EDGES = re.compile("([\r\n]*)(.*?)(\n*)", re.DOTALL)


def harmless(text: str) -> str:
    r"""Return a text whose commands to a terminal, and ends of line inside it, stand there as their codes.

    Examples
    --------
    >>> harmless("a\x1b[2J\nb: good\n")
    'a\\x1b[2J\\nb: good\n'
    """
    if text.isprintable():
        return text
    start, inner, end = _EDGES.fullmatch(text).groups()  # type: ignore[union-attr]
    return start + _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], inner) + end


class _Harmless(io.TextIOWrapper):
    """Writes what `harmless` leaves, and the code of a letter that the encoding does not have."""

    def write(self, text: str, /) -> int:
        super().write(harmless(text))
        return len(text)


@contextmanager
def harmless_output() -> Iterator[None]:
    """Let standard output and standard error write nothing that commands a terminal, for as long as this lasts.

    Streams that a notebook or a test has put in their places are left alone.
    """
    before = sys.stdout, sys.stderr
    try:
        sys.stdout, sys.stderr = (_wrapped(stream) for stream in before)
        yield
    finally:
        during, (sys.stdout, sys.stderr) = (sys.stdout, sys.stderr), before
        for stream in during:
            if isinstance(stream, _Harmless):
                _let_go(stream)


def _wrapped(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    buffered = stream.line_buffering or stream.isatty()
    return _Harmless(stream.buffer, stream.encoding, "backslashreplace", line_buffering=buffered)


def _let_go(stream: io.TextIOWrapper) -> None:
    """Give the bytes' stream back: it would be closed with its wrapper."""
    with suppress(OSError, ValueError):  # a pipe that nobody reads any more
        stream.detach()
