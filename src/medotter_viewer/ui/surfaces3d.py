"""Surfaces in three dimensions: the region that is looked at, the prediction coloured by how far it is off.

Never a rendering of volumes, which takes many seconds a frame: while surfaces are seen everything else is hidden, and
comes back as it was. The layers are made once and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from napari.layers import Surface
from napari.utils.colormaps import Colormap

from medotter_viewer.geometry.orientation import DISPLAY_AXES
from medotter_viewer.metrics.meshes import SurfacePair
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.colors import GT_ACCENT, PRED_ACCENT
from medotter_viewer.ui.legend import Entry
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.surface_targets import (
    SurfaceTarget,
    mesh_data,
    scale_ends,
    scale_words,
    surface_lines,
    surface_target,
)
from medotter_viewer.ui.widgets.connections import Connections
from medotter_viewer.ui.widgets.latest import Background, Latest

# Pale where both agree, darker the farther they are apart: told by lightness alone, and seen on black and on white. The
# dark end of the usual scales is lost in the shadows of a solid.
_SCALE_CODES = ("#F2EFE8", "#FDCC8A", "#FC8D59", "#E34A33", "#A50F15")
_GT_OPACITY = 0.25
_VIEW, _UP = (-0.25, 1.0, -0.35), (-1.0, 0.0, 0.0)  # from the front, a little from above and from the side; head up
_NOTHING = (np.array([(0, 0, 0), (0, 0, 1e-2), (0, 1e-2, 0)], dtype=np.float32), np.array([(0, 1, 2)]), np.zeros(3))
_NAMES = {
    "pred": "prediction surface",
    "gt": "ground truth surface",
}  # the lower one first: it is seen through the other


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """How a case was looked at before."""

    point: tuple[float, ...]
    order: tuple[int, ...]
    center: tuple[float, ...]
    zoom: float
    angles: tuple[float, ...]
    visible: dict[Any, bool]


class Surfaces3D:
    """Surfaces of what is looked at.

    Parameters
    ----------
    viewer : napari.Viewer
        Where.
    session : ReviewSession
        Whose case, region and object.
    looking : Looking
        Shows everything else; is told while surfaces are seen.
    run_in_background : callable
        Takes work without arguments and a callable for its result, which is called on the main thread.
    say : callable
        Says something in the status line.
    """

    def __init__(
        self,
        viewer: Any,
        session: ReviewSession,
        looking: Looking,
        run_in_background: Background,
        say: Callable[[str], None],
    ) -> None:
        self._viewer, self._session, self._looking, self._say = viewer, session, looking, say
        self._latest = Latest(run_in_background, self._on_measured)
        self._layers: dict[str, Any] = {}
        self._flat: _Flat | None = None
        self._wanted: SurfaceTarget | None = None
        self._axes = viewer.canvas.overlays["axes"]
        self._axes.position = "top_right"  # the other corners have words
        self._connections = Connections()
        self._connections.add(session.events.region_changed, self._on_target_changed)
        if session.spec.is_instances:
            self._connections.add(session.matches.events.selected, self._on_target_changed)
        viewer.dims.events.ndisplay.connect(self._on_ndisplay_changed)

    @property
    def is_on(self) -> bool:
        """Whether surfaces are seen."""
        return self._flat is not None

    def toggle(self) -> None:
        """Show surfaces, or go back to the slice that was looked at."""
        if self.is_on:
            self.leave()
            return
        if self._wanted is not None:
            self._forget()
            self._say("surfaces: cancelled")
            return
        self._ask()

    def leave(self) -> None:
        """Go back to the slice that was looked at; nothing happens where surfaces are not seen."""
        self._forget()
        flat, self._flat = self._flat, None
        if flat is None:
            return
        for layer in self._layers.values():
            layer.visible = False
        dims, camera = self._viewer.dims, self._viewer.scene.camera
        self._axes.visible = False
        dims.order = flat.order
        dims.ndisplay = 2
        dims.set_point(tuple(range(len(flat.point))), flat.point)
        self._looking.set_solid(None)
        for layer, visible in flat.visible.items():
            if layer in self._viewer.layers and layer.visible != visible:
                layer.visible = visible
        self._looking.hidden_now = {}
        camera.angles, camera.center, camera.zoom = flat.angles, flat.center, flat.zoom
        for layer in self._layers.values():
            layer.data = _NOTHING  # at a corner of the case: napari counts hidden layers in where it fits a view
        self._looking.show_position()

    def close(self) -> None:
        """Listen no more, and take the layers out of the viewer."""
        self._forget()
        self._connections.close()
        self._viewer.dims.events.ndisplay.disconnect(self._on_ndisplay_changed)
        for layer in self._layers.values():
            if layer in self._viewer.layers:
                layer.locked = False
                self._viewer.layers.remove(layer)
        self._layers.clear()

    # ---------------------------------------------------------------- what is drawn

    def _ask(self) -> None:
        """Find surfaces in the background."""
        session = self._session
        working, case = session.working, session.working_case
        if working is None or case is None:
            self._say("no case is open")
            return
        case = replace(case, pred=working.frozen().pred)  # nobody paints on it
        row = session.matches.selected if session.spec.is_instances else None
        objects = None if row is None else (row.gt_id, row.pred_id)
        found = surface_target(
            case,
            session.spec,
            region=session.region,
            objects=objects,
            score=session.score,
        )
        if isinstance(found, str):
            self._say(found)
            if self.is_on:
                self.leave()
            return
        self._wanted = found
        self._looking.overlay.set_loading(f"surfaces of {found.name} ...")
        self._latest.ask(lambda: lambda: (found, found.measure()))

    def _on_measured(self, measured: tuple[SurfaceTarget, SurfacePair]) -> None:
        target, pair = measured
        if target is not self._wanted:
            return
        self._forget()
        if pair.gt is None and pair.pred is None:
            self._say(f"{target.name}: on neither side, no surface")
            self.leave()
            return
        self._enter()
        self._axes.visible = target.unit == "mm"  # pictures know no sides of a patient
        self._write(target, pair)
        self._looking.set_solid((surface_lines(target, pair), self._legend(target, pair)))
        self._frame()

    def _enter(self) -> None:
        """Hide everything, then turn to three dimensions: a volume must not be rendered for a moment."""
        if self.is_on:
            return
        viewer, dims, camera = self._viewer, self._viewer.dims, self._viewer.scene.camera
        visible = {layer: bool(layer.visible) for layer in viewer.layers if layer not in self._layers.values()}
        self._looking.hidden_now = visible
        self._flat = _Flat(
            tuple(dims.point),
            tuple(dims.order),
            tuple(camera.center),
            float(camera.zoom),
            tuple(camera.angles),
            visible,
        )
        self._looking.set_solid(([], []))
        for layer in visible:
            layer.visible = False
        dims.order = (0, 1, 2)  # another order would be seen in a mirror
        dims.ndisplay = 3

    def _write(self, target: SurfaceTarget, pair: SurfacePair) -> None:
        low, high = scale_ends(pair, target)
        for side in _NAMES:
            data = mesh_data(pair, side)
            layer = self._layers.get(side)
            if layer is None or layer not in self._viewer.layers:
                layer = self._layers[side] = self._added(side, target)
            layer.visible = False
            layer.scale, layer.translate = target.order.scale, target.order.translate
            layer.data = _NOTHING if data is None else data
            if side == "pred":
                layer.colormap = _scale(_SCALE_CODES if pair.distances_mm is not None else (PRED_ACCENT,) * 2)
            layer.contrast_limits_range = layer.contrast_limits = (low, high)
            layer.visible = data is not None

    def _added(self, side: str, target: SurfaceTarget) -> Any:
        layer = Surface(
            _NOTHING,
            name=_NAMES[side],
            scale=target.order.scale,
            translate=target.order.translate,
            units=("mm",) * 3,
            axis_labels=DISPLAY_AXES,
            colormap=_scale((GT_ACCENT,) * 2 if side == "gt" else _SCALE_CODES),
            contrast_limits=(0.0, 1.0),
            opacity=_GT_OPACITY if side == "gt" else 1.0,
            shading="smooth",
            visible=False,
        )
        layer.locked = True  # against deletion by hand
        selected = set(self._viewer.layers.selection)
        self._viewer.layers.append(layer)
        if selected:
            self._viewer.layers.selection = selected
        return layer

    def _frame(self) -> None:
        """Look at the surfaces from the front."""
        shown = [layer for layer in self._layers.values() if layer.visible]
        camera = self._viewer.scene.camera
        camera.set_view_direction(_VIEW, _UP)
        self._viewer.fit_to_view(layers=shown, margin=0.1)

    def _legend(self, target: SurfaceTarget, pair: SurfacePair) -> list[Entry]:
        found: list[Entry] = []
        if pair.gt is not None:
            found.append(("ground truth, translucent", GT_ACCENT))
        if pair.pred is not None and pair.distances_mm is None:
            found.append(("prediction", PRED_ACCENT))
        if pair.distances_mm is not None:
            of = "ground truth of its label" if target.each_label else "ground truth"
            found.append((f"prediction, by its distance from {of}:", ""))
            found += zip(scale_words(pair, target, len(_SCALE_CODES)), _SCALE_CODES, strict=True)
        return found

    # ---------------------------------------------------------------- what happened

    def _on_target_changed(self, _: object = None) -> None:
        """Show the surfaces of what is looked at now."""
        if self.is_on:
            self._ask()

    def _on_ndisplay_changed(self, _: object = None) -> None:
        """Go back in order where napari's own button was pressed."""
        if self.is_on and self._viewer.dims.ndisplay == 2:
            self.leave()

    def _forget(self) -> None:
        """Wait no more for what is measured."""
        if self._wanted is not None:
            self._wanted = None
            self._looking.overlay.set_loading("")


def _scale(codes: Sequence[str]) -> Colormap:
    """A scale through some colours, evenly."""
    colors = [[*(int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0] for code in codes]
    return Colormap(colors, name="distance" if len(codes) > 2 else codes[0])  # a long name would widen a panel
