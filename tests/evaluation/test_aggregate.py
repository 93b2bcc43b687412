"""Means whose order and unit matter, on numbers that can be added in the head."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.aggregate import Mean, mean_over_units, roll_up

REGIONS = {"a": [1], "b": [2], "ab": [1, 2]}


def spec_of(**aggregation: Any) -> EvalSpec:
    return EvalSpec.from_mapping({"eval_regions": REGIONS, "metrics": ["dice"], "aggregation": aggregation})


def score_of(case_id: str, patient: str | None = None, status: Any = "scored", **more: Any) -> CaseScore:
    """Score whose regions are given as numbers (None: not labelled); dataset and tier as words."""
    identity = {key: more.pop(key, None) for key in ("dataset", "tier")}
    regions = {
        name: RegionScore({"dice": MetricValue(None, "not_labelled") if v is None else MetricValue(v)})
        for name, v in more.items()
    }
    return CaseScore(case_id, status, patient_uid=patient, regions=regions, **identity)


# Two cases of one patient and one of another; the second case is not labelled for b.
SCORES = [
    score_of("D/1", "p", dataset="D", tier="easy", a=0.2, b=0.5, ab=0.3),
    score_of("D/2", "p", dataset="D", tier="hard", a=0.4, b=None, ab=0.4),
    score_of("E/1", "q", dataset="E", tier="hard", a=0.9, b=1.0, ab=0.95),
]


def means(table: Any, metric: str = "dice") -> dict[str, tuple[float | None, int]]:
    """Value and number of units of each region that has the metric."""
    found = {name: m[metric] for name, m in table.items() if metric in m}
    return {name: (None if m.value is None else pytest.approx(m.value), m.n) for name, m in found.items()}  # type: ignore[misc]


class TestUnits:
    def test_cases_of_a_patient_are_averaged_first(self) -> None:
        result = roll_up(SCORES, spec_of(unit="patient"))
        # a: (0.2 + 0.4) / 2 = 0.3 for p, 0.9 for q.  ab: 0.35 and 0.95.
        assert means(result.by_region) == {"a": (0.6, 2), "b": (0.75, 2), "ab": (0.65, 2)}

    def test_where_cases_are_the_unit_each_counts_alike(self) -> None:
        result = roll_up(SCORES, spec_of())
        assert means(result.by_region) == {"a": (0.5, 3), "b": (0.75, 2), "ab": (0.55, 3)}

    def test_a_case_without_patient_is_its_own_unit(self) -> None:
        scores = [score_of("1", None, a=0.0), score_of("2", None, a=0.3), score_of("3", "p", a=0.6)]
        assert means(roll_up(scores, spec_of(unit="patient")).by_region)["a"] == (0.3, 3)

    def test_a_patient_named_like_a_case_is_not_that_case(self) -> None:
        scores = [score_of("x", None, a=0.0), score_of("1", "x", a=0.4), score_of("2", "x", a=0.8)]
        assert means(roll_up(scores, spec_of(unit="patient")).by_region)["a"] == (0.3, 2)

    def test_a_patient_counts_by_the_cases_labelled_for_the_region(self) -> None:
        values = [("p", MetricValue(0.5)), ("p", MetricValue(None, "not_labelled")), ("q", MetricValue(1.0))]
        assert mean_over_units(values) == Mean(0.75, 2)

    def test_values_by_rule_count_like_computed_ones(self) -> None:
        values = [
            ("1", MetricValue(0.0, "absent", "both_empty")),
            ("2", MetricValue(80.0, "cap", "gt_nonempty_pred_empty")),
            ("3", MetricValue(1.0)),
        ]
        assert mean_over_units(values) == Mean(27.0, 3)

    def test_the_mean_of_nothing_is_none(self) -> None:
        assert mean_over_units([]) == Mean(None, 0)
        assert mean_over_units([("p", MetricValue(None, "error"))]) == Mean(None, 0)

    @given(st.lists(st.tuples(st.sampled_from("pqr"), st.floats(0, 1000)), min_size=1), st.randoms())
    def test_the_order_of_the_cases_has_no_meaning(self, values: list[tuple[str, float]], random: Any) -> None:
        shuffled = values.copy()
        random.shuffle(shuffled)
        there, back = (mean_over_units([(u, MetricValue(v)) for u, v in some]) for some in (values, shuffled))
        assert there.n == back.n == len({u for u, _ in values})
        assert there.value == pytest.approx(back.value)


class TestMacro:
    def test_is_the_mean_of_the_region_means_unions_included(self) -> None:
        # Per case first would be (0.375 + 0.95) / 2 over a and b alone.
        macro = roll_up(SCORES, spec_of(unit="patient")).macro["dice"]
        assert macro.value == pytest.approx((0.6 + 0.75 + 0.65) / 3)
        assert macro.n == 3

    def test_a_region_nobody_labelled_is_left_out(self) -> None:
        result = roll_up([score_of("1", a=0.4, b=None, ab=0.8)], spec_of())
        assert result.by_region["b"]["dice"] == Mean(None, 0)
        assert result.macro["dice"].value == pytest.approx(0.6)
        assert result.macro["dice"].n == 2

    def test_metrics_of_the_case_are_averaged_over_units(self) -> None:
        scores = [
            CaseScore("1", "scored", patient_uid="p", case={"d_mean": MetricValue(2.0)}),
            CaseScore("2", "scored", patient_uid="p", case={"d_mean": MetricValue(4.0)}),
            CaseScore("3", "scored", patient_uid="q", case={"d_mean": MetricValue(9.0)}),
        ]
        assert roll_up(scores, spec_of(unit="patient")).macro["d_mean"] == Mean(6.0, 2)


class TestHeadline:
    def test_defaults_to_the_first_metric_of_the_macro_mean(self) -> None:
        result = roll_up(SCORES, spec_of())
        assert (result.headline_region, result.headline_metric) == ("macro_avg", "dice")
        assert result.headline == result.macro["dice"]

    def test_may_be_of_a_region(self) -> None:
        result = roll_up(SCORES, spec_of(headline={"region": "ab", "metric": "dice"}))
        assert result.headline.value == pytest.approx(0.55)
        assert result.headline.n == 3

    def test_of_a_tier_leaves_the_other_tiers_out(self) -> None:
        chosen = spec_of(unit="patient", headline={"region": "a", "metric": "dice", "tier": "hard"})
        result = roll_up(SCORES, chosen)
        assert result.headline.value == pytest.approx((0.4 + 0.9) / 2)
        assert means(result.by_region)["a"] == (0.6, 2)

    def test_of_a_tier_over_all_regions(self) -> None:
        chosen = spec_of(headline={"region": "macro_avg", "metric": "dice", "tier": "hard"})
        # a (0.4 + 0.9) / 2 = 0.65, b 1.0, ab (0.4 + 0.95) / 2 = 0.675
        result = roll_up(SCORES, chosen)
        assert result.headline.value == pytest.approx((0.65 + 1.0 + 0.675) / 3)
        assert result.macro["dice"].value == pytest.approx((0.5 + 0.75 + 0.55) / 3)

    def test_of_a_metric_or_tier_that_does_not_occur_is_none(self) -> None:
        for headline in ({"region": "a", "metric": "nsd"}, {"region": "a", "metric": "dice", "tier": "nowhere"}):
            assert roll_up(SCORES, spec_of(headline=headline)).headline == Mean(None, 0)


class TestGroups:
    def test_by_dataset_and_by_tier_are_tables_of_their_own_cases(self) -> None:
        result = roll_up(SCORES, spec_of())
        assert means(result.by_dataset["D"]) == {"a": (0.3, 2), "b": (0.5, 1), "ab": (0.35, 2)}
        assert means(result.by_dataset["E"]) == {"a": (0.9, 1), "b": (1.0, 1), "ab": (0.95, 1)}
        assert means(result.by_tier["easy"]) == {"a": (0.2, 1), "b": (0.5, 1), "ab": (0.3, 1)}
        assert means(result.by_tier["hard"]) == {"a": (0.65, 2), "b": (1.0, 1), "ab": (0.675, 2)}

    def test_a_patient_in_two_tiers_is_averaged_within_each(self) -> None:
        result = roll_up(SCORES, spec_of(unit="patient"))
        assert means(result.by_tier["hard"])["a"] == (0.65, 2)

    def test_cases_without_dataset_or_tier_form_no_group(self) -> None:
        result = roll_up([score_of("1", a=0.4)], spec_of())
        assert result.by_dataset == {}
        assert result.by_tier == {}

    def test_missing_and_failed_cases_are_left_out_everywhere(self) -> None:
        bad = [
            score_of("D/3", "r", "missing_prediction", dataset="D"),
            score_of("F/1", "s", "error", dataset="F", tier="odd", a=0.0),
        ]
        with_bad, without = roll_up([*bad, *SCORES], spec_of(unit="patient")), roll_up(SCORES, spec_of(unit="patient"))
        assert with_bad == without


class TestJson:
    def test_form(self) -> None:
        content = roll_up(SCORES[:1], spec_of(headline={"region": "a", "metric": "dice"})).to_dict()
        assert set(content) == {"by_region", "by_dataset", "by_tier", "macro", "headline"}
        assert content["by_region"]["a"] == {"dice": {"value": 0.2, "n": 1}}
        assert content["by_dataset"] == {"D": content["by_region"]}
        assert content["by_tier"] == {"easy": content["by_region"]}
        assert content["headline"] == {"region": "a", "metric": "dice", "value": 0.2, "n": 1}

    def test_nothing_scored_is_null_and_never_nan(self) -> None:
        content = roll_up([score_of("1", status="error")], spec_of()).to_dict()
        assert content["headline"] == {"region": "macro_avg", "metric": "dice", "value": None, "n": 0}
        assert json.loads(json.dumps(content, allow_nan=False)) == content
