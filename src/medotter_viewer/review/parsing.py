"""From a line of a file to the record it holds: whatever a stranger may have written there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, get_args

from medotter_viewer.review.records import FRAME, SCHEMA, Kind, Place, Record, Subject, verdict_key

_KINDS: tuple[Kind, ...] = get_args(Kind)


class NewerSchemaError(ValueError):
    """A line that a later version of this package has written."""


def record_of(line: bytes) -> Record:
    """Return the record of a line.

    Parameters
    ----------
    line : bytes
        Without the end of line.

    Raises
    ------
    json.JSONDecodeError or UnicodeDecodeError
        If it is no whole line of JSON.
    NewerSchemaError
        If a later version has written it.
    ValueError
        If a key is missing or of the wrong kind; the message names it.
    """
    try:
        raw = json.loads(line.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("values inside values, without end") from error
    if not isinstance(raw, Mapping):
        raise ValueError(f"got {type(raw).__name__}, expected keys and values")
    schema = raw.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise ValueError(f"schema: got {schema!r:.40}, expected {SCHEMA}")
    if schema > SCHEMA:
        raise NewerSchemaError(f"schema {schema} is newer than {SCHEMA}: a later version has written it")
    kind = raw.get("kind")
    if kind not in _KINDS:
        raise ValueError(f"kind: got {kind!r:.40}, expected one of {', '.join(_KINDS)}")
    needed = {"verdict": "verdict", "comment": "comment", "undo": "undoes"}[kind]
    said = {key: _text(raw, key, needed=key == needed) for key in ("verdict", "comment", "undoes")}
    return Record(
        kind,
        _needed(raw, "reader"),
        Subject(_needed(raw, "target"), *(_text(raw, key) for key in ("version", "hash", "model"))),
        _needed(raw, "case_id"),
        None if said["verdict"] is None else verdict_key(said["verdict"]),
        said["comment"],
        said["undoes"],
        _place(raw),
        _needed(raw, "id"),
        _needed(raw, "time"),
    )


def _place(raw: Mapping[str, Any]) -> Place:
    """Where the reader looked; a position in another frame than ours is refused."""
    world = _point(raw, "position_world")
    if world is not None and raw.get("frame") != FRAME:
        raise ValueError(f"frame: got {raw.get('frame')!r:.40}, expected {FRAME!r}")
    number = raw.get("slice")
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise ValueError(f"slice: got {number!r:.40}, expected a whole number or null")
    return Place(world, _point(raw, "position_voxel"), _text(raw, "plane"), number, _text(raw, "region"))


def _point(raw: Mapping[str, Any], key: str) -> tuple[float, float, float] | None:
    value = raw.get(key)
    if value is None:
        return None
    numbers = [v for v in value if isinstance(v, int | float) and not isinstance(v, bool)] * isinstance(value, list)
    try:
        x, y, z = (float(v) for v in numbers)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{key}: got {value!r:.60}, expected three numbers or null") from error
    if len(value) != len(numbers) or not all(math.isfinite(v) for v in (x, y, z)):
        raise ValueError(f"{key}: got {value!r:.60}, expected three numbers or null")
    return x, y, z


def _needed(raw: Mapping[str, Any], key: str) -> str:
    value = _text(raw, key, needed=True)
    return "" if value is None else value


def _text(raw: Mapping[str, Any], key: str, *, needed: bool = False) -> str | None:
    value = raw.get(key)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or (needed and not value):
        raise ValueError(f"{key}: got {value!r:.40}, expected a text{'' if needed else ' or null'}")
    return value
