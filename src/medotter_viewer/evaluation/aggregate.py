"""Means over cases: by region, dataset and tier, macro and headline.

Order matters and is fixed: values are averaged within a unit (a patient, or a case) first, then over units for each
region, and the macro value is the mean of the region means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medotter_viewer.core.reprs import html_table, metric_header, number_text
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import MACRO, EvalSpec


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and over how many it is; None over none."""

    value: float | None
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Return value and n by name."""
        return {"value": self.value, "n": self.n}


RegionMeans = Mapping[str, Mapping[str, Mean]]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Means of one model on one split.

    Parameters
    ----------
    by_region : mapping of str to mapping of str to Mean
        Region to metric to mean over units.
    by_dataset, by_tier : mapping
        The same for the cases of one dataset or tier.
    macro : mapping of str to Mean
        Metric to the mean of the region means (n counts regions) or, for metrics of the case, over units.
    headline_region, headline_metric : str
        What the headline is of.
    headline : Mean
        The number a leaderboard shows.
    scale : float
        What the headline's mean was multiplied by.
    counts_regions : bool
        Whether the headline's n counts regions instead of units.
    """

    by_region: RegionMeans
    by_dataset: Mapping[str, RegionMeans]
    by_tier: Mapping[str, RegionMeans]
    macro: Mapping[str, Mean]
    headline_region: str
    headline_metric: str
    headline: Mean
    scale: float = 1.0
    counts_regions: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "by_region": _plain(self.by_region),
            "by_dataset": {name: _plain(table) for name, table in self.by_dataset.items()},
            "by_tier": {name: _plain(table) for name, table in self.by_tier.items()},
            "macro": {metric: mean.to_dict() for metric, mean in self.macro.items()},
            "headline": {
                "region": self.headline_region,
                "metric": self.headline_metric,
                **self.headline.to_dict(),
            },
        }

    def _repr_html_(self) -> str:
        metrics = _names(m for means in [*self.by_region.values(), self.macro] for m in means)
        table = {**self.by_region, MACRO: self.macro}
        rows = [
            [name, *(f"{number_text(m, means[m].value)} (n={means[m].n})" if m in means else "" for m in metrics)]
            for name, means in table.items()
        ]
        head = f"headline: {self.headline_metric} of {self.headline_region} "
        head += f"{number_text(self.headline_metric, self.headline.value)} (n={self.headline.n})"
        return html_table(["mean over cases", *map(metric_header, metrics)], rows, head)


def roll_up(scores: Iterable[CaseScore], spec: EvalSpec, *, groups: bool = True) -> Aggregate:
    """Return the means of the scored cases; missing and failed ones are left out.

    Parameters
    ----------
    scores : iterable of CaseScore
        Of the chosen split.
    spec : EvalSpec
        Gives the unit, the regions and the headline.
    groups : bool
        Whether the means of each dataset and tier are wanted, too.
    """
    scored = [s for s in scores if s.status == "scored"]
    by_region = _by_region(scored, spec)
    head = spec.headline
    of_tier = scored if head.tier is None else [s for s in scored if s.tier == head.tier]
    table = by_region if head.tier is None else _by_region(of_tier, spec)
    macro = _macro(table, of_tier, spec)
    of_case = any(head.metric in s.case for s in of_tier)  # such a metric is of no region, whatever the headline names
    datasets, tiers = (_names(s.dataset for s in scored), _names(s.tier for s in scored)) if groups else ([], [])
    headline = macro if of_case or head.region == MACRO else table.get(head.region, {})
    return Aggregate(
        by_region=by_region,
        by_dataset={d: _by_region([s for s in scored if s.dataset == d], spec) for d in datasets},
        by_tier={t: _by_region([s for s in scored if s.tier == t], spec) for t in tiers},
        macro=_macro(by_region, scored, spec),
        headline_region=head.region,
        headline_metric=head.metric,
        headline=_scaled(headline.get(head.metric, Mean(None, 0)), spec.scale),
        scale=spec.scale,
        counts_regions=head.region == MACRO and not of_case,
    )


def headline_value(score: CaseScore, spec: EvalSpec, metric: str) -> float | None:
    """Return a case's value of the headline region, or for ``macro_avg`` the mean over its labelled regions."""
    if metric in score.case:
        return score.case[metric].value
    regions = score.regions if spec.headline.region == MACRO else {spec.headline.region: None}
    found: list[MetricValue] = [
        score.regions[name].metrics[metric]
        for name in regions
        if name in score.regions and metric in score.regions[name].metrics
    ]
    values = [v.value for v in found if v.value is not None]
    return math.fsum(values) / len(values) if values else None


def _scaled(mean: Mean, scale: float) -> Mean:
    """Headline as the leaderboard shows it: a contest may count in millionths."""
    return mean if mean.value is None or scale == 1.0 else Mean(mean.value * scale, mean.n)


def mean_over_units(values: Sequence[tuple[str, MetricValue]]) -> Mean:
    """Return the mean over units of the means within each; values that do not count are left out.

    Parameters
    ----------
    values : sequence of (unit, MetricValue)
        One for each case.

    Examples
    --------
    >>> two_of_one = [("p", MetricValue(0.2)), ("p", MetricValue(0.4)), ("q", MetricValue(0.9))]
    >>> mean = mean_over_units(two_of_one)
    >>> round(mean.value, 12), mean.n
    (0.6, 2)
    """
    units: dict[str, list[float]] = {}
    for unit, value in values:
        if value.value is not None:
            units.setdefault(unit, []).append(value.value)
    return _mean(_average(found) for found in units.values())


def _by_region(scores: Sequence[CaseScore], spec: EvalSpec) -> dict[str, dict[str, Mean]]:
    """Means of every region and metric; over nothing they are None with n 0, never left out."""
    names = _names([*spec.regions, *(name for s in scores for name in s.regions)])
    metrics = _names(m for s in scores for region in s.regions.values() for m in region.metrics) or list(spec.metrics)
    units = [unit_of(s, spec) for s in scores]
    table = {}
    for name in names:
        values = [(u, s.regions[name].metrics) for u, s in zip(units, scores, strict=True) if name in s.regions]
        table[name] = {m: mean_over_units([(u, found[m]) for u, found in values if m in found]) for m in metrics}
    return table


def _macro(table: RegionMeans, scores: Sequence[CaseScore], spec: EvalSpec) -> dict[str, Mean]:
    metrics = _names(m for means in table.values() for m in means)
    macro = {
        metric: _mean(v for means in table.values() if metric in means and (v := means[metric].value) is not None)
        for metric in metrics
    }
    for metric in _names(m for s in scores for m in s.case):
        macro[metric] = mean_over_units([(unit_of(s, spec), s.case[metric]) for s in scores if metric in s.case])
    return macro


def unit_of(score: CaseScore, spec: EvalSpec) -> str:
    """Return what a case is averaged in first: its patient where patients are the unit; without one it is its own."""
    if spec.unit == "patient" and score.patient_uid is not None:
        return f"patient {score.patient_uid}"
    return f"case {score.case_id}"


def _mean(values: Iterable[float]) -> Mean:
    found = list(values)
    return Mean(_average(found), len(found)) if found else Mean(None, 0)


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)  # exact sum: the mean does not depend on the order of the cases


def _names(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(v for v in values if v is not None))


def _plain(table: RegionMeans) -> dict[str, Any]:
    return {name: {metric: mean.to_dict() for metric, mean in means.items()} for name, means in table.items()}
