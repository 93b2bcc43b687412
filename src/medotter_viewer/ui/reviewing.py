"""Judging the open case in the window: keys and the Review panel on one side, the session on the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.review.records import Place
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.looked_at import place_looked_at
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.seen import Seen
from medotter_viewer.ui.widgets.review import ReviewDock

PANEL = "Review"
BLINDED = "you are blinded: numbers come with your verdict on the case"


class Reviewing:
    """What a person says of the open case.

    Parameters
    ----------
    viewer : napari.Viewer
        Where it is looked at.
    session : ReviewSession
        Whose cases.
    looking : Looking
        What is shown.
    docks : Docks
        The panels; that of the review is brought to the front for a comment.
    say : callable
        Says something in the status line; with ``hold`` so that it is not missed.

    Attributes
    ----------
    has_crosshair : callable
        Tells whether planes are linked by a crosshair.
    seen : Seen
        Whether the open case has been on the screen: nothing is recorded on one that has not.
    """

    def __init__(
        self, viewer: Any, session: ReviewSession, looking: Looking, docks: Any, say: Callable[..., None]
    ) -> None:
        self._viewer, self._session, self._looking, self._docks, self._say = viewer, session, looking, docks, say
        self._panel: ReviewDock = docks.review
        self._panel.place_of = self.place
        self.seen = Seen()
        self._n_last = 0  # verdicts and comments since the case was opened, or changed: the last things done to it
        self.has_crosshair: Callable[[], bool] = lambda: False  # the window tells
        for signal, slot in (
            (self._panel.verdict_chosen, self.judge),
            (self._panel.comment_given, self.comment),
            (self._panel.undo_requested, self.undo),
            (self._panel.next_requested, self.next_unreviewed),
            (self._panel.place_requested, self.go_to),
            (self._panel.said, self._say_if_any),
        ):
            signal.connect(slot)
        self._heard = (
            (session.events.case_changed, self.seen.case_changed),
            (session.events.case_changed, self._follow_blinding),
            (session.events.case_changed, self.note_edited),
            (session.events.prediction_changed, self.note_edited),
            (session.verdicts.events.all_changed, self.note_edited),
            (session.verdicts.events.case_changed, self._follow_blinding),
            (session.verdicts.events.all_changed, self._follow_blinding),
            (viewer.scene.camera.events.center, self._on_moved),
            (viewer.dims.events.point, self._on_moved),
        )
        for signal, slot in self._heard:
            signal.connect(slot)
        self._follow_blinding()

    def place(self) -> Place:
        """Return the place that is looked at: of the crosshair, else the middle of the canvas on its slice."""
        placed = self._looking.placed
        grid, region = None if placed is None else placed.grid, self._session.region
        return place_looked_at(self._viewer, grid, region, crosshair=self.has_crosshair())

    @property
    def is_blinded(self) -> bool:
        """Whether numbers of the open case must not be seen yet."""
        return self._session.verdicts.hides_open(self._session.case)

    def judge_by_key(self, place: int) -> None:
        """Record the verdict at a place of the list, counted from 0."""
        words = self._session.verdicts.words
        if place < len(words):
            self.judge(words[place])
        else:
            self._say(f"F{place + 1}: the list of verdicts has {len(words)}")

    def judge(self, verdict: str) -> None:
        """Record a verdict on the open case, and say so."""
        if (case_id := self._case_to_judge()) is not None:
            self._say(self._session.verdicts.record(case_id, verdict, self.place()))
            self._n_last += 1

    def begin_comment(self) -> None:
        """Bring the panel to the front, with the keyboard in its comment field."""
        self._docks.show(PANEL)
        self._panel.begin_comment()

    def comment(self, text: str) -> None:
        """Record a comment on the place that is looked at, and say so."""
        case_id = self._case_to_judge()
        if case_id is not None:
            self._say(self._session.verdicts.comment(case_id, text, self.place()))
            self._n_last += 1
        else:
            self._panel.comment.setText(text)  # nothing that was written is lost

    def undo(self) -> None:
        """Take back the last verdict or comment, of whatever case, and say which."""
        self._n_last = max(0, self._n_last - 1)
        self._say(self._session.verdicts.undo(), hold=True)

    def take_back_if_last(self) -> bool:
        """Take back a verdict or comment if that was the last thing done to the open case; tell whether it was."""
        if not self._n_last:
            return False
        self.undo()
        return True

    def note_edited(self, _: object = None) -> None:
        """Note that something else than a verdict or comment is the last thing done."""
        self._n_last = 0

    def next_unreviewed(self) -> None:
        """Open the next case of the list without a verdict."""
        ids = [row.case_id for row in self._session.rows]
        found = self._session.verdicts.next_unreviewed(ids, self._session.current_id)
        if found is not None:
            self._session.go_to(found)
        else:
            self._say(f"no other of the {len(ids)} listed cases is without a verdict")

    def go_to(self, place: Place) -> None:
        """Show the place of something that was said in the middle."""
        placed = self._looking.placed
        if placed is None or placed.grid is None:
            return
        voxel: Any = place.position_voxel
        if place.position_world is not None and placed.grid.has_world:
            voxel = placed.grid.world_to_voxel(place.position_world)
        if voxel is None:
            self._say("it was said of the case, not of a place in it")
            return
        self._looking.display.frame(tuple(display_order(placed.grid).displayed_index(voxel, placed.grid.shape)))

    def close(self) -> None:
        """Listen no more, and write what could not be written so far."""
        self.seen.close()
        for signal, slot in self._heard:
            signal.disconnect(slot)

    # ---------------------------------------------------------------- inside

    def _case_to_judge(self) -> str | None:
        """The case that is seen; None, which is said, while another one is being opened."""
        session = self._session
        if session.opened is None:
            self._say("no case is open: nothing recorded", hold=True)
            return None
        case_id = session.opened.case.case_id
        if session.current_id != case_id:
            self._say(f"{session.current_id} was still being opened: nothing recorded, press again", hold=True)
            return None
        if not self.seen.is_seen:
            self._say(f"{case_id} had only just come up: nothing recorded, press again", hold=True)
            return None
        return case_id

    def _say_if_any(self, text: str) -> None:
        if text:
            self._say(text, hold=True)

    def _follow_blinding(self, _: object = None) -> None:
        """While the reader is blinded to the open case, show no panel but that of the review."""
        self._docks.hide_numbers(self.is_blinded, but=PANEL)
        if self._session.second.is_on:
            self._looking.look()  # its legend names the models

    def _on_moved(self, _: object = None) -> None:
        self._panel.show_place_soon()
