"""Save the review of a window to a file, take one up again, and copy the command that opens the place looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medotter_viewer.errors import MedotterViewerError, UsageError
from medotter_viewer.review.choices import named_reader
from medotter_viewer.review.places import SUFFIX as VERDICTS_SUFFIX
from medotter_viewer.session.deep_link import link_command
from medotter_viewer.session.resuming import fitting, second_again, source_again
from medotter_viewer.session.state_file import PATHS, SUFFIX, ReviewState, SavedView, read_state, write_state
from medotter_viewer.sources.opened_as import opened_as
from medotter_viewer.ui.options import MODES
from medotter_viewer.ui.preferences import read_preferences
from medotter_viewer.ui.saved_views import show_view, view_of
from medotter_viewer.ui.widgets.cases_compared import sorting_text, sortings

if TYPE_CHECKING:
    from medotter_viewer.ui.window import ReviewWindow

_FILTER = f"Saved review (*{SUFFIX});;All files (*)"


def state_of(window: ReviewWindow) -> ReviewState:
    """Return the review of a window as it is now.

    Raises
    ------
    UsageError
        If its cases are in no files.
    """
    session, show = window.session, window.looking.show
    path = session.verdicts.path
    return ReviewState(
        source=_source(window),
        hash=session.source.hash,
        name=session.source.name,
        split=window.split,
        case_id=session.current_id,
        region=session.region,
        view=_view(window),
        mode=show.mode,
        native=session.native_shown,
        window=show.window,
        limits=show.limits,
        channel=show.channel,
        filter=session.filter,
        worst_first=session.worst_first,
        verdicts=path if path.exists() else None,
    )


def save_review(window: ReviewWindow, path: Path | None = None) -> None:
    """Write the review of a window to a file, which is asked for where none is given, and say where."""
    state = state_of(window)
    if path is None:
        from qtpy.QtWidgets import QFileDialog

        main = window.viewer.window._qt_window
        named = QFileDialog.getSaveFileName(main, "Save the review", f"{state.name}{SUFFIX}", _FILTER)[0]
        window.focus_canvas()
        if not named:
            return
        path = Path(named)
    if path.suffix != ".json":
        path = path.with_name(path.name + SUFFIX)
    write_state(path, state)
    window.show_message(f"review saved to {path}: what was looked at and where, no edits")


def restore_review(window: ReviewWindow, path: Path | None = None) -> None:
    """Take up a saved review in this window in place of its own; one that cannot be opened leaves all as it is."""
    if path is None:
        from qtpy.QtWidgets import QFileDialog

        named = QFileDialog.getOpenFileName(window.viewer.window._qt_window, "Restore a review", "", _FILTER)[0]
        window.focus_canvas()
        if not named:
            return
        path = Path(named)
    if unwritten := window.session.edits.unwritten_ids:
        raise UsageError(f"edits of {', '.join(unwritten)} are in no file: save them first")
    from medotter_viewer.ui.window import open_window

    state = read_state(path)
    source, said = source_again(state, str(path))
    second, viewer = second_again(state, source), window.viewer
    once_done(lambda: open_window(source, viewer=viewer, second=second, state=fitting(state, source), say=said))


def begin(
    window: ReviewWindow,
    case_id: str | None,
    *,
    view: SavedView | None = None,
    state: ReviewState | None = None,
    predictor: tuple[Any, str] | None = None,
    say: Sequence[str] = (),
) -> None:
    """Set up a window that was just made as it was asked for, before its first case is there."""
    preferences = read_preferences(window.session.spec.task_type)
    chosen = {"reader": preferences.reader * (not named_reader()), "verdicts": preferences.verdicts}
    if any(chosen.values()):
        window.session.verdicts.choose(keep=False, **{key: value for key, value in chosen.items() if value})
    if predictor is not None:
        window.use_predictor(*predictor)
    if state is not None:
        say = [*say, *take_up(window, state)]
    elif view is not None:
        look_there(window, case_id, view)
    if say:
        window.show_message("; ".join(say), hold=True)


def take_up(window: ReviewWindow, state: ReviewState) -> list[str]:
    """Look at a review as somebody did who saved it, and return what is to be said.

    To be called before its case is there.
    """
    session, said = window.session, list[str]()
    session.set_filter(state.filter)
    if state.filter:
        said.append(f"filter {state.filter!r}: {len(session.rows)} of {session.n_cases} cases listed")
    if state.worst_first in (*session.metrics, *sortings(session)):
        session.sort_worst_first(state.worst_first)
        session.score_all()  # numbers are not in the file, and without any there is no order
        said.append(f"order: {sorting_text(state.worst_first or '')}; the listed cases are scored for it")
    elif state.worst_first is not None:
        said.append(f"the list was sorted by {state.worst_first!r}, which there is not now: it is as listed")
    session.show_native(state.native)
    changes: dict[str, Any] = {"mode": state.mode if state.mode in MODES else "contour"}
    if state.window is not None:
        changes["window"] = state.window
    window.looking.look(**changes, limits=state.limits, channel=state.channel)
    if state.verdicts is not None and state.verdicts.name.endswith(VERDICTS_SUFFIX):
        said.append(session.verdicts.write_to(state.verdicts))
    if state.view is not None:
        look_there(window, state.case_id, state.view)
    return said


def look_there(window: ReviewWindow, case_id: str | None, view: SavedView) -> None:
    """Show a place of a case as soon as it is open; nothing where another case is opened first."""
    events = window.session.events

    def on_case_changed(opened: Any) -> None:
        events.case_changed.disconnect(on_case_changed)
        if case_id is None or opened.case.case_id == case_id:
            placed = window.looking.placed
            if said := show_view(window.viewer, None if placed is None else placed.grid, view):
                window.show_message(said)

    events.case_changed.connect(on_case_changed)


def copy_link(window: ReviewWindow) -> str:
    """Put the command that opens this place on the clipboard, say so, and return it."""
    from qtpy.QtGui import QGuiApplication

    session, view = window.session, _view(window, crosshair=window.tools.planes.is_on)
    text = link_command(
        _source(window), split=window.split, case_id=session.current_id, region=session.region, view=view
    )
    clipboard = QGuiApplication.clipboard()
    if clipboard is not None:
        clipboard.setText(text)
    window.show_message(f"copied: {text}")
    return text


def once_done(call: Callable[[], object]) -> None:
    """Call something once what runs now has ended: it may take away the window's own panels."""
    from qtpy.QtCore import QTimer

    def guarded() -> None:
        try:
            call()
        except MedotterViewerError as error:
            from napari.utils.notifications import show_error

            show_error(str(error))

    QTimer.singleShot(0, guarded)


def _source(window: ReviewWindow) -> dict[str, Any]:
    """How the source was opened, with paths from the root."""
    source, second = window.session.source, window.session.second.source
    found = opened_as(source if second is None else second)
    if found is None:
        raise UsageError(f"{source.name}: its cases were not opened from files, so that nothing could open them again")
    return {
        key: str(Path(value).absolute()) if key in PATHS and value != "identity" else value
        for key, value in found.items()
    }


def _view(window: ReviewWindow, *, crosshair: bool = False) -> SavedView | None:
    placed = window.looking.placed
    return view_of(window.viewer, None if placed is None else placed.grid, crosshair=crosshair)
