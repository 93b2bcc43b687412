"""The review window: a napari viewer, a session, and the docks that look at it.

The only object that knows all of them; `following` tells the one what happened to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import napari

from medotter_viewer.engine.choice import prepare
from medotter_viewer.errors import CaseNotFoundError, MissingDisplayError
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.session.state_file import ReviewState, SavedView
from medotter_viewer.sources.source import CaseSource, Split
from medotter_viewer.ui.canvas_tools import CanvasTools
from medotter_viewer.ui.closing import ClosingGuard
from medotter_viewer.ui.collecting import Collecting
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.docks import Docks
from medotter_viewer.ui.editing import Editing
from medotter_viewer.ui.focus import FocusBack
from medotter_viewer.ui.following import Following
from medotter_viewer.ui.key_sheet import KeySheet
from medotter_viewer.ui.keys import bind_keys, bind_shortcuts
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.match_display import MatchDisplay
from medotter_viewer.ui.menus import ReviewMenu, unregister
from medotter_viewer.ui.plain_napari import keep_colors_plain
from medotter_viewer.ui.predict_bar import PredictBar
from medotter_viewer.ui.preferences import read_preferences
from medotter_viewer.ui.reviewing import BLINDED, Reviewing
from medotter_viewer.ui.saved_reviews import begin
from medotter_viewer.ui.saving import Saving
from medotter_viewer.ui.screen import no_display
from medotter_viewer.ui.surfaces3d import Surfaces3D
from medotter_viewer.ui.threads import MainThread
from medotter_viewer.ui.walking import Walking
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
    walking : Walking
        Going to errors and to the ends of hd95.
    reviewing : Reviewing
        What is said of cases.
    matching : MatchDisplay
        Matches of an instance task on the canvas.
    surfaces : Surfaces3D
        What is looked at in three dimensions.
    tools : CanvasTools
        Window and level, three planes, ruler and region of interest.
    """

    viewer: Any
    session: ReviewSession
    looking: Looking
    display: Display
    reviewing: Reviewing
    editing: Editing
    docks: Docks
    saving: Saving
    tools: CanvasTools
    surfaces: Surfaces3D
    walking: Walking

    def __init__(
        self,
        viewer: Any,
        source: CaseSource,
        *,
        case_id: str | None = None,
        region: str | None = None,
        split: Split = "all",
        second: CaseSource | None = None,
    ) -> None:
        prepare()  # without waiting
        self.viewer = viewer
        preferences = read_preferences(source.spec.task_type)
        self._main = MainThread(self.show_message)
        self._executor = ThreadPoolExecutor(3, thread_name_prefix="medotter-viewer")
        self.split = split
        self.session = ReviewSession(
            source,
            executor=self._executor,
            deliver=self._main.deliver,
            split=split,
            hd95=preferences.hd95,
            read_ahead=preferences.read_ahead,
            read_ahead_mb=preferences.read_ahead_mb,
        )
        if region is not None:
            self.session.select_region(region)
        self.looking = Looking(viewer, self.session, preferences.window, preferences.contour_width)
        self.display, self.overlay = self.looking.display, self.looking.overlay
        self.docks = Docks(viewer, self.session, focus=self.focus_canvas, run_in_background=self._run_in_background)
        self.reviewing = Reviewing(viewer, self.session, self.looking, self.docks, self.show_message)
        self.editing = Editing(viewer, self.session, self.looking, self.show_message)
        self.editing.on_stroke = self.reviewing.note_edited
        self.saving = Saving(self.session, self._run_in_background, self.show_message)
        self.tools = CanvasTools(viewer, self.session, self.looking, self.show_message)
        self.reviewing.has_crosshair = lambda: self.tools.planes.is_on
        self.matching = MatchDisplay(viewer, self.session, self.looking, self.show_message)
        self.surfaces = Surfaces3D(viewer, self.session, self.looking, self._run_in_background, self.show_message)
        show_errors = partial(self.docks.show, "Errors")
        self.walking = Walking(
            viewer,
            self.session,
            self.looking,
            self.show_message,
            show_errors,
            is_blinded=lambda: self.reviewing.is_blinded,
        )
        self._closed = False
        self._following = Following(self)
        viewer.window._qt_window.destroyed.connect(self.close)
        if preferences.wheel_scrolls:
            bind_wheel(viewer)
        self.key_sheet = KeySheet(viewer.window._qt_window, lambda: self.session.verdicts.words)
        self._unbind_keys = bind_keys(self)
        self._shortcuts = bind_shortcuts(self, viewer.window._qt_viewer.canvas.native, viewer.window._qt_window)
        self.menu = ReviewMenu(self)
        self._closing = ClosingGuard(
            viewer, lambda: self.session.edits.unwritten_ids, lambda: self.saving.ask(viewer.window._qt_window)
        )
        self._focus_back = FocusBack(self.docks.panels, self.focus_canvas)
        self._collecting = Collecting(self)
        self.predict_bar: PredictBar | None = None
        _WINDOWS[viewer] = self
        listed = [*source.case_ids("test"), *(row.case_id for row in self.session.rows)]
        first = case_id or next((i for i in listed if any(row.case_id == i for row in self.session.rows)), None)
        if second is not None:
            self.session.second.show(second)
        if first is not None:
            self.session.go_to(first)

    # ---------------------------------------------------------------- what keys do

    def step_slice(self, by: int) -> None:
        """Go some slices along the axis that is looked along."""
        step_slice(self.viewer, by)

    def step_error(self, by: int) -> None:
        """Go to the next error, or (-1) to the one before; of an instance task to an object without a match."""
        if self.session.spec.is_instances:
            self.matching.step(by)
        else:
            self.session.errors.step(by)

    def largest_error(self) -> None:
        """Go to the largest error; of an instance task to the object without a match that comes first."""
        if self.session.spec.is_instances:
            self.session.matches.select(None)
            self.matching.step(1)
        else:
            self.session.errors.go_to_largest()

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

    def tell_why(self) -> None:
        """Tell where the headline number of the selected region comes from."""
        if self.reviewing.is_blinded:
            self.show_message(BLINDED)
        elif (nothing := self.docks.why.ask_headline()) is not None:
            self.show_message(nothing)

    def use_predictor(self, model: Any, name: str) -> None:
        """Let a model predict the open case on request, by a button at the bottom."""
        self.session.use_predictor(model, name)
        predicting = self.session.predicting
        if predicting is not None:
            self.predict_bar = PredictBar(predicting, self.predict, self.show_message)
            self.viewer.window._qt_window.statusBar().addPermanentWidget(self.predict_bar)

    def predict(self) -> None:
        """Let the model predict the open case, or drop the prediction that is awaited."""
        predicting = self.session.predicting
        if predicting is None:
            self.show_message("no predictor: open with --predictor PKG.MOD:OBJ, or view(..., predictor=...)")
        elif predicting.is_running:
            predicting.cancel()
        else:
            predicting.start(self.session.case)
        self.focus_canvas()

    def drop_prediction(self) -> None:
        """Look at the prediction on file again."""
        case = self.session.case
        dropped = case is not None and self.session.edits.drop_prediction(case)
        self.show_message("the prediction on file is shown" if dropped else "no model predicted this case here")

    def show_message(self, message: str, *, hold: bool = False) -> None:
        """Say something in the status line; what is held stays for a while, whatever the pointer passes over."""
        self.docks.say(message, hold=hold)

    def focus_canvas(self) -> None:
        """Give the keyboard back to the canvas after a click elsewhere."""
        self.viewer.window._qt_viewer.canvas.native.setFocus()

    # ---------------------------------------------------------------- ends

    def _run_in_background(self, work: Any, on_done: Any) -> None:
        """Run work in a thread and hand its result over on the main thread."""

        def run() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - raised where it is seen: a thread's error is lost
                defect = error
                self._main.deliver(lambda: _raise(defect))
            else:
                self._main.deliver(lambda: on_done(result))

        self._executor.submit(run)

    def close(self, _: object = None) -> None:
        """Stop all work and listening, and take the panels away; viewer and layers stay."""
        if self._closed:
            return
        self._closed = True
        _WINDOWS.pop(self.viewer, None)  # it would keep the viewer alive: a value must not hold its key
        self._main.close()
        self._collecting.close()
        self.docks.stop_work()
        self.tools.stop_work()
        self.session.close()
        if not _WINDOWS:
            unregister()
        if not _is_alive(self.viewer):
            return  # everything else went with the window
        self.reviewing.close()
        self.editing.close()
        self.tools.close()
        self.matching.close()
        self.surfaces.close()
        self._following.close()
        self._unbind_keys()
        self.key_sheet.close_quietly()
        self._closing.close()
        self.menu.close()
        self._focus_back.close()
        if self.predict_bar is not None:
            self.predict_bar.close_connections()
            self.predict_bar.deleteLater()
        for shortcut in self._shortcuts:
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self.docks.close()
        self.overlay.close_quietly()
        with self.viewer.layers.batched_update():  # else napari collects garbage after each of them
            self.looking.marks.close()
            self.looking.vectors.close()
            self.display.close()


