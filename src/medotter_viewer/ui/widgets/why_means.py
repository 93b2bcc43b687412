"""Of what the mean over a case's regions is made, and which of it a rule set: in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from medotter_viewer.core.reprs import number_text
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.scoring.segmentation import DISTANCES
from medotter_viewer.ui.widgets.reasons import empty_situation, rule_source

MEAN = "mean over the scored regions"
_LISTED = 12  # regions that are written out


@dataclass(frozen=True, slots=True)
class MeanParts:
    """What enters the mean of one metric over the regions of a case.

    Parameters
    ----------
    values : mapping of str to MetricValue
        Region to value, as it is put into words.
    n_left_out : int
        Regions that have no value.
    """

    values: Mapping[str, MetricValue]
    n_left_out: int = 0

    @property
    def capped(self) -> list[str]:
        """Regions that are empty on one side and have the value of a rule."""
        return self._names("cap")

    @property
    def absent(self) -> list[str]:
        """Regions that are empty on both sides and have the value of a rule."""
        return self._names("absent")

    def _names(self, status: str) -> list[str]:
        return [name for name, value in self.values.items() if value.status == status]

    def mean(self, *, computed: bool = False) -> float | None:
        """Return the mean; of what was computed alone, leaving out what a rule set, on request."""
        values = [v.value for v in self.values.values() if v.value is not None and (not computed or v.status == "ok")]
        return sum(values) / len(values) if values else None


def mean_parts(score: CaseScore, metric: str) -> MeanParts:
    """Return what enters the mean of a metric over the regions of a case."""
    shown = {name: region.shown(metric) for name, region in score.regions.items()}
    values = {name: value for name, value in shown.items() if value is not None and value.counts}
    return MeanParts(values, len(score.regions) - len(values))


def by_rule(parts: MeanParts) -> str:
    """Return how many of the values are set by a rule, short; empty where all were computed.

    Examples
    --------
    >>> by_rule(MeanParts({"liver": MetricValue(1.0, "absent", "both_empty"), "spleen": MetricValue(0.0, "cap")}))
    '1 cap, 1 absent in both'
    """
    caps, absent = len(parts.capped), len(parts.absent)
    return ", ".join([f"{caps} cap{'s' * (caps > 1)}"] * bool(caps) + [f"{absent} absent in both"] * bool(absent))


def headline_parts(score: CaseScore, spec: EvalSpec, metric: str) -> MeanParts | None:
    """Return what a case's number in the list is a mean of; None for one of a single region, or of the case."""
    if metric in score.case or spec.headline.region != MACRO:
        return None
    return mean_parts(score, metric)


def slant_reason(parts: MeanParts, metric: str) -> str:
    """Return why a mean is slanted, naming the regions; empty where it is not."""
    if not (rules := by_rule(parts)):
        return ""
    named = ", ".join([*parts.capped, *parts.absent])
    rest = parts.mean(computed=True)
    others = "" if rest is None else f"; the others alone {number_text(metric, rest)}"
    return f"slanted: a mean over {len(parts.values)} regions with values set by a rule, {rules}: {named}{others}"


def mean_why(score: CaseScore, spec: EvalSpec, metric: str) -> str:
    """Return where the mean over a case's regions comes from: its values, those set by a rule, and what is left out."""
    parts = mean_parts(score, metric)
    mean, n = parts.mean(), len(parts.values)
    if mean is None:
        return f"{metric}: no region has a value"
    unit = " mm" if metric in DISTANCES else ""
    lines = [f"{metric}: {MEAN}, {n} of {len(score.regions)}"]
    if n <= _LISTED:
        sum_ = " + ".join(number_text(metric, value.value) for value in parts.values.values())
        lines.append(f"({sum_}) / {n} = {number_text(metric, mean)}{unit}")
    else:
        lines.append(f"{number_text(metric, mean * n)} / {n} = {number_text(metric, mean)}{unit}")
    for names, word in ((parts.absent, "absent in both"), (parts.capped, "empty on one side")):
        rules: dict[str, list[str]] = {}
        for name in names:
            value = parts.values[name]
            source = rule_source(metric, value, empty_situation(score.regions[name]), spec)
            rules.setdefault(source, []).append(name)
        lines += [f"of which {len(of)} {word}, {', '.join(of)}: {source}" for source, of in rules.items()]
    rest = parts.mean(computed=True)
    if by_rule(parts) and rest is not None:
        lines.append(f"the others alone: {number_text(metric, rest)}{unit}")
    if parts.n_left_out:
        lines.append(f"not in it: {parts.n_left_out} without a value (not labelled or not scored)")
    head = spec.headline
    if head.region == MACRO and head.metric == metric:
        lines.append(f"the headline averages each region over the cases first, then the regions ({MACRO})")
    return "\n".join(lines)
