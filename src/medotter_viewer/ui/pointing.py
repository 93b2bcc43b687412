"""What lies under the pointer, in the line at the bottom: also where slices go by under a pointer that stands still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.banner import case_line
from medotter_viewer.ui.gestures import Mouse
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.measure_tool import Place


class Pointing:
    """The read-out of the canvas.

    Parameters
    ----------
    viewer : napari.Viewer
        Whose canvas.
    session : ReviewSession
        Whose case.
    looking : Looking
        Knows what lies where.
    place_at : callable
        Takes the mouse and returns where on the slice it is.
    line : object
        The line at the bottom: `mention` writes to it, `told` is what stands there.
    """

    def __init__(
        self,
        viewer: Any,
        session: ReviewSession,
        looking: Looking,
        place_at: Callable[[Mouse], Place | None],
        line: Any,
    ) -> None:
        self._viewer, self._session, self._looking, self._place_at = viewer, session, looking, place_at
        self._line = line
        self._mouse: Mouse | None = None
        self._told = ""
        viewer.mouse_move_callbacks.append(self._on_moved)

    def close(self) -> None:
        """Listen to the mouse no more."""
        self._viewer.mouse_move_callbacks.remove(self._on_moved)

    def follow(self, _: object = None) -> None:
        """Tell what is under the pointer now, unless something else was said since it was told."""
        if self._mouse is None or not self._told or self._line.told != self._told:
            return
        place = self._place_at(self._mouse)
        self._tell("" if place is None else self._looking.readout_at(place[1]))

    def _on_moved(self, _: Any, event: Any) -> None:
        x, y = event.pos
        self._mouse = Mouse(float(x), float(y))
        self._tell(self._looking.readout_at(event.position))

    def _tell(self, text: str) -> None:
        case = self._session.case
        if case is not None:
            self._line.mention(f"{case.case_id}  ·  {text}" if text else case_line(case))
            self._told = self._line.told
