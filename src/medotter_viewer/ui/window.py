"""The review window: a napari viewer, a session, and the docks that look at it.

The only object that knows all of them; it tells the one what happened to the other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

import napari

from medotter_viewer.engine.choice import prepare
from medotter_viewer.errors import CaseNotFoundError, MissingDisplayError
from medotter_viewer.session.events import OpenedCase
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.source import CaseSource, Split
from medotter_viewer.ui.banner import case_line
from medotter_viewer.ui.canvas_tools import CanvasTools
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.docks import Docks
from medotter_viewer.ui.editing import Editing
from medotter_viewer.ui.key_sheet import KeySheet
from medotter_viewer.ui.keys import bind_keys, bind_shortcuts
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.match_display import MatchDisplay
from medotter_viewer.ui.preferences import read_preferences
from medotter_viewer.ui.screen import no_display
from medotter_viewer.ui.surfaces3d import Surfaces3D
from medotter_viewer.ui.threads import MainThread
from medotter_viewer.ui.wheel import bind_wheel, step_slice

WINDOW_SIZE = (1400, 840)
_WINDOWS: WeakKeyDictionary[Any, ReviewWindow] = WeakKeyDictionary()


class ReviewWindow:
    """A review in a napari viewer.

    Parameters
    ----------
    viewer : napari.Viewer
        Where it is shown.
    source : CaseSource
        The cases.
    case_id : str, optional
        Opened first; the first of the list by default.
    region : str, optional
        Looked at alone.
    split : {"all", "test", "train"}
        Which cases are listed.
    second : CaseSource, optional
        The same cases with another model's predictions, laid beside the first.

    Attributes
    ----------
    viewer : napari.Viewer
        The viewer.
    session : ReviewSession
        State of the review.
    looking : Looking
        What is shown of the open case, and how.
    editing : Editing
        What of the prediction is being changed.
    docks : Docks
        The panels.
    matching : MatchDisplay
        Matches of an instance task on the canvas.
    surfaces : Surfaces3D
        What is looked at in three dimensions.
    tools : CanvasTools
        Window and level, three planes, ruler and region of interest.
    """

    session: ReviewSession
    looking: Looking
    display: Display
    editing: Editing

    def __init__(
        self,
        viewer: Any,
        source: CaseSource,
        *,
        case_id: str | None = None,
        region: str | None = None,
        split: str = "all",
        second: CaseSource | None = None,
    ) -> None:
        prepare()  # without waiting
        self.viewer = viewer
        preferences = read_preferences(source.spec.task_type)
        self._main = MainThread(self.show_message)
        self._executor = ThreadPoolExecutor(3, thread_name_prefix="medotter-viewer")
        self.session = ReviewSession(
            source, executor=self._executor, deliver=self._main.deliver, split=split, hd95=preferences.hd95
        )
        if region is not None:
            self.session.select_region(region)
        self.looking = Looking(viewer, self.session, preferences.window)
        self.display, self.overlay = self.looking.display, self.looking.overlay
        self.docks = Docks(viewer, self.session, focus=self.focus_canvas, run_in_background=self._run_in_background)
        self.editing = Editing(viewer, self.session, self.looking, self.show_message)
        self.tools = CanvasTools(viewer, self.session, self.looking, self.show_message)
        self.matching = MatchDisplay(viewer, self.session, self.looking, self.show_message)
        self.surfaces = Surfaces3D(viewer, self.session, self.looking, self._run_in_background, self.show_message)
        self._closed = False
        self._connect()
        if preferences.wheel_scrolls:
            bind_wheel(viewer)
        self.key_sheet = KeySheet(viewer.window._qt_window)
        self._unbind_keys = bind_keys(self)
        self._shortcuts = bind_shortcuts(self, viewer.window._qt_viewer.canvas.native, viewer.window._qt_window)
        _WINDOWS[viewer] = self
        listed = [*source.case_ids("test"), *(row.case_id for row in self.session.rows)]
        first = case_id or next((i for i in listed if any(row.case_id == i for row in self.session.rows)), None)
        if second is not None:
            self.session.second.show(second)
        if first is not None:
            self.session.go_to(first)

    def _connect(self) -> None:
        events = self.session.events
        events.loading_started.connect(self._on_loading_started)
        events.case_changed.connect(self._on_case_changed)
        events.prediction_changed.connect(self._on_prediction_changed)
        events.what_if_changed.connect(self.looking.follow_prediction)
        events.region_changed.connect(self._on_looks_changed)
        events.native_shown_changed.connect(self._on_looks_changed)
        events.failed.connect(self._on_failed)
        self.session.second.events.shown_changed.connect(self.looking.follow_second)
        self.docks.scores.region_activated.connect(self._on_region_activated)
        self.docks.scores.slice_requested.connect(self._on_slice_requested)
        for name, signal, slot in (
            ("polygons", "place_requested", self.looking.go.to_contour),
            ("vertebrae", "vertebra_activated", self.looking.go.to_label),
            ("instances", "object_activated", self.matching.go_to_selected),
        ):
            if (panel := getattr(self.docks, name, None)) is not None:  # only with tasks that have them
                getattr(panel, signal).connect(slot)
        self.viewer.dims.events.point.connect(self._on_position_changed)
        self.viewer.dims.events.order.connect(self._on_position_changed)
        self.viewer.dims.events.ndisplay.connect(self._on_position_changed)
        self.viewer.scene.camera.events.orientation.connect(self._on_position_changed)
        self.viewer.scene.camera.events.zoom.connect(self._on_zoomed)
        self.viewer.mouse_move_callbacks.append(self._on_mouse_moved)
        self.viewer.window._qt_window.destroyed.connect(self.close)

    # ---------------------------------------------------------------- what keys do

    def step_slice(self, by: int) -> None:
        """Go some slices along the axis that is looked along."""
        step_slice(self.viewer, by)

    def cycle_mode(self) -> None:
        """Show contours, fill, errors, nothing; and again."""
        self.show_message(f"overlays: {self.looking.cycle_mode()}")

    def blink(self) -> None:
        """Show ground truth alone, then prediction alone, then both."""
        self.show_message(self.looking.blink())

    def cycle_second(self) -> None:
        """Show both models' predictions, the second alone, the first alone."""
        self.show_message(self.looking.cycle_second())

    def toggle_others(self) -> None:
        """Show or hide the contours of structures that are not scored."""
        self.show_message(self.looking.toggle_others())

    def toggle_help(self) -> None:
        """Show or hide the table of keys."""
        self.key_sheet.toggle()

    def show_message(self, message: str) -> None:
        """Say something in the status line."""
        self.docks.say(message)

    def focus_canvas(self) -> None:
        """Give the keyboard back to the canvas after a click elsewhere."""
        self.viewer.window._qt_viewer.canvas.native.setFocus()

    # ---------------------------------------------------------------- what happened

    def _on_loading_started(self, case_id: str) -> None:
        self.editing.drop_strokes()
        self.surfaces.leave()
        self.overlay.set_loading(f"opening {case_id} ...")

    def _on_case_changed(self, opened: OpenedCase) -> None:
        self.editing.case_will_change()
        self.looking.show_case(opened)
        self.overlay.set_loading("")
        self.viewer.title = f"{opened.case.case_id} - {self.session.source.name}"
        self.docks.say(case_line(opened.case))
        self._on_position_changed()
        self.editing.case_changed()
        self.tools.case_changed()

    def _on_prediction_changed(self) -> None:
        self.looking.follow_prediction()
        self.editing.prediction_changed()

    def _on_failed(self, message: str) -> None:
        self.overlay.set_loading("")
        self.show_message(message)

    def _on_looks_changed(self, _: object = None) -> None:
        self.looking.look()

    def _on_region_activated(self, _: str) -> None:
        self.looking.go.to_worst_slice()

    def _on_slice_requested(self, index: int) -> None:
        self.display.set_slice(index, axis=self.viewer.dims.order[0])

    def _on_position_changed(self, _: object = None) -> None:
        self.editing.position_will_change()
        place = self.looking.show_position()
        self.editing.position_changed()
        self.tools.position_changed()
        if place is not None:
            self.docks.set_position(*place)

    def _on_zoomed(self, _: object = None) -> None:
        self.looking.vectors.follow_zoom()

    def _on_mouse_moved(self, _: Any, event: Any) -> None:
        case = self.session.case
        if case is not None:
            text = self.looking.readout_at(event.position)
            self.docks.say(f"{case.case_id}  ·  {text}" if text else case_line(case))

    # ---------------------------------------------------------------- ends

    def _run_in_background(self, work: Any, on_done: Any) -> None:
        """Run work in a thread and hand its result over on the main thread."""

        def run() -> None:
            result = work()
            self._main.deliver(lambda: on_done(result))

        self._executor.submit(run)

    def close(self, _: object = None) -> None:
        """Stop all work and listening, and take the panels away; viewer and layers stay."""
        if self._closed:
            return
        self._closed = True
        _WINDOWS.pop(self.viewer, None)  # it would keep the viewer alive: a value must not hold its key
        self._main.close()
        self.docks.stop_work()
        self.tools.stop_work()
        self.session.close()
        if not _is_alive(self.viewer):
            return  # everything else went with the window
        self.editing.close()
        self.tools.close()
        self.matching.close()
        self.surfaces.close()
        dims = self.viewer.dims.events
        for emitter in (dims.point, dims.order, dims.ndisplay, self.viewer.scene.camera.events.orientation):
            emitter.disconnect(self._on_position_changed)
        self.viewer.scene.camera.events.zoom.disconnect(self._on_zoomed)
        self.viewer.mouse_move_callbacks.remove(self._on_mouse_moved)
        self._unbind_keys()
        self.key_sheet.close_quietly()
        for shortcut in self._shortcuts:
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self.docks.close()
        self.overlay.close_quietly()
        with self.viewer.layers.batched_update():  # else napari collects garbage after each of them
            self.looking.vectors.close()
            self.display.close()


