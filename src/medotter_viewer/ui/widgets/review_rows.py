"""What was said of a case, as lines of a table: words and places without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from medotter_viewer.review.records import Place, Record
from medotter_viewer.review.standing import Standing
from medotter_viewer.ui.widgets.cells import Cell, Column, Tone

COLUMNS = (
    Column("when", "local time"),
    Column("said", "verdicts and comments, the newest last; a click goes where it was said", stretch=True, least=80),
    Column("at", "the slice that was looked at", least=50),
)
_LETTER = {"axial": "ax", "coronal": "cor", "sagittal": "sag"}


@dataclass(frozen=True, slots=True)
class SaidLine:
    """One line of the table.

    Parameters
    ----------
    record : Record
        A verdict or a comment.
    holds : bool
        Whether it was neither taken back nor, a verdict, followed by another.
    reader : str
        Of another reader: the name; empty for this one.
    """

    record: Record
    holds: bool
    reader: str = ""

    def cells(self) -> tuple[Cell, ...]:
        """Return its cells."""
        record = self.record
        words = (record.verdict if record.kind == "verdict" else record.text) or ""
        why = "" if self.holds else " (followed by another verdict, or taken back)"
        said = f"{self.reader}: {words}" if self.reader else words
        whole = f"{record.kind} of {record.reader}, {record.time}{why}\n{words}\n{place_text(record.place)}"
        tone: Tone = "plain" if self.holds else "quiet"
        return (
            Cell(local_time(record.time), record.time, "quiet"),
            Cell(said, whole.strip(), tone, bold=self.holds and record.kind == "verdict", italic=not self.holds),
            Cell(slice_text(record.place), place_text(record.place), "quiet"),
        )


def said_lines(own: Standing, others: Mapping[str, Standing]) -> list[SaidLine]:
    """Return the lines of a case: this reader's, and those of others with their names, by time."""
    lines = [SaidLine(record, _holds(own, record)) for record in own.said]
    for reader, standing in others.items():
        lines += [SaidLine(record, _holds(standing, record), reader) for record in standing.said]
    return sorted(lines, key=lambda line: line.record.time) if others else lines


def local_time(time: str) -> str:
    """Return a time of a record as a clock here shows it; what is no time as it stands."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%d %b %H:%M")
    except (ValueError, OverflowError, OSError):
        return time[:12]


def slice_text(place: Place) -> str:
    """Return plane and slice in short; empty without."""
    if place.plane is None or place.slice_number is None:
        return ""
    return f"{_LETTER.get(place.plane, place.plane[:4])} {place.slice_number}"


def place_text(place: Place) -> str:
    """Return where a reader looked, in words; empty where nothing is known."""
    parts = []
    if place.plane is not None and place.slice_number is not None:
        parts.append(f"{place.plane} slice {place.slice_number}")
    if place.position_world is not None:
        x, y, z = place.position_world
        parts.append(f"LPS {-x:z.1f} {-y:z.1f} {z:z.1f} mm")
    elif place.position_voxel is not None:
        parts.append("voxel " + " ".join(f"{v:z.0f}" for v in place.position_voxel))
    if place.region is not None:
        parts.append(place.region)
    return " · ".join(parts)


def _holds(standing: Standing, record: Record) -> bool:
    if record.record_id in standing.undone:
        return False
    return record.kind != "verdict" or record is standing.verdict
