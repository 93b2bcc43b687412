"""Means over samples, class by class, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from medotter_viewer.core.reprs import NOTHING, html_table, number_text, to_dataframe
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.evaluation.aggregate import mean_over_units

if TYPE_CHECKING:
    import pandas as pd

V = TypeVar("V")
CaseValues = Mapping[str, Mapping[str, MetricValue]]
"""Class to metric to value, of one case."""
MACRO_ROW = "macro"


class ByClass(dict[str, V]):
    """Values by class name; ``table[id]`` finds the class of an id too."""

    def __init__(self, values: Mapping[str, V], names: Mapping[int, str]) -> None:
        super().__init__(values)
        self._names = dict(names)

    def __missing__(self, key: object) -> V:
        if isinstance(key, int) and self._names.get(key) in self:
            return self[self._names[key]]
        raise KeyError(key)

    def __reduce__(self) -> tuple[Any, ...]:
        return ByClass, (dict(self), self._names)


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """Scores of predictions on a dataset; None stands where there is no value, never NaN.

    Parameters
    ----------
    per_class : mapping of str to mapping of str to (float or None)
        Class to metric to mean over cases. Without names from the caller or the dataset a class is called by its id.
    macro : mapping of str to (float or None)
        Metric to the mean of the class means, over the classes with support of at least 1.
    n_cases : int
        Samples.
    metrics : tuple of str
        In the order that was asked for.
    support : mapping of str to int
        Cases whose ground truth has the class.
    per_case : mapping or None
        Key to class to metric to value, where it was asked for.
    hd95_unit : str
        ``mm``; ``voxels`` where no sample has a spacing; ``mm or voxels`` where some have none.
    present_only : bool
        Whether the means are over the cases whose ground truth has the class.
    notes : tuple of str
        What the numbers do not show.
    values : mapping
        Key to class to metric to `MetricValue`: every value with its status and the rule that set it.
    """

    per_class: Mapping[str, Mapping[str, float | None]]
    macro: Mapping[str, float | None]
    n_cases: int
    metrics: tuple[str, ...]
    support: Mapping[str, int]
    per_case: Mapping[str, Mapping[str, Mapping[str, float | None]]] | None = None
    hd95_unit: str = "mm"
    present_only: bool = False
    notes: tuple[str, ...] = ()
    values: Mapping[str, CaseValues] = field(default_factory=dict, repr=False, compare=False)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each class, with its support and every metric, and one for the macro mean."""
        rows = [{"class": name, "support": self.support[name], **means} for name, means in self.per_class.items()]
        return [*rows, {"class": MACRO_ROW, "support": None, **self.macro}]

    def case_rows(self) -> list[dict[str, Any]]:
        """Return one row for each case, class and metric, with the value's status and rule."""
        return [
            {"case": key, "class": name, "metric": metric, **value.to_dict()}
            for key, classes in self.values.items()
            for name, found in classes.items()
            for metric, value in found.items()
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return `rows` as a table (needs pandas, which writes NaN for None)."""
        return to_dataframe(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "per_class": {name: dict(means) for name, means in self.per_class.items()},
            "macro": dict(self.macro),
            "n_cases": self.n_cases,
            "metrics": list(self.metrics),
            "support": dict(self.support),
            "per_case": self.per_case,
            "hd95_unit": self.hd95_unit,
            "present_only": self.present_only,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        header, rows = self._cells()
        table = [header, *rows]
        widths = [max(len(row[column]) for row in table) for column in range(len(header))]
        lines = [
            "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(pairs))
            for pairs in (list(zip(row, widths, strict=True)) for row in table)
        ]
        lines.insert(1, "-" * len(lines[0]))
        return "\n".join([self._caption(), *(line.rstrip() for line in lines), *self.notes])

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        return html_table(header, rows, self._caption(), self.notes)

    def _caption(self) -> str:
        over = "cases whose ground truth has the class" if self.present_only else "all cases"
        return f"{self.n_cases} case{'' if self.n_cases == 1 else 's'}, means over {over}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        names = [f"{m} ({self.hd95_unit})" if m == "hd95" else m for m in self.metrics]
        present = sum(n > 0 for n in self.support.values())
        rows = [
            [name, str(self.support[name]), *(number_text(m, means[m]) for m in self.metrics)]
            for name, means in self.per_class.items()
        ]
        macro = f"{MACRO_ROW} ({present} of {len(self.per_class)} classes)"
        rows.append([macro, NOTHING, *(number_text(m, self.macro[m]) for m in self.metrics)])
        return ["class", "support", *names], rows


def summarise(
    values: Mapping[str, CaseValues],
    present: Mapping[str, frozenset[str]],
    names: Mapping[int, str],
    metrics: Sequence[str],
    *,
    per_case: bool = False,
    present_only: bool = False,
    hd95_unit: str = "mm",
    notes: Sequence[str] = (),
) -> ScoreReport:
    """Return the report of some cases.

    Parameters
    ----------
    values : mapping
        Key to class to metric to value; those without a number are left out of the means.
    present : mapping of str to frozenset of str
        Key to the classes that the ground truth has.
    names : mapping of int to str
        Every class, in order.
    metrics : sequence of str
        In order.
    per_case, present_only, hd95_unit, notes
        As in `ScoreReport`.

    Returns
    -------
    ScoreReport
        Over no cases every mean is None and every support 0.
    """
    support = {name: sum(name in there for there in present.values()) for name in names.values()}
    per_class = {
        name: {
            metric: mean_over_units(
                [(key, v[name][metric]) for key, v in values.items() if not present_only or name in present[key]]
            ).value
            for metric in metrics
        }
        for name in names.values()
    }
    macro = {
        metric: mean_over_units(
            [(name, MetricValue(means[metric])) for name, means in per_class.items() if support[name]]
        ).value
        for metric in metrics
    }
    plain = {
        key: ByClass({name: {m: v.value for m, v in found.items()} for name, found in classes.items()}, names)
        for key, classes in values.items()
    }
    return ScoreReport(
        per_class=ByClass(per_class, names),
        macro=macro,
        n_cases=len(values),
        metrics=tuple(metrics),
        support=ByClass(support, names),
        per_case=plain if per_case else None,
        hd95_unit=hd95_unit,
        present_only=present_only,
        notes=tuple(notes),
        values=values,
    )
