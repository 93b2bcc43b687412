"""The case list as a table: which case is open, what each is worth, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from qtpy.QtCore import QTimer

from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.core.spec import MACRO
from medotter_viewer.scoring.lung import METRICS as SCAN_METRICS
from medotter_viewer.scoring.vertebrae import CASE_METRICS as VERTEBRA_METRICS
from medotter_viewer.session.case_list import LOSS, WORST_FOR_B, CaseRow
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cases_compared import (
    compared_metrics,
    loss_cell,
    loss_columns,
    second_cells,
    second_columns,
    short_name,
    slant,
)
from medotter_viewer.ui.widgets.cases_judged import unless_blinded, verdict_cell, verdict_columns
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.connections import Connections

OPEN = "▸"
_UNITS = {"hd95": "[mm]", "hd": "[mm]", "d_mean": "[mm]", "tp_mm3": "[mm³]", "fp_mm3": "[mm³]", "fn_mm3": "[mm³]"}
_OF_CASE = (*VERTEBRA_METRICS, *SCAN_METRICS)
_LONG = 14  # letters of a region's name in a header
_ERRORS = ("error", "missing file")
_WORDS = (*_ERRORS, "no prediction")

_FIRST_METRIC = 2  # after the mark of the open case and its id; the verdict may stand between
SOON_MS = 100  # scores that come one after the other are drawn together
MANY_MS = 400  # while a whole list is scored: drawing it again and again would hold that up


class CasesModel(CellModel):
    """The listed cases of a session, in its order.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    """

    def __init__(self, session: ReviewSession, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self._short = self._with_dataset = self._with_split = self._with_tier = self._with_verdict = False
        self._with_loss = self._with_second = False
        self._metrics: tuple[str, ...] = ()
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(SOON_MS)
        self._due.timeout.connect(self.refresh)
        self._connections = Connections()
        events = session.events
        self._connections.add(events.rows_changed, self.refresh)
        self._connections.add(events.row_changed, self._on_row_changed)
        self._connections.add(events.progress_changed, self._on_progress_changed)
        for signal in (events.loading_started, events.case_changed, events.failed):
            self._connections.add(signal, self._on_case_changed)
        for signal in (events.prediction_changed, events.scores_changed):
            self._connections.add(signal, self._on_edited)
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns: split and tier where they differ, the dataset where ids do not begin with it."""
        rows = self._session.rows
        datasets = {row.entry.dataset for row in rows}
        self._short = len(datasets) == 1
        self._with_dataset = not self._short and not all(row.case_id.startswith(_prefix(row)) for row in rows)
        self._with_split = len({row.entry.split for row in rows}) > 1
        self._with_tier = len({row.entry.tier for row in rows}) > 1
        region = self._session.spec.headline.region
        mean = ", the mean over the labelled regions" * (region == MACRO)
        short = "mean" if region == MACRO else region if len(region) < _LONG else f"{region[: _LONG - 2]}…"
        loss = loss_columns(self._session)
        second = second_columns(self._session)
        judged = verdict_columns(self._session)
        self._with_loss, self._with_second, self._with_verdict = bool(loss), bool(second), bool(judged)
        self._metrics = compared_metrics(self._session)
        own = [
            Column(f"{m}\n{_UNITS.get(m, '')}".strip(), f"{m} of the case; click to sort", numeric=True)
            if m in _OF_CASE
            else Column(f"{m}\n{_UNITS.get(m, short)}", f"{m} of {region}{mean}; click to sort", numeric=True)
            for m in self._metrics
        ]
        return [
            Column(""),
            Column("case", stretch=True, least=132),
            *judged,
            *(
                [
                    *loss,
                    *(replace(one, header=f"A\n{short_name(m)}") for one, m in zip(own, self._metrics, strict=True)),
                    *second,
                ]
                if second
                else [*own, *loss]
            ),
            Column("status", least=44),
            *[Column("dataset", least=36)] * self._with_dataset,
            *[Column("split", least=30)] * self._with_split,
            *[Column("tier", least=30)] * self._with_tier,
        ]

    def n_rows(self) -> int:
        """Return how many cases are listed."""
        return len(self._session.rows)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return a case's line."""
        case = self._session.rows[row]
        is_open = case.case_id == self._session.current_id
        name = case.case_id.removeprefix(_prefix(case)) if self._short else case.case_id
        cells = [
            Cell(OPEN if is_open else "", "open" * is_open),
            Cell(name, case.case_id, bold=is_open),
            *[verdict_cell(case)] * self._with_verdict,
            *self._results(case),
            *[Cell(case.entry.dataset or "", case.entry.dataset or "")] * self._with_dataset,
            *[Cell(case.entry.split or "")] * self._with_split,
            *[Cell(case.entry.tier or "", case.entry.tier or "")] * self._with_tier,
        ]
        return unless_blinded(cells, self.columns, case, self._session)

    def spans(self) -> Iterable[tuple[int, int, int]]:
        """Return where a word stands for the numbers."""
        n_covered = self._n_covered()
        for row, case in enumerate(self._session.rows):
            if case.status in _WORDS and n_covered > 1:
                yield row, _FIRST_METRIC + self._with_verdict, n_covered

    def case_id(self, row: int) -> str:
        """Return the case of a row."""
        return self._session.rows[row].case_id

    def open_row(self) -> int | None:
        """Return the row of the open case, None when it is not listed."""
        ids = [row.case_id for row in self._session.rows]
        return ids.index(self._session.current_id) if self._session.current_id in ids else None

    def metric_of(self, column: int) -> str | None:
        """Return what a click on the header of a column sorts by; None for one that does not sort."""
        loss = [LOSS] * self._with_loss
        compared = [*loss, *self._metrics, None, WORST_FOR_B]
        keys = compared if self._with_second else [*self._metrics, *loss]
        place = column - _FIRST_METRIC - self._with_verdict
        return keys[place] if 0 <= place < len(keys) else None

    def close_connections(self) -> None:
        """Stop listening."""
        self._connections.close()
        self._due.stop()

    def _n_covered(self) -> int:
        """How many columns a word covers: the numbers and the status, but not a second model's numbers."""
        return len(self._metrics) + self._with_loss + (not self._with_second)

    def _results(self, row: CaseRow) -> list[Cell]:
        status = status_cell(row)
        second = second_cells(row, self._session) if self._with_second else []
        if row.case_id in self._session.edits.case_ids and row.status not in _ERRORS:
            why = "edited here: the numbers are those of the file; yours are in the score table while the case is open"
            status = replace(status, text="edited", why=why, tone="plain")
        if row.status in _WORDS:
            covered, n_covered = replace(status, span=0, word=True), self._n_covered()
            line = [replace(covered, span=n_covered), *[covered] * (n_covered - 1)]
            return [*line, *second, *[Cell()] * bool(second)]
        values = [self._value(row, metric) for metric in self._metrics]
        loss = [loss_cell(row, self._session.losses)] * self._with_loss
        return [*loss, *values, *second, status] if second else [*values, *loss, status]

    def _value(self, row: CaseRow, metric: str) -> Cell:
        value = headline_metric(row, self._session.spec.headline.region, metric)
        if value is None or value.status == "error":
            return Cell(NOTHING, tone="quiet")
        if value.status in ("cap", "absent", "not_labelled"):
            return Cell(metric_text(metric, value).split(" (")[0], metric_text(metric, value), "quiet")
        slanted = slant(row.score, self._session.spec, metric)
        return Cell(number_text(metric, value.value), slanted, italic=bool(slanted))

    def _on_row_changed(self, _: str) -> None:
        """Read the lines again, for one score changes what all cases cost; soon, for more may follow at once."""
        self._made.clear()
        if not self._due.isActive():
            self._due.start()

    def _on_progress_changed(self, _: int, total: int) -> None:
        soon = MANY_MS if total else SOON_MS
        if self._due.interval() != soon:  # setting it begins it anew
            self._due.setInterval(soon)

    def _on_edited(self, _: object = None) -> None:
        """Show whether the open case is edited."""
        if (row := self.open_row()) is not None:
            self.refresh_rows(row, row)

    def _on_case_changed(self, _: object = None) -> None:
        marked = {row for row, cells in self._made.items() if cells[0].text == OPEN}
        for row in marked | {row for row in (self.open_row(),) if row is not None}:
            self.refresh_rows(row, row)


