"""What must be said about a case above its picture. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import OBLIQUE_DEG
from medotter_viewer.sources.folder_pairs import SHOWN_ONLY
from medotter_viewer.ui.placing import Placed

_SHOWN = frozenset(
    {
        "no-remap",
        "bad-remap",
        "grid-mismatch",
        "grid-nearly-equal",
        "resampled-prediction",
        "image-grid-differs",
        "qform-sform-differ",
        "fractional-labels",
        "missing-file",
        "unreadable-file",
        "no-ground-truth",
        "ambiguous-prediction",
        "unsafe-path",
        "no-entry",
        "no-form-codes",
        "split-clash",
    }
)


NO_PREDICTION = "no prediction for this case"


def banner_text(
    case: Case,
    *,
    native_shown: bool = False,
    unscored_task: str = "",
    notes: Sequence[str] = (),
    unpredicted: str = NO_PREDICTION,
) -> str:
    """Return the lines of the banner; empty when there is nothing to say.

    Parameters
    ----------
    case : Case
        The open case.
    native_shown : bool
        Whether the ground truth is shown in native ids by the user's choice.
    unscored_task : str
        Task type that no adapter scores. Without ground truth nothing is missing: the panel of scores says so once.
    notes : sequence of str
        What of the case is not drawn.
    unpredicted : str
        What is said of a case without a prediction, see `Unpredicted`.
    """
    shown_only = unscored_task == SHOWN_ONLY
    lines = [unscored_text(case, unscored_task)] if unscored_task and not shown_only else []
    grid = case.first_image.grid if case.first_image is not None else case.grid
    if grid is None and case.stack is not None:
        grid = case.stack.grid
    if grid is not None and grid.oblique_deg > OBLIQUE_DEG:
        lines.append(f"oblique by {grid.oblique_deg:.1f} deg: shown along its own axes")
    if native_shown and case.gt is not None:
        lines.append("ground truth in native ids, before the remap")
    lines += [_short(f.message, case.case_id) for f in case.findings if f.code in _SHOWN]
    contours = any(side is not None for side in (case.gt_contours, case.pred_contours))
    drawn = contours or any(part is not None for part in (case.gt_native, case.gt, case.gt_landmarks, case.pred))
    if not case.channels and drawn and not any("image" in line for line in lines):
        lines.append("no image")
    if contours and case.stack is None and case.grid is None:
        lines.append("where the slices lie is not known: they are shown in the order of their numbers")
    lines += notes
    if not shown_only and has_no_prediction(case) and not any("prediction" in line for line in lines):
        lines.append(unpredicted)
    return "\n".join(dict.fromkeys(lines))


def working_lines(placed: Placed, tools: str, level_shift: int) -> list[str]:
    """Return what is to be said of a prediction that is being changed.

    Parameters
    ----------
    placed : Placed
        What is drawn.
    tools : str
        How contours or points are changed, while they are; empty otherwise.
    level_shift : int
        By how many levels labels are moved as a what-if, positive towards the feet.
    """
    lines = []
    if tools:
        lines.append(f"editing {'points' if placed.pred_points else 'contours'}\n{tools}")
    if level_shift:
        levels = f"{abs(level_shift)} level{'s' * (abs(level_shift) > 1)}"
        lines.append(f"what if: labels moved by {levels} towards the {'feet' if level_shift > 0 else 'head'}")
    return lines


def unscored_text(case: Case | None, task_type: str) -> str:
    """Return why cases of a task type that no adapter scores are not scored, in one line."""
    if task_type != SHOWN_ONLY:
        return f"task type {task_type}: cases are shown, not scored"
    alone = case is not None and has_no_prediction(case)
    return f"{'image only' if alone else 'no ground truth'}: nothing to score"


def has_no_prediction(case: Case) -> bool:
    """Tell whether neither a file nor what was read of one is a prediction; contours without rings are one."""
    read = (case.pred, case.pred_landmarks, case.pred_contours)
    return case.entry.pred_path is None and all(part is None for part in read)


def case_line(case: Case) -> str:
    """Return what is open, in one line."""
    grid = case.grid or (None if case.stack is None else case.stack.grid)
    return case.case_id if grid is None else f"{case.case_id}  ·  {grid.describe()}"


def _short(message: str, case_id: str) -> str:
    """A message without the case's name, which stands in the title."""
    return message.removeprefix(f"case {case_id}: ")
