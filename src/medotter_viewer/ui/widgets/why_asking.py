"""Answers where a number of the score table comes from, in a popover beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from qtpy.QtCore import QRect
from qtpy.QtWidgets import QMainWindow

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import MACRO
from medotter_viewer.scoring.distance_figures import distance_figures
from medotter_viewer.scoring.instances import METRICS as INSTANCE_METRICS
from medotter_viewer.scoring.segmentation import DISTANCES
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cell_table import CellTable
from medotter_viewer.ui.widgets.connections import Connections
from medotter_viewer.ui.widgets.latest import Background, Latest
from medotter_viewer.ui.widgets.scores import ScoresDock, why_no_scores
from medotter_viewer.ui.widgets.vertebra_facts import vertebra_facts
from medotter_viewer.ui.widgets.why import WIDTH, WhyPopover
from medotter_viewer.ui.widgets.why_case import case_why, is_of_points
from medotter_viewer.ui.widgets.why_objects import objects_why

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
        dock, session = self._dock, self._session
        score, head = session.score, session.spec.headline
        if score is None or score.status != "scored":
            return f"there is no number to explain: {' '.join(why_no_scores(session, dock.model.scoring).split())}"
        if (row := dock.case_model.row_of(head.metric)) is not None:
            self._tell(dock.case_table, row, 1)
            return None
        only = next(iter(score.regions), None) if session.spec.is_instances else None  # their mean says less
        named_region = None if head.region == MACRO else head.region
        row = dock.model.row_of(session.region or only or named_region)
        named = [column.header.split("\n")[0] for column in dock.model.columns]
        beside = f"A {head.metric}"
        metric = head.metric if head.metric in named else beside if beside in named else None
        if row is None or metric is None:
            region = session.region or named_region or "this case"
            return f"there is no number to explain: {head.metric} of {region} was not computed"
        self._tell(dock.table, row, named.index(metric))
        return None

    def close(self) -> None:
        """Listen no more, and close the popover."""
        self._connections.close()
        if self._popover is not None:
            self._popover.close_quietly()

    def _tell(self, table: CellTable, row: int, column: int) -> None:
        if table is self._dock.case_table:
            self._tell_of_case(row, column)
            return
        model = table.model()
        cells = model.cells(row)
        cell, name = cells[column], cells[0].text
        metric = model.columns[column].header.split("\n")[0]
        text = cell.why or model.columns[column].why
        region = self._dock.model.region(row)
        score = self._session.score
        if region is not None and self._session.spec.is_instances and metric in INSTANCE_METRICS and score is not None:
            found = self._session.matches.found
            same = found is not None and found.case_id == score.case_id
            text = objects_why(metric, score.regions[region], self._session.spec, found if same else None)
        self._told = f"{name} · {metric}", text, table, row, column
        if region is not None and metric in DISTANCES and self._has_distance(region, metric):
            self._show(f"{text}\n\n{_COUNTING}")
            self._figures.ask(lambda: self._counting(region))
        else:
            self._show(text)

    def _tell_of_case(self, row: int, column: int) -> None:
        """Tell of a number of the case as a whole; what follows from points is told with its figures once they are."""
        table, model, session = self._dock.case_table, self._dock.case_model, self._session
        metric, is_second = model.metric(row), model.columns[column].header == "B"
        score = session.second.score if is_second else session.score
        if score is None or metric not in score.case:
            return
        title = f"B: {session.second.name} · {metric}" if is_second else metric
        text = case_why(metric, score, session.spec)
        self._told = title, text, table, row, column
        self._show(text)
        if is_of_points(metric) and score.case[metric].value is not None and not is_second:
            self._figures.ask(lambda: self._comparing(metric, score))

    def _has_distance(self, region: str, metric: str) -> bool:
        score = self._session.score
        found = None if score is None or region not in score.regions else score.regions[region].metrics.get(metric)
        return found is not None and found.status == "ok"

    def _counting(self, region: str) -> Any:
        """What to do in the background: the case as it stands now."""
        shown, working, spec, told = self._session.working_case, self._session.working, self._session.spec, self._told
        # Under the remap that is tried; what is painted while it is counted is not seen.
        case = None if shown is None or working is None else replace(shown, pred=working.frozen().pred)

        def work() -> tuple[Any, str]:
            figures = None if case is None else distance_figures(case, spec, region)
            lines = [] if figures is None or told is None else ["", *figures.lines()]
            return told, "" if told is None else "\n".join([told[1], *lines])

        return work

    def _comparing(self, metric: str, score: CaseScore) -> Any:
        """What to do in the background: the points as they stand now."""
        working, spec, told = self._session.working, self._session.spec, self._told
        case = None if working is None else working.frozen()

        def work() -> tuple[Any, str]:
            found = None if case is None else vertebra_facts(case, spec).found
            return told, case_why(metric, score, spec, found)

        return work

    def _on_figures(self, answer: tuple[Any, str]) -> None:
        told, text = answer
        if self._told is not None and told is self._told and self._popover is not None and self._popover.isVisible():
            self._show(text)

    def _show(self, text: str) -> None:
        if self._told is None:
            return
        title, _, table, row, column = self._told
        if self._dock.isVisible():
            self.popover.tell(title, text, table.viewport(), table.visualRect(table.model().index(row, column)))
            return
        window = self._dock.window()  # another panel is in front: over the canvas, beside that panel
        beside = window.centralWidget() if isinstance(window, QMainWindow) else window
        self.popover.tell(title, text, beside, QRect(max(0, beside.width() - WIDTH), 0, 1, 1))

    def _on_changed(self, _: object = None) -> None:
        self._told = None
        if self._popover is not None:
            self._popover.close_quietly()
