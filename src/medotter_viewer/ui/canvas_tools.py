"""What a radiologist has in hand at the canvas: window and level, three planes, ruler, region of interest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import has_hu
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.crosshair import Crosshair, on_voxel, place_of_interest
from medotter_viewer.ui.gestures import Gestures, Mouse
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.measure_tool import MeasureTool, Place, in_plane
from medotter_viewer.ui.measuring import Mark, measured, roi_text, ruler_text
from medotter_viewer.ui.plane_map import PlaneMap
from medotter_viewer.ui.three_planes import REMEMBERED, ThreePlanes
from medotter_viewer.ui.tool_overlay import ToolOverlay
from medotter_viewer.ui.window_level import WindowLevel


class CanvasTools:
    """The tools of a review.

    Parameters
    ----------
    viewer : napari.Viewer
        Where.
    session : ReviewSession
        Whose case.
    looking : Looking
        What is shown of it.
    say : callable
        Says something in the status line.

    Attributes
    ----------
    window_level : WindowLevel
        Shift and the right button.
    measure : MeasureTool
        Ruler and region of interest.
    crosshair : Crosshair
        The linked point.
    planes : ThreePlanes
        The two other planes.
    """

    def __init__(self, viewer: Any, session: ReviewSession, looking: Looking, say: Callable[[str], None]) -> None:
        self._viewer, self._session, self._looking, self._say = viewer, session, looking, say
        self._case_of_point = ""
        self._texts: dict[tuple[Mark, int], str] = {}
        canvas = viewer.window._qt_viewer.canvas.native
        self._canvas = canvas
        self._drawn = ToolOverlay(canvas, self.view)
        self.window_level: WindowLevel = WindowLevel(looking, self._image, say)
        self.measure = MeasureTool(self.place_at, self.draw)
        self.crosshair = Crosshair(viewer, self._grid, self.place_at)
        self.planes = ThreePlanes(
            viewer,
            looking.vectors,
            self.crosshair,
            grid=self._grid,
            readout=looking.readout_of,
            is_seen=looking.is_seen,
            say=say,
            marks_on=self._marks_on,
        )
        self._gestures = Gestures(canvas, (self.window_level, self.measure, self.crosshair))
        camera = viewer.scene.camera.events
        self._camera_events = (camera.center, camera.zoom, camera.orientation)
        for emitter in self._camera_events:
            emitter.connect(self._drawn.follow_camera)
        events = session.events
        self._session_events = (events.prediction_changed, events.what_if_changed, events.region_changed)
        for signal in self._session_events:
            signal.connect(self._on_content_changed)
        looking.point_on = self._point_on
        self._drawn.stackUnder(looking.overlay)  # the table of keys lies over it

    # ---------------------------------------------------------------- what keys do

    def toggle_planes(self) -> None:
        """Show or hide the two other planes, or say why there are none."""
        if self.planes.is_on:
            self.planes.hide()
            self.draw()
        elif reason := self.planes.why_not():
            self._say(reason)
        else:
            self._show_planes()

    def start_ruler(self) -> None:
        """Take the ruler in hand, or put it away."""
        self._start("ruler")

    def start_region(self) -> None:
        """Take a region of interest in hand: an ellipse, then a rectangle, then none."""
        self._start("roi")

    def clear_marks(self) -> None:
        """Take all rulers and regions off the open case, and say how many."""
        count = self.measure.clear()
        self._say(f"{count} measurement{'s' * (count != 1)} cleared")

    # ---------------------------------------------------------------- what happened

    def case_changed(self) -> None:
        """Show marks and planes of the case that was opened."""
        case = self._session.case
        self.measure.open_case("" if case is None else case.case_id)
        self._texts.clear()
        wanted = self.planes.is_on or REMEMBERED.is_on
        if wanted and not self.planes.why_not():
            self._show_planes()
        elif self.planes.is_on:  # they come back with the next case that has planes
            self.planes.hide()
            REMEMBERED.is_on = True
            self.draw()

    def position_changed(self) -> None:
        """Follow the slice that is looked at, and the point."""
        draft = self.measure.draft
        if draft is not None and not self._is_shown(draft):
            self.measure.drop_draft()
        self.draw()
        self.planes.point_changed()

    def draw(self) -> None:
        """Draw crosshair, marks and hint as they are now."""
        flat = self.view() is not None
        axis = self._viewer.dims.order[0]
        point = self.crosshair.point_mm
        cross = None
        if flat and self.planes.is_on and len(point) == 3:
            down, across = (a for a in range(3) if a != axis)
            cross = (point[down], point[across])
        marks = [(mark, self._text(mark)) for mark in self._marks_on(axis, point[axis])] if flat else []
        self._drawn.show_marks(cross, marks, self.measure.hint)

    def stop_work(self) -> None:
        """Paint no more: the window closes."""
        self.planes.stop_painting()

    def close(self) -> None:
        """Leave canvas and window as they were."""
        self.measure.end()
        for emitter in self._camera_events:
            emitter.disconnect(self._drawn.follow_camera)
        for signal in self._session_events:
            signal.disconnect(self._on_content_changed)
        self._gestures.close()
        self.planes.close()
        self._drawn.close_quietly()

    # ---------------------------------------------------------------- where things are

    def view(self) -> PlaneMap | None:
        """Return how the plane is seen on the canvas; None in 3D, and where the canvas is divided."""
        viewer = self._viewer
        if viewer.dims.ndisplay != 2 or len(viewer.dims.order) != 3 or viewer.canvas.grid.enabled:
            return None
        camera = viewer.scene.camera
        vertical, horizontal = (str(getattr(o, "value", o)) for o in camera.orientation2d)
        return PlaneMap(
            (float(camera.center[-2]), float(camera.center[-1])),
            float(camera.zoom),
            float(self._canvas.width()),
            float(self._canvas.height()),
            -1 if vertical == "up" else 1,
            -1 if horizontal == "left" else 1,
            swapped=viewer.dims.order[-2] > viewer.dims.order[-1],
        )

    def place_at(self, mouse: Mouse) -> Place | None:
        """Return where on the slice the mouse is: on the middle of the slice, wherever across it."""
        view, grid = self.view(), self._grid()
        if view is None or grid is None:
            return None
        axis = self._viewer.dims.order[0]
        middle = on_voxel(grid, self._viewer.dims.point)[axis]
        return axis, in_plane(axis, middle, view.to_mm(mouse.x, mouse.y))

    def _grid(self) -> Grid | None:
        placed = self._looking.placed
        return None if placed is None else placed.grid

    def _image(self) -> tuple[str, Volume] | None:
        """Name and intensities of the channel that is seen; None where there is none, or it is colours."""
        case, name = self._session.case, self._looking.shown_channel()
        if case is None or name is None or case.channels[name].rgb:
            return None
        return name, case.channels[name]

    # ---------------------------------------------------------------- marks

    def _start(self, kind: Any) -> None:
        if self.view() is None or self._grid() is None:
            self._say("measuring needs a slice: no case is open, or it is seen in 3D")
        else:
            self.measure.start(kind)

    def _is_shown(self, mark: Mark) -> bool:
        axis = self._viewer.dims.order[0]
        return self._is_on(mark, axis, self._viewer.dims.point[axis])

    def _is_on(self, mark: Mark, axis: int, position_mm: float) -> bool:
        grid = self._grid()
        return grid is not None and mark.is_on(
            axis, on_voxel(grid, (position_mm,) * 3)[axis], display_order(grid).scale[axis]
        )

    def _marks_on(self, axis: int, position_mm: float) -> list[Mark]:
        """Marks of a slice."""
        return [mark for mark in self.measure.marks() if self._is_on(mark, axis, position_mm)]

    def _text(self, mark: Mark) -> str:
        grid, case = self._grid(), self._session.case
        if grid is None or case is None:
            return ""
        if mark.shape == "ruler":
            return ruler_text(mark, grid)
        name = self._looking.shown_channel()
        volume = None if name is None else case.channels[name]
        if mark is self.measure.draft:
            return self._roi_text(mark, volume)
        key = (mark, id(volume))
        if key not in self._texts:
            self._texts[key] = self._roi_text(mark, volume)
        return self._texts[key]

    def _roi_text(self, mark: Mark, volume: Volume | None) -> str:
        if volume is None or volume.rgb:
            return roi_text(None, volume)
        unit = "HU" if has_hu(volume, self._looking.show.modality) else volume.unit
        return roi_text(measured(mark, volume, unit), volume)

    def _show_planes(self) -> None:
        case, placed, grid = self._session.case, self._looking.placed, self._grid()
        if case is None or placed is None or grid is None:
            return
        if self._case_of_point != case.case_id:
            self._case_of_point = case.case_id
            axis = self._viewer.dims.order[0]
            index = self._looking.go.slice_place(axis)[0]
            found = place_of_interest(placed, self._session, axis, index)
            self.crosshair.move_to(self._middle(grid, axis) if found is None else found)
        self.planes.show()
        self.draw()

    def _point_on(self, axis: int, index: int) -> tuple[float, ...] | None:
        """Return where planes will meet on the slice that a case opens on; None where that is to be found later."""
        case, placed, grid = self._session.case, self._looking.placed, self._grid()
        wanted = (self.planes.is_on or REMEMBERED.is_on) and not self.planes.why_not()
        if not wanted or case is None or placed is None or grid is None or self._case_of_point == case.case_id:
            return None
        found = place_of_interest(placed, self._session, axis, index)
        if found is None:
            return None
        self._case_of_point = case.case_id
        return on_voxel(grid, found)

    def _middle(self, grid: Grid, axis: int) -> tuple[float, ...]:
        """The middle of the slice that is shown."""
        order = display_order(grid)
        middle = [
            t + s * (grid.shape[a] - 1) / 2 for t, s, a in zip(order.translate, order.scale, order.axes, strict=True)
        ]
        middle[axis] = self._viewer.dims.point[axis]
        return tuple(middle)

    def _on_content_changed(self, _: object = None) -> None:
        self.planes.content_changed()
