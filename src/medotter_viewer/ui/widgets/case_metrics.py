"""Numbers of the open case as a whole, as a table: a scan's score and its volumes, rates of vertebrae, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cell_model import CellModel
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.connections import Connections
from medotter_viewer.ui.widgets.volumes import VolumeUnit, unit_for
from medotter_viewer.ui.widgets.why_case import short_rule

_VOLUME, _LENGTHS = "_mm3", ("d_mean", "hd95", "hd")
_COUNTS = ("n_missing", "n_extra")
_NAMES: Mapping[str, str] = {"tp_mm3": "TP volume", "fp_mm3": "FP volume", "fn_mm3": "FN volume"}
_WHY: Mapping[str, str] = {
    "scan_score": "exp(−(E/T + E/(L·A)) / 2): 1 without any error, 0 without any overlap",
    "tp_mm3": "volume in both: areas times slice thickness",
    "fp_mm3": "volume predicted only",
    "fn_mm3": "volume missed",
    "id_rate": "vertebrae identified, of those in the ground truth",
    "d_mean": "mean distance of the points of vertebrae on both sides",
    "n_missing": "vertebrae of the ground truth that are not predicted",
    "n_extra": "predicted vertebrae that the ground truth does not have; no rate counts them",
}


class CaseMetricsModel(CellModel):
    """The metrics of the open case as a whole; no rows where there are none.

    Parameters
    ----------
    session : ReviewSession
        What is read.
    """

    def __init__(self, session: ReviewSession, parent: Any = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rows: list[list[Cell]] = []
        self._connections = Connections()
        self._connections.add(session.events.scores_changed, self.refresh)
        for signal in (session.second.events.chosen, session.second.events.score_changed):
            self._connections.add(signal, self.refresh)
        self.refresh()

    def make_columns(self) -> Sequence[Column]:
        """Return the columns."""
        second = self._session.second
        is_compared = second.is_on and not self._session.what_if.is_on_for(self._session.case)
        self._rows = case_cells(self._session.score, second.score if is_compared else None)
        if is_compared:
            self._rows = [[*row[:2], *(row[4:] or [Cell(NOTHING, tone="quiet")]), *row[2:4]] for row in self._rows]
        return [
            Column("case", "numbers of the case as a whole", stretch=True, least=90),
            Column("A" if is_compared else "value", numeric=True),
            *[Column("B", second.name, numeric=True)] * is_compared,
            Column("", "unit", least=30),
            Column("rule", "how the value comes about, or why there is none", least=80),
        ]

    def n_rows(self) -> int:
        """Return how many metrics there are."""
        return len(self._rows)

    def make_cells(self, row: int) -> Sequence[Cell]:
        """Return a metric's line."""
        return self._rows[row]

    def metric(self, row: int) -> str:
        """Return the metric of a row."""
        score = self._session.score
        return list(score.case)[row] if score is not None else ""

    def row_of(self, metric: str) -> int | None:
        """Return the row of a metric; None where there is none."""
        score = self._session.score
        names = list(score.case) if score is not None and score.status == "scored" else []
        return names.index(metric) if metric in names and self._rows else None

    def close_connections(self) -> None:
        """Stop listening."""
        self._connections.close()


def case_cells(score: CaseScore | None, second: CaseScore | None = None) -> list[list[Cell]]:
    """Return a line for each metric of the case: name, value, unit, rule, and a second model's value if it has one."""
    if score is None or score.status != "scored":
        return []
    volumes = (v.value for name, v in score.case.items() if name.endswith(_VOLUME) and v.value is not None)
    unit = unit_for(volumes)
    lines = []
    for place, (name, value) in enumerate(score.case.items()):
        text, unit_name = _text(name, value, unit)
        why = _WHY.get(name, name)
        loud = not place and value.value is not None
        rule = short_rule(name, value.rule)
        lines.append(
            [
                Cell(_NAMES.get(name, name), why, bold=loud),
                Cell(text, why, "quiet" if value.value is None else "plain", bold=loud),
                Cell(unit_name, tone="quiet"),
                Cell(rule, rule, "quiet", word=True),
            ]
        )
        if second is not None and name in second.case:
            lines[-1].append(Cell(_text(name, second.case[name], unit)[0], short_rule(name, second.case[name].rule)))
    return lines


def _text(name: str, value: MetricValue, unit: VolumeUnit) -> tuple[str, str]:
    if value.value is None:
        return NOTHING, ""
    if name.endswith(_VOLUME):
        return unit.text(value.value), unit.name
    if name in _COUNTS:
        return f"{value.value:.0f}", ""
    if value.status not in ("ok", "absent"):
        return metric_text(name, value), ""
    return number_text(name, value.value), "mm" if name in _LENGTHS else ""
