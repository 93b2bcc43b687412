"""Ctrl+Z on the canvas: the last thing done to the open case, one at a time, whether it was drawn or said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow

NOTHING = "nothing to take back on this case"


def take_back(window: ReviewWindow) -> None:
    """Take back the verdict or comment just given, else the last stroke or change of the open case, and say which.

    What was said of another case, or before the last change, is not taken back from here: the line tells how.
    """
    if window.reviewing.take_back_if_last() or window.editing.undo():
        return
    last = window.session.verdicts.last_words
    how = f": Q, then Ctrl+Z in the empty field, takes back the {last}" if last else ""
    window.show_message(f"{NOTHING}{how}", hold=True)
