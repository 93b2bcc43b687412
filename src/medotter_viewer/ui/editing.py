"""What a person changes in the window: strokes on a label map, contours of a slice, points. Knows which, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qtpy.QtCore import QTimer

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui import point_editing, ring_editing, strokes
from medotter_viewer.ui.derived import RegionView
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.point_editing import PointEditing
from medotter_viewer.ui.ring_editing import RingEditing

_STROKE_DELAY_MS = 150
RING_TOOLS = "4 drag points · 2 add · 1 remove · 5 move · 3 delete · P draw"
POINT_TOOLS = "drag a point in this plane · 1 delete the selected one"
LABEL_TOOLS = "1 erase, 2 paint, 4 fill, 5 take the label under the pointer; Ctrl+Z takes a stroke back; Shift+E ends"
ALL_REGIONS = "all regions must be shown to paint: click the row 'all'"
ONLY_PREDICTION = "only the prediction is painted on: select it in the list of layers, or press Shift+E"
NOT_ITS_OWN_IDS = "the prediction cannot be painted on as it is shown: its ids are too large, or too many"


class Editing:
    """Changing the prediction of the open case.

    Parameters
    ----------
    viewer : napari.Viewer
        Where.
    session : ReviewSession
        Whose working copy is changed.
    looking : Looking
        What is shown.
    say : callable
        Says something in the status line; with ``hold`` so that it is not missed.

    Attributes
    ----------
    on_stroke : callable
        Called when something was painted, or a stroke taken back.
    """

    def __init__(self, viewer: Any, session: ReviewSession, looking: Looking, say: Callable[..., None]) -> None:
        self._viewer, self._session, self._looking, self._say = viewer, session, looking, say
        self._tool: RingEditing | PointEditing | None = None
        self._strokes = QTimer()
        self._strokes.setSingleShot(True)
        self._strokes.setInterval(_STROKE_DELAY_MS)
        self._strokes.timeout.connect(self._on_strokes_settled)
        self._watched: Any = None
        self.on_stroke: Callable[[], None] = lambda: None  # the window tells
        self._history = (0, 0)
        self._to_come: strokes.Voxels | None = None  # written next, as napari says

    @property
    def is_on(self) -> bool:
        """Whether contours or points are being edited."""
        return self._tool is not None

    def toggle(self) -> None:
        """Begin to edit what the case's prediction is made of, or end it, and say so."""
        if self._tool is not None:
            self._stop()
            self._say(
                "editing ended; what was changed is in no file until you export it"
                * bool(self._session.edits.unwritten_ids)
            )
            return
        placed, working = self._looking.placed, self._session.working
        if placed is None or working is None:
            self._say("no case is open")
        elif working.level_shift:
            self._say("labels are moved as a what-if: set it back to 0 to edit")
        elif placed.pred_points:
            self._begin(point_editing.ROLE, POINT_TOOLS)
        elif working.case.pred is not None:
            self.select_label_map()
            self._say(self._toggle_brush())
        elif placed.stack is not None and (placed.has_contours or placed.case.stack is not None):
            self._begin(ring_editing.ROLE, RING_TOOLS)
        else:
            self._say("nothing to edit: no prediction, and no slices to draw contours on")

    def _toggle_brush(self) -> str:
        """Take up the brush, with the label of the region that is looked at, or put it down; return that in words."""
        layer = self._looking.display.layer("pred")
        if layer is None:
            return NOT_ITS_OWN_IDS
        if (why := self.why_not(layer)) is not None:
            return why
        if layer.mode in strokes.BRUSHES:
            layer.mode = "pan_zoom"
            unsaved = bool(self._session.edits.unwritten_ids)
            return "painting ended" + "; what was changed is in no file until you save it (Shift+S)" * unsaved
        regions = self._session.spec.regions
        if len(ids := regions.get(self._session.region or "", ())) == 1:
            layer.selected_label = ids[0]
        layer.mode = "paint"
        label = int(layer.selected_label)
        name = next((f" {name}" for name, ids in regions.items() if tuple(ids) == (label,)), "")
        return f"painting {label}{name}: {LABEL_TOOLS}"

    def why_not(self, layer: Any) -> str | None:
        """Return why a label map of the review cannot be painted on; None where it can, or is another layer."""
        display = self._looking.display
        if layer.editable or not display.owns(layer):
            return None
        pred = display.layer("pred")
        if pred is None or layer is not pred:
            return ONLY_PREDICTION
        return ALL_REGIONS if isinstance(layer.data, RegionView) else NOT_ITS_OWN_IDS

    def undo(self) -> bool:
        """Take back the last stroke, or change of contours or points, and say so; tell whether there was one."""
        layer = self._paintable()
        if layer is not None and _history(layer)[0]:
            layer.undo()
            self._say("a stroke was taken back (Ctrl+Shift+Z does it again)")
            return True
        return self._step(self._session.edits.undo)

    def redo(self) -> None:
        """Do again what was taken back."""
        layer = self._paintable()
        if layer is not None and _history(layer)[1]:
            layer.redo()
        elif not self._step(self._session.edits.redo):
            self._say("nothing to do again")

    # ---------------------------------------------------------------- what happened

    def case_will_change(self) -> None:
        """Drop what goes on, and put the brush down: a click on the next case must not change it."""
        layer = self._looking.display.layer("pred")
        if layer is not None and layer.mode in strokes.BRUSHES:
            layer.mode = "pan_zoom"
            left = ", ".join(self._session.edits.unwritten_ids)
            unsaved = f"; edits of {left} are in no file, and kept until the window closes" * bool(left)
            self._say(f"painting ended with the case, Shift+E begins again{unsaved}", hold=True)
        if self._tool is not None:
            self._tool.close(take_up=False)
            self._tool = None
            self._looking.set_tools("")

    def case_changed(self) -> None:
        """Make the predicted label map the layer that is painted on, and listen to strokes."""
        layer = self._looking.display.layer("pred")
        if layer is None or not self._looking.display.shows("pred"):
            return
        self.select_label_map()
        if layer is not self._watched:
            self._watched = layer
            layer.events.paint.connect(self._on_step)
            layer.events.labels_update.connect(self._on_painted)
            layer.events.mode.connect(self._on_mode_changed)
            layer.events.set_data.connect(self._on_redrawn)
            layer.events.visible.connect(self._on_redrawn)  # what is hidden is not redrawn by an undo
        self._history = _history(layer)

    def position_will_change(self) -> None:
        """End what is drawn or dragged on a slice that is left."""
        if self._tool is not None:
            self._tool.will_move()

    def position_changed(self) -> None:
        """Let what is seen now be edited."""
        if self._tool is not None:
            self._tool.refresh()

    def prediction_changed(self) -> None:
        """Follow a change of contours or points, whoever made it."""
        working, placed = self._session.working, self._looking.placed
        no_points = isinstance(self._tool, PointEditing) and placed is not None and not placed.pred_points
        if self._tool is not None and (no_points or (working is not None and working.level_shift)):
            self._stop()

    def drop_strokes(self) -> None:
        """Forget strokes that were not scored yet."""
        self._strokes.stop()

    def select_label_map(self) -> None:
        """Make the predicted label map the active layer, if there is one."""
        layer = self._looking.display.layer("pred")
        if layer is not None and self._looking.display.shows("pred"):
            self._viewer.layers.selection = {layer}

    def close(self) -> None:
        """Listen no more."""
        self._strokes.stop()
        if self._tool is not None:
            self._tool.close(take_up=False)
            self._tool = None

    # ---------------------------------------------------------------- contours and points

    def _begin(self, role: str, tools: str) -> None:
        self._looking.set_tools(tools)
        self._looking.look()
        looking, session = self._looking, self._session
        if role == ring_editing.ROLE:
            self._tool = RingEditing(self._viewer, session, looking.vectors, self._say)
        else:
            self._tool = PointEditing(self._viewer, session, looking.vectors, lambda: looking.placed, self._say)

    def _stop(self) -> None:
        if self._tool is not None:
            tool, self._tool = self._tool, None
            tool.close()
        self._looking.set_tools("")
        self._looking.look()
        self.select_label_map()

    def _paintable(self) -> Any:
        """The predicted label map if it can be painted on now; None otherwise."""
        layer = self._looking.display.layer("pred")
        if layer is None or self._tool is not None or not self._looking.display.shows("pred"):
            return None
        return layer if layer.editable else None

    def _step(self, step: Callable[[], bool]) -> bool:
        if self._tool is not None:
            if self._tool.drop_drawing():
                return True
            self._tool.finish()
        before = self._looking.placed
        if (done := step()) and before is not None:
            self._looking.go.to_change(before)
        self.position_changed()
        return done

    # ---------------------------------------------------------------- strokes on a label map

    def _on_step(self, event: Any) -> None:
        """Note which voxels are written next; those of a drag that ends were counted while it went on."""
        self.on_stroke()
        step = getattr(event, "value", None)
        self._to_come = None if strokes.is_written(step, self._watched.data) else strokes.changed_by(step)
        self._strokes.start()

    def _on_painted(self, event: Any = None) -> None:
        """Count what was painted at once; the rest follows when strokes settle."""
        self.on_stroke()
        voxels, self._to_come = self._to_come, None
        self._count(strokes.redrawn(event, self._viewer.dims) if voxels is None else voxels)
        self._strokes.start()

    def _on_mode_changed(self, _: object = None) -> None:
        """Make ready for strokes when a brush is taken up."""
        if self._watched.mode in strokes.BRUSHES and self._session.case is not None:
            self._session.note_stroke(strokes.NOWHERE)

    def _count(self, voxels: strokes.Voxels | None) -> None:
        """Tell the session which voxels may be others; what it is not told it finds when strokes settle."""
        grid = None if self._session.case is None else self._session.case.grid
        inside = None if voxels is None or grid is None else strokes.in_file(voxels, grid)
        if inside is not None:
            self._session.note_stroke(inside)

    def _on_redrawn(self, _: object = None) -> None:
        """Undo and redo only redraw: they are told by the length of the layer's history."""
        history = _history(self._watched)
        if history != self._history:
            self.on_stroke()
            undone = history[1] > self._history[1]
            self._history = history
            steps = getattr(self._watched, "_redo_history" if undone else "_undo_history", ())
            self._count(strokes.changed_by(list(steps[-1])) if steps else None)
            self._strokes.start()

    def _on_strokes_settled(self) -> None:
        self._session.edits.note_painted()
        self._looking.follow_strokes()


def _history(layer: Any) -> tuple[int, int]:
    """Lengths of a label layer's undo and redo history."""
    return len(getattr(layer, "_undo_history", ())), len(getattr(layer, "_redo_history", ()))
