"""Moving predicted points with the mouse, and taking them away.

A point moves in the plane that is looked at; where it lies across the plane stays. Distances, hits and rates follow
while it is dragged, and one drag is one step of undo.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from napari.layers.base import ActionType
from qtpy.QtCore import QTimer

from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.dragging import Dragging
from medotter_viewer.ui.placing import Placed
from medotter_viewer.ui.vector_display import VectorDisplay

ROLE = "pred_points"
_DONE = (ActionType.CHANGED, ActionType.ADDED, ActionType.REMOVED)
NO_ADDING = "points are moved or deleted here; a new one would have no name"


class PointEditing:
    """The layer of predicted points while it is edited.

    Parameters
    ----------
    viewer : ViewerModel
        Where.
    session : ReviewSession
        Told where the points are now.
    vectors : VectorDisplay
        Draws them.
    placed : callable
        Returns where they are drawn.
    say : callable
        Says something in the status line.
    """

    def __init__(
        self,
        viewer: Any,
        session: ReviewSession,
        vectors: VectorDisplay,
        placed: Callable[[], Placed | None],
        say: Callable[[str], None],
    ) -> None:
        self._session, self._vectors, self._placed, self._say = session, vectors, placed, say
        self._layer: Any = vectors.layer(ROLE)
        self._base: Placed | None = None  # where the points were when the change began
        self._n_told = 0
        self._closed = False
        self._drag = Dragging(self._layer, on_begin=self._hold, on_step=self._on_step, on_end=self._take_up)
        layer: Any = self._layer
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
        """Let the points be moved while they are seen."""
        can = bool(self._layer.visible)
        self._vectors.set_editable(ROLE, can)
        if can and self._layer.mode == "pan_zoom":
            self._layer.mode = "select"

    def will_move(self) -> None:
        """Nothing ends when another slice is looked at: points are seen in many."""

    def finish(self) -> None:
        """End what is being dragged, as if the mouse were let go."""
        if self._drag.is_on:
            self._take_up()
            self._drag.stop()
            self._layer.selected_data = set()
        self._settle()

    def drop_drawing(self) -> bool:
        """Drop what is being drawn: points never are."""
        return False

    def close(self, *, take_up: bool = True) -> None:
        """Edit no more; without `take_up` what goes on is dropped, as another case is open already."""
        if take_up:
            self.finish()
        self._closed = True
        self._drag.close()
        for emitter, callback in self._heard:
            emitter.disconnect(callback)
        self._base = None
        self._layer.selected_data = set()
        self._vectors.set_editable(ROLE, False)
        self._vectors.hold(ROLE, False)

    # ---------------------------------------------------------------- what napari says

    def _on_data(self, event: Any) -> None:
        if event.action not in _DONE or self._vectors.is_writing or self._closed:
            return
        self._hold()
        if event.action == ActionType.REMOVED and self._base is not None:
            labels = list(self._base.pred_points)
            self._session.edits.move_points({labels[i]: None for i in event.data_indices if 0 <= i < len(labels)})
            QTimer.singleShot(0, self._on_done)
        else:
            self._take_up()

    def _on_pasted(self, _: object = None) -> None:
        """Of what is pasted napari only says that features are others."""
        spec = self._vectors.spec(ROLE)
        if self._vectors.is_writing or self._base is not None or spec is None:
            return
        if len(self._layer.data) > len(spec.data):  # type: ignore[union-attr]
            self._hold()
            self._take_up()

    def _on_step(self) -> None:
        self._take_up(goes_on=True)

    def _on_mode(self, _: object = None) -> None:
        if self._layer.mode in ("add", "transform"):
            self._say(NO_ADDING)
            QTimer.singleShot(0, self._back_to_select)

    def _back_to_select(self) -> None:
        if not self._closed and self._layer.mode in ("add", "transform"):
            self._layer.mode = "select"

    def _on_visible(self, _: object = None) -> None:
        if not self._layer.visible:
            self.finish()
        self.refresh()

    # ---------------------------------------------------------------- telling the session

    def _hold(self) -> None:
        """Note where the points were, and keep others from writing them."""
        if self._base is None and (placed := self._placed()) is not None:
            self._base, self._n_told = placed, 0
            self._vectors.hold(ROLE, True)

    def _take_up(self, *, goes_on: bool = False) -> None:
        """Tell the session where the points are now."""
        base, working = self._base, self._session.working
        if base is None or working is None or base.pred_landmarks is None:
            return
        now = (working.landmarks or base.pred_landmarks).points_world
        then = base.pred_landmarks.points_world
        points = self._points(base, base.pred_landmarks)
        if any(point != now.get(i) for i, point in points.items()):
            moved: dict[int, Point | None] = {i: p for i, p in points.items() if p != then.get(i) or p != now.get(i)}
            self._session.edits.move_points(moved, goes_on=self._n_told > 0)
            self._n_told += 1
            self._say(", ".join(map(self._place_of, moved)))
        if not goes_on:
            if len(self._layer.data) > len(base.pred_points):
                self._say(NO_ADDING)
            QTimer.singleShot(0, self._on_done)

    def _points(self, base: Placed, landmarks: Landmarks) -> dict[int, Point]:
        """Where the points are now, mm RAS+; one that was not touched is where it was to the last bit."""
        if base.grid is None:
            return {}
        order, grid = display_order(base.grid), base.grid
        found: dict[int, Point] = {}
        for (label, before), now in zip(base.pred_points.items(), self._layer.data, strict=False):
            step = order.voxel_index(now, grid.shape) - order.voxel_index(before, grid.shape)
            x, y, z = np.asarray(landmarks.points_world[label]) + grid.affine[:3, :3] @ step
            found[label] = (float(x), float(y), float(z))
        return found

    def _place_of(self, label: int) -> str:
        """How far a point is from that of the ground truth, in words."""
        placed = self._placed()
        sides = () if placed is None else (placed.gt_landmarks, placed.pred_landmarks)
        points = [side.points_world[label] for side in sides if side is not None and label in side.points_world]
        if placed is None or len(points) < 2:
            return f"{vertebra_name(label)}: not in the ground truth"
        far = float(np.linalg.norm(np.subtract(points[0], points[1])))
        return f"{vertebra_name(label)}: {far:.1f} mm off, {'' if placed.hits.get(label) else 'not '}identified"

    def _on_done(self) -> None:
        if not self._closed and not self._drag.is_on:
            self._settle()

    def _settle(self) -> None:
        """Show what the session holds."""
        self._base = None
        self._vectors.hold(ROLE, False)
        self.refresh()
