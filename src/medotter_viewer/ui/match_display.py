"""The matches of an instance task on the canvas: colours, the ring around what is looked at, and going there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer

from medotter_viewer.scoring.instance_matches import InstanceMatches
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.match_layers import MatchLook, apart
from medotter_viewer.ui.object_places import object_place
from medotter_viewer.ui.widgets.connections import Connections

_DELAY_MS = 120  # colours follow a slider when it pauses; numbers follow at once


class MatchDisplay:
    """What of the matches is seen on the canvas.

    Parameters
    ----------
    viewer : napari.Viewer
        Where.
    session : ReviewSession
        Whose matches.
    looking : Looking
        Shows the case; asks `look` how objects are drawn.
    say : callable
        Says something in the status line.
    """

    def __init__(self, viewer: Any, session: ReviewSession, looking: Looking, say: Callable[[str], None]) -> None:
        self._viewer, self._session, self._looking, self._say = viewer, session, looking, say
        self._selected: tuple[int | None, int | None] = (None, None)
        self._apart: tuple[InstanceMatches | None, dict[int, int]] = (None, {})
        self._due = QTimer()
        self._due.setSingleShot(True)
        self._due.setInterval(_DELAY_MS)
        self._due.timeout.connect(self._show)
        self._connections = Connections()
        if session.spec.is_instances:
            looking.match_look = self.look
            events = session.matches.events
            self._connections.add(events.rows_changed, self._on_rows_changed)
            self._connections.add(events.selected, self._on_selected)
            self._connections.add(events.coloring_changed, self._show)

    def look(self) -> MatchLook:
        """Return how objects are drawn now."""
        matches = self._session.matches
        kinds = None
        if matches.colored and matches.found is not None and matches.rows is not None:
            kinds = matches.found.kinds(matches.rows)
        return MatchLook(kinds, self._selected, self._apart[1])

    def go_to_selected(self) -> None:
        """Show the object that is looked at in the middle, with what is around it."""
        case, row = self._session.working_case, self._session.matches.selected
        if case is None or row is None:
            return
        place = object_place(case, row.gt_id, row.pred_id)
        if place is not None:
            axis = int(self._viewer.dims.order[0])
            self._looking.display.frame(place.centre(axis), place.extent_mm)

    def step(self, by: int) -> None:
        """Go to the next object without a match, or (-1) to the one before, and say which it is."""
        self._say(self._session.matches.step(by))
        self.go_to_selected()

    def close(self) -> None:
        """Listen no more."""
        self._due.stop()
        self._connections.close()

    # ---------------------------------------------------------------- what happened

    def _on_rows_changed(self) -> None:
        found = self._session.matches.found
        if found is not self._apart[0]:
            before = self._apart[1]
            self._apart = (found, {} if found is None else apart(found.touching))
            if self._apart[1] != before:
                self._due.start()
        if self._session.matches.colored:
            self._due.start()

    def _on_selected(self, row: Any) -> None:
        selected = (None, None) if row is None else (row.gt_id, row.pred_id)
        if selected != self._selected:
            self._selected = selected
            self._show()

    def _show(self, _: object = None) -> None:
        self._due.stop()
        placed, case = self._looking.placed, self._session.case
        if placed is not None and case is not None and placed.case.case_id == case.case_id:
            self._looking.look()  # else the next case is about to be shown, with what is selected then
