"""score(): numbers that can be counted on fingers, and what is refused, in which order."""

from __future__ import annotations

import builtins
import json
import math
import pickle
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer import LabelSchema, Sample, ScoreReport, score
from medotter_viewer.errors import CaseNotFoundError, LabelError, MetricInputError, UsageError
from medotter_viewer.evaluation.sample import sample_key

ALL = ("dice", "iou", "hd95")
NAMES = {1: "one", 2: "two", 3: "three"}
GT = {"c1": [1, 1, 2, 0], "c2": [1, 1, 0, 0], "c3": [0, 0, 0, 0]}
PRED = {"c1": [1, 0, 2, 0], "c2": [1, 1, 0, 2], "c3": [0, 0, 0, 0]}


def sample(label: Any, case_id: str | None = "a", spacing: Any = None, **meta: Any) -> Sample:
    named = {} if case_id is None else {"case_id": case_id}
    return Sample(None, np.asarray(label), spacing, {**named, **meta})


def samples(gt: dict[str, Any] = GT) -> list[Sample]:
    return [sample(label, key) for key, label in gt.items()]


def arrays(values: dict[str, Any] = PRED) -> dict[str, NDArray[Any]]:
    return {key: np.asarray(value) for key, value in values.items()}


def one(gt: Any, pred: Any, **options: Any) -> ScoreReport:
    """Score one case of which each part is given as numbers."""
    spacing = options.pop("spacing", None)
    return score({"a": np.asarray(pred)}, [sample(gt, spacing=spacing)], **options)


class TestWorkedExample:
    def test_absent_cases_count_by_default(self) -> None:
        report = score(arrays(), samples(), labels=NAMES)
        dice = {name: means["dice"] for name, means in report.per_class.items()}
        assert dice == pytest.approx({"one": 0.888889, "two": 0.666667, "three": 1.0}, abs=1e-6)
        assert report.macro["dice"] == pytest.approx(0.777778, abs=1e-6)
        assert report.per_class["one"]["iou"] == pytest.approx((0.5 + 1 + 1) / 3)
        assert report.support == {"one": 2, "two": 1, "three": 0}
        assert (report.n_cases, report.metrics, report.per_case) == (3, ("dice", "iou"), None)

    def test_present_only_leaves_them_out(self) -> None:
        report = score(arrays(), samples(), labels=NAMES, present_only=True)
        dice = {name: means["dice"] for name, means in report.per_class.items()}
        assert dice == {"one": pytest.approx(0.833333, abs=1e-6), "two": 1.0, "three": None}
        assert report.macro["dice"] == pytest.approx(0.916667, abs=1e-6)
        assert report.support == {"one": 2, "two": 1, "three": 0}

    def test_every_case_has_its_values_where_they_are_asked_for(self) -> None:
        report = score(arrays(), samples(), labels=NAMES, per_case=True)
        assert report.per_case is not None
        iou = [report.per_case[key]["one"]["iou"] for key in GT]
        assert iou == [0.5, 1.0, 1.0]
        assert [report.per_case[key]["two"]["dice"] for key in GT] == [1.0, 0.0, 1.0]
        assert [report.per_case[key]["three"]["dice"] for key in GT] == [1.0, 1.0, 1.0]
        assert report.values["c3"]["three"]["dice"].status == "absent"

    def test_classes_are_those_of_the_ground_truth_where_nobody_names_them(self) -> None:
        report = score(arrays(), samples())
        assert list(report.per_class) == ["1", "2"]
        assert report.per_class[1] == report.per_class["1"]  # type: ignore[index]
        assert report.macro["dice"] == pytest.approx(0.777778, abs=1e-6)

    def test_a_dataset_may_name_its_classes(self) -> None:
        class Named(list[Sample]):
            labels = ("background", "one", "two", "three")

        assert list(score(arrays(), Named(samples())).support) == ["one", "two", "three"]
        assert list(score(arrays(), Named(samples()), labels={1: "x", 2: "y"}).support) == ["x", "y"]

    def test_samples_are_gone_through_once(self) -> None:
        assert score(arrays(), iter(samples()), metrics=ALL) == score(arrays(), samples(), metrics=ALL)

    def test_anything_with_the_attributes_is_a_sample(self) -> None:
        found = score({"0": np.array([1])}, [SimpleNamespace(label=[1])])
        assert found.per_class["1"] == {"dice": 1.0, "iou": 1.0}


