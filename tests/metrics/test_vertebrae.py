"""Identification rate by both rules, on points small enough to measure by hand; worked cases of the official code."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medotter_viewer.core.vertebra_names import ANATOMICAL_ORDER, in_anatomical_order, is_scored, vertebra_name
from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.vertebrae import Points, VertebraComparison, compare_vertebrae, level_shift

A = {20: (0.0, 0.0, 0.0), 21: (0.0, 30.0, 0.0), 22: (0.0, 60.0, 0.0)}
TWELVE = {20: (0.0, 0.0, 0.0), 21: (0.0, 12.0, 0.0)}
TWENTY = {20: (0.0, 0.0, 0.0), 21: (0.0, 20.0, 0.0)}

# name, gt, pred, hits of the official code, hits by the text (all gt compete, less than 20 mm)
WORKED: list[tuple[str, Points, Points, int, int]] = [
    ("A exact", A, A, 3, 3),
    ("B exactly 20 mm", {20: (0, 0, 0)}, {20: (20, 0, 0)}, 1, 0),
    ("B2 a little more", {20: (0, 0, 0)}, {20: (20.0001, 0, 0)}, 0, 0),
    ("C shifted by one", A, {20: (0, 30, 0), 21: (0, 60, 0), 22: (0, 90, 0)}, 0, 0),
    ("D competitor not predicted", TWELVE, {20: (0, 10, 0)}, 1, 0),
    ("D2 competitor predicted", TWELVE, {20: (0, 10, 0), 21: (0, 12, 0)}, 1, 1),
    ("E extra label", {20: (0, 0, 0)}, {20: (0, 3, 4), 28: (0, 1, 0)}, 1, 1),
    ("F disjoint labels", {20: (0, 0, 0)}, {21: (0, 0, 0)}, 0, 0),
    ("G tie, own label lower", TWENTY, {20: (0, 10, 0), 21: (0, 20, 0)}, 2, 2),
    ("G2 tie, own label higher", TWENTY, {20: (0, 0, 0), 21: (0, 10, 0)}, 1, 1),
]


@pytest.mark.parametrize(("gt", "pred", "official", "text"), [w[1:] for w in WORKED], ids=[w[0] for w in WORKED])
def test_worked_cases(gt: Points, pred: Points, official: int, text: int) -> None:
    found = compare_vertebrae(gt, pred)
    assert (len(found.hits("common")), len(found.hits("all_gt"))) == (official, text)
    assert found.id_rate("common") == official / len(gt)
    assert found.id_rate("all_gt") == text / len(gt)


def test_of_a_tie_the_lower_label_is_the_nearest() -> None:
    found = compare_vertebrae(TWENTY, {21: (0, 10, 0), 20: (0, 0, 0)})
    assert found.hits("common") == found.hits("all_gt") == (20,)
    assert found.matches[21].nearest == {"all_gt": 20, "common": 20}
    assert found.matches[21].why_not("all_gt") == "nearer to L1"


def test_arithmetic_does_not_decide_what_20_mm_and_equally_far_are() -> None:
    third = (1 / 3, 0.1, 0.7)
    gt = {20: third, 21: (third[0], third[1] + 60 * 0.7, third[2])}
    off = {20: (third[0] + 0.1 * 200, third[1], third[2])}
    assert compare_vertebrae(gt, off).hits("common") == (20,)
    assert compare_vertebrae(gt, off).hits("all_gt") == ()
    between = {20: (third[0], third[1] + 30 * 0.7, third[2])}
    assert compare_vertebrae(gt, between, max_distance_mm=30).matches[20].nearest["all_gt"] == 20


class TestDistances:
    def test_the_mean_is_over_labels_on_both_sides(self) -> None:
        found = compare_vertebrae(A, {20: (3, 4, 0), 21: (0, 30, 0)})
        assert found.d_mean == 2.5
        assert found.id_rate("common") == pytest.approx(2 / 3)
        assert found.missing == (22,)
        assert {label: m.distance_mm for label, m in found.matches.items()} == {20: 5.0, 21: 0.0, 22: None}

    def test_without_a_common_label_it_is_undefined(self) -> None:
        found = compare_vertebrae(A, {24: (0, 0, 0)})
        assert found.d_mean is None
        assert found.id_rate("all_gt") == found.id_rate("common") == 0.0

    def test_another_limit_decides_by_it(self) -> None:
        pred = {20: (0, 0, 9), 21: (0, 30, 11), 22: (0, 60, 10)}
        found = compare_vertebrae(A, pred, max_distance_mm=10)
        assert found.hits("common") == (20, 22)
        assert found.hits("all_gt") == (20,)
        assert found.matches[21].why_not("common") == "farther than 10 mm"
        assert found.matches[22].why_not("all_gt") == "10 mm or farther"

    @pytest.mark.parametrize("limit", [0, -1, inf, nan])
    def test_an_impossible_limit_is_refused(self, limit: float) -> None:
        with pytest.raises(MetricInputError, match="max_distance_mm"):
            compare_vertebrae(A, A, max_distance_mm=limit)

    @pytest.mark.parametrize("point", [(nan, 0, 0), (0, inf, 0), (0, 0)])
    def test_an_impossible_point_is_refused_and_named(self, point: Any) -> None:
        with pytest.raises(MetricInputError, match="pred 21"):
            compare_vertebrae(A, {21: point})


class TestWhatIsThere:
    def test_no_ground_truth_has_no_rate(self) -> None:
        found = compare_vertebrae({}, {20: (0, 0, 0)})
        assert found.id_rate("all_gt") is None
        assert found.id_rate("common") is None
        assert found.d_mean is None
        assert (found.n_gt, found.n_pred, found.extra, found.level_shift) == (0, 1, (20,), None)

    def test_nothing_against_nothing(self) -> None:
        assert compare_vertebrae({}, {}) == VertebraComparison({})

    def test_nothing_predicted_is_a_rate_of_zero(self) -> None:
        found = compare_vertebrae(A, {})
        assert found.id_rate("all_gt") == found.id_rate("common") == 0.0
        assert (found.n_pred, found.missing) == (0, (20, 21, 22))
        assert found.matches[20].why_not("common") == "missed"

    def test_an_extra_label_counts_for_nothing(self) -> None:
        found = compare_vertebrae({20: (0, 0, 0)}, {20: (0, 3, 4), 28: (0, 1, 0)})
        assert (found.extra, found.d_mean, found.id_rate("all_gt"), found.id_rate("common")) == ((28,), 5.0, 1.0, 1.0)
        extra = found.matches[28]
        assert (extra.hit["all_gt"], extra.nearest["all_gt"], extra.why_not("all_gt")) == (None, 20, "extra")

    def test_sacrum_and_beyond_are_listed_but_not_scored(self) -> None:
        more = {26: (0, 200, 0), 27: (0, 230, 0), 29: (0, 0, 0), 0: (1, 1, 1)}
        found = compare_vertebrae({**A, **more}, {**A, 26: (0, 0, 0)})
        assert found.not_scored == (0, 26, 27, 29)
        assert (found.n_gt, found.n_pred, found.id_rate("all_gt")) == (3, 3, 1.0)
        assert set(found.matches) == set(A)

    def test_not_even_as_the_nearest(self) -> None:
        found = compare_vertebrae({24: (0, 0, 0), 26: (0, 0, 10)}, {24: (0, 0, 10)})
        assert found.hits("all_gt") == (24,)

    def test_two_that_changed_places_are_swapped(self) -> None:
        found = compare_vertebrae(A, {20: A[21], 21: A[20], 22: A[22]})
        assert found.swapped == ((20, 21),)
        assert found.hits("all_gt") == (22,)

    def test_swapped_around_the_thirteenth(self) -> None:
        gt = {19: (0, 0, 0), 28: (0, 30, 0), 20: (0, 60, 0)}
        assert compare_vertebrae(gt, {19: gt[19], 28: gt[20], 20: gt[28]}).swapped == ((28, 20),)

    def test_shifted_is_not_swapped(self) -> None:
        assert compare_vertebrae(A, {20: A[21], 21: A[22]}).swapped == ()


SPINE = {label: (0.0, 0.0, -30.0 * i) for i, label in enumerate(range(15, 25))}


class TestAnatomicalOrder:
    def test_the_thirteenth_lies_between_t12_and_l1(self) -> None:
        gt = {label: (0, 0, float(label)) for label in (25, 20, 28, 19, 24)}
        found = compare_vertebrae(gt, gt)
        assert list(found.matches) == [19, 28, 20, 24, 25]
        assert [vertebra_name(label) for label in found.matches] == ["T12", "T13", "L1", "L5", "L6"]

    def test_every_scored_label_has_a_name_of_its_own(self) -> None:
        assert set(ANATOMICAL_ORDER) == {*range(1, 26), 28}
        assert len({vertebra_name(label) for label in ANATOMICAL_ORDER}) == 26
        assert all(is_scored(label) for label in ANATOMICAL_ORDER)
        assert not any(is_scored(label) for label in (0, 26, 27, 29, -1))

    def test_names_of_the_legend(self) -> None:
        names = {1: "C1", 7: "C7", 8: "T1", 19: "T12", 20: "L1", 25: "L6", 28: "T13", 26: "sacrum", 40: "label 40"}
        assert {label: vertebra_name(label) for label in names} == names

    def test_unknown_labels_come_last(self) -> None:
        assert in_anatomical_order([40, 28, 26, 1, 1]) == [1, 28, 26, 40]

    def test_a_gap_stays_a_gap(self) -> None:
        gt = {16: (0, 0, 110), 17: (0, 0, 100), 18: (0, 0, 90), 20: (0, 0, 80), 21: (0, 0, 70)}
        found = compare_vertebrae(gt, gt)
        assert list(found.matches) == [16, 17, 18, 20, 21]
        assert (found.id_rate("all_gt"), found.level_shift) == (1.0, None)


def moved(points: Points, by: int) -> dict[int, Any]:
    return {label + by: point for label, point in points.items() if 1 <= label + by <= 25}


class TestLevelShift:
    @pytest.mark.parametrize("by", [-3, -1, 1])
    def test_the_shift_that_mends_the_labels(self, by: int) -> None:
        found = compare_vertebrae(SPINE, moved(SPINE, by))
        assert found.level_shift == -by
        assert found.id_rate("all_gt") == 0.0

    def test_correct_labels_have_none(self) -> None:
        assert compare_vertebrae(SPINE, SPINE).level_shift is None

    def test_half_of_a_spine_is_not_clear(self) -> None:
        upper = {label: p for label, p in SPINE.items() if label < 20}
        lower = {label: p for label, p in SPINE.items() if label >= 20}
        assert compare_vertebrae(SPINE, {**moved(upper, -1), **lower}).level_shift is None

    def test_a_single_vertebra_is_not_clear(self) -> None:
        assert level_shift(SPINE, {19: SPINE[20]}) is None

    def test_points_of_nowhere_have_none(self) -> None:
        assert level_shift(SPINE, dict.fromkeys(SPINE, (500.0, 0.0, 0.0))) is None

    def test_a_few_wrong_ones_do_not_hide_it(self) -> None:
        assert level_shift(SPINE, {**moved(SPINE, -1), 20: (90.0, 0.0, 0.0)}) == 1

    def test_a_thirteenth_is_a_level_where_it_is(self) -> None:
        gt = {18: (0, 0, 0), 19: (0, 0, -30), 28: (0, 0, -60), 20: (0, 0, -90)}
        called = {17: gt[18], 18: gt[19], 19: gt[28], 28: gt[20]}
        assert level_shift(gt, called) == 1

    def test_and_none_where_nobody_has_it(self) -> None:
        gt = {18: (0, 0, 0), 19: (0, 0, -30), 20: (0, 0, -60)}
        assert level_shift(gt, {17: gt[18], 18: gt[19], 19: gt[20]}) == 1

    def test_nothing_has_none(self) -> None:
        assert level_shift({}, {}) is None
        assert level_shift(SPINE, {}) is None
        assert level_shift({}, SPINE) is None


# ---------------------------------------------------------------- properties

coordinates = st.integers(-100, 100).map(float)
points = st.dictionaries(st.sampled_from(ANATOMICAL_ORDER), st.tuples(coordinates, coordinates, coordinates))


@given(points)
def test_a_set_against_itself_is_perfect(gt: Points) -> None:
    assume(len(set(gt.values())) == len(gt))
    found = compare_vertebrae(gt, gt)
    assert found.id_rate("all_gt") == found.id_rate("common") == (1.0 if gt else None)
    assert found.d_mean == (0.0 if gt else None)
    assert found.missing == found.extra == found.swapped == ()
    assert found.level_shift is None


@given(points, points)
def test_counts_add_up_and_the_text_is_the_stricter_rule(gt: Points, pred: Points) -> None:
    found = compare_vertebrae(gt, pred)
    assert found.n_gt == len(gt)
    assert found.n_pred == len(pred)
    assert set(found.missing) == set(gt) - set(pred)
    assert set(found.extra) == set(pred) - set(gt)
    assert list(found.matches) == in_anatomical_order([*gt, *pred])
    assert set(found.hits("all_gt")) <= set(found.hits("common")) <= set(gt) & set(pred)
    for rule in ("all_gt", "common"):
        rate = found.id_rate(rule)  # type: ignore[arg-type]
        assert rate is None if not gt else 0 <= (rate or 0) <= 1
        assert all((m.why_not(rule) is None) == bool(m.hit[rule]) for m in found.matches.values())  # type: ignore[arg-type,index]


@given(points, points, st.floats(-3, 3), st.integers(0, 2), st.tuples(coordinates, coordinates, coordinates))
def test_a_rigid_motion_of_both_changes_nothing(
    gt: Points, pred: Points, angle: float, axis: int, by: tuple[float, float, float]
) -> None:
    c, s = np.cos(angle), np.sin(angle)
    turn = np.eye(3)
    i, j = (k for k in range(3) if k != axis)
    turn[[i, i, j, j], [i, j, i, j]] = c, -s, s, c

    def move(side: Points) -> dict[int, Any]:
        return {label: tuple((turn @ np.array(p) + by).tolist()) for label, p in side.items()}

    one, other = compare_vertebrae(gt, pred), compare_vertebrae(move(gt), move(pred))
    assert other.level_shift == one.level_shift
    assert other.d_mean == (None if one.d_mean is None else pytest.approx(one.d_mean, abs=1e-6))
    for rule in ("all_gt", "common"):
        assert other.hits(rule) == one.hits(rule)  # type: ignore[arg-type]


@given(points, points, st.permutations(range(26)))
def test_the_order_in_a_file_does_not_matter(gt: Points, pred: Points, order: list[int]) -> None:
    def mixed(side: Points) -> Points:
        return {label: side[label] for i in order if (label := ANATOMICAL_ORDER[i]) in side}

    assert compare_vertebrae(mixed(gt), mixed(pred)) == compare_vertebrae(gt, pred)


def official_hits(gt: Points, pred: Points) -> list[int]:
    """What the rule of the official code says, written again on arrays with NaN for what is absent."""
    both = [np.full((28, 3), np.nan) for _ in range(2)]
    for array, side in zip(both, (gt, pred), strict=True):
        for label, point in side.items():
            array[label - 1] = point
    common = np.flatnonzero(~np.isnan(both[0]).any(axis=1) & ~np.isnan(both[1]).any(axis=1))
    distances = np.linalg.norm(both[1][common][:, None] - both[0][common][None], axis=-1)
    return [int(i) + 1 for n, i in enumerate(common) if distances[n].argmin() == n and not distances[n, n] > 20]


@given(points, points)
def test_the_official_rule_written_a_second_time_agrees(gt: Points, pred: Points) -> None:
    assert sorted(compare_vertebrae(gt, pred).hits("common")) == official_hits(gt, pred)


def test_a_spine_with_a_thirteenth_and_a_sixth_is_identified_from_head_to_feet() -> None:
    order = [17, 18, 19, 28, 20, 21, 22, 23, 24, 25]
    spine = {label: (0.0, 0.0, -30.0 * place) for place, label in enumerate(order)}
    found = compare_vertebrae(dict(sorted(spine.items())), spine)
    assert list(found.matches) == order
    names = ["T10", "T11", "T12", "T13", "L1", "L2", "L3", "L4", "L5", "L6"]
    assert [vertebra_name(label) for label in found.matches] == names
    assert (found.n_gt, len(found.hits("all_gt")), found.id_rate("all_gt")) == (10, 10, 1.0)
