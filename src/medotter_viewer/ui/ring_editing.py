"""Changing the predicted contours of the slice that is looked at with napari's own tools for shapes.

The layer belongs to the person while they drag in it; the session is told many times a second, so that the score
follows, and one drag is one step of its undo. Afterwards the layer shows again what the session holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from napari.layers.base import ActionType
from qtpy.QtCore import QTimer

from medotter_viewer.core.contours import Ring
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.dragging import Dragging
from medotter_viewer.ui.drawn_rings import DrawnSlice, edited_rings, same_rings
from medotter_viewer.ui.vector_display import VectorDisplay

ROLE = "pred_rings"
_DONE = (ActionType.CHANGED, ActionType.ADDED, ActionType.REMOVED)
_LIVE = ("direct", "select")  # tools whose drags are followed; with others an outline is there at the end only
_WITH_HANDLES = ("direct", "vertex_insert", "vertex_remove")
REFUSED = "not taken: an outline needs three points or more with an area between them"


class RingEditing:
    """The layer of predicted contours while it is edited.

    Parameters
    ----------
    viewer : ViewerModel
        Where.
    session : ReviewSession
        Told what the rings are now.
    vectors : VectorDisplay
        Draws them.
    say : callable
        Says something in the status line.
    """

    def __init__(self, viewer: Any, session: ReviewSession, vectors: VectorDisplay, say: Callable[[str], None]) -> None:
        self._session, self._vectors, self._say = session, vectors, say
        layer: Any = vectors.layer(ROLE)
        self._layer = layer
        self._base: tuple[DrawnSlice, Sequence[Ring]] | None = None  # what was drawn when the change began
        self._n_told = 0  # how often the session was told of this change
        self._seen: DrawnSlice | None = None
        self._mode = "direct"
        self._closed = False
        self._drag = Dragging(self._layer, on_begin=self._hold, on_step=self._on_step, on_end=self._on_released)
        self._heard = (
            (layer.events.data, self._on_data),
            (layer.events.features, self._on_pasted),
            (layer.events.mode, self._on_mode),
            (layer.events.visible, self._on_visible),
        )
        for emitter, callback in self._heard:
            emitter.connect(callback)
        viewer.layers.selection = {self._layer}
        self.refresh()

    def refresh(self) -> None:
        """Let the outlines be edited where they are seen, with a handle at every point."""
        layer, drawn = self._layer, self._vectors.drawn(ROLE)
        can = bool(layer.visible) and drawn is not None and drawn.number is not None
        if not can:
            self._vectors.set_editable(ROLE, False)
            return
        if not layer.editable:
            mode = self._mode
            self._vectors.set_editable(ROLE, True)
            layer.mode = mode
        if drawn is not self._seen and not self._drag.is_on:
            self._seen = drawn
            if not layer.selected_data and layer.mode in _WITH_HANDLES:
                layer.selected_data = set(range(len(layer.data)))

    def will_move(self) -> None:
        """End what is being drawn or dragged if another slice is looked at now."""
        spec, drawn = self._vectors.spec(ROLE), self._vectors.drawn(ROLE)
        if spec is None or drawn is None or self._vectors.index_of(spec) == drawn.index:  # type: ignore[arg-type]
            return
        self.finish()

    def finish(self) -> None:
        """End what is being drawn or dragged, as if the mouse were let go, and take it up."""
        if self._layer._is_creating:
            self._layer._finish_drawing()
        if self._drag.is_on:
            self._take_up()
            self._drag.stop()
            self._layer.selected_data = set()  # what the mouse does until it is let go moves nothing
        self._settle()

    def drop_drawing(self) -> bool:
        """Drop the outline that is being drawn; tell whether there was one."""
        if not self._layer._is_creating:
            return False
        self._hold()
        with self._layer.events.data.blocker():
            self._layer._finish_drawing()
        self._settle()
        return True

    def close(self, *, take_up: bool = True) -> None:
        """Edit no more; without `take_up` what goes on is dropped, as another case is open already."""
        if take_up:
            self.finish()
        elif self._layer._is_creating or self._drag.is_on:
            with self._layer.events.data.blocker():
                self._layer._finish_drawing()
            self._layer.selected_data = set()
        self._closed = True
        self._drag.close()
        for emitter, callback in self._heard:
            emitter.disconnect(callback)
        self._base = None
        self._vectors.set_editable(ROLE, False)
        self._layer.selected_data = set()
        self._vectors.hold(ROLE, False)

    # ---------------------------------------------------------------- what napari says

    def _on_data(self, event: Any) -> None:
        if event.action not in _DONE or self._vectors.is_writing or self._closed:
            return
        self._hold()
        if self._layer._is_creating and self._base is not None and len(self._layer.data) == len(self._base[0].paths):
            self._say(REFUSED)  # napari has dropped it
        self._take_up()

    def _on_pasted(self, _: object = None) -> None:
        """Of what is pasted napari only says that features are others."""
        drawn = self._vectors.drawn(ROLE)
        if drawn is None or self._vectors.is_writing or self._layer._is_creating or self._base is not None:
            return
        if len(self._layer.data) > len(drawn.paths):
            self._hold()
            self._take_up()

    def _on_step(self) -> None:
        if self._layer.mode in _LIVE:
            self._take_up(goes_on=True)

    def _on_released(self) -> None:
        if not self._layer._is_creating:
            self._take_up()

    def _on_visible(self, _: object = None) -> None:
        if not self._layer.visible:
            self.finish()
        QTimer.singleShot(0, self._show_handles)  # after the outlines of this slice are in the layer

    def _on_mode(self, _: object = None) -> None:
        mode = str(self._layer.mode)
        if mode == "transform":  # moves the layer, not the outlines
            self._say("outlines are moved with the tool that selects shapes (5)")
            QTimer.singleShot(0, self._back_to_points)
        elif self._layer.editable and mode != "pan_zoom":
            self._mode = mode
            self._seen = None
            QTimer.singleShot(0, self._show_handles)

    def _back_to_points(self) -> None:
        if not self._closed and self._layer.mode == "transform":
            self._layer.mode = "direct"

    def _show_handles(self) -> None:
        if not self._closed:
            self.refresh()

    # ---------------------------------------------------------------- telling the session

    def _hold(self) -> None:
        """Note what the outlines were, and keep others from writing them."""
        drawn, working = self._vectors.drawn(ROLE), self._session.working
        if self._base is not None or drawn is None or drawn.number is None or working is None:
            return
        contours = working.contours
        source = () if contours is None else contours.rings.get(drawn.number, ())
        self._base, self._n_told = (drawn, list(source)), 0
        self._vectors.hold(ROLE, True)

    def _take_up(self, *, goes_on: bool = False) -> None:
        """Tell the session what the outlines are now; while the drag goes on only where all of them can be taken."""
        if self._base is None:
            return
        drawn, source = self._base
        edited, n_refused = edited_rings(self._layer.data, self._layer.shape_type, drawn)
        rings = drawn.merged(source, edited)
        if goes_on and n_refused:
            return
        working, number = self._session.working, drawn.number
        if working is not None and number is not None:
            now = () if working.contours is None else working.contours.rings.get(number, ())
            if not same_rings(now, rings):
                self._session.edits.set_rings(number, rings, goes_on=self._n_told > 0)
                self._n_told += 1
        if not goes_on:
            if n_refused:
                self._say(REFUSED)
            QTimer.singleShot(0, self._on_done)  # napari has not finished with the layer

    def _on_done(self) -> None:
        if not self._closed and not self._drag.is_on and not self._layer._is_creating:
            self._settle()

    def _settle(self) -> None:
        """Show what the session holds."""
        self._base = None
        self._vectors.hold(ROLE, False)
        self.refresh()