def _raise(error: Exception) -> None:
    raise error


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
    view: SavedView | None = None,
    state: ReviewState | None = None,
    predictor: tuple[Any, str] | None = None,
    say: Sequence[str] = (),
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
    view : SavedView, optional
        Place of the first case that is shown.
    state : ReviewState, optional
        A saved review that is taken up; it says which case, region and split.
    predictor : (object, str), optional
        A model that predicts on request, and what it is called.
    say : sequence of str
        What is to be said once the window is there.

    Raises
    ------
    MissingDisplayError
        If there is no screen.
    """
    # What cannot be used is an error before a window opens.
    if state is not None:
        case_id, region, split = state.case_id, state.region, state.split
    source.spec.check_region(region)
    source.record()  # finds the data root, or says that it is not there
    listed = source.case_ids(split)
    if case_id is not None and case_id not in listed:
        raise CaseNotFoundError(f"no case {case_id!r} among the {len(listed)} of split {split!r} of {source.target}")
    if viewer is None:
        if (reason := no_display()) is not None:
            raise MissingDisplayError(f"no window can be drawn: {reason}; medotter_viewer.plot_case needs none")
        keep_colors_plain()
        viewer = napari.Viewer(title=source.name, show=show)
        viewer.window._qt_window.resize(*WINDOW_SIZE)
    if (old := _WINDOWS.get(viewer)) is not None:
        old.close()
    window = ReviewWindow(viewer, source, case_id=case_id, region=region, split=split, second=second)
    begin(window, case_id, view=view, state=state, predictor=predictor, say=say)
    return window


def window_of(viewer: Any) -> ReviewWindow | None:
    """Return the review that is open in a viewer, or None."""
    return _WINDOWS.get(viewer)
