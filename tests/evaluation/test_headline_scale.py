"""A contest's headline counts in its own unit."""

from __future__ import annotations

from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.aggregate import roll_up


def test_the_headline_is_the_mean_times_the_scale_and_the_mean_stays() -> None:
    spec = EvalSpec.from_mapping(
        {
            "task_type": "lung_contour",
            "aggregation": {"scale": 1000000, "headline": {"region": "macro_avg", "metric": "scan_score"}},
        }
    )
    scores = [CaseScore(n, "scored", case={"scan_score": MetricValue(v)}) for n, v in (("a", 0.25), ("b", 0.75))]
    found = roll_up(scores, spec)
    assert (found.headline.value, found.headline.n) == (500000.0, 2)
    assert found.macro["scan_score"].value == 0.5
