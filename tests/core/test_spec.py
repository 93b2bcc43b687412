"""Typed views of eval_spec.yaml and task.yaml: defaults, and errors that name file and key."""

from __future__ import annotations

import re
from typing import Any

import pytest

from medotter_viewer import EvalSpec, TaskSpec
from medotter_viewer.core.key_reader import to_id
from medotter_viewer.core.spec import Headline, parse_remap
from medotter_viewer.errors import BundleError, MedotterViewerError

TASK = TaskSpec.from_mapping({"canonical_labels": {"liver": [1], "both": [1, 2]}, "main_region": "liver"})


def test_an_empty_specification_takes_everything_from_the_task_and_the_defaults() -> None:
    spec = EvalSpec.from_mapping({}, TASK)
    assert spec.task_type == "seg"
    assert spec.regions == {"liver": (1,), "both": (1, 2)}
    assert spec.metrics == ("dice", "hd95")
    assert spec.headline == Headline("liver", "dice", None)
    assert spec.partial_label is False
    assert spec.hd95_percentile == 95.0
    assert spec.hd95_spacing is None
    assert spec.empty_structure == {}
    assert spec.label_space is None
    assert spec.unit == "case"
    assert spec.reports == frozenset()


def test_without_task_and_regions_the_headline_is_the_macro_average() -> None:
    spec = EvalSpec.from_mapping({})
    assert spec.regions == {}
    assert spec.headline == Headline("macro_avg", "dice")


def test_everything_that_is_said_is_used() -> None:
    raw = {
        "task_type": "seg",
        "eval_regions": {"WT": [1, 2, 3], "ET": 3},
        "partial_label": True,
        "main_region": "WT",
        "metrics": ["hd95", "dice"],
        "hd95": {"percentile": 90, "spacing": [1, 0.5, 3], "unit": "mm"},
        "empty_structure": {"hd95": {"gt_nonempty_pred_empty": 373.13, "both_empty": 0}},
        "aggregation": {
            "unit": "patient",
            "report_by_region": True,
            "report_by_tier": False,
            "headline": {"region": "ET", "metric": "hd95", "tier": "hard"},
        },
        "prediction_format": {"label_space": [0, 1, 2, 3]},
    }
    spec = EvalSpec.from_mapping(raw, TASK)
    assert spec.regions == {"WT": (1, 2, 3), "ET": (3,)}
    assert spec.metrics == ("hd95", "dice")
    assert spec.headline == Headline("ET", "hd95", "hard")
    assert spec.partial_label is True
    assert (spec.hd95_percentile, spec.hd95_spacing) == (90.0, (1.0, 0.5, 3.0))
    assert spec.empty_structure == {"hd95": {"gt_nonempty_pred_empty": 373.13, "both_empty": 0.0}}
    assert spec.label_space == {0, 1, 2, 3}
    assert spec.unit == "patient"
    assert spec.reports == {"region"}
    assert spec.raw is raw


def test_the_specification_names_the_main_region_before_the_task_does() -> None:
    assert EvalSpec.from_mapping({"main_region": "both"}, TASK).headline.region == "both"


def test_the_headline_takes_the_first_metric_of_the_file() -> None:
    assert EvalSpec.from_mapping({"metrics": ["hd95", "dice"]}, TASK).headline.metric == "hd95"


@pytest.mark.parametrize(
    ("task_type", "metrics"),
    [
        ("instance_seg_2d", ("f1", "aji", "pq")),
        ("instance_seg_3d", ("f1", "aji", "pq")),
        ("vertebra", ("dice", "hd95", "id_rate", "d_mean")),
        ("lung_contour", ("scan_score",)),
        ("cls", ("dice", "hd95")),
    ],
)
def test_each_task_type_has_its_own_default_metrics(task_type: str, metrics: tuple[str, ...]) -> None:
    assert EvalSpec.from_mapping({"task_type": task_type}).metrics == metrics


@pytest.mark.parametrize(
    ("spacing", "expected"),
    [("from_header", None), (None, None), ([1, 2.5, 3], (1.0, 2.5, 3.0)), ([0.5, 0.25], (0.5, 0.25))],
)
def test_hd95_spacing_is_from_header_or_numbers(spacing: Any, expected: Any) -> None:
    assert EvalSpec.from_mapping({"hd95": {"spacing": spacing}}).hd95_spacing == expected


@pytest.mark.parametrize(
    "spacing", ["3 mm", [1], [1, 2, 3, 4], [1, 2, 0], [1, 2, -1], [1, 2, True], [1, 2, "3"], 1.0, [1, 2, float("inf")]]
)
def test_any_other_hd95_spacing_is_refused(spacing: Any) -> None:
    with pytest.raises(BundleError, match=r"^spec\.yaml: hd95: spacing: got .*from_header"):
        EvalSpec.from_mapping({"hd95": {"spacing": spacing}}, where="spec.yaml")