class TestKeys:
    @pytest.mark.parametrize(
        ("meta", "key"),
        [
            ({"case_id": "A/1", "slice_idx": 0}, "A/1#0"),
            ({"case_id": "A/1"}, "A/1"),
            ({"case_id": "A/1", "slice_idx": None}, "A/1"),
            ({"slice_idx": 3}, "5"),
            ({"case_id": None}, "5"),
            ({}, "5"),
            (None, "5"),
        ],
    )
    def test_are_case_and_slice_or_case_or_place(self, meta: Any, key: str) -> None:
        assert sample_key(Sample(None, np.zeros(1), None, meta), 5) == key

    def test_slices_of_one_case_have_their_own_predictions(self) -> None:
        slices = [sample([1, 0], "a", slice_idx=i) for i in (0, 1)]
        report = score({"a#0": np.array([1, 0]), "a#1": np.array([0, 0])}, slices)
        assert report.per_class["1"]["dice"] == 0.5


class TestFaults:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"metrics": ("dice", "f1")}, "'f1'"),
            ({"metrics": "dice"}, "'dice'"),
            ({"metrics": ()}, "none"),
            ({"metrics": None}, "None"),
            ({"labels": NAMES, "schema": LabelSchema(NAMES)}, "labels and schema"),
            ({"labels": "liver"}, "str"),
            ({"labels": []}, "no class"),
            ({"labels": ["background"]}, "no class"),
            ({"labels": {}}, "no class"),
            ({"labels": {-1: "x"}}, "-1"),
            ({"labels": {1.5: "x"}}, "1.5"),
            ({"labels": {True: "x"}}, "True"),
            ({"labels": {1: 2}}, "expected a name"),
            ({"labels": [0, 1, 2]}, "expected a name"),
            ({"labels": {1: "x", 2: "x"}}, "more than one id"),
            ({"schema": {1: "x"}}, "expected a LabelSchema"),
        ],
    )
    def test_of_arguments(self, options: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words) as caught:
            score(arrays(), samples(), **options)
        assert isinstance(caught.value, UsageError)

    @pytest.mark.parametrize("predictions", [[np.zeros(4)], np.zeros((3, 4)), None, "c1"])
    def test_of_predictions_that_are_no_mapping(self, predictions: Any) -> None:
        with pytest.raises(UsageError, match="expected a mapping"):
            score(predictions, samples())

    def test_of_a_dataset_that_holds_no_samples(self) -> None:
        with pytest.raises(UsageError, match="got int"):
            score({}, 5)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="without a label"):
            score({"0": np.zeros(1)}, [object()])  # type: ignore[list-item]

    def test_of_a_key_that_occurs_twice(self) -> None:
        twice = [sample([1], "vol"), sample([1], "vol")]
        with pytest.raises(ValueError, match=r"sample 1: got key 'vol' a second time.*slice_idx"):
            score({"vol": np.array([1])}, twice)

    def test_of_a_sample_without_prediction(self) -> None:
        with pytest.raises(KeyError, match=r"sample 'c2': got no prediction.*'c1', 'c3'") as caught:
            score(arrays({k: v for k, v in PRED.items() if k != "c2"}), samples())
        assert isinstance(caught.value, CaseNotFoundError)

    def test_of_more_predictions_than_samples(self) -> None:
        with pytest.raises(ValueError, match=r"got 4, expected 3.*'c9'"):
            score(arrays({**PRED, "c9": [0]}), samples())
        with pytest.raises(ValueError, match="got 1, expected 0"):
            score(arrays({"c9": [0]}), [])

    @pytest.mark.parametrize(
        ("gt", "pred"),
        [((2, 2, 2), (2, 2, 2, 1)), ((2, 2, 2), (1, 2, 2, 2)), ((2, 2), (1, 2)), ((2, 3), (3, 2)), ((4,), (1,))],
    )
    def test_of_shapes_that_differ_or_could_be_broadcast(self, gt: Any, pred: Any) -> None:
        with pytest.raises(MetricInputError, match=r"prediction for 'a': got shape .* expected .*nothing is broadcast"):
            one(np.ones(gt, dtype=int), np.ones(pred, dtype=int))

    @pytest.mark.parametrize("pred", [[[1, 2], [1]], None, 1])
    def test_of_what_is_no_array(self, pred: Any) -> None:
        with pytest.raises(MetricInputError, match="prediction for 'a'"):
            score({"a": pred}, [sample([1, 1])])

    @pytest.mark.parametrize("spacing", [(1, math.nan), (0, 1), (-1, 1), (1, math.inf), ("x", 1), 0.0])
    @pytest.mark.parametrize("metrics", [("dice",), ("hd95",)])
    def test_of_spacings_that_cannot_be(self, spacing: Any, metrics: Any) -> None:
        with pytest.raises(MetricInputError, match="sample 'a': spacing"):
            one([[1, 1]], [[1, 1]], spacing=spacing, metrics=metrics)

    def test_of_a_spacing_for_other_axes_only_where_distances_are_asked_for(self) -> None:
        assert one([[1, 1]], [[1, 1]], spacing=(1, 1, 1)).macro["dice"] == 1.0
        with pytest.raises(MetricInputError, match="expected 2 positive numbers"):
            one([[1, 1]], [[1, 1]], spacing=(1, 1, 1), metrics=("hd95",))

    @pytest.mark.parametrize(
        ("ids", "words"),
        [
            ([0.5, 1.0], "0.5"),
            ([math.nan, 1.0], "nan"),
            ([math.inf, 1.0], "inf"),
            ([-1, 1], "-1"),
            ([-1.0, 1.0], "-1"),
            (["a", "b"], "type"),
            ([1j, 1], "type"),
            (np.array([2**63, 1], dtype=np.uint64), str(2**63)),
            (np.array([1e30, 1.0]), "at most"),
        ],
    )
    def test_of_values_that_are_no_ids(self, ids: Any, words: str) -> None:
        with pytest.raises(LabelError, match=f"prediction for 'a': got .*{words}"):
            one([0, 1], ids)
        with pytest.raises(LabelError, match=f"label of 'a': got .*{words}"):
            one(ids, [0, 1])

    @pytest.mark.parametrize("classes", [{}, {"labels": ["background", "x"]}, {"schema": LabelSchema({1: "x"})}])
    def test_of_a_predicted_id_that_is_no_class(self, classes: Any) -> None:
        with pytest.raises(LabelError, match=r"prediction for 'a': got ids 7 \(2 voxels\), expected only .*1"):
            one([1, 0, 0], [1, 7, 7], **classes)


