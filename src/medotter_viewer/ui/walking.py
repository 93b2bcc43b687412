"""Walking in the window: going to errors and to the ends of hd95, marking them, and saying what is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.metrics.hausdorff import PercentilePair
from medotter_viewer.scoring.error_items import ErrorItem
from medotter_viewer.scoring.hd95_pair import Hd95Pairs
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui import error_words
from medotter_viewer.ui.looking import Looking
from medotter_viewer.ui.marks import ArrowMark, BoxMark
from medotter_viewer.ui.reviewing import BLINDED

ARROW_COLOR = "#FFFFFF"
_DECIDES_PX, _OTHER_PX = 3.2, 1.4


class Walking:
    """What keys and rows that lead to errors and distances do.

    Parameters
    ----------
    viewer : ViewerModel
        Where.
    session : ReviewSession
        Whose errors.
    looking : Looking
        What is shown.
    say : callable
        Says something in the status line.
    show_panel : callable
        Brings the panel of errors to the front.
    is_blinded : callable
        Whether numbers of the open case must not be seen yet.
    """

    def __init__(
        self,
        viewer: Any,
        session: ReviewSession,
        looking: Looking,
        say: Callable[[str], None],
        show_panel: Callable[[], None],
        *,
        is_blinded: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_blinded = is_blinded
        self._viewer, self._session, self._looking = viewer, session, looking
        self._say, self._show_panel = say, show_panel
        errors, pair = session.errors.events, session.hd95_pair.events
        errors.said.connect(self._say_it)
        errors.gone_to.connect(self._on_gone_to)
        errors.current_changed.connect(self.mark)
        errors.changed.connect(self.mark)
        pair.said.connect(self._say_it)
        pair.changed.connect(self.mark)
        pair.found.connect(self._on_pair_found)

    def toggle_hd95(self) -> None:
        """Go to the arrow of hd95, and draw it; where it is looked at already take it away."""
        pair = self._session.hd95_pair
        marks = self._arrows()
        if self._is_blinded():
            self._say(BLINDED)
        elif pair.is_on and marks and self._looking.marks.is_seen(marks[-1]):
            pair.hide()
            self._say("hd95 arrow hidden")
        else:
            pair.show()

    def toggle_without(self) -> None:
        """Begin or end the what-if without the error that is looked at, in front of its numbers."""
        if self._is_blinded():
            self._say(BLINDED)
            return
        self._session.errors.toggle_without()
        without = self._session.errors.without
        if without is not None:
            self._show_panel()
            self._say(error_words.what_if_line(without.item))

    def mark(self) -> None:
        """Mark the error that is looked at and the ends of hd95, or nothing."""
        grid = self._grid()
        if grid is None:
            return
        order = display_order(grid)
        shape = [grid.shape[axis] for axis in order.axes]
        box, current = [], self._session.errors.current
        if current is not None:
            low, high = self._box(current, grid)
            box = [BoxMark(np.minimum(low, high), np.maximum(low, high), error_words.COLORS[current.kind])]
        self._looking.marks.set_marks([*box, *self._arrows()], order.scale, order.translate, shape)
        self.follow()

    def follow(self) -> None:
        """Say in the corner where the ends of the arrow are."""
        grid, pairs = self._grid(), self._session.hd95_pair.pairs
        note = ""
        if grid is not None and pairs is not None and self._viewer.dims.ndisplay == 2 and not self._is_blinded():
            axis = self._viewer.dims.order[0]
            note = error_words.hd95_note(pairs, grid, axis, self._looking.go.slice_place(axis)[0])
        self._looking.set_note(note)

    # ---------------------------------------------------------------- what happened

    def _say_it(self, text: str) -> None:
        self._say(text)

    def _on_gone_to(self, item: ErrorItem) -> None:
        grid, shown = self._grid(), self._session.errors.shown
        if grid is None:
            return
        self._looking.go.to_box(item.piece.voxel, *_corners(item))
        place = [one.place for one in shown].index(item.place) + 1
        found = self._session.errors.items
        left_out = 0 if found is None else found.n_left_out
        line = error_words.item_line(item, place, len(shown), left_out)
        self._say(f"error {place}; {BLINDED}" if self._is_blinded() else line)

    def _on_pair_found(self, pairs: Hd95Pairs) -> None:
        grid = self._grid()
        if grid is None:
            return
        (_, start), (_, end) = error_words.ends(pairs.deciding)
        self._looking.go.to_box(start, np.minimum(start, end).tolist(), np.maximum(start, end).tolist())
        axis = self._viewer.dims.order[0]
        self._say(error_words.hd95_line(pairs, grid, axis, self._session.options.hd95))

    # ---------------------------------------------------------------- where

    def _grid(self) -> Grid | None:
        case = self._session.case
        return None if case is None or case.gt is None else case.gt.grid

    def _arrows(self) -> list[ArrowMark]:
        """The arrows of both directions, the deciding one last."""
        grid, pairs = self._grid(), self._session.hd95_pair.pairs
        if grid is None or pairs is None:
            return []
        widths = ((pairs.other, _OTHER_PX), (pairs.deciding, _DECIDES_PX))
        return [self._arrow(pair, grid, width) for pair, width in widths]

    def _arrow(self, pair: PercentilePair, grid: Grid, width_px: float) -> ArrowMark:
        order = display_order(grid)
        start, end = (order.displayed_index(voxel, grid.shape) for _, voxel in error_words.ends(pair))
        return ArrowMark(start, end, ARROW_COLOR, width_px)

    def _box(self, item: ErrorItem, grid: Grid) -> NDArray[np.float64]:
        return display_order(grid).displayed_index(np.array(_corners(item)), grid.shape)


def _corners(item: ErrorItem) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First and last voxel of a piece's box."""
    return tuple(low for low, _ in item.piece.box), tuple(high - 1 for _, high in item.piece.box)