def test_a_label_space_in_words_is_documentary() -> None:
    assert EvalSpec.from_mapping({"prediction_format": {"label_space": "canonical ids"}}).label_space is None


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"task_type": 3}, "spec.yaml: task_type: got 3"),
        ({"metrics": "dice"}, "spec.yaml: metrics: got 'dice'"),
        ({"metrics": ["dice", 95]}, "spec.yaml: metrics"),
        ({"eval_regions": ["liver"]}, "spec.yaml: eval_regions"),
        ({"eval_regions": {"liver": []}}, "spec.yaml: eval_regions.liver: got no ids"),
        ({"eval_regions": {"liver": [True]}}, "spec.yaml: eval_regions.liver: got True"),
        ({"eval_regions": {"liver": [1, "one"]}}, "spec.yaml: eval_regions.liver: got 'one'"),
        ({"eval_regions": {"liver": [-1]}}, "spec.yaml: eval_regions.liver: got -1"),
        ({"eval_regions": {"liver": [1.5]}}, "spec.yaml: eval_regions.liver: got 1.5"),
        ({"eval_regions": {"liver": None}}, "spec.yaml: eval_regions.liver: got None"),
        ({"partial_label": "yes"}, "spec.yaml: partial_label: got 'yes'"),
        ({"partial_label": 1}, "spec.yaml: partial_label: got 1"),
        ({"hd95": 95}, "spec.yaml: hd95: got 95"),
        ({"hd95": {"percentile": 101}}, "spec.yaml: hd95: percentile: got 101"),
        ({"hd95": {"percentile": "95"}}, "spec.yaml: hd95: percentile: got '95'"),
        ({"hd95": {"percentile": True}}, "spec.yaml: hd95: percentile: got True"),
        ({"hd95": {"percentile": float("nan")}}, "spec.yaml: hd95: percentile: got nan"),
        ({"hd95": {"spacing": [10**400, 1, 1]}}, "spec.yaml: hd95: spacing"),
        ({"empty_structure": {"hd95": 374}}, "spec.yaml: empty_structure.hd95: got 374"),
        ({"empty_structure": {"hd95": {"both_empty": "0"}}}, "spec.yaml: empty_structure.hd95.both_empty: got '0'"),
        ({"empty_structure": {"hd95": {"both_empty": float("inf")}}}, "empty_structure.hd95.both_empty: got inf"),
        ({"empty_structure": {"hd95": {"both_empty": 10**400}}}, "empty_structure.hd95.both_empty"),
        ({"aggregation": []}, "spec.yaml: aggregation: got []"),
        ({"aggregation": {"headline": "liver"}}, "spec.yaml: aggregation: headline: got 'liver'"),
        ({"aggregation": {"headline": {"tier": 1}}}, "spec.yaml: aggregation.headline: tier: got 1"),
        ({"aggregation": {"unit": 1}}, "spec.yaml: aggregation: unit: got 1"),
        ({"prediction_format": {"label_space": [0, "x"]}}, "spec.yaml: prediction_format: label_space: got 'x'"),
        ({"main_region": "spleen"}, "spec.yaml: headline region 'spleen' is not one of ['both', 'liver']"),
        ([], "spec.yaml: got list"),
    ],
)
def test_an_error_names_file_key_and_value(raw: Any, named: str) -> None:
    with pytest.raises(BundleError, match=re.escape(named)):
        EvalSpec.from_mapping(raw, TASK, where="spec.yaml")


# ---------------------------------------------------------------- task.yaml


def test_a_task_gives_labels_remaps_and_notes() -> None:
    task = TaskSpec.from_mapping(
        {
            "task": {"id": "abdomen", "modality": "CT"},
            "canonical_labels": {"spleen": [1], "kidneys": [2, 3]},
            "main_region": "macro_avg",
            "label_remap": {"A": {1: 1, 6: 2, "note": "left only"}, 5: {"1": "3"}},
        }
    )
    assert task.identity == {"id": "abdomen", "modality": "CT"}
    assert task.canonical_labels == {"spleen": (1,), "kidneys": (2, 3)}
    assert task.main_region == "macro_avg"
    remap = task.remap_of("A")
    assert remap is not None
    assert remap.table == {1: 1, 6: 2}
    assert remap.form == "dict"
    assert task.notes == {"A": "left only"}
    five = task.remap_of("5")
    assert five is not None
    assert five.table == {1: 3}


def test_a_dataset_that_a_remap_does_not_mention_has_none() -> None:
    task = TaskSpec.from_mapping({"label_remap": {"A": {1: 1}}})
    assert task.remap_of("B") is None
    assert task.remap_of(None) is None


