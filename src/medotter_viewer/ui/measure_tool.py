"""Drawing rulers and regions of interest on the canvas; they stay with their case until they are cleared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from medotter_viewer.ui.gestures import Gesture, Mouse
from medotter_viewer.ui.measuring import Mark, Shape

Place = tuple[int, tuple[float, float, float]]
"""Displayed axis across the slice that is shown, and displayed mm on it."""
HINTS: dict[Shape, str] = {
    "ruler": "ruler: drag, or click twice\nBackspace: undo · Esc: end",
    "ellipse": "ellipse: drag · R: rectangle\nBackspace: undo · Esc: end",
    "rectangle": "rectangle: drag\nBackspace: undo · R, Esc: end",
}


class MeasureTool(Gesture):
    """Which tool is on, what is being drawn, and what has been.

    Parameters
    ----------
    place_at : callable
        Takes the mouse and returns where on the slice it is; None where there is no slice.
    changed : callable
        Called when there is something else to draw.

    Attributes
    ----------
    tool : {"ruler", "ellipse", "rectangle"} or None
        The tool that is on.
    draft : Mark or None
        What is being drawn.
    """

    def __init__(self, place_at: Callable[[Mouse], Place | None], changed: Callable[[], None]) -> None:
        self._place_at, self._changed = place_at, changed
        self._marks: dict[str, list[Mark]] = {}
        self._case = ""
        self._pressed: Mouse | None = None
        self.tool: Shape | None = None
        self.draft: Mark | None = None

    @property
    def hint(self) -> str:
        """What the tool that is on does."""
        return HINTS[self.tool] if self.tool is not None else ""

    def marks(self) -> list[Mark]:
        """Return what has been drawn on the open case, and what is being drawn."""
        found = list(self._marks.get(self._case, ()))
        return [*found, self.draft] if self.draft is not None else found

    def open_case(self, case_id: str) -> None:
        """Show the marks of another case."""
        self._case, self.draft, self._pressed = case_id, None, None
        self._changed()

    def start(self, kind: Literal["ruler", "roi"]) -> None:
        """Take a tool in hand; the ruler again ends it, a region is an ellipse first, then a rectangle, then none."""
        if kind == "ruler":
            self._take(None if self.tool == "ruler" else "ruler")
        else:
            following: dict[Shape | None, Shape | None] = {"ellipse": "rectangle", "rectangle": None}
            self._take(following.get(self.tool, "ellipse"))

    def end(self) -> None:
        """Put the tool away."""
        self._take(None)

    def clear(self) -> int:
        """Forget all marks of the open case, and return how many there were."""
        count = len(self._marks.pop(self._case, ()))
        self.draft = None
        self._changed()
        return count

    def drop_draft(self) -> None:
        """Forget what is being drawn: its slice is shown no more."""
        if self.draft is not None:
            self.draft = None
            self._changed()

    def _take(self, tool: Shape | None) -> None:
        self.tool, self.draft, self._pressed = tool, None, None
        self._changed()

    # ---------------------------------------------------------------- the mouse

    def press(self, mouse: Mouse) -> bool:
        """Begin a mark, or end the one that was begun with a click."""
        if self.tool is None or mouse.button != "left" or mouse.modifiers:
            return False
        if self.draft is None:
            place = self._place_at(mouse)
            if place is None:
                return False
            self.draft = Mark(self.tool, place[0], place[1], place[1])
            self._pressed = mouse
        else:
            self._pressed = None
            self.hover(mouse)
        return True

    def move(self, mouse: Mouse) -> None:
        """Draw to where the mouse is."""
        self.hover(mouse)

    def hover(self, mouse: Mouse) -> None:
        """Draw to where the mouse is, with no button pressed between two clicks."""
        place = None if self.draft is None else self._place_at(mouse)
        if self.draft is not None and place is not None and place[0] == self.draft.axis:
            self.draft = Mark(self.draft.shape, self.draft.axis, self.draft.start_mm, place[1])
            self._changed()

    def release(self, mouse: Mouse) -> None:
        """Keep a mark that was dragged; after a mere click it goes on to the second one."""
        first, self._pressed = self._pressed, None
        if self.draft is None or (first is not None and not mouse.is_far_from(first)):
            return
        mark, self.draft = self.draft, None
        if mark.start_mm != mark.end_mm:
            self._marks.setdefault(self._case, []).append(mark)
        self._changed()

    def key(self, name: str) -> bool:
        """Esc puts the tool away, or what is being drawn; Backspace takes the last mark back."""
        if self.tool is None:
            return False
        if self.draft is not None:
            self.drop_draft()
        elif name == "escape":
            self.end()
        elif found := self._marks.get(self._case):
            found.pop()
            self._changed()
        return True


def in_plane(axis: int, position_mm: float, down_across: tuple[float, float]) -> tuple[float, float, float]:
    """Return displayed mm of a place on a slice."""
    point: list[Any] = list(down_across)
    point.insert(axis, position_mm)
    return (point[0], point[1], point[2])
