"""The review window: a napari viewer, a session, and the docks that look at it.

The only object that knows all of them. What a case looks like is decided in `layers`, what happens in the session;
here the one is told of the other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import napari
import numpy as np
from qtpy.QtCore import QTimer

from medotter_viewer.core.spec import MACRO
from medotter_viewer.errors import MissingDisplayError
from medotter_viewer.scoring.slices import region_centre, slice_profile
from medotter_viewer.session.review import OpenedCase, ReviewSession
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.ui import banner
from medotter_viewer.ui.actions import bind_keys, bind_shortcuts, help_text
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.docks import Docks
from medotter_viewer.ui.layers import IMAGE_PREFIX, MODES, ShowOptions, specs
from medotter_viewer.ui.letters import edge_letters
from medotter_viewer.ui.overlay import Overlay
from medotter_viewer.ui.preferences import read_preferences
from medotter_viewer.ui.readout import readout
from medotter_viewer.ui.screen import no_display
from medotter_viewer.ui.threads import MainThread
from medotter_viewer.ui.wheel import bind_wheel, step_slice
from medotter_viewer.ui.windows import PRESETS, Window, has_hu

WINDOW_SIZE = (1400, 840)
_EDIT_DELAY_MS = 150
_WINDOWS: WeakKeyDictionary[Any, ReviewWindow] = WeakKeyDictionary()


class ReviewWindow:
    """A review in a napari viewer.

    Parameters
    ----------
    viewer : napari.Viewer
        Where it is shown.
    source : BundleSource
        The cases.
    case_id : str, optional
        Opened first; the first of the list by default.
    region : str, optional
        Looked at alone.
    split : {"all", "test", "train"}
        Which cases are listed.

    Attributes
    ----------
    viewer : napari.Viewer
        The viewer.
    session : ReviewSession
        State of the review.
    display : Display
        The layers.
    docks : Docks
        The panels.
    """

    def __init__(
        self,
        viewer: Any,
        source: BundleSource,
        *,
        case_id: str | None = None,
        region: str | None = None,
        split: str = "all",
    ) -> None:
        self.viewer = viewer
        self._main = MainThread(self.show_message)
        executor = ThreadPoolExecutor(3, thread_name_prefix="medotter-viewer")
        preferences = read_preferences()
        self.session = ReviewSession(
            source, executor=executor, deliver=self._main.deliver, split=split, hd95=preferences.hd95
        )
        self.display = Display(viewer)
        self.overlay = Overlay(viewer)
        modality = source.task.identity.get("modality") if source.task is not None else None
        self.show = ShowOptions(modality=None if modality is None else str(modality), window=preferences.window)
        self._fitted = False
        self._blink = 0
        self._closed = False
        self._edits = QTimer()
        self._edits.setSingleShot(True)
        self._edits.setInterval(_EDIT_DELAY_MS)
        self._edits.timeout.connect(self._on_edit_settled)
        self._watched: Any = None
        self.docks = Docks(viewer, self.session, focus=self.focus_canvas, run_in_background=self._run_in_background)
        self._executor = executor
        self._connect()
        _WINDOWS[viewer] = self
        if region is not None:
            self.session.select_region(region)
        first = case_id or next((row.case_id for row in self.session.rows), None)
        if first is not None:
            self.session.go_to(first)

    def _connect(self) -> None:
        events = self.session.events
        events.loading_started.connect(self._on_loading_started)
        events.case_changed.connect(self._on_case_changed)
        events.region_changed.connect(self._on_looks_changed)
        events.native_shown_changed.connect(self._on_native_shown_changed)
        events.failed.connect(self.show_message)
        self.docks.scores.region_activated.connect(self._on_region_activated)
        self.docks.scores.slice_requested.connect(self._on_slice_requested)
        self.viewer.dims.events.point.connect(self._on_position_changed)
        self.viewer.dims.events.order.connect(self._on_position_changed)
        self.viewer.mouse_move_callbacks.append(self._on_mouse_moved)
        if read_preferences().wheel_scrolls:
            bind_wheel(self.viewer)
        bind_keys(self)
        window = self.viewer.window._qt_window
        bind_shortcuts(self, self.viewer.window._qt_viewer.canvas.native, window)
        window.destroyed.connect(self.close)

    # ---------------------------------------------------------------- what keys do

    def step_slice(self, by: int) -> None:
        """Go some slices along the axis that is looked along."""
        step_slice(self.viewer, by)

    def go_to_worst_slice(self) -> None:
        """Show the slice with the largest error of the selected region, along the axis that is looked along."""
        case = self.session.working_case
        if case is None:
            return
        axis = self.viewer.dims.order[0]
        profile = slice_profile(case, self.session.spec, region=self._focus_region(), axis=axis)
        if profile is not None:
            self._centre_on(axis, profile.worst)

    def cycle_mode(self) -> None:
        """Show contours, fill, errors, nothing; and again."""
        mode = MODES[(MODES.index(self.show.mode) + 1) % len(MODES)]
        self._look(replace(self.show, mode=mode))
        self.show_message(f"overlays: {mode}")

    def hide_overlays(self, hidden: bool) -> None:
        """Hide ground truth, prediction and errors, or show them as they were."""
        for role in ("gt", "pred", "error"):
            layer = self.display.layer(role)
            if layer is not None and self.display.shows(role):
                layer.visible = not hidden and self._blink_shows(role)

    def blink(self) -> None:
        """Show ground truth alone, then prediction alone, then both."""
        self._blink = (self._blink + 1) % 3
        self.hide_overlays(False)
        self.show_message(("both", "ground truth alone", "prediction alone")[self._blink])

    def next_window(self) -> None:
        """Take the next CT window preset, and keep it for the cases to come."""
        place = [w.name for w in PRESETS].index(self.show.window.name) if self.show.window in PRESETS else -1
        self._look(replace(self.show, window=PRESETS[(place + 1) % len(PRESETS)], limits=None))

    def next_channel(self) -> None:
        """Show the next image channel of the case."""
        case = self.session.case
        names = list(case.channels) if case else []
        if len(names) > 1:
            place = names.index(self.show.channel) if self.show.channel in names else 0
            self._look(replace(self.show, channel=names[(place + 1) % len(names)]))

    def toggle_help(self) -> None:
        """Show or hide the table of keys."""
        self.overlay.set_help("" if self.overlay.help_text else help_text())

    def show_message(self, message: str) -> None:
        """Say something in the status line."""
        self.viewer.status = " ".join(message.split())
        self.docks.say(message)

    def focus_canvas(self) -> None:
        """Give the keyboard back to the canvas after a click elsewhere."""
        self.viewer.window._qt_viewer.canvas.native.setFocus()

    # ---------------------------------------------------------------- what the session says

    def _on_loading_started(self, case_id: str) -> None:
        self.overlay.set_loading(f"opening {case_id} ...")

    def _on_case_changed(self, opened: OpenedCase) -> None:
        self._edits.stop()
        self._blink = 0
        self.display.apply(self._specs())
        self._watch_edits()
        if not self._fitted and len(self.viewer.layers):
            self.display.fit()
            self._fitted = True
        if opened.worst_slice is not None:
            self.display.set_slice(opened.worst_slice)
        self.overlay.set_loading("")
        case = opened.case
        self.overlay.set_banner(banner.banner_text(case, native_shown=self.session.native_shown))
        self.viewer.title = f"{case.case_id} - {self.session.source.name}"
        self._on_position_changed()
        self.docks.say(banner.case_line(case))
        self._choose_layer()

    def _on_native_shown_changed(self, shown: bool) -> None:
        self._look(replace(self.show, native=shown))

    def _on_looks_changed(self, _: object = None) -> None:
        self._look(replace(self.show, region=self.session.region))

    def _on_region_activated(self, region: str) -> None:
        del region  # the session has it
        self.go_to_worst_slice()

    def _on_slice_requested(self, index: int) -> None:
        self.display.set_slice(index, axis=self.viewer.dims.order[0])

    # ---------------------------------------------------------------- looking

    def _specs(self) -> list[Any]:
        session = self.session
        self.show = replace(self.show, region=session.region, native=session.native_shown)
        return [] if session.case is None else specs(session.case, session.spec, self.show, pred_data=session.pred_data)

    def _look(self, show: ShowOptions) -> None:
        self.show = show
        case = self.session.case
        if case is None:
            return
        self.display.apply(self._specs())
        self.overlay.set_banner(banner.banner_text(case, native_shown=self.session.native_shown))
        self._show_corner()

    def _focus_region(self) -> str | None:
        region = self.session.region or self.session.spec.headline.region
        return None if region == MACRO or region not in self.session.spec.regions else region

    def _centre_on(self, axis: int, index: int) -> None:
        case = self.session.working_case
        if case is None:
            return
        centre = region_centre(case, self.session.spec, region=self._focus_region(), axis=axis, index=index)
        if centre is not None and self.session.region is not None:
            self.display.frame(centre)
        else:
            self.display.set_slice(index, axis=axis)

    def _blink_shows(self, role: str) -> bool:
        return {0: True, 1: role == "gt", 2: role == "pred"}[self._blink]

    def _on_position_changed(self, _: object = None) -> None:
        dims = self.viewer.dims
        order = dims.order
        if len(order) != 3:
            return
        camera = self.viewer.scene.camera
        vertical, horizontal = (str(getattr(o, "value", o)) for o in camera.orientation2d)
        letters = edge_letters(order, vertical=vertical, horizontal=horizontal) if dims.ndisplay == 2 else None
        self.overlay.set_letters(letters)
        index, count = self._slice_place(order[0])
        self.docks.scores.set_position(order[0], index)
        self._show_corner(f"slice {index + 1}/{count}" if count else "")

    def _slice_place(self, axis: int) -> tuple[int, int]:
        origin = self.display.to_mm((0.0, 0.0, 0.0))[axis]
        step = self.display.to_mm((1.0, 1.0, 1.0))[axis] - origin
        case = self.session.case
        labels = None if case is None else case.gt_native or case.pred
        image = None if case is None else next(iter(case.channels.values()), None)
        grid = labels.grid if labels is not None else image.grid if image is not None else None
        if grid is None or step == 0:
            return 0, 0
        from medotter_viewer.geometry.orientation import display_order

        count = grid.shape[display_order(grid).axes[axis]]
        index = round((self.viewer.dims.point[axis] - origin) / step)
        return int(np.clip(index, 0, count - 1)), count

    def _show_corner(self, place: str | None = None) -> None:
        if place is not None:
            self._place_text = place
        layer = next((la for la in self.viewer.layers if la.visible and self._is_image(la)), None)
        window = ""
        if layer is not None:
            named = self.show.window if self.show.window in PRESETS and self._has_hu() else None
            shown = Window.from_limits(*(float(v) for v in layer.contrast_limits))
            same = named is not None and (named.level, named.width) == (shown.level, shown.width)
            window = named.text if same and named is not None else shown.text
            if len(self.session.case.channels if self.session.case else ()) > 1:
                window = f"{layer.name}  {window}"
        self.overlay.set_corner("\n".join(t for t in (getattr(self, "_place_text", ""), window) if t))

    def _is_image(self, layer: Any) -> bool:
        case = self.session.case
        return case is not None and any(layer is self.display.layer(IMAGE_PREFIX + name) for name in case.channels)

    def _has_hu(self) -> bool:
        case = self.session.case
        image = None if case is None else next(iter(case.channels.values()), None)
        return image is not None and has_hu(image, self.show.modality)

    def _on_mouse_moved(self, viewer: Any, event: Any) -> None:
        case = self.session.case
        if case is None or viewer.dims.ndisplay != 2 or len(event.position) != 3:
            return
        text = readout(
            case,
            self.session.spec,
            event.position,
            pred_data=self.session.pred_data,
            channel=self.show.channel,
            unit="HU" if self._has_hu() else "",
        )
        self.docks.say(f"{case.case_id}  ·  {text}" if text else banner.case_line(case))

    # ---------------------------------------------------------------- editing

    def _watch_edits(self) -> None:
        layer = self.display.layer("pred")
        if layer is None or layer is self._watched:
            return
        self._watched = layer
        layer.events.paint.connect(self._on_painted)
        layer.events.labels_update.connect(self._on_painted)

    def _choose_layer(self) -> None:
        """Make the prediction the layer that is painted on."""
        layer = self.display.layer("pred")
        if layer is not None and self.display.shows("pred"):
            self.viewer.layers.selection = {layer}

    def _on_painted(self, _: object = None) -> None:
        self._edits.start()

    def _on_edit_settled(self) -> None:
        self.session.prediction_edited()
        self.display.refresh("error")

    # ---------------------------------------------------------------- ends

    def _run_in_background(self, work: Any, on_done: Any) -> None:
        """Run work in a thread and hand its result over on the main thread."""

        def run() -> None:
            result = work()
            self._main.deliver(lambda: on_done(result))

        self._executor.submit(run)

    def close(self, _: object = None) -> None:
        """Stop all work and listening; the viewer stays."""
        if self._closed:
            return
        self._closed = True
        self._edits.stop()
        self._main.close()
        self.docks.close()
        self.session.close()


def open_window(
    source: BundleSource,
    *,
    case_id: str | None = None,
    region: str | None = None,
    split: str = "all",
    viewer: Any = None,
    show: bool = True,
) -> ReviewWindow:
    """Open a review in a window and return it.

    Parameters
    ----------
    source : BundleSource
        The cases.
    case_id, region : str, optional
        Opened first, and looked at alone.
    split : {"all", "test", "train"}
        Which cases are listed.
    viewer : napari.Viewer, optional
        Where; a new one by default. A review already in it is closed.
    show : bool
        Whether a new window is shown.

    Raises
    ------
    MissingDisplayError
        If there is no screen.
    """
    if viewer is None:
        if (reason := no_display()) is not None:
            raise MissingDisplayError(f"no window can be drawn: {reason}; medotter_viewer.plot_case needs none")
        viewer = napari.Viewer(title=source.name, show=show)
        viewer.window._qt_window.resize(*WINDOW_SIZE)
    if (old := _WINDOWS.get(viewer)) is not None:
        old.close()
    return ReviewWindow(viewer, source, case_id=case_id, region=region, split=split)


def window_of(viewer: Any) -> ReviewWindow | None:
    """Return the review that is open in a viewer, or None."""
    return _WINDOWS.get(viewer)
