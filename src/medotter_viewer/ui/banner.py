"""What must be said about a case above its picture. Pure."""

from __future__ import annotations

from medotter_viewer.core.case import Case

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
_OBLIQUE_DEG = 0.1


def banner_text(case: Case, *, native_shown: bool = False, unscored_task: str = "") -> str:
    """Return the lines of the banner; empty when there is nothing to say.

    Parameters
    ----------
    case : Case
        The open case.
    native_shown : bool
        Whether the ground truth is shown in native ids by the user's choice.
    unscored_task : str
        Task type that no adapter scores.
    """
    lines = [f"task type {unscored_task}: cases are shown, not scored"] if unscored_task else []
    grid = case.first_image.grid if case.first_image is not None else case.grid
    if grid is not None and grid.oblique_deg > _OBLIQUE_DEG:
        lines.append(f"oblique by {grid.oblique_deg:.1f} deg: shown along its own axes")
    if native_shown and case.gt is not None:
        lines.append("ground truth in native ids, before the remap")
    lines += [_short(f.message, case.case_id) for f in case.findings if f.code in _SHOWN]
    if case.entry.pred_path is None and not any("prediction" in line for line in lines):
        lines.append("no prediction for this case")
    return "\n".join(dict.fromkeys(lines))


def case_line(case: Case) -> str:
    """Return what is open, in one line."""
    return case.case_id if case.grid is None else f"{case.case_id}  ·  {case.grid.describe()}"


def _short(message: str, case_id: str) -> str:
    """A message without the case's name, which stands in the title."""
    return message.removeprefix(f"case {case_id}: ")