def _is_alive(viewer: Any) -> bool:
    """Whether the viewer's Qt window is still there: on a closed one every call would fail."""
    try:
        viewer.window._qt_window.isVisible()
    except (AttributeError, RuntimeError):
        return False
    return True


def open_window(
    source: CaseSource,
    *,
    case_id: str | None = None,
    region: str | None = None,
    split: Split = "all",
    viewer: Any = None,
    show: bool = True,
    second: CaseSource | None = None,
) -> ReviewWindow:
    """Open a review in a window and return it.

    Parameters
    ----------
    source : CaseSource
        The cases.
    case_id, region : str, optional
        Opened first, and looked at alone.
    split : {"all", "test", "train"}
        Which cases are listed.
    viewer : napari.Viewer, optional
        Where; a new one by default. A review already in it is closed.
    show : bool
        Whether a new window is shown.
    second : CaseSource, optional
        The same cases with another model's predictions; see `with_predictions`.

    Raises
    ------
    MissingDisplayError
        If there is no screen.
    """
    # What cannot be used is an error before a window opens.
    source.spec.check_region(region)
    source.record()  # finds the data root, or says that it is not there
    listed = source.case_ids(split)
    if case_id is not None and case_id not in listed:
        raise CaseNotFoundError(f"no case {case_id!r} among the {len(listed)} of split {split!r} of {source.target}")
    if viewer is None:
        if (reason := no_display()) is not None:
            raise MissingDisplayError(f"no window can be drawn: {reason}; medotter_viewer.plot_case needs none")
        viewer = napari.Viewer(title=source.name, show=show)
        viewer.window._qt_window.resize(*WINDOW_SIZE)
    if (old := _WINDOWS.get(viewer)) is not None:
        old.close()
    return ReviewWindow(viewer, source, case_id=case_id, region=region, split=split, second=second)


def window_of(viewer: Any) -> ReviewWindow | None:
    """Return the review that is open in a viewer, or None."""
    return _WINDOWS.get(viewer)
