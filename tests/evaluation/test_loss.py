"""What a case costs the headline: shares that add up to what is missing, by the averaging of the headline."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.aggregate import roll_up
from medotter_viewer.evaluation.loss import IDEALS, losses
from medotter_viewer.scoring.instances import RATIOS
from medotter_viewer.scoring.registry import ADAPTERS

REGIONS = {"a": [1], "b": [2], "c": [3]}


def spec_of(metric: str = "dice", main: str = "macro_avg", tier: str | None = None, **aggregation: Any) -> EvalSpec:
    headline = {"region": main, "metric": metric, **({"tier": tier} if tier else {})}
    return EvalSpec.from_mapping(
        {"eval_regions": REGIONS, "metrics": [metric], "aggregation": {**aggregation, "headline": headline}}
    )


def score_of(case_id: str, patient: str | None = None, tier: str | None = None, **values: float | None) -> CaseScore:
    """A case with one dice for each region; None is not labelled."""
    return score_with("dice", case_id, values, patient, tier)


def score_with(
    metric: str, case_id: str, values: dict[str, float | None], patient: str | None = None, tier: str | None = None
) -> CaseScore:
    regions = {
        name: RegionScore({metric: MetricValue(None, "not_labelled") if v is None else MetricValue(v)})
        for name, v in values.items()
    }
    return CaseScore(case_id, "scored", patient_uid=patient, tier=tier, regions=regions)


def test_one_region_shares_what_is_missing_among_its_cases() -> None:
    found = losses([score_of("1", a=0.5), score_of("2", a=1.0), score_of("3", a=0.2)], spec_of(main="a"))
    # Each case is a third of the mean: (1 - 0.5) / 3, 0, (1 - 0.2) / 3.
    assert found.by_case == {"1": pytest.approx(0.5 / 3), "2": 0.0, "3": pytest.approx(0.8 / 3)}
    assert found.headline == pytest.approx(1.7 / 3)
    assert found.total == pytest.approx(1 - 1.7 / 3)


def test_cases_of_a_patient_share_the_weight_of_one() -> None:
    scores = [score_of("1", "p", a=0.0), score_of("2", "p", a=0.5), score_of("3", "q", a=0.5)]
    # p and q weigh a half each; the two cases of p a quarter: 1/4, 0.5/4, 0.5/2.
    assert losses(scores, spec_of(main="a", unit="patient")).by_case == {"1": 0.25, "2": 0.125, "3": 0.25}


def test_a_region_that_few_cases_label_weighs_as_much_as_any_other() -> None:
    scores = [score_of("1", a=0.0, b=None), score_of("2", a=1.0, b=0.0)]
    # a is the mean of two cases, b of one; the macro mean halves each: 1 costs 1/4, 2 costs 1/2.
    assert losses(scores, spec_of()).by_case == {"1": 0.25, "2": 0.5}


def test_not_scored_and_not_labelled_cost_nothing_and_are_not_zero_either() -> None:
    scores = [score_of("1", a=1.0), score_of("2", a=None), CaseScore.unscored("3", "missing_prediction", "none")]
    assert losses(scores, spec_of(main="a")).by_case == {"1": 0.0}


def test_only_the_tier_of_the_headline_counts() -> None:
    scores = [score_of("1", tier="easy", a=0.0), score_of("2", tier="hard", a=0.5)]
    assert losses(scores, spec_of(main="a", tier="hard")).by_case == {"2": 0.5}


def test_of_a_distance_the_best_is_nought_and_more_costs_more() -> None:
    scores = [score_with("hd95", "1", {"a": 4.0}), score_with("hd95", "2", {"a": 0.0})]
    found = losses(scores, spec_of("hd95", "a"))
    assert found.by_case == {"1": 2.0, "2": 0.0}
    assert (found.ideal, found.total) == (0.0, found.headline)


def test_a_metric_of_the_case_is_of_no_region_and_the_scale_is_that_of_the_headline() -> None:
    scores = [CaseScore(i, "scored", case={"scan_score": MetricValue(v)}) for i, v in (("1", 0.5), ("2", 0.75))]
    found = losses(scores, spec_of("scan_score", "a", scale=1_000_000))
    assert found.by_case == {"1": 250_000, "2": 125_000}
    assert (found.headline, found.ideal) == (625_000, 1_000_000)


def test_nothing_is_known_without_scores_or_without_a_best_value() -> None:
    assert losses([], spec_of()).by_case == {}
    volumes = [CaseScore("1", "scored", case={"tp_mm3": MetricValue(7.0)})]
    assert losses(volumes, spec_of("tp_mm3", "a")).headline is None


def test_every_metric_that_can_be_a_headline_has_a_best_value_but_true_positives() -> None:
    known = {m for adapter in ADAPTERS.values() for m in (*adapter.metrics, *adapter.more)}
    assert known - set(IDEALS) == {"tp", "tp_mm3"}
    assert all(IDEALS[metric] == 1.0 for metric in RATIOS)


VALUE = st.none() | st.floats(0, 1)
CASE = st.tuples(st.sampled_from([None, "p", "q", "r"]), st.sampled_from([None, "easy", "hard"]), VALUE, VALUE, VALUE)


@given(
    cases=st.lists(CASE, max_size=12),
    unit=st.sampled_from(["case", "patient"]),
    main=st.sampled_from(["a", "b", "macro_avg"]),
    tier=st.sampled_from([None, "hard"]),
    metric=st.sampled_from(["dice", "hd95"]),
    scale=st.sampled_from([1.0, 1000.0]),
)
def test_the_losses_add_up_to_what_the_headline_lacks(
    cases: list[Any], unit: str, main: str, tier: str | None, metric: str, scale: float
) -> None:
    scores = [
        score_with(metric, str(n), {"a": a, "b": b, "c": c}, patient, its)
        for n, (patient, its, a, b, c) in enumerate(cases)
    ]
    spec = spec_of(metric, main, tier, unit=unit, scale=scale)
    found, headline = losses(scores, spec), roll_up(scores, spec).headline.value
    if headline is None:
        assert (found.by_case, found.headline) == ({}, None)
        return
    assert found.headline == pytest.approx(headline, rel=0, abs=1e-12 * scale)
    missing = scale - headline if metric == "dice" else headline
    assert math.fsum(found.by_case.values()) == pytest.approx(missing, rel=0, abs=1e-12 * scale)
    assert all(loss >= 0 for loss in found.by_case.values())