def headline_metric(row: CaseRow, region: str, metric: str) -> MetricValue | None:
    """Return the value shown for a case with its status: that of the headline region, or the mean."""
    if row.score is None:
        return None
    if metric not in row.score.case and region in row.score.regions:
        return row.score.regions[region].shown(metric)
    value = row.values.get(metric)
    return None if value is None else MetricValue(value)


def status_cell(row: CaseRow) -> Cell:
    """Return how a case stands, in words; its tooltip tells the reason."""
    findings = "\n".join(dict.fromkeys(f.message for f in row.entry.findings))
    if row.status in _ERRORS:
        message = row.score.message if row.score is not None else None
        missing = row.entry.missing if row.status == "missing file" else ()
        text = "missing " + ", ".join(missing) if missing else row.status
        return Cell(text, message or findings, "error")
    if row.status == "no prediction":
        message = row.score.message if row.score is not None else None
        return Cell(row.status, message or f"case {row.case_id}: no prediction found", "quiet")
    images = ((part, path) for part, path in row.entry.channels.items() if part not in ("gt", "prediction"))
    gone = [part for part, path in images if not path.exists()]
    capped = _capped(row)
    words = [f"{len(capped)} cap{'s' * (len(capped) > 1)}"] if capped else [row.status] * bool(row.status)
    words += [f"no {', '.join(gone)}"] if gone else []
    reason = f"empty on one side, with values set by a rule: {', '.join(capped)}" if capped else ""
    told = "\n".join(text for text in (reason, findings) if text)
    return Cell(", ".join(words), told or row.status, "plain" if row.status == "scored" else "quiet")


def _capped(row: CaseRow) -> list[str]:
    """Return the regions with a value that a rule set for one empty side."""
    regions = row.score.regions.items() if row.score is not None else ()
    return [name for name, region in regions if any(value.status == "cap" for value in region.metrics.values())]


def _prefix(row: CaseRow) -> str:
    """Return what the full id of a case begins with."""
    return f"{row.entry.dataset}/"
