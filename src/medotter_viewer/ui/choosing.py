"""A review without predictions: what is said of it, and how it gets some, in the same window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from medotter_viewer.core.case import Case
from medotter_viewer.errors import UsageError
from medotter_viewer.session.resuming import fitting, second_again
from medotter_viewer.sources.opened_as import opened_as
from medotter_viewer.sources.opening_again import open_again
from medotter_viewer.sources.other_predictions import meant_text
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.ui.banner import NO_PREDICTION, has_no_prediction

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow

NONE_OPEN = 'no predictions are open: "Predictions…" below the list of cases opens a folder of them'
_TITLE = "Folder of the model's predictions"


class Unpredicted:
    """What is said of cases without a prediction.

    Parameters
    ----------
    source : CaseSource
        Of the review.
    """

    def __init__(self, source: CaseSource) -> None:
        self._source = source
        self._meant: str | None = None

    def text(self, case: Case) -> str:
        """Return that a case has no prediction, where it was looked for, and what to do; empty for one that has."""
        if not has_no_prediction(case):
            return ""
        if self._source.model is None:
            return NO_PREDICTION if opened_as(self._source) is None else NONE_OPEN
        if self._meant is None:  # folders are listed once
            self._meant = meant_text(self._source)
        sought = f", looked for {case.entry.pred_sought}" if case.entry.pred_sought else ""
        return "; ".join(filter(None, [NO_PREDICTION + sought, self._meant]))


def choose_predictions(window: ReviewWindow, folder: Path | None = None) -> None:
    """Open the review anew with a folder of predictions, which is asked for where none is given.

    Case, place, list and second prediction stay as they are. Verdicts are those on these predictions.

    Raises
    ------
    UsageError
        If the folder holds a prediction for none of the cases, or edits were not saved; all stays as it is.
    """
    from medotter_viewer.ui.saved_reviews import once_done, state_of

    if unwritten := window.session.edits.unwritten_ids:
        raise UsageError(f"edits of {', '.join(unwritten)} are in no file: save them first")
    if folder is None:
        from qtpy.QtWidgets import QFileDialog

        named = QFileDialog.getExistingDirectory(window.viewer.window._qt_window, _TITLE)
        window.focus_canvas()
        if not named:
            return
        folder = Path(named)
    from medotter_viewer.ui.window import open_window

    source = open_again(window.session.source, folder)
    state, viewer = state_of(window), window.viewer
    second = second_again(state, source)
    kept = fitting(replace(state, verdicts=None), source)
    once_done(lambda: open_window(source, viewer=viewer, second=second, state=kept))
