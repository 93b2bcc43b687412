"""DICOM files as JSON whose values can be exchanged one by one: ``[tag, kind, value]`` for every element.

A value that an edit put in the place of another is written as what it is under the kind (VR) of the element, so that
lengths stay right and the reader meets the value itself.
"""

from __future__ import annotations

import json
import struct
from typing import Any

EXPLICIT = b"1.2.840.10008.1.2.1"
_LONG = ("OB", "OD", "OF", "OL", "OV", "OW", "SQ", "UC", "UN", "UR", "UT", "SV", "UV")
_NUMBERS = {"US": "H", "SS": "h", "UL": "I", "SL": "i", "FL": "f", "FD": "d", "AT": "I"}


def tree_of(data: bytes) -> bytes:
    """Return a DICOM file as JSON."""
    import io

    import pydicom

    return json.dumps(_elements(pydicom.dcmread(io.BytesIO(data)))).encode()


def _elements(dataset: Any) -> list[Any]:
    found = []
    for element in dataset:
        if element.VR == "SQ":
            value: Any = [_elements(item) for item in element.value]
        elif element.VR in _NUMBERS:
            value = element.value if not hasattr(element.value, "__iter__") else list(element.value)
        elif isinstance(element.value, bytes):
            value = {"hex": element.value.hex()}
        else:
            several = element.value if element.VM > 1 else [element.value]
            value = "\\".join(map(str, several))
        found.append([f"{int(element.tag):08x}", element.VR, value])
    return found


def file_of(data: bytes) -> bytes:
    """Return the DICOM file of such JSON, explicit little endian; bytes that are none are returned as they are."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return data
    uid = EXPLICIT + b"\0" * (len(EXPLICIT) % 2)
    meta = struct.pack("<HH2sH", 2, 0x10, b"UI", len(uid)) + uid
    start = b"\0" * 128 + b"DICM" + struct.pack("<HH2sHI", 2, 0, b"UL", 4, len(meta)) + meta
    return start + _written(tree, 0)


def _written(tree: Any, depth: int) -> bytes:
    parts = []
    for element in tree if isinstance(tree, list) else []:
        if not isinstance(element, list) or len(element) != 3 or depth > 20:
            continue
        tag, kind, value = element
        try:
            number = int(str(tag), 16) & 0xFFFFFFFF
        except ValueError:
            number = 0x00090010
        vr = (str(kind) + "UN")[:2]
        raw = _value(value, vr, depth)
        raw += (b"\0" if vr in ("UI", *_LONG) else b" ") * (len(raw) % 2)
        head = struct.pack("<HH", number >> 16, number & 0xFFFF) + vr.encode("latin-1", "replace")
        parts.append(head + (struct.pack("<HI", 0, len(raw)) if vr in _LONG else struct.pack("<H", len(raw) & 0xFFFF)))
        parts.append(raw if vr in _LONG else raw[:0xFFFF])
    return b"".join(parts)


def _value(value: Any, vr: str, depth: int) -> bytes:
    if isinstance(value, dict) and isinstance(value.get("hex"), str):
        try:
            return bytes.fromhex(value["hex"])
        except ValueError:
            return b""
    if vr == "SQ" and isinstance(value, list):
        items = [_written(item, depth + 1) for item in value]
        return b"".join(struct.pack("<HHI", 0xFFFE, 0xE000, len(item)) + item for item in items)
    if vr in _NUMBERS:
        numbers = value if isinstance(value, list) else [value]
        return b"".join(_number(one, _NUMBERS[vr]) for one in numbers)
    if isinstance(value, list):
        return "\\".join(map(str, value)).encode("latin-1", "replace")
    return str("" if value is None else value).encode("latin-1", "replace")


def _number(value: Any, code: str) -> bytes:
    if not isinstance(value, int | float):
        return str(value).encode("latin-1", "replace")[:8]
    if code in "fd":
        try:
            return struct.pack(f"<{code}", float(value))
        except OverflowError:
            return struct.pack(f"<{code}", float("inf"))
    size = struct.calcsize(code)
    whole = int(value) if abs(value) < 1e300 else 0
    return (whole % (1 << 8 * size)).to_bytes(size, "little")
