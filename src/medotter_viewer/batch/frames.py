"""Values through the pipes between a run and its worker processes; both ends are this program."""

from __future__ import annotations

import pickle
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<Q")


def write_frame(stream: BinaryIO, value: Any) -> None:
    """Write one value.

    Raises
    ------
    OSError
        If nobody reads any more.
    """
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def read_frame(stream: BinaryIO) -> Any:
    """Return the next value; see `read_packed`."""
    return unpacked(read_packed(stream))


def read_packed(stream: BinaryIO) -> bytes:
    """Return the next value as it came.

    Raises
    ------
    EOFError
        If the other end is gone.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def unpacked(body: bytes) -> Any:
    """Return the value of `read_packed`; whatever its class raises when it cannot be made."""
    return pickle.loads(body)  # noqa: S301 - written by our own process, no file


def _exactly(stream: BinaryIO, n_bytes: int) -> bytes:
    body = stream.read(n_bytes)
    if len(body) < n_bytes:
        raise EOFError
    return body
