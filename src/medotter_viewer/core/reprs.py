"""Values as words, tables and small HTML: what a notebook shows of them. Everything from a file is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from medotter_viewer.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd

    from medotter_viewer.core.scores import MetricValue

IMAGE_DIAGONAL = "image_diagonal"
"""Rule of a cap that no table sets."""
UNEVEN_SLICES = "uneven_slices"
"""Rule of a distance that is not computed: no one step holds between all slices."""
NOT_PLACED = "not_placed"
"""Rule of what is not computed: the region is drawn, but none of its contours lies on the image."""
NO_PIXEL = "no_pixel_centre"
"""Rule of what is not computed: the region is drawn, but its contours are so small that they hold no pixel centre."""
NO_OUTLINE = "no_outline"
"""Rule of what is not computed: the region is points or open lines alone, as a marker is."""
NOT_REMEMBERED = "not_remembered"
"""Rule of a distance that a what-if leaves out: it was never measured for these ids, and no other stands in for it."""
NOTHING = "–"
"""Stands where there is no value."""

_DECIMALS = {"hd95": 2, "hd": 2, "d_mean": 2}
_COUNTS = frozenset({"tp", "fp", "fn", "n_missing", "n_extra"})
_UNITS = {"hd95": "mm", "hd": "mm"}
_NOT_COMPUTED = {
    UNEVEN_SLICES: "not defined (uneven slices)",
    NOT_PLACED: "not scored (contours not placed)",
    NO_PIXEL: "not scored (no pixel centre inside)",
    NO_OUTLINE: "not scored (no outline)",
    NOT_REMEMBERED: "not computed",
}
_LEFT, _RIGHT = "text-align:left", "text-align:right"


def metric_header(metric: str) -> str:
    """Return the name of a metric with its unit, for a column's header.

    Examples
    --------
    >>> metric_header("hd95"), metric_header("dice")
    ('hd95 (mm)', 'dice')
    """
    return f"{metric} ({_UNITS[metric]})" if metric in _UNITS else metric


def number_text(metric: str, value: float | None) -> str:
    """Return a plain number with the digits its metric deserves; an en dash for None."""
    if value is not None and metric in _COUNTS:  # means of counts have decimals
        return f"{round(value, 2):.10g}"
    return NOTHING if value is None else f"{value:.{_DECIMALS.get(metric, 3)}f}"


def metric_text(metric: str, value: MetricValue | None) -> str:
    """Return a value in words: a bare number only where it was computed; an en dash for None.

    Examples
    --------
    >>> from medotter_viewer.core.scores import MetricValue
    >>> metric_text("hd95", MetricValue(373.13, "cap", "gt_nonempty_pred_empty"))
    'cap 373.13 (spec)'
    >>> metric_text("dice", MetricValue(1.0, "absent", "both_empty")), metric_text("dice", MetricValue(0.5))
    ('absent in both', '0.500')
    >>> metric_text("hd95", MetricValue(None, "error", "uneven_slices"))
    'not defined (uneven slices)'
    >>> metric_text("dice", MetricValue(None, "error", "not_placed"))
    'not scored (contours not placed)'
    """
    if value is None:
        return NOTHING
    if value.status == "ok":
        return number_text(metric, value.value)
    if value.status == "cap":
        rule = "image diagonal" if value.rule == IMAGE_DIAGONAL else "spec"
        return f"cap {value.value:g} ({rule})"
    if value.rule in _NOT_COMPUTED:
        return _NOT_COMPUTED[value.rule]
    return {"absent": "absent in both", "not_labelled": "not labelled"}.get(value.status, value.status)


def html_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", notes: Sequence[str] = ()
) -> str:
    """Return a small table, first column left-aligned, the others right-aligned, and notes below; all escaped."""
    head = "".join(f"<th style='{_RIGHT if i else _LEFT}'>{escape(name)}</th>" for i, name in enumerate(header))
    body = "".join(
        "<tr>" + "".join(f"<td style='{_RIGHT if i else _LEFT}'>{escape(c)}</td>" for i, c in enumerate(row)) + "</tr>"
        for row in rows
    )
    title = f"<caption style='{_LEFT}'>{escape(caption)}</caption>" if caption else ""
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def html_pairs(pairs: Mapping[str, str], caption: str = "", notes: Sequence[str] = ()) -> str:
    """Return a table of names and what they hold, and notes below; all escaped."""
    rows = "".join(
        f"<tr><th style='{_LEFT}'>{escape(name)}</th><td style='{_LEFT}'>{escape(text)}</td></tr>"
        for name, text in pairs.items()
    )
    title = f"<caption style='{_LEFT}'>{escape(caption)}</caption>" if caption else ""
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<table>{title}<tbody>{rows}</tbody></table>{below}"


def to_dataframe(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return flat rows as a pandas table.

    Raises
    ------
    MissingDependencyError
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError("to_dataframe() needs pandas: pip install 'medotter-viewer[notebook]'") from error
    return pd.DataFrame(list(rows))