FAULTS = ["argument", "duplicate", "missing", "surplus", "shape", "ids"]
RAISED = {
    "argument": (UsageError, "'f1'"),
    "duplicate": (UsageError, "a second time"),
    "missing": (CaseNotFoundError, "'c1': got no prediction"),
    "surplus": (UsageError, "no sample has the key"),
    "shape": (MetricInputError, "got shape"),
    "ids": (LabelError, "got ids 9"),
}


@pytest.mark.parametrize("labels", [None, NAMES])
@pytest.mark.parametrize(("first", "second"), [(a, b) for i, a in enumerate(FAULTS) for b in FAULTS[i + 1 :]])
def test_of_two_faults_the_earlier_kind_is_raised_wherever_they_are(first: str, second: str, labels: Any) -> None:
    chosen = {first, second}
    dataset = samples({"ids": [1, 1], "shape": [1, 1], **GT})
    predictions = arrays({"ids": [1, 1], "shape": [1, 1], **PRED})
    if "ids" in chosen:
        predictions["ids"] = np.array([1, 9])
    if "shape" in chosen:
        predictions["shape"] = np.array([[1, 1]])
    if "missing" in chosen:
        del predictions["c1"]
    if "surplus" in chosen:
        predictions |= arrays({"more": [0], "still more": [0]})
    if "duplicate" in chosen:
        dataset.append(dataset[-1])
    error, words = RAISED[first]
    with pytest.raises(error, match=words):
        score(predictions, dataset, metrics=("f1",) if "argument" in chosen else ("dice",), labels=labels)


