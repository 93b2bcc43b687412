"""Answers where a number of the score table comes from, in a popover beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from medotter_viewer.core.spec import MACRO
from medotter_viewer.scoring.distance_figures import DistanceFigures, distance_figures
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.connections import Connections
from medotter_viewer.ui.widgets.latest import Background, Latest
from medotter_viewer.ui.widgets.scores import ScoresDock
from medotter_viewer.ui.widgets.why import WhyPopover

HINT = "double-click or right-click a number: where it comes from"
_COUNTING = "counting surface voxels …"


class WhyAsking:
    """The popover of a score table; other numbers or another case close it.

    Parameters
    ----------
    dock : ScoresDock
        Whose tables.
    session : ReviewSession
        Whose case.
    run_in_background : callable
        Takes work and a callable for its result.
    """

    def __init__(self, dock: ScoresDock, session: ReviewSession, run_in_background: Background) -> None:
        self._dock, self._session = dock, session
        self._popover: WhyPopover | None = None
        self._told: tuple[str, str, CellTable, int, int] | None = None  # what is told now, and of which cell
        self._figures = Latest(run_in_background, self._on_figures)
        dock.table.why_asked.connect(lambda row, column: self._tell(dock.table, row, column))
        dock.case_table.why_asked.connect(lambda row, column: self._tell(dock.case_table, row, column))
        self._connections = Connections()
        self._connections.add(session.events.scores_changed, self._on_changed)
        self._connections.add(session.events.case_changed, self._on_changed)

    @property
    def popover(self) -> WhyPopover:
        """The popover, made when it is first needed."""
        if self._popover is None:
            self._popover = WhyPopover(self._dock)
        return self._popover

    def ask_headline(self) -> str | None:
        """Tell where the headline metric of the selected region comes from; return why that cannot be, if so."""
        model, session = self._dock.model, self._session
        region = session.region or (None if session.spec.headline.region == MACRO else session.spec.headline.region)
        row = model.row_of(region)
        named = [column.header.split("\n")[0] for column in model.columns]
        metric = session.spec.headline.metric
        if row is None or metric not in named:
            return "there is no number to explain: the case has no scores yet"
        self._tell(self._dock.table, row, named.index(metric))
        return None

    def close(self) -> None:
        """Listen no more, and close the popover."""
        self._connections.close()
        if self._popover is not None:
            self._popover.close_quietly()

    def _tell(self, table: CellTable, row: int, column: int) -> None:
        model = table.model()
        cells = model.cells(row)
        cell, name = cells[column], cells[0].text
        metric = model.columns[column].header.split("\n")[0]
        text = cell.why or model.columns[column].why
        region = self._dock.model.region(row) if table is self._dock.table else None
        self._told = f"{name} · {metric}", text, table, row, column
        if region is not None and metric in ("hd95", "hd") and self._has_distance(region, metric):
            self._show(f"{text}\n\n{_COUNTING}")
            self._figures.ask(lambda: self._counting(region))
        else:
            self._show(text)

    def _has_distance(self, region: str, metric: str) -> bool:
        score = self._session.score
        found = None if score is None or region not in score.regions else score.regions[region].metrics.get(metric)
        return found is not None and found.status == "ok"

    def _counting(self, region: str) -> Any:
        """What to do in the background: the case as it stands now."""
        shown, working, spec, told = self._session.working_case, self._session.working, self._session.spec, self._told
        # Under the remap that is tried; what is painted while it is counted is not seen.
        case = None if shown is None or working is None else replace(shown, pred=working.frozen().pred)

        def work() -> tuple[Any, DistanceFigures | None]:
            return told, None if case is None else distance_figures(case, spec, region)

        return work

    def _on_figures(self, answer: tuple[Any, DistanceFigures | None]) -> None:
        told, figures = answer
        if self._told is not None and told is self._told and self._popover is not None and self._popover.isVisible():
            lines = [] if figures is None else ["", *figures.lines()]
            self._show("\n".join([self._told[1], *lines]))

    def _show(self, text: str) -> None:
        if self._told is None:
            return
        title, _, table, row, column = self._told
        cell = table.visualRect(table.model().index(row, column))
        self.popover.tell(title, text, table.viewport(), cell)

    def _on_changed(self, _: object = None) -> None:
        self._told = None
        if self._popover is not None:
            self._popover.close_quietly()
