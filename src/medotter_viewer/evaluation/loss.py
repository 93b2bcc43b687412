"""How much each case costs the headline: its share of what is missing to the best possible value.

By the unit and the order of averaging of `aggregate`, so that the losses of all cases add up to that difference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.evaluation.aggregate import unit_of

IDEALS: Mapping[str, float] = {
    **dict.fromkeys(("dice", "iou", "f1", "dq", "sq", "pq", "aji", "aji_plus", "scan_score"), 1.0),
    **dict.fromkeys(("id_rate", "id_rate_official", "id_rate_all_gt"), 1.0),
    **dict.fromkeys(("hd95", "hd", "d_mean", "fp", "fn", "n_missing", "n_extra", "fp_mm3", "fn_mm3"), 0.0),
}
"""The best possible value of each metric that has one; where it is 0, less is better."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What the cases cost the headline.

    Parameters
    ----------
    by_case : mapping of str to float
        Case id to its loss, in units of the headline, 0 for a case without error. A case that does not enter the
        headline is not there: not scored, not labelled for it, of another tier.
    headline, ideal : float or None
        The headline of these cases and the best it could be; None where there is no value, or no best one.
    """

    by_case: Mapping[str, float] = field(default_factory=dict)
    headline: float | None = None
    ideal: float | None = None

    @property
    def total(self) -> float:
        """What all cases cost together: how far the headline is from the best possible value."""
        return math.fsum(self.by_case.values())


def losses(scores: Iterable[CaseScore], spec: EvalSpec) -> Losses:
    """Return how much each case costs the headline.

    Parameters
    ----------
    scores : iterable of CaseScore
        Those that the headline is of; what is not scored is left out.
    spec : EvalSpec
        Gives headline, unit and scale.

    Returns
    -------
    Losses
        Empty where nothing is scored, or the headline's metric has no best value.

    Examples
    --------
    >>> from medotter_viewer.core.scores import MetricValue, RegionScore
    >>> spec = EvalSpec.from_mapping({"eval_regions": {"a": [1]}, "metrics": ["dice"], "main_region": "a"})
    >>> scores = [
    ...     CaseScore(i, "scored", regions={"a": RegionScore({"dice": MetricValue(v)})})
    ...     for i, v in (("1", 0.5), ("2", 1.0))
    ... ]
    >>> found = losses(scores, spec)
    >>> dict(found.by_case), found.headline, found.total
    ({'1': 0.25, '2': 0.0}, 0.75, 0.25)
    """
    ideal = IDEALS.get(spec.headline.metric)
    sides = _sides(scores, spec)
    if ideal is None or not sides:
        return Losses()
    sign = 1.0 if ideal else -1.0  # of a distance more is worse
    found: dict[str, list[float]] = {}
    parts: list[float] = []
    for side in sides:
        units = Counter(unit for unit, _, _ in side)
        for unit, case_id, value in side:
            weight = spec.scale / (len(sides) * len(units) * units[unit])
            parts.append(weight * value)
            found.setdefault(case_id, []).append(sign * weight * (ideal - value))
    by_case = {case_id: math.fsum(shares) for case_id, shares in found.items()}
    return Losses(by_case, math.fsum(parts), spec.scale * ideal)


def _sides(scores: Iterable[CaseScore], spec: EvalSpec) -> list[list[tuple[str, str, float]]]:
    """Unit, case and value of everything that the headline is a mean of, one list for each of its regions."""
    head = spec.headline
    counted = [(s, unit_of(s, spec)) for s in scores if s.status == "scored" and head.tier in (None, s.tier)]
    if any(head.metric in s.case for s, _ in counted):  # of no region, whatever the headline names
        tables = [[(s.case, s.case_id, unit) for s, unit in counted]]
    else:
        all_names = dict.fromkeys(name for s, _ in counted for name in s.regions)
        names = list(all_names) if head.region == MACRO else [head.region]
        tables = [
            [(s.regions[name].metrics, s.case_id, unit) for s, unit in counted if name in s.regions] for name in names
        ]
    sides = [
        [
            (unit, case_id, value)
            for values, case_id, unit in table
            if (found := values.get(head.metric)) is not None and (value := found.value) is not None
        ]
        for table in tables
    ]
    return [side for side in sides if side]
