"""How large an image a compressed stream says it is, so that a decoder is never handed one that would fill the memory.

Only the few bytes that say so are looked at; nothing is decoded here.
"""

from __future__ import annotations

_JP2_START, _JP2_STREAM = b"\x00\x00\x00\x0cjP  ", b"jp2c"
_J2K_START = b"\xff\x4f\xff\x51"
_JPEG_START = b"\xff\xd8"
# Start of frame: all of 0xC0 to 0xCF but the tables (C4, CC) and the extension (C8), and 0xF7 of JPEG-LS.
_FRAMES = frozenset({*range(0xC0, 0xD0), 0xF7} - {0xC4, 0xC8, 0xCC})


def stream_shape(stream: bytes) -> tuple[int, int, int] | None:
    """Return rows, columns and components that a JPEG, JPEG-LS or JPEG 2000 stream announces.

    Parameters
    ----------
    stream : bytes
        One encoded frame.

    Returns
    -------
    tuple of int or None
        None where it is no such stream.
    """
    if stream.startswith(_JP2_START):
        start = stream.find(_JP2_STREAM)
        stream = stream[start + len(_JP2_STREAM) :] if start >= 0 else b""
    if stream.startswith(_J2K_START):
        return _jpeg_2000(stream)
    return _jpeg(stream) if stream.startswith(_JPEG_START) else None


def _jpeg_2000(stream: bytes) -> tuple[int, int, int] | None:
    """From the SIZ marker: extent less offset."""
    if len(stream) < 42:
        return None
    right, bottom, left, top = (int.from_bytes(stream[i : i + 4], "big") for i in (8, 12, 16, 20))
    return bottom - top, right - left, int.from_bytes(stream[40:42], "big")


def _jpeg(stream: bytes) -> tuple[int, int, int] | None:
    """From the first start-of-frame marker."""
    at = 2
    while at + 10 <= len(stream):
        if stream[at] != 0xFF:
            return None
        marker = stream[at + 1]
        if marker == 0xFF:  # padding before a marker
            at += 1
            continue
        if marker in _FRAMES:
            rows, columns = (int.from_bytes(stream[at + i : at + i + 2], "big") for i in (5, 7))
            return rows, columns, stream[at + 9]
        at += 2 + int.from_bytes(stream[at + 2 : at + 4], "big")
    return None