def test_of_two_faults_of_one_kind_the_first_in_the_dataset_is_raised() -> None:
    dataset = samples({"a": [1, 1], "b": [1, 1]})
    with pytest.raises(MetricInputError, match="'a'"):
        score(arrays({"a": [1], "b": [1]}), dataset)


def test_without_scipy_every_call_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match="scipy"):
        score({}, [], metrics=("dice",))


def test_without_scipy_at_the_import_too(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def hook(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError("No module named 'scipy'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", hook)
    with pytest.raises(ImportError, match="pip install scipy"):
        score(arrays(), samples(), metrics=("dice",))


class TestClasses:
    def test_unknown_true_ids_are_background(self) -> None:
        report = one([1, 9, 0], [1, 0, 0], labels=["background", "x"])
        assert report.per_class == {"x": {"dice": 1.0, "iou": 1.0}}

    def test_a_mapping_that_names_0_makes_it_a_class_which_unknown_true_ids_join(self) -> None:
        report = one([1, 9, 0, 0], [1, 0, 0, 1], labels={0: "rest", 1: "x"}, metrics=ALL, spacing=(2.0,))
        # rest: true 3 (one of them the 9), predicted 2, both 2.
        assert report.per_class["rest"]["dice"] == pytest.approx(2 * 2 / 5)
        # True surface: its two ends, 0 and 2 mm from the prediction; the 95th percentile lies at 95 % between them.
        assert report.per_class["rest"]["hd95"] == pytest.approx(1.9)
        assert report.support == {"rest": 1, "x": 1}

    def test_a_schema_knows_all_ids(self) -> None:
        with pytest.raises(LabelError, match=r"label of 'a': got ids 9 \(1 voxels\), expected only 0, 1 of the schema"):
            one([1, 9], [1, 0], schema=LabelSchema({1: "x"}))

    def test_a_schema_may_have_another_background(self) -> None:
        report = one([0, 1, 5, 5], [0, 1, 1, 5], schema=LabelSchema(["zero", "one"], background_id=5), metrics=ALL)
        assert report.per_class["zero"] == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}
        assert report.per_class["one"]["dice"] == pytest.approx(2 / 3)

    def test_ids_may_stand_for_their_names_in_a_schema(self) -> None:
        assert LabelSchema([0, 2, 5]).classes == {2: "2", 5: "5"}
        assert LabelSchema(["a", "b", "c"], background_id=1).classes == {0: "a", 2: "c"}
        assert LabelSchema({0: "rest", 1: "x"}).classes == {0: "rest", 1: "x"}

    @pytest.mark.parametrize(
        "arguments",
        [
            {"classes": {1: "x"}, "ignore_ids": {1}},
            {"classes": {1: "x"}, "ignore_ids": {0}},
            {"classes": {1: "x"}, "ignore_ids": 255},
            {"classes": {1: "x"}, "ignore_ids": {-1}},
            {"classes": {1: "x"}, "background_id": -1},
            {"classes": {1: "x"}, "background_id": None},
            {"classes": {}},
            {"classes": 5},
            {"classes": [1, 1.5]},
        ],
    )
    def test_a_schema_that_contradicts_itself_is_refused(self, arguments: Any) -> None:
        with pytest.raises(ValueError, match="schema"):
            LabelSchema(**arguments)

    def test_voxels_whose_truth_is_ignored_are_left_out_of_both_sides(self) -> None:
        schema = LabelSchema({1: "x"}, ignore_ids=frozenset({255}))
        gt, pred = [1, 1, 255, 255, 255, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]
        report = one(gt, pred, schema=schema, metrics=ALL, spacing=(3.0,))
        assert report.per_class["x"] == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}

    def test_an_ignored_id_that_is_predicted_elsewhere_is_no_class(self) -> None:
        report = one([1, 1, 0], [1, 255, 255], schema=LabelSchema({1: "x"}, ignore_ids={255}))
        assert report.per_class["x"]["dice"] == pytest.approx(2 / 3)

    def test_what_is_predicted_only_where_truth_is_ignored_is_absent(self) -> None:
        report = one([255, 0], [1, 0], schema=LabelSchema({1: "x"}, ignore_ids={255}), metrics=ALL)
        assert report.values["a"]["x"]["hd95"].status == "absent"

    def test_ids_may_be_large(self) -> None:
        big = 2**31
        for dtype in (np.uint32, np.int64, np.uint64, np.float64):
            report = one(np.array([big, 0, big], dtype=dtype), np.array([big, 0, 0], dtype=dtype), metrics=ALL)
            assert report.per_class[str(big)]["dice"] == pytest.approx(2 / 3)

    def test_booleans_and_whole_floats_are_ids(self) -> None:
        assert one([True, False], [1.0, 0.0], metrics=ALL).per_class["1"] == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}

    def test_samples_that_do_not_label_a_class_are_left_out_of_its_means(self) -> None:
        partial = [sample([1, 2], "a"), sample([1, 0], "b", labelled_ids={1})]
        predictions = arrays({"a": [1, 2], "b": [1, 2]})
        report = score(predictions, partial, labels=["background", "x", "y"], per_case=True)
        assert report.per_class["y"]["dice"] == 1.0
        assert report.per_case is not None
        assert report.per_case["b"]["y"] == {"dice": None, "iou": None}
        assert report.notes == ("y: not labelled in 1 of 2 samples, left out there",)


