"""What holds of each case after all that was said: the last verdict that was not taken back, and the comments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from medotter_viewer.review.records import Record


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds of a case.

    Parameters
    ----------
    said : tuple of Record
        Every verdict and comment, oldest first, those that were taken back too.
    undone : frozenset of str
        Ids of those that were taken back.
    """

    said: tuple[Record, ...] = ()
    undone: frozenset[str] = frozenset()

    @property
    def verdict(self) -> Record | None:
        """The last verdict that was not taken back."""
        kept = [r for r in self.said if r.kind == "verdict" and r.record_id not in self.undone]
        return kept[-1] if kept else None

    @property
    def comments(self) -> tuple[Record, ...]:
        """Comments that were not taken back, oldest first."""
        return tuple(r for r in self.said if r.kind == "comment" and r.record_id not in self.undone)


def standings(records: Iterable[Record]) -> dict[str, Standing]:
    """Return what holds of each case that something was said of, by case id.

    Parameters
    ----------
    records : iterable of Record
        Of one reader, in order.
    """
    records = list(records)
    undone = frozenset(r.undoes for r in records if r.kind == "undo" and r.undoes is not None)
    said: dict[str, list[Record]] = {}
    for record in records:
        if record.kind != "undo":
            said.setdefault(record.case_id, []).append(record)
    return {
        case_id: Standing(tuple(of_case), undone & {r.record_id for r in of_case}) for case_id, of_case in said.items()
    }
