"""What the case list shows of a reader's verdicts, and what it hides from a blinded one."""

from __future__ import annotations

from collections.abc import Sequence

from medotter_viewer.session.case_list import CaseRow
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cells import Cell, Column

HIDDEN = "·"
_VERDICT_PX = 96  # the usual words are whole; what a reader calls a verdict may be longer
_WHY = "hidden until you have judged the case: you are blinded (Review panel)"


def verdict_columns(session: ReviewSession) -> list[Column]:
    """Return the column of verdicts, once a listed case has one."""
    judged = any(row.verdict for row in session.rows)
    return [Column("verdict", "your last verdict on the case", least=_VERDICT_PX)] * judged


def verdict_cell(row: CaseRow) -> Cell:
    """Return the verdict on a case."""
    return Cell(row.verdict, row.verdict)


def reviewed_words(rows: Sequence[CaseRow]) -> list[str]:
    """Return how many of the listed cases have a verdict, in words; nothing while none has."""
    n = sum(bool(row.verdict) for row in rows)
    return [f"{n} of {len(rows)} reviewed"] * bool(n)


def unless_blinded(
    cells: Sequence[Cell], columns: Sequence[Column], row: CaseRow, session: ReviewSession
) -> list[Cell]:
    """Return the cells of a case without its numbers where the reader must not see them yet."""
    if not session.verdicts.hides(row.case_id):
        return list(cells)
    shown = []
    for cell, column in zip(cells, columns, strict=True):
        if column.numeric and not cell.word:
            shown.append(Cell(HIDDEN, _WHY, "quiet"))
        elif column.header == "status" and row.status == "scored":
            shown.append(Cell("scored", _WHY))  # the usual words count caps
        else:
            shown.append(cell)
    return shown