class TestHd95:
    def test_is_in_mm_along_the_axes_of_the_array(self) -> None:
        gt, pred = np.zeros((12, 12, 12), dtype=np.uint8), np.zeros((12, 12, 12), dtype=np.uint8)
        gt[2:7, 2:7, 2:7], pred[4:9, 2:7, 2:7] = 1, 1
        assert one(gt, pred, metrics=("hd95",), spacing=(2, 1, 1)).macro["hd95"] == 4.0
        in_voxels = one(gt, pred, metrics=("hd95",))
        assert in_voxels.macro["hd95"] == 2.0
        assert in_voxels.hd95_unit == "voxels"
        assert "hd95 (voxels)" in str(in_voxels)
        assert "hd95 (voxels)" in in_voxels._repr_html_()

    def test_is_the_larger_of_both_directions(self) -> None:
        gt = np.zeros((40, 40), dtype=np.uint8)
        gt[5:15, 5:15] = 1
        pred = gt.copy()
        pred[30:34, 30:34] = 1
        assert one(gt, pred, metrics=("hd95",), spacing=(1, 1)).macro["hd95"] == pytest.approx(25.935412, abs=1e-6)

    def test_of_one_empty_side_is_the_diagonal_and_of_two_0(self) -> None:
        report = one([[1, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 2, 0]], labels=NAMES, metrics=ALL, spacing=(2.0, 1.0))
        assert report.per_class["one"] == {"dice": 0.0, "iou": 0.0, "hd95": 5.0}  # 4 mm by 3 mm
        assert report.per_class["two"] == {"dice": 0.0, "iou": 0.0, "hd95": 5.0}
        assert report.per_class["three"] == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}
        assert report.macro["hd95"] == 5.0
        capped = report.values["a"]["one"]["hd95"]
        assert (capped.status, capped.rule) == ("cap", "image_diagonal")

    def test_of_samples_with_and_without_spacing_is_said_to_be_mixed(self) -> None:
        mixed = [sample([1, 0, 0], "a", (2.0,)), sample([1, 0, 0], "b")]
        report = score(arrays({"a": [0, 1, 0], "b": [0, 1, 0]}), mixed, metrics=("hd95",))
        assert report.macro["hd95"] == 1.5
        assert report.hd95_unit == "mm or voxels"
        assert report.notes == ("hd95: 1 of 2 samples have no spacing: in voxels",)

    @given(st.integers(0, 2**32 - 1), st.tuples(*[st.floats(0.3, 5)] * 3))
    def test_flips_of_all_axes_change_nothing(self, seed: int, spacing: Any) -> None:
        gt, pred = np.random.default_rng(seed).integers(0, 3, (2, 4, 5, 6))
        there = one(gt, pred, metrics=ALL, spacing=spacing, labels=NAMES)
        back = one(gt[::-1, ::-1, ::-1], pred[::-1, ::-1, ::-1], metrics=ALL, spacing=spacing, labels=NAMES)
        for name, means in there.per_class.items():
            assert means == pytest.approx(back.per_class[name])


