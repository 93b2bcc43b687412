"""The one table of keys: it says which there are, in which group, and what each does.

Keys are bound by `ui.keys`, shown by `ui.key_sheet`, and every action stands in a menu and in the command palette by
`ui.menus`. Also the place where our errors are caught when an action fails, and shown in the status line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.ui.choosing import choose_predictions
from medotter_viewer.ui.saved_reviews import copy_link, restore_review, save_review
from medotter_viewer.ui.taking_back import take_back

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow


Run = Callable[["ReviewWindow"], object]
Group = Literal["cases", "looking", "errors", "review", "editing", "window"]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do by a key, from the menu and from the command palette.

    Parameters
    ----------
    key : str
        As napari writes it; empty for what has none.
    title : str
        What it does; no two actions have the same.
    group : str
        One of `GROUPS`: what it is about.
    run : callable
        Takes the window.
    release : callable, optional
        For a key that is held: takes the window when it is let go.
    """

    key: str
    title: str
    group: Group
    run: Run
    release: Run | None = None


VERDICT_KEYS = tuple(f"F{number}" for number in range(1, 8))
"""The keys of verdicts, in the order of the reader's list."""


def verdict_title(action: Action, verdicts: Sequence[str]) -> str:
    """Return what an action does, with the word of the reader's list where it records a verdict.

    Examples
    --------
    >>> [verdict_title(action, ["fine"]) for action in ACTIONS if action.key in ("F1", "F2", "Q")]
    ['verdict: fine', 'verdict 2 of the list', 'comment on the middle of the picture']
    """
    place = VERDICT_KEYS.index(action.key) if action.key in VERDICT_KEYS else len(verdicts)
    return f"verdict: {verdicts[place]}" if place < len(verdicts) else action.title


def _verdict(place: int) -> Action:
    """The key of a verdict, by its place in the reader's list."""
    title = f"verdict {place + 1} of the list"
    return Action(VERDICT_KEYS[place], title, "review", lambda w: w.reviewing.judge_by_key(place))


ACTIONS: tuple[Action, ...] = (
    Action(",", "previous case", "cases", lambda w: w.session.step(-1)),
    Action(".", "next case", "cases", lambda w: w.session.step(1)),
    Action("U", "next case without a verdict", "cases", lambda w: w.reviewing.next_unreviewed()),
    Action("PageUp", "slice towards the head", "looking", lambda w: w.step_slice(-1)),
    Action("PageDown", "slice towards the feet", "looking", lambda w: w.step_slice(1)),
    Action("Home", "whole image", "looking", lambda w: w.display.fit()),
    Action("G", "contours / fill / errors / off", "looking", lambda w: w.cycle_mode()),
    Action(
        "H",
        "hide all overlays while held",
        "looking",
        lambda w: w.looking.hide(True),
        lambda w: w.looking.hide(False),
    ),
    Action("Tab", "blink ground truth / prediction / both", "looking", lambda w: w.blink()),
    Action("B", "with a second prediction: A and B / B alone / A alone", "looking", lambda w: w.cycle_second()),
    Action("W", "next window preset", "looking", lambda w: w.tools.window_level.next_preset()),
    Action("Shift-W", "next image channel", "looking", lambda w: w.looking.next_channel()),
    Action("X", "three planes and crosshair", "looking", lambda w: w.tools.toggle_planes()),
    Action("V", "surfaces in 3D / back to the slice", "looking", lambda w: w.surfaces.toggle()),
    Action("D", "ruler / end it", "looking", lambda w: w.tools.start_ruler()),
    Action("R", "region of interest: ellipse / rectangle / end it", "looking", lambda w: w.tools.start_region()),
    Action("Shift-D", "clear rulers and regions of the case", "looking", lambda w: w.tools.clear_marks()),
    Action(
        "Shift-N",
        "native / canonical ground truth",
        "looking",
        lambda w: w.session.show_native(not w.session.native_shown),
    ),
    Action("Shift-O", "contours of structures that are not scored", "looking", lambda w: w.toggle_others()),
    Action("8", "worst slice", "errors", lambda w: w.looking.go.to_worst_slice()),
    Action("9", "largest error", "errors", lambda w: w.largest_error()),
    Action("J", "next error", "errors", lambda w: w.step_error(1)),
    Action("K", "previous error", "errors", lambda w: w.step_error(-1)),
    Action("N", "what if this error were gone / end it", "errors", lambda w: w.walking.toggle_without()),
    Action("0", "arrow of hd95: go there / take it away", "errors", lambda w: w.walking.toggle_hd95()),
    Action("Y", "why the headline number is what it is", "errors", lambda w: w.tell_why()),
    *(_verdict(place) for place in range(len(VERDICT_KEYS))),
    Action("Q", "comment on the middle of the picture", "review", lambda w: w.reviewing.begin_comment()),
    Action("Shift-E", "edit predicted contours or points / end it", "editing", lambda w: w.editing.toggle()),
    Action("Control-Z", "take back a change, or the verdict just given", "editing", take_back),
    Action("Control-Shift-Z", "do it again", "editing", lambda w: w.editing.redo()),
    Action(
        "Shift-S",
        "save the edited prediction as a file of its own",
        "editing",
        lambda w: w.saving.ask(w.viewer.window._qt_window),
    ),
    Action("Shift-P", "predict this case / cancel", "editing", lambda w: w.predict()),
    Action("", "back to the prediction on file", "editing", lambda w: w.drop_prediction()),
    Action("Control-Shift-R", "save the review…", "window", lambda w: save_review(w)),
    Action("", "predictions of a model…", "window", choose_predictions),
    Action("", "restore a review…", "window", lambda w: restore_review(w)),
    Action("", "copy a link to this place", "window", lambda w: copy_link(w)),
    Action("", "about this review", "window", lambda w: w.docks.show("About")),
    Action("?", "show or hide the keys", "window", lambda w: w.toggle_help()),
)

MOUSE: tuple[tuple[str, str, Group], ...] = (
    ("wheel", "scroll slices", "looking"),
    ("Ctrl+wheel", "zoom", "looking"),
    ("Shift+right drag", "window and level; double click: as at first", "looking"),
)
"""What the mouse does on the canvas, and the group it is listed in."""

SHARED: Mapping[str, str] = {
    "B": "labels, shapes",
    "D": "shapes",
    "R": "shapes",
    "X": "labels, shapes",
    "Shift-P": "shapes",
    "Control-Z": "labels",
    "Control-Shift-Z": "labels",
}
"""Keys that tools of napari's own layers have too: while such a layer is selected, they are that layer's.

On images, whose tools are of no use in a review, a key of the table always does what the table says.
"""


def shown_key(key: str) -> str:
    """Return a key as people write it.

    Examples
    --------
    >>> shown_key("Control-Shift-Z"), shown_key("PageUp"), shown_key(",")
    ('Ctrl+Shift+Z', 'PgUp', ',')
    """
    short = {"Control": "Ctrl", "PageUp": "PgUp", "PageDown": "PgDn"}
    return "+".join(short.get(part, part) for part in key.split("-"))


def run_action(window: ReviewWindow, run: Run) -> None:
    """Run what an action does; an error of ours is shown, any other surfaces."""
    try:
        run(window)
    except MedotterViewerError as error:
        window.show_message(str(error))
