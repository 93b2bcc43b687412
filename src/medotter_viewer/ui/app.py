"""Open the viewer from the command line: until it is closed, or for one picture."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from medotter_viewer.errors import MedotterViewerError, MissingDisplayError, ReadError, WriteError
from medotter_viewer.session.state_file import ReviewState, SavedView
from medotter_viewer.sources.source import CaseSource, Split
from medotter_viewer.ui.screen import fit_screen, no_display

_PATIENCE_S = 120.0
_FRAMED_MS = 300  # after which a window has its frame


def run_window(
    source: CaseSource | None,
    *,
    case_id: str | None = None,
    region: str | None = None,
    split: Split = "all",
    screenshot: Path | None = None,
    second: CaseSource | None = None,
    view: SavedView | None = None,
    state: ReviewState | None = None,
    predictor: tuple[Any, str] | None = None,
    say: Sequence[str] = (),
) -> int:
    """Show the window and return the exit status when it is closed.

    Parameters
    ----------
    source : CaseSource or None
        The cases; None opens an empty viewer, onto which a bundle folder can be dropped.
    case_id, region : str, optional
        Opened first, and looked at alone.
    split : {"all", "test", "train"}
        Which cases are listed.
    screenshot : Path, optional
        A picture of the whole window is written here once the case is scored, and the window closes.
    second : CaseSource, optional
        The same cases with another model's predictions.
    view : SavedView, optional
        Place of the case that is shown first.
    state : ReviewState, optional
        A saved review that is taken up.
    predictor : (object, str), optional
        A model that predicts on request, and what it is called.
    say : sequence of str
        What is to be said first.

    Raises
    ------
    MissingDisplayError
        If there is no screen.
    ReadError
        If a picture is asked for and nothing of the case can be shown.
    WriteError
        If the picture cannot be written.
    """
    if (reason := no_display()) is not None:
        raise MissingDisplayError(
            f"no window can be drawn: {reason}; without a screen run it under xvfb-run, or use 'medotter-viewer score'"
        )
    import napari
    from qtpy.QtCore import QTimer

    from medotter_viewer.ui.collecting import this_process_is_ours
    from medotter_viewer.ui.plain_napari import keep_colors_plain
    from medotter_viewer.ui.window import open_window

    this_process_is_ours()

    if source is None:
        keep_colors_plain()
        napari.Viewer(title="medotter_viewer")
        napari.run()
        return 0
    window = open_window(
        source,
        case_id=case_id,
        region=region,
        split=split,
        second=second,
        view=view,
        state=state,
        predictor=predictor,
        say=say,
    )
    if screenshot is None:
        framed = QTimer(window.viewer.window._qt_window, singleShot=True, interval=_FRAMED_MS)
        framed.timeout.connect(lambda: fit_screen(framed.parent()))
        framed.start()
        napari.run()
        return 0
    try:
        wait_until_scored(window)
        check_shown(window)
        save_screenshot(window.viewer, screenshot)
    finally:
        window.close()
        window.viewer.close()
    print(screenshot)  # noqa: T201 - the command's output
    return 0


def wait_until_scored(window: Any, patience_s: float = _PATIENCE_S) -> None:
    """Process events until the case is open and scored.

    Raises
    ------
    MedotterViewerError
        If that takes longer than `patience_s`.
    """
    from qtpy.QtWidgets import QApplication

    idle = [not window.session.can_score]

    def on_scoring(scoring: bool) -> None:
        idle[0] = not scoring

    window.session.events.scoring_changed.connect(on_scoring)
    end = time.monotonic() + patience_s
    while window.session.opened is None or not idle[0] or not window.session.second.is_settled:
        QApplication.processEvents()
        time.sleep(0.01)
        if time.monotonic() > end:
            raise MedotterViewerError(f"case {window.session.current_id}: not scored within {patience_s:.0f} s")
    settle = time.monotonic() + 0.6
    while time.monotonic() < settle:  # the plot and the layers' last redraw
        QApplication.processEvents()
        time.sleep(0.01)


def check_shown(window: Any) -> None:
    """Refuse a picture of an open case of which nothing can be drawn.

    Raises
    ------
    ReadError
        With what was met while its files were read.
    """
    case, placed = window.session.case, window.looking.placed
    if case is not None and placed is not None and placed.grid is None:
        reasons = "; ".join(dict.fromkeys(f.message for f in case.findings)) or "no file is named"
        raise ReadError(f"case {case.case_id}: nothing to show: {reasons}")


def save_screenshot(viewer: Any, path: Path) -> None:
    """Write a picture of the whole window.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        viewer.screenshot(str(path), canvas_only=False, flash=False)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
