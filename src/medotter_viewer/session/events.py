"""What can happen to a review."""

from __future__ import annotations

from dataclasses import dataclass

from psygnal import Signal, SignalGroup

from medotter_viewer.core.case import Case
from medotter_viewer.session.foreseen import Foreseen


@dataclass(frozen=True, slots=True, eq=False)
class OpenedCase:
    """A case as it was opened.

    Parameters
    ----------
    case : Case
        As its files say.
    worst_slice : int or None
        The displayed slice to open on.
    axis : int
        Along which displayed axis.
    foreseen : Foreseen or None
        Its numbers, where it was read ahead: as far as they are found.
    """

    case: Case
    worst_slice: int | None
    axis: int = 0
    foreseen: Foreseen | None = None


class SessionEvents(SignalGroup):
    """What happened to a session; every signal is emitted on the main thread."""

    loading_started = Signal(str)  # case id
    case_changed = Signal(object)  # OpenedCase
    prediction_changed = Signal()  # contours, points or labels of the open case's prediction are others than before
    edits_written = Signal()  # a file holds now what was edited
    what_if_changed = Signal()  # another remap is tried, or the open case's ground truth under it is there
    overall_changed = Signal()  # what the tried remap does to the means over all cases
    scores_changed = Signal(object)  # CaseScore of the open case, or None; dice first, hd95 as it arrives
    scoring_changed = Signal(bool)  # whether the open case is being scored
    rows_changed = Signal()  # which rows, or their order
    row_changed = Signal(str)  # case id whose score is new
    progress_changed = Signal(int, int)  # cases done and all, while the whole split is scored; (0, 0) at its end
    region_changed = Signal(object)  # region name or None
    native_shown_changed = Signal(bool)
    profile_changed = Signal(object)  # SliceProfile or None
    failed = Signal(str)  # message for the status line
