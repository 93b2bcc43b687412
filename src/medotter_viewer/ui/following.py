"""What happens in a review window, told to its pieces: by the session, the viewer and the panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medotter_viewer.session.events import OpenedCase
from medotter_viewer.ui.actions import run_action
from medotter_viewer.ui.banner import case_line
from medotter_viewer.ui.choosing import choose_predictions
from medotter_viewer.ui.pointing import Pointing

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow


class Following:
    """Listens for a window whose pieces are all made.

    Parameters
    ----------
    window : ReviewWindow
        Whose session, viewer and panels are listened to.
    """

    def __init__(self, window: ReviewWindow) -> None:
        self._window, self._session, self._viewer = window, window.session, window.viewer
        self._looking, self._docks = window.looking, window.docks
        self._follow_session()
        self._follow_panels()
        dims, camera = self._viewer.dims.events, self._viewer.scene.camera.events
        self._moving = (dims.point, dims.order, dims.ndisplay, camera.orientation)
        for emitter in self._moving:
            emitter.connect(self._on_position_changed)
        camera.zoom.connect(self._on_zoomed)
        self._pointing = Pointing(self._viewer, self._session, window.looking, window.tools.place_at, window.docks)
        camera.center.connect(self._pointing.follow)

    def close(self) -> None:
        """Leave the viewer alone, which stays; session and panels go with the review."""
        for emitter in self._moving:
            emitter.disconnect(self._on_position_changed)
        self._viewer.scene.camera.events.zoom.disconnect(self._on_zoomed)
        self._viewer.scene.camera.events.center.disconnect(self._pointing.follow)
        self._pointing.close()

    def _follow_session(self) -> None:
        events = self._session.events
        events.loading_started.connect(self._on_loading_started)
        events.case_changed.connect(self._on_case_changed)
        events.prediction_changed.connect(self._on_prediction_changed)
        events.what_if_changed.connect(self._looking.follow_prediction)
        events.region_changed.connect(self._on_looks_changed)
        events.native_shown_changed.connect(self._on_looks_changed)
        events.failed.connect(self._on_failed)
        self._session.second.events.shown_changed.connect(self._looking.follow_second)

    def _follow_panels(self) -> None:
        docks, go = self._docks, self._looking.go
        docks.cases.second.first_requested.connect(lambda: run_action(self._window, choose_predictions))
        docks.scores.region_activated.connect(self._on_region_activated)
        docks.scores.slice_requested.connect(self._on_slice_requested)
        if docks.polygons is not None:
            docks.polygons.place_requested.connect(go.to_contour)
        if docks.vertebrae is not None:
            docks.vertebrae.vertebra_activated.connect(go.to_label)
        if docks.instances is not None:
            docks.instances.object_activated.connect(self._window.matching.go_to_selected)

    # ---------------------------------------------------------------- what happened

    def _on_loading_started(self, case_id: str) -> None:
        self._window.editing.drop_strokes()
        self._window.surfaces.leave()
        self._window.overlay.set_loading(f"opening {case_id} ...")

    def _on_case_changed(self, opened: OpenedCase) -> None:
        self._window.editing.case_will_change()
        self._looking.show_case(opened)
        self._window.overlay.set_loading("")
        self._viewer.title = f"{opened.case.case_id} - {self._session.source.name}"
        self._docks.mention(case_line(opened.case))
        self._on_position_changed()
        self._window.editing.case_changed()
        self._window.tools.case_changed()

    def _on_prediction_changed(self) -> None:
        self._looking.follow_prediction()
        self._window.editing.prediction_changed()
        self._pointing.follow()

    def _on_failed(self, message: str) -> None:
        self._window.overlay.set_loading("")
        self._window.show_message(message, hold=True)

    def _on_looks_changed(self, _: object = None) -> None:
        self._looking.look()

    def _on_region_activated(self, _: str) -> None:
        self._looking.go.to_worst_slice()

    def _on_slice_requested(self, index: int) -> None:
        self._window.display.set_slice(index, axis=self._viewer.dims.order[0])

    def _on_position_changed(self, _: object = None) -> None:
        self._window.editing.position_will_change()
        place = self._looking.show_position()
        self._window.editing.position_changed()
        self._window.tools.position_changed()
        if place is not None:
            self._docks.set_position(*place)
            self._window.walking.follow()
            self._pointing.follow()

    def _on_zoomed(self, _: object = None) -> None:
        self._looking.vectors.follow_zoom()
        self._looking.marks.follow_zoom()
        self._pointing.follow()