def test_no_label_remap_at_all_is_the_identity_for_every_dataset() -> None:
    for raw in ({}, {"label_remap": None}):
        for dataset in ("A", None):
            remap = TaskSpec.from_mapping(raw).remap_of(dataset)
            assert remap is not None
            assert (remap.table, remap.form) == (None, "none")


def test_a_documentary_list_is_the_identity_also_for_datasets_it_does_not_mention() -> None:
    task = TaskSpec.from_mapping({"label_remap": {"A": {"native": [1, 4], "to": [1, 3]}}})
    for dataset in ("A", "B", None):
        remap = task.remap_of(dataset)
        assert remap is not None
        assert (remap.table, remap.form) == (None, "list")
        assert remap.target(4) == 4


def test_one_documentary_list_does_not_speak_for_datasets_beside_a_real_remap() -> None:
    task = TaskSpec.from_mapping({"label_remap": {"A": {"native": [1], "to": [1]}, "B": {1: 2}}})
    assert task.remap_of("C") is None


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"label_remap": [1]}, "task.yaml: label_remap"),
        ({"label_remap": {"A": 3}}, "task.yaml: label_remap.A: got 3"),
        ({"label_remap": {"A": None}}, "task.yaml: label_remap.A: got None"),
        ({"label_remap": {"A": {"x": 1}}}, "task.yaml: label_remap.A: native id: got 'x'"),
        ({"label_remap": {"A": {1: "x"}}}, "task.yaml: label_remap.A: canonical id of 1: got 'x'"),
        ({"label_remap": {"A": {1: True}}}, "task.yaml: label_remap.A: canonical id of 1: got True"),
        ({"label_remap": {"A": {True: 1}}}, "task.yaml: label_remap.A: native id: got True"),
        ({"label_remap": {"A": {1: -1}}}, "task.yaml: label_remap.A: canonical id of 1: got -1"),
        ({"label_remap": {"A": {1: 2.5}}}, "task.yaml: label_remap.A: canonical id of 1: got 2.5"),
        ({"label_remap": {"A": {1: None}}}, "task.yaml: label_remap.A: canonical id of 1: got None"),
        ({"label_remap": {"A": {"native": "1", "to": "2"}}}, "task.yaml: label_remap.A: native id: got 'native'"),
        ({"label_remap": {"A": {1: 1, "1": 2}}}, "task.yaml: label_remap.A: native id 1 is listed twice"),
        ({"label_remap": {"A": {"010": 1, 10: 2}}}, "task.yaml: label_remap.A: native id 10 is listed twice"),
        ({"canonical_labels": {"liver": "x"}}, "task.yaml: canonical_labels.liver: got 'x'"),
        ({"task": "abdomen"}, "task.yaml: task: got 'abdomen'"),
        ({"main_region": ["liver"]}, "task.yaml: main_region: got ['liver']"),
    ],
)
def test_an_error_in_a_task_names_the_dataset_and_the_id(raw: Any, named: str) -> None:
    with pytest.raises(BundleError, match=re.escape(named)):
        TaskSpec.from_mapping(raw)


# ---------------------------------------------------------------- ids


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (7, 7), (7.0, 7), ("7", 7), (" 7 ", 7), ("010", 10), ("0", 0), (2**63 - 1, 2**63 - 1), (70_000, 70_000)],
)
def test_ids_are_whole_numbers_as_numbers_or_digits(value: Any, expected: int) -> None:
    assert to_id(value, "here") == expected


@pytest.mark.parametrize(
    "value",
    [
        *[True, False, -1, "-1", 1.5, "1.5", "1e3", "", " ", "x", "٣", "²", "1_000", None, [1]],
        *[2**63, 1e300, 10**400, "9" * 5000, float("nan"), float("inf")],
    ],
)
def test_anything_else_is_no_id(value: Any) -> None:
    with pytest.raises(BundleError, match=r"^here: got .*expected a whole number of 0 or more"):
        to_id(value, "here")


def test_string_keys_of_json_are_ids_and_a_note_is_not() -> None:
    remap = parse_remap({"1": 2, "4": "3", "note": "of 2023"}, where="here", form="per_case")
    assert remap.table == {1: 2, 4: 3}
    assert (remap.form, remap.source) == ("per_case", "here")


def test_an_empty_remap_is_a_remap_that_drops_everything() -> None:
    remap = parse_remap({}, where="here")
    assert remap.table == {}
    assert remap.target(1) == 0


def test_errors_can_be_caught_as_value_errors() -> None:
    for kind in (MedotterViewerError, ValueError):
        with pytest.raises(kind):
            parse_remap(3, where="here")
