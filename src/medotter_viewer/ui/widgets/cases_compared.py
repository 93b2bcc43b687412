"""What the list of cases says beyond a model's own numbers: what a case costs, and what a second model scores."""

from __future__ import annotations

import math

from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.loss import IDEALS, Losses
from medotter_viewer.session.case_list import GAIN, LOSS, SECOND, WORST_FOR_A, WORST_FOR_B, CaseRow
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.why_means import headline_parts, slant_reason

_MOST_DECIMALS, _DIGITS = 6, 3
_LENGTHS = ("hd95", "hd", "d_mean")
SORTINGS = {
    LOSS: "costs the headline most first",
    WORST_FOR_B: "B−A, worst for B first",
    WORST_FOR_A: "A−B, worst for A first",
}
"""What the list can be sorted by besides its metrics."""


def sortings(session: ReviewSession) -> list[str]:
    """Return what of `SORTINGS` there is something to sort by."""
    loss = [LOSS] * (session.can_score and session.spec.headline.metric in IDEALS)
    return loss + [WORST_FOR_B, WORST_FOR_A] * session.second.is_on


def sorting_text(key: str) -> str:
    """Return what a sorting is called."""
    return SORTINGS.get(key, f"worst {key} first")


# ---------------------------------------------------------------- what a case costs


def loss_columns(session: ReviewSession) -> list[Column]:
    """Return the column of losses; none before anything is scored that the headline is of."""
    found, head = session.losses, session.spec.headline
    if not found.by_case or found.headline is None or found.ideal is None:
        return []
    unit = "[mm]" if head.metric in _LENGTHS else "points" if session.spec.scale != 1 else head.metric
    places = loss_decimals(found)
    texts = [f"{value:.{places}f}" for value in (found.headline, found.ideal, found.total)]
    why = (
        f"what each case takes from the headline, {head.metric} of {head.region}: {texts[0]} over "
        f"{len(found.by_case)} cases, best possible {texts[1]}; all losses add up to the difference, {texts[2]}; "
        "click to sort"
    )
    return [Column(f"loss\n{unit}", why, numeric=True)]


def loss_cell(row: CaseRow, found: Losses) -> Cell:
    """Return what a case costs; a dash, which is not 0, for one that does not enter the headline."""
    value = row.values.get(LOSS)
    if value is None:
        scored = row.score is not None and row.score.status == "scored"
        return Cell(NOTHING, "does not enter the headline, or not counted yet" * scored, "quiet")
    share = value / found.total if found.total else 0.0
    return Cell(f"{value:.{loss_decimals(found)}f}", f"{share:.1%} of what the headline lacks")


def loss_decimals(found: Losses) -> int:
    """Return with how many decimals losses are written: three digits of the largest.

    Examples
    --------
    >>> loss_decimals(Losses({"1": 0.0123, "2": 0.0004})), loss_decimals(Losses({"1": 120000.0}))
    (4, 0)
    """
    most = max(found.by_case.values(), default=0.0)
    return min(_MOST_DECIMALS, max(0, _DIGITS - 1 - math.floor(math.log10(most)))) if most > 0 else _DIGITS


# ---------------------------------------------------------------- a second model


def short_name(metric: str) -> str:
    """Return what a metric is called in a narrow column."""
    return metric.removeprefix("scan_")


def compared_metrics(session: ReviewSession) -> tuple[str, ...]:
    """Return the first model's metrics in the list: beside a second model the headline's alone, for want of room."""
    return (session.spec.headline.metric,) if second_columns(session) else session.metrics


def second_columns(session: ReviewSession) -> list[Column]:
    """Return the columns of the second model: its value of the headline metric, and what it gains."""
    if not session.second.is_on or not session.metrics:
        return []
    metric, name = session.spec.headline.metric, session.second.name
    first = session.source.model or "no predictions"
    better = "less" if IDEALS.get(metric) == 0 else "more"
    return [
        Column(f"B\n{short_name(metric)}", f"{metric} of B: {name}", numeric=True),
        Column("B−A", f"{metric} of {name} minus that of {first}; {better} is better; click to sort", numeric=True),
    ]


def second_cells(row: CaseRow, session: ReviewSession) -> list[Cell]:
    """Return the cells of the second model; what it has no file for shows before it is opened."""
    second = session.second
    if not second.is_on:
        return []
    metric, score, value = session.spec.headline.metric, second.scores.get(row.case_id), row.values.get(SECOND)
    if not second.is_predicted(row.case_id) and value is None:
        found = [f.message for f in second.entry(row.case_id).findings if f.code == "ambiguous-prediction"]
        why = found[0] if found else f"{second.name} has no prediction for {row.case_id}"
        return [Cell("none", why, "error" if found else "quiet", word=True), Cell(NOTHING, why, "quiet")]
    if score is not None and score.status == "error":
        return [Cell("error", score.message or "", "error", word=True), Cell(NOTHING, score.message or "", "quiet")]
    if value is None:
        return [Cell(NOTHING, "not scored yet" * (score is None), "quiet"), Cell(NOTHING, tone="quiet")]
    gain = row.values.get(GAIN)
    region = score.regions.get(session.spec.headline.region) if score is not None else None
    own = region.shown(metric) if region is not None else None
    capped = own is not None and own.status == "cap"
    text = metric_text(metric, own).split(" (")[0] if capped else number_text(metric, value)
    gained = Cell(NOTHING, tone="quiet") if gain is None else Cell(gain_text(metric, gain))
    slanted = slant(score, session.spec, metric)
    why = "\n".join(part for part in (f"{second.name}: {metric} {text}", slanted) if part)
    return [Cell(text, why, "quiet" if capped else "plain", italic=bool(slanted)), gained]


def slant(score: CaseScore | None, spec: EvalSpec, metric: str) -> str:
    """Return why a case's number in the list is slanted; empty where it is no mean, or none with a value of a rule."""
    parts = None if score is None else headline_parts(score, spec, metric)
    return "" if parts is None else slant_reason(parts, metric)


def gain_text(metric: str, gain: float) -> str:
    """Return a difference with its sign; what rounds to nothing has none.

    Examples
    --------
    >>> gain_text("dice", 0.0412), gain_text("dice", -0.5), gain_text("hd95", 0.0)
    ('+0.041', '−0.500', '0.00')
    """
    text = number_text(metric, abs(gain))
    if not text.strip("0."):
        return text
    return f"{'−' if gain < 0 else '+'}{text}"
