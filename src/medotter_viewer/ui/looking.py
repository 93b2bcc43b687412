"""How a case is looked at: overlays, window, channel, position; told to layers and overlay in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from medotter_viewer.core.case import Case
from medotter_viewer.core.windows import PRESETS, Window, has_hu
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.session.events import OpenedCase
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.banner import banner_text, working_lines
from medotter_viewer.ui.choosing import Unpredicted
from medotter_viewer.ui.contour_layers import contour_specs
from medotter_viewer.ui.corner import across_line, channel_line, slice_line
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.going import ORDERS, Going
from medotter_viewer.ui.layers import IMAGE_PREFIX, specs
from medotter_viewer.ui.legend import Entry, legend, merged, vector_legend
from medotter_viewer.ui.letters import edge_letters
from medotter_viewer.ui.marks import MarkDisplay
from medotter_viewer.ui.match_layers import MatchLook, match_legend, match_specs
from medotter_viewer.ui.options import COMPARED, MODES, ShowOptions
from medotter_viewer.ui.overlay import Overlay
from medotter_viewer.ui.placing import Placed, place, place_prediction
from medotter_viewer.ui.readout import readout
from medotter_viewer.ui.resting import rest
from medotter_viewer.ui.second_layers import PlacedSecond, alone, place_second, second_vectors, with_second
from medotter_viewer.ui.vector_display import VectorDisplay
from medotter_viewer.ui.vectors import vector_specs
from medotter_viewer.ui.widgets.what_if_rows import banner_line

_MARGIN, _NAMES_MARGIN = 0.03, 0.12  # names of points at the edge of the picture need room beside it
_ALL = frozenset({"gt", "pred", "second", "error"})
_BLINKS: tuple[tuple[str, frozenset[str]], ...] = (
    ("both", frozenset()),
    ("ground truth alone", frozenset({"pred", "second"})),
    ("prediction alone", frozenset({"gt"})),
)


class Looking:
    """What is shown of the open case.

    Parameters
    ----------
    viewer : napari.Viewer
        Where.
    session : ReviewSession
        What.
    window : Window
        The first CT window.
    contour_width : int
        Of the ground truth's outlines.

    Attributes
    ----------
    show : ShowOptions
        How; replaced, never changed.
    display : Display
        The layers of arrays.
    vectors : VectorDisplay
        Contours and points over them.
    placed : Placed or None
        Where the contours and points of the open case lie, and the case with the prediction as edited.
    marks : MarkDisplay
        What is pointed at.
    overlay : Overlay
        The words over the canvas.
    go : Going
        Which slice and place is looked at.
    hidden_now : mapping of Layer to bool
        While something is seen in 3D: which layers were visible before all were hidden for it.
    """

    def __init__(self, viewer: Any, session: ReviewSession, window: Window, contour_width: int = 2) -> None:
        self.show = ShowOptions(modality=session.source.modality, window=window, contour_width=contour_width)
        self.display, self.overlay = Display(viewer), Overlay(viewer)
        self.vectors, self.placed = VectorDisplay(viewer), None  # type: tuple[VectorDisplay, Placed | None]
        self.go = Going(viewer, session, self.display, lambda: self.placed)
        self._viewer, self._session = viewer, session
        self._blink, self._held, self._axis = 0, False, 0
        self._fitted_on = ""  # which case was last fitted into the canvas
        self._tools = self._note = ""
        self.marks = MarkDisplay(viewer)
        self._solid: tuple[list[str], list[Entry]] | None = None
        self.hidden_now: Mapping[Any, bool] = {}
        self.match_look: Callable[[], MatchLook | None] = lambda: None
        self.point_on: Callable[[int, int], tuple[float, ...] | None] = lambda *_: None
        self._second: PlacedSecond | None = None
        self._unpredicted = Unpredicted(session.source)

    # ---------------------------------------------------------------- the case

    def show_case(self, opened: OpenedCase) -> None:
        """Show a case that was just opened, on its slice."""
        self._blink = 0
        self.placed = place(self._session.working_case or opened.case, self._session.spec)
        self._place_second()
        self.look(partial(self._turn_to, opened), hidden=self._hidden())
        if opened.case.case_id != self._fitted_on and len(self._viewer.layers):
            self.display.fit(_NAMES_MARGIN if self.placed.has_points else _MARGIN)
            self._fitted_on = opened.case.case_id
        self._turn_to(opened)  # where points and contours have their places, napari may have gone elsewhere
        self.show_position()

    def _turn_to(self, opened: OpenedCase) -> None:
        """Turn to the plane and the slice that a case opens on."""
        axis, worst = opened.axis, opened.worst_slice
        if axis != self._axis and self._viewer.dims.ndim == 3:  # else the plane stays that the user has chosen
            self._axis, self._fitted_on = axis, ""
            self._viewer.dims.order = ORDERS[axis]
        if worst is None and (opened.case.channels or (self.placed is not None and self.placed.grid is not None)):
            worst = self.go.slice_place(axis)[1] // 2
        if worst is None:
            return
        point = self.point_on(axis, worst) if self._viewer.dims.order[0] == axis else None
        if point is None:
            self.display.set_slice(worst, axis=axis)
        else:  # at once: napari cuts its slices anew for a point that moves within them
            self._viewer.dims.set_point((0, 1, 2), point)

    def follow_prediction(self) -> None:
        """Show the prediction as it is edited now; all else stays."""
        case = self._session.working_case
        if case is not None and self.placed is not None:
            self.placed = place_prediction(self.placed, case, self._session.spec)
            self.look()

    def follow_strokes(self) -> None:
        """Show what follows from a label map that was painted on: errors, and points that are taken from it."""
        derived = (
            self.placed is not None and self.placed.pred_landmarks is not None and self.placed.pred_landmarks.derived
        )
        if derived:
            self.follow_prediction()
        self.display.refresh("error")

    def set_tools(self, tools: str) -> None:
        """Note that contours or points are edited, and with which keys; empty ends it. Seen with the next `look`."""
        self._tools = tools
        self.show = replace(self.show, editing=bool(tools))

    def set_solid(self, solid: tuple[list[str], list[Entry]] | None) -> None:
        """Hide all of the case while something is seen in 3D, of which lines and a legend tell, or show it."""
        self._solid = solid
        self.look()

    def is_seen(self, layer: Any) -> bool:
        """Tell whether a layer is seen on slices; what is seen in 3D hides them on the canvas alone."""
        return bool(self.hidden_now.get(layer, False) if self._solid is not None else layer.visible)

    def look(self, turn: Callable[[], None] = lambda: None, /, **changes: Any) -> None:
        """Change how the case is looked at, and show it so; `turn` goes to the place looked at, see `Display.apply`."""
        session, placed = self._session, self.placed
        self.show = replace(self.show, region=session.region, native=session.native_shown, **changes)
        if placed is None or session.case is None or session.case.case_id != placed.case.case_id:
            return  # the case that was just opened is placed in a moment: its labels do not belong on this one
        if placed.grid is not None:
            order = display_order(placed.grid)
            self.display.ground = order.scale, order.translate
            rest(self._viewer.layers, *self.display.ground)
        case, second = placed.case, self._second
        labels = None if second is None else second.case.pred
        matched = self.match_look()
        arrays = specs(case, session.spec, self.show, pred_data=session.pred_data, second=labels)
        arrays = match_specs(arrays, matched, self.show)
        judged = alone(placed, second) if second is not None and self.show.of_second else placed
        flat = [*arrays, *contour_specs(case, judged, self.show)]
        self.display.apply(flat if self._solid is None else [replace(one, visible=False) for one in flat], turn)
        lines = [*vector_specs(placed, self.show), *second_vectors(second, placed, self.show)]
        self.vectors.apply(lines if self._solid is None else [replace(one, visible=False) for one in lines])
        self.marks.set_visible(self.show.mode != "off" and not self._held)
        self.overlay.set_banner(self._banner(case, placed))
        has_gt = (case.gt_native if self.show.native else case.gt or case.gt_native) is not None
        objects = session.spec.is_instances
        entries = match_legend(matched, self.show) or legend(
            self.show, has_gt=has_gt, has_pred=case.pred is not None, objects=objects
        )
        entries = merged([*entries, *vector_legend(placed, self.show)])
        entries = with_second(entries, second, session.source.model, self.show, named=not self._hides_names())
        self.overlay.set_legend(entries if self._solid is None else self._solid[1])
        self.show_corner()

    def _hides_names(self) -> bool:
        """Whether the reader is blinded to the open case: no model is called by its name."""
        return self._session.verdicts.hides_open(self._session.case)

    def _banner(self, case: Case, placed: Placed) -> str:
        session = self._session
        unscored = "" if session.can_score else session.spec.task_type
        lines = banner_text(
            case,
            native_shown=session.native_shown,
            unscored_task=unscored,
            notes=placed.notes,
            unpredicted=self._unpredicted.text(case),
        )
        shift = 0 if session.working is None else session.working.level_shift
        tried = banner_line(session.what_if, None if session.case is None else session.case.entry)
        name = "B" if self._hides_names() else f"B ({session.second.name})"
        second = f"{name}: {session.second.message}" * bool(session.second.message)
        return "\n".join(filter(None, [*working_lines(placed, self._tools, shift), tried, lines, second]))

    def cycle_mode(self) -> str:
        """Take the next of contours, fill, errors, off, and return its name."""
        self.look(mode=MODES[(MODES.index(self.show.mode) + 1) % len(MODES)])
        return self.show.mode

    def hide(self, hidden: bool) -> None:
        """Hide ground truth, prediction and errors, or show them as they were."""
        self._held = hidden
        self.look(hidden=self._hidden())

    def blink(self) -> str:
        """Show ground truth alone, then prediction alone, then both; return which."""
        self._blink = (self._blink + 1) % len(_BLINKS)
        self.look(hidden=self._hidden())
        return _BLINKS[self._blink][0]

    def cycle_second(self) -> str:
        """Look at both models, at the second alone, at the first alone; return which."""
        second = self._session.second
        if not second.is_on:
            return "no second prediction; the button below the list of cases opens one"
        first, other = f"A: {self._session.source.model or 'no predictions'}", f"B: {second.name}"
        if self._hides_names():
            first, other = "A", "B"
        shown = COMPARED[(COMPARED.index(self.show.second) + 1) % len(COMPARED)]
        self.show = replace(self.show, second=shown)
        self.look(hidden=self._hidden())
        names = {"both": f"{first} and {other}", "b": f"{other}, alone", "a": f"{first}, alone"}
        return names[shown]

    def follow_second(self) -> None:
        """Show a second model's prediction of the open case, or that it is gone."""
        if not self._session.second.is_on and self.show.second != "both":
            self.show = replace(self.show, second="both")
        self._place_second()
        self.look(hidden=self._hidden())

    def _place_second(self) -> None:
        second, placed = self._session.second, self.placed
        case = second.case
        there = case is not None and placed is not None and case.case_id == placed.case.case_id
        if not there:
            self._second = None
        elif self._second is None or self._second.case is not case:
            self._second = place_second(case, second.name, placed, self._session.spec)  # type: ignore[arg-type]

    def _hidden(self) -> frozenset[str]:
        """What is not drawn: all while a key is held, else what blinking and comparing leave out."""
        compared = {"both": frozenset(), "b": frozenset({"pred"}), "a": frozenset({"second"})}
        return _ALL if self._held else _BLINKS[self._blink][1] | compared[self.show.second]

    def toggle_others(self) -> str:
        """Show or hide the contours of structures that are not scored; return what is shown."""
        if self.placed is None or self.placed.others is None:
            return "no other structures"
        self.look(others=not self.show.others)
        return "other structures shown" if self.show.others else "other structures hidden"

    def next_window(self) -> None:
        """Take the next CT window preset; the cases to come keep it."""
        place = PRESETS.index(self.show.window) if self.show.window in PRESETS else -1
        self.look(window=PRESETS[(place + 1) % len(PRESETS)], limits=None)

    def next_channel(self) -> None:
        """Show the next image channel of the case."""
        names = list(self._session.case.channels) if self._session.case else []
        if len(names) > 1:
            place = names.index(self.show.channel) if self.show.channel in names else 0
            self.look(channel=names[(place + 1) % len(names)])

    # ---------------------------------------------------------------- what is said of the position

    def show_position(self) -> tuple[int, int] | None:
        """Write letters and slice number; return axis and displayed index, None while there is nothing to show."""
        dims = self._viewer.dims
        grid = None if self.placed is None else self.placed.grid
        if len(dims.order) != 3 or grid is None:
            return None
        self.vectors.follow()
        self.marks.follow()
        flat = dims.ndisplay == 2 and grid.has_world
        vertical, horizontal = (str(getattr(o, "value", o)) for o in self._viewer.scene.camera.orientation2d)
        self.overlay.set_letters(edge_letters(dims.order, vertical=vertical, horizontal=horizontal) if flat else None)
        self.overlay.set_scale_bar(grid.unit == "mm")
        self.show_corner()
        axis = dims.order[0]
        return axis, self.go.slice_place(axis)[0]

    def set_note(self, note: str) -> None:
        """Say something in the corner beside slice and window; empty for nothing."""
        if note != self._note:
            self._note = note
            self.show_corner()

    def readout_at(self, position: Any) -> str:
        """Return what lies at a displayed position of the canvas, in one line; in 3D nothing does."""
        return self.readout_of(position) if self._viewer.dims.ndisplay == 2 else ""

    def readout_of(self, position: Any) -> str:
        """Return what lies at a displayed position, in one line."""
        session, placed = self._session, self.placed
        if placed is None or len(position) != 3:
            return ""
        return readout(
            placed.case,
            session.spec,
            position,
            pred_data=session.pred_data,
            channel=self.show.channel,
            unit="HU" if self._has_hu() else "",
            placed=placed,
            second=None if self._second is None else self._second.case.pred,
        )

    def show_corner(self) -> None:
        """Write slice, channel and window as they are now; in three dimensions what is seen there."""
        if self._solid is not None:
            self.overlay.set_corner("\n".join(self._solid[0]))
            return
        dims, case = self._viewer.dims, self._session.case
        axis = dims.order[0]
        index, count = self.go.slice_place(axis) if len(dims.order) == 3 else (0, 0)
        lines = [
            slice_line(self.placed, axis, dims.point[axis], index, count),
            across_line(self.placed, axis, self.show),
            self._note,
        ]
        if left_out := self.vectors.n_left_out():
            lines.append(f"{left_out} contours more: too many to draw")
        channel = self.shown_channel()
        if case is not None and channel is not None and not case.channels[channel].rgb:
            low, high = self.display.layer(IMAGE_PREFIX + channel).contrast_limits  # type: ignore[union-attr]
            limits, alone = (float(low), float(high)), len(case.channels) == 1
            lines.append(channel_line(channel, limits, has_hu=self._has_hu(), alone=alone))
        self.overlay.set_corner("\n".join(filter(None, lines)))

    def shown_channel(self) -> str | None:
        """Return the channel of the open case that is seen; None where none is."""
        case = self._session.case
        for name in case.channels if case is not None else ():
            layer = self.display.layer(IMAGE_PREFIX + name)
            if layer is not None and layer.visible:
                return str(name)
        return None

    def _has_hu(self) -> bool:
        case = self._session.case
        if case is None:
            return False
        image = case.channels.get(self.show.channel or "") or case.first_image
        return image is not None and has_hu(image, self.show.modality)
