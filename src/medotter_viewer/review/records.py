"""What a reader says of a case, as values: a verdict, a comment, or that one of the two is taken back.

Each is one line of JSON. Nothing that was said is ever changed: another verdict, or an undo, is said after it.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

SCHEMA = 1
"""Version of a line; a later one is left out with a finding, never guessed at."""
FRAME = "RAS+ mm"
"""What `position_world` is written in; the line says so."""
PLANES = ("axial", "coronal", "sagittal")
Kind = Literal["verdict", "comment", "undo"]
_DIGITS = 3  # of a mm


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged.

    Parameters
    ----------
    target : str
        Name of the bundle or folder; never a path, which differs between readers.
    version, hash : str or None
        Of the bundle, as its manifest says.
    model : str or None
        Whose predictions.
    """

    target: str
    version: str | None = None
    hash: str | None = None
    model: str | None = None

    @property
    def identity(self) -> tuple[str, str | None, str | None]:
        """What two files must share to be compared: target, hash and model."""
        return self.target, self.hash, self.model

    def describe(self) -> str:
        """Return it in words."""
        return f"{self.target}, hash {self.hash or 'none'}, model {self.model or 'none'}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader looked.

    Parameters
    ----------
    position_world : (float, float, float) or None
        mm RAS+; None where the case does not say how it lies in the patient.
    position_voxel : (float, float, float) or None
        Index on the grid that is shown, axis order of the file, centres at whole numbers.
    plane : {"axial", "coronal", "sagittal"} or None
        Which plane was shown.
    slice_number : int or None
        Its slice, counted from 1 as the window does.
    region : str or None
        The region that was looked at alone.
    """

    position_world: tuple[float, float, float] | None = None
    position_voxel: tuple[float, float, float] | None = None
    plane: str | None = None
    slice_number: int | None = None
    region: str | None = None


NOWHERE = Place()


def now_utc() -> str:
    """Return the time as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id() -> str:
    """Return a name that no other record has."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that was said.

    Parameters
    ----------
    kind : {"verdict", "comment", "undo"}
        What it is.
    reader : str
        Who says it.
    subject : Subject
        What is judged.
    case_id : str
        Full id of the case.
    verdict : str or None
        Of a verdict: its key, see `verdict_key`.
    text : str or None
        Of a comment.
    undoes : str or None
        Of an undo: the id of the record that is taken back.
    place : Place
        Where the reader looked.
    record_id, time : str
        A name of its own, and when it was said: UTC, ISO 8601.
    """

    kind: Kind
    reader: str
    subject: Subject
    case_id: str
    verdict: str | None = None
    text: str | None = None
    undoes: str | None = None
    place: Place = NOWHERE
    record_id: str = field(default_factory=new_id)
    time: str = field(default_factory=now_utc)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of its line, in order; the id comes first, so that the start of a torn line tells it."""
        place = self.place
        return {
            "id": self.record_id,
            "schema": SCHEMA,
            "kind": self.kind,
            "time": self.time,
            "reader": self.reader,
            "target": self.subject.target,
            "version": self.subject.version,
            "hash": self.subject.hash,
            "model": self.subject.model,
            "case_id": self.case_id,
            "verdict": self.verdict,
            "comment": self.text,
            "undoes": self.undoes,
            "position_world": _rounded(place.position_world),
            "frame": None if place.position_world is None else FRAME,
            "position_voxel": _rounded(place.position_voxel),
            "plane": place.plane,
            "slice": place.slice_number,
            "region": place.region,
        }

    def to_line(self) -> bytes:
        r"""Return its line in UTF-8, with the end of line.

        Examples
        --------
        >>> Record("verdict", "me", Subject("torso"), "A/1", "fine").to_line().count(b"\n")
        1
        """
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace") + b"\n"  # JSON's own way of writing half a surrogate pair


def verdict_key(text: str) -> str:
    """Return what a verdict is called in records: single spaces, small letters, so that two readers say the same.

    Examples
    --------
    >>> verdict_key("  GT  error ")
    'gt error'
    """
    return " ".join(text.split()).casefold()


def _rounded(point: tuple[float, float, float] | None) -> list[float] | None:
    return None if point is None else [round(float(v), _DIGITS) + 0.0 for v in point]
