"""The cases of a review with what is known of each, filtered and sorted: pure, so that a table is only a view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.aggregate import headline_value
from medotter_viewer.evaluation.loss import IDEALS
from medotter_viewer.scoring.registry import ADAPTERS
from medotter_viewer.sources.folder_pairs import SHOWN_ONLY
from medotter_viewer.sources.other_predictions import is_predicted

LOSS, SECOND, GAIN = "loss", "B", "B−A"
"""Values beside the metrics: what a case costs the headline, the second model's headline value, what that gains."""
WORST_FOR_A, WORST_FOR_B = "worst for A", "worst for B"
"""How much better a model is than the other, whether more or less is better: to sort by."""
HIGHER_IS_WORSE = frozenset({*(metric for metric, best in IDEALS.items() if best == 0), LOSS})
FILTER_FIELDS = ("dataset", "split", "tier", "status", "case", "verdict", "reviewed")


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One line of the case list.

    Parameters
    ----------
    entry : CaseEntry
        What is known without opening a file.
    score : CaseScore or None
        None until it is scored.
    status : str
        In words: ``scored``, ``not scored yet``, ``no prediction``, ``missing file``, ``error``;
        empty where there is no ground truth to score against.
    values : mapping of str to float or None
        The headline region's value of each metric, and of what else can be sorted by (`LOSS`, with a second model
        `SECOND`, `GAIN`, `WORST_FOR_A`, `WORST_FOR_B`); None where there is none.
    verdict : str
        The reader's; empty where the case is not reviewed.
    """

    entry: CaseEntry
    score: CaseScore | None
    status: str
    values: Mapping[str, float | None]
    verdict: str = ""

    @property
    def case_id(self) -> str:
        """Full id."""
        return self.entry.case_id


def listed_metrics(spec: EvalSpec) -> tuple[str, ...]:
    """Return the metrics that the list shows; none without ground truth."""
    if spec.task_type == SHOWN_ONLY:
        return ()
    adapter = ADAPTERS.get(spec.task_type)
    known = adapter.shown(spec) if adapter else spec.metrics
    return tuple(m for m in spec.metrics if m in known) or known[:1]


def is_to_be_scored(score: CaseScore | None) -> bool:
    """Tell whether a case is worth another try: not scored yet, or an error, whose files may have been mended."""
    return score is None or score.status == "error"


def case_row(entry: CaseEntry, score: CaseScore | None, spec: EvalSpec, metrics: Sequence[str]) -> CaseRow:
    """Return the line of one case."""
    values = {m: headline_value(score, spec, m) for m in metrics} if score is not None else dict.fromkeys(metrics)
    return CaseRow(entry, score, _status(entry, score, spec), values)


def second_values(first: CaseScore | None, second: CaseScore | None, spec: EvalSpec) -> dict[str, float | None]:
    """Return what a second model scores on a case, and how much better each of the two is.

    Parameters
    ----------
    first, second : CaseScore or None
        Of the two models; None until it is scored.
    spec : EvalSpec
        Names the headline that is compared.

    Returns
    -------
    dict
        The first's value, `SECOND` and `GAIN` in the metric's unit; `WORST_FOR_B` and `WORST_FOR_A` so that the lowest
        is the worst for that model. None where a value is missing: not scored, not labelled.
    """
    metric = spec.headline.metric
    a, b = (None if score is None else headline_value(score, spec, metric) for score in (first, second))
    gain = None if a is None or b is None else b - a
    better = None if gain is None else -gain if metric in HIGHER_IS_WORSE else gain
    return {metric: a, SECOND: b, GAIN: gain, WORST_FOR_B: better, WORST_FOR_A: None if better is None else -better}


def arrange(rows: Iterable[CaseRow], *, text: str = "", worst_first: str | None = None) -> list[CaseRow]:
    """Return the rows that match a filter, in the manifest's order or worst first.

    Parameters
    ----------
    rows : iterable of CaseRow
        In the manifest's order.
    text : str
        Words that must all be found: ``dataset:BTCV``, ``split:``, ``tier:``, ``status:``, ``case:``, ``verdict:`` look
        in that field, others in all of them; ``reviewed:yes`` or ``reviewed:no``. Case does not matter.
    worst_first : str, optional
        Metric, or other value, to sort by. Cases without a value come last, in the manifest's order: not scored is
        not zero.
    """
    kept = [row for row in rows if all(_matches(row, word) for word in text.lower().split())]
    if worst_first is None:
        return kept
    sign = -1.0 if worst_first in HIGHER_IS_WORSE else 1.0

    def key(row: CaseRow) -> tuple[int, float]:
        value = row.values.get(worst_first)
        return (1, 0.0) if value is None else (0, sign * value)

    return sorted(kept, key=key)


def filter_note(text: str) -> str:
    """Return what of a filter names a field that there is not, and which there are; empty where all is well.

    Examples
    --------
    >>> filter_note("status:error ORGAN:liver")
    'no field "organ"; there are dataset: split: tier: status: case: verdict: reviewed:'
    >>> filter_note("reviewed:y BTCV")
    ''
    """
    named = (word.partition(":") for word in text.lower().split())
    unknown = dict.fromkeys(name for name, colon, _ in named if colon and name not in FILTER_FIELDS)
    if not unknown:
        return ""
    which = ", ".join(f'"{name}"' for name in unknown)
    return f"no field {which}; there are {' '.join(f'{name}:' for name in FILTER_FIELDS)}"


def _matches(row: CaseRow, word: str) -> bool:
    fields = {
        "dataset": row.entry.dataset or "",
        "split": row.entry.split or "",
        "tier": row.entry.tier or "",
        "status": row.status,
        "case": row.case_id,
        "verdict": row.verdict,
    }
    name, colon, value = word.partition(":")
    if colon and name == "reviewed":
        return ("yes" if row.verdict else "no").startswith(value)
    if colon and name in fields:
        return value in fields[name].lower()
    return any(word in text.lower() for text in fields.values())


def _status(entry: CaseEntry, score: CaseScore | None, spec: EvalSpec) -> str:
    if score is not None:
        return {"scored": "scored", "missing_prediction": "no prediction", "error": "error"}[score.status]
    if any(f.severity == "error" for f in entry.findings):
        return "missing file" if any(f.code == "missing-file" for f in entry.findings) else "error"
    if spec.task_type == SHOWN_ONLY:
        return ""
    return "not scored yet" if is_predicted(entry) else "no prediction"