class TestReport:
    def test_over_nothing_has_no_values(self) -> None:
        report = score({}, [], labels=["background", "x"], metrics=ALL)
        assert report.per_class == {"x": {"dice": None, "iou": None, "hd95": None}}
        assert report.macro == {"dice": None, "iou": None, "hd95": None}
        assert (report.n_cases, report.support) == (0, {"x": 0})
        assert score({}, []).per_class == {}
        assert "0 cases" in str(score({}, []))

    def test_is_json_without_nan(self) -> None:
        report = score(arrays(), samples(), labels=NAMES, metrics=ALL, present_only=True, per_case=True)
        plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
        assert plain["per_class"]["three"] == {"dice": None, "iou": None, "hd95": None}
        assert plain["per_case"]["c1"]["one"]["iou"] == 0.5

    def test_is_frozen_and_may_travel(self) -> None:
        report = score(arrays(), samples(), labels=NAMES)
        with pytest.raises(AttributeError):
            report.n_cases = 5  # type: ignore[misc]
        again = pickle.loads(pickle.dumps(report))  # noqa: S301
        assert again == report
        assert again.per_class[1] == report.per_class["one"]
        with pytest.raises(KeyError):
            report.per_class[9]  # type: ignore[index]

    def test_prints_a_table(self) -> None:
        report = score(arrays(), samples(), labels=NAMES, present_only=True)
        assert str(report).splitlines() == [
            "3 cases, means over cases whose ground truth has the class",
            "class                   support   dice    iou",
            "---------------------------------------------",
            "one                           2  0.833  0.750",
            "two                           1  1.000  1.000",
            "three                         0      –      –",
            "macro (2 of 3 classes)        –  0.917  0.875",
        ]

    def test_shows_a_table_in_a_cell_with_names_escaped(self) -> None:
        html = one([1], [1], labels={1: "<b>"})._repr_html_()
        assert "&lt;b&gt;" in html
        assert "<b>" not in html

    def test_becomes_a_dataframe(self) -> None:
        table = score(arrays(), samples(), labels=NAMES).to_dataframe()
        assert list(table.columns) == ["class", "support", "dice", "iou"]
        assert list(table["class"]) == ["one", "two", "three", "macro"]
        assert table["dice"].iloc[-1] == pytest.approx(0.777778, abs=1e-6)

    def test_lists_every_value_with_its_status(self) -> None:
        rows = score(arrays(), samples(), labels=NAMES, metrics=("dice",)).case_rows()
        assert len(rows) == 9
        expected = {"case": "c3", "class": "one", "metric": "dice", "value": 1.0, "status": "absent"}
        assert {**expected, "rule": "both_empty"} in rows


def test_predictions_may_be_made_when_they_are_asked_for() -> None:
    class Lazy(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return np.asarray(super().__getitem__(key)())

    def later(value: Any) -> Any:
        return lambda: value

    def stream() -> Iterator[Sample]:
        yield from samples()

    report = score(Lazy({key: later(value) for key, value in PRED.items()}), stream(), labels=NAMES)
    assert report.macro["dice"] == pytest.approx(0.777778, abs=1e-6)
