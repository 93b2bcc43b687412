"""evaluate(): a model, or the files of one, on a tiny bundle and on a dataset that registers itself."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer import Bundle, Predictor, Sample, evaluate, score
from medotter_viewer.errors import (
    BundleError,
    BundleNotFoundError,
    CaseNotFoundError,
    GridMismatchError,
    LabelError,
    MetricInputError,
    ReadError,
    UnsupportedTaskError,
    UsageError,
)
from medotter_viewer.evaluation.datasets import load_dataset

REGIONS = {"liver": [1], "spleen": [2], "both": [1, 2]}
TASK = {"task": {"id": "t"}, "canonical_labels": REGIONS, "label_remap": {"D": {5: 1, 1: 2, "note": "swapped"}}}
SPEC = {"eval_regions": REGIONS, "metrics": ["dice"]}
SPACING = (2.0, 1.0, 1.0)


def block(*planes: int) -> NDArray[np.uint8]:
    """Volume of 4 x 4 x 4 whose planes along the first axis have these ids, the rest 0."""
    labels = np.zeros((4, 4, 4), dtype=np.uint8)
    for plane, label in enumerate(planes):
        labels[plane] = label
    return labels


class Copies:
    """Predicts the image itself, and remembers what it was given."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[int, ...], Any]] = []

    def predict(self, image: NDArray[Any], spacing: Any = None) -> NDArray[Any]:
        self.seen.append((image.shape, spacing))
        return image


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Two test cases whose ground truth is native (5 liver, 1 spleen, 7 unlisted) and images that are canonical."""
    cases = {
        "D/1": {"dataset": "D", "gt": block(5, 5, 1, 7), "image": block(1, 1, 2, 0), "spacing": SPACING},
        "D/2": {"dataset": "D", "gt": block(5, 5, 0, 0), "image": block(1, 0, 0, 0), "spacing": SPACING},
        "D/3": {"dataset": "D", "gt": block(5), "image": block(1), "split": "train"},
    }
    predictions = {"D/1": block(1, 1, 2, 0), "D/2": block(1, 0, 0, 0)}
    return write_bundle(tmp_path, cases, TASK, SPEC, predictions)


class TestBundle:
    def test_ground_truth_is_remapped_and_the_model_canonical(self, tiny: Any) -> None:
        report = evaluate(Copies(), tiny.bundle, metrics=("dice", "iou", "hd95"), per_case=True)
        assert report.n_cases == 2
        assert list(report.per_class) == ["liver", "spleen"]
        assert report.per_class["liver"]["dice"] == pytest.approx((1 + 2 / 3) / 2)
        assert report.per_class["liver"]["hd95"] == pytest.approx((0 + 2) / 2)  # one plane of 2 mm is missed
        assert report.per_class["spleen"] == {"dice": 1.0, "iou": 1.0, "hd95": 0.0}
        assert report.support == {"liver": 2, "spleen": 1}
        assert report.per_case is not None
        assert list(report.per_case) == ["D/1", "D/2"]

    def test_a_model_gets_image_and_spacing(self, tiny: Any) -> None:
        model = Copies()
        assert isinstance(model, Predictor)
        evaluate(model, str(tiny.bundle))
        assert model.seen == [((4, 4, 4), SPACING)] * 2

    def test_a_callable_is_called_by_place(self, tiny: Any) -> None:
        def model(picture: Any, steps: Any, /) -> Any:
            assert steps == SPACING
            return picture

        assert evaluate(model, Bundle(tiny.bundle)) == evaluate(Copies(), tiny.bundle)

    def test_splits(self, tiny: Any) -> None:
        assert evaluate(Copies(), tiny.bundle, split="train").n_cases == 1
        assert evaluate(Copies(), tiny.bundle, split="all").n_cases == 3

    def test_files_stand_for_a_model(self, tiny: Any) -> None:
        report = evaluate(None, tiny.bundle, predictions=tiny.predictions, data_root=tiny.data)
        assert report == evaluate(Copies(), tiny.bundle)

    def test_score_takes_its_samples(self, tiny: Any) -> None:
        predictions = {"D/1": block(1, 1, 2, 0), "D/2": block(1, 0, 0, 0)}
        assert score(predictions, load_dataset(tiny.bundle)) == evaluate(Copies(), tiny.bundle)
        assert score(predictions, tiny.bundle) == evaluate(Copies(), tiny.bundle)

    def test_other_labels_replace_those_of_the_bundle(self, tiny: Any) -> None:
        assert list(evaluate(Copies(), tiny.bundle, labels=["background", "l", "s"]).per_class) == ["l", "s"]

    def test_channels_are_stacked_in_the_order_of_the_manifest(self, tmp_path: Path, write_bundle: Any) -> None:
        channels = {"t2": block(0), "t1": block(1, 1)}
        tiny = write_bundle(tmp_path, {"1": {"gt": block(1, 1), "chan": channels}})
        (only,) = load_dataset(tiny.bundle)
        assert only.image is not None
        assert only.image.shape == (2, 4, 4, 4)
        assert evaluate(lambda image, _: image[1], tiny.bundle).macro["dice"] == 1.0

    def test_ids_of_unions_alone_are_called_by_number(self, tmp_path: Path, write_bundle: Any) -> None:
        regions = {"WT": [1, 2, 3], "TC": [1, 3], "ET": [3]}
        spec = {"eval_regions": regions, "prediction_format": {"label_space": [0, 1, 2, 3, 8]}}
        cases = {"1": {"gt": block(1, 2, 3), "image": block(1, 2, 3, 8)}}
        tiny = write_bundle(tmp_path, cases, {"canonical_labels": regions}, spec)
        report = evaluate(Copies(), tiny.bundle)  # 8 may be predicted and is scored by nobody
        assert report.support == {"1": 1, "2": 1, "ET": 1}

    def test_what_a_dataset_does_not_label_is_left_out(self, tmp_path: Path, write_bundle: Any) -> None:
        task = {"canonical_labels": REGIONS, "label_remap": {"D": {5: 1, 1: 2}, "E": {1: 1}}}
        cases = {
            "D/1": {"dataset": "D", "gt": block(5, 1), "image": block(1, 2)},
            "E/1": {"dataset": "E", "gt": block(1, 0), "image": block(1, 2)},
        }
        tiny = write_bundle(tmp_path, cases, task, {**SPEC, "partial_label": True})
        report = evaluate(Copies(), tiny.bundle)
        assert report.per_class["spleen"]["dice"] == 1.0
        assert report.notes == ("spleen: not labelled in 1 of 2 samples, left out there",)


class TestFaults:
    @pytest.mark.parametrize("model", [Copies, 5, "model"])
    def test_of_what_is_no_model(self, tiny: Any, model: Any) -> None:
        with pytest.raises(UsageError, match="model: got"):
            evaluate(model, tiny.bundle)

    def test_of_both_or_neither_of_model_and_files(self, tiny: Any) -> None:
        with pytest.raises(UsageError, match="got neither"):
            evaluate(None, tiny.bundle)
        with pytest.raises(UsageError, match="got both"):
            evaluate(Copies(), tiny.bundle, predictions=tiny.predictions)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"split": "val"}, "'val'.*test, train, all"),
            ({"type": "slice"}, "'slice'"),
            ({"pattern": "x"}, "pattern: no such option.*data_root, predictions"),
            ({"data_root": "/no/such"}, "no such folder"),
            ({"metrics": ("f1",)}, "'f1'"),
        ],
    )
    def test_of_options(self, tiny: Any, options: Any, words: str) -> None:
        with pytest.raises(UsageError, match=words):
            evaluate(Copies(), tiny.bundle, **options)

    def test_of_a_missing_file(self, tiny: Any) -> None:
        (tiny.predictions / "D/2.nii.gz").unlink()
        with pytest.raises(CaseNotFoundError, match="'D/2': got no prediction file"):
            evaluate(None, tiny.bundle, predictions=tiny.predictions)

    def test_of_an_output_of_another_shape(self, tiny: Any) -> None:
        with pytest.raises(MetricInputError, match=r"'D/1': got shape \(1, 4, 4, 4\), expected \(4, 4, 4\)"):
            evaluate(lambda image, _: image[None], tiny.bundle)

    def test_of_ids_are_raised_before_the_next_sample_is_predicted(self, tiny: Any) -> None:
        calls = []

        def model(image: Any, _: Any) -> Any:
            calls.append(1)
            return image + 7

        with pytest.raises(LabelError, match="'D/1': got ids"):
            evaluate(model, tiny.bundle)
        assert len(calls) == 1

    @pytest.mark.parametrize(
        ("case", "error"),
        [
            ({"dataset": "E", "gt": block(1)}, BundleError),  # no remap for E
            ({"dataset": "D", "gt": None}, ReadError),
            ({"dataset": "D"}, BundleError),
        ],
    )
    def test_of_a_case_name_the_case(self, tmp_path: Path, write_bundle: Any, case: Any, error: Any) -> None:
        tiny = write_bundle(tmp_path, {"X/1": case}, TASK, SPEC)
        with pytest.raises(error, match="X/1"):
            evaluate(Copies(), tiny.bundle)

    def test_of_images(self, tmp_path: Path, write_bundle: Any) -> None:
        no_image = write_bundle(tmp_path / "a", {"1": {"gt": block(1)}})
        with pytest.raises(UsageError, match="'1': got no image"):
            evaluate(Copies(), no_image.bundle)
        lost = write_bundle(tmp_path / "b", {"1": {"gt": block(1), "chan": {"t1": block(1), "t2": None}}})
        with pytest.raises(ReadError, match="case 1: channels t2"):
            evaluate(Copies(), lost.bundle)
        small = np.zeros((2, 2, 2), dtype=np.uint8)
        odd = write_bundle(tmp_path / "c", {"1": {"gt": block(1), "chan": {"t1": block(1), "t2": small}}})
        with pytest.raises(GridMismatchError, match="case 1: channels of shapes"):
            evaluate(Copies(), odd.bundle)

    def test_of_a_prediction_on_another_grid(self, tmp_path: Path, write_bundle: Any) -> None:
        shifted = np.eye(4)
        shifted[0, 3] = 3.0
        tiny = write_bundle(tmp_path, {"1": {"gt": block(1)}}, predictions={"1": (block(1), shifted)})
        with pytest.raises(GridMismatchError, match="case 1: grids differ"):
            evaluate(None, tiny.bundle, predictions=tiny.predictions)

    def test_of_a_task_that_has_no_classes(self, tmp_path: Path, write_bundle: Any) -> None:
        spec = {"task_type": "instance_seg_2d", "eval_regions": {"cell": [1]}}
        tiny = write_bundle(tmp_path, {"1": {"gt": block(1)}}, eval_spec=spec)
        with pytest.raises(UnsupportedTaskError, match="instance_seg_2d"):
            evaluate(Copies(), tiny.bundle)

    def test_of_a_folder_without_a_bundle(self, tmp_path: Path) -> None:
        with pytest.raises(BundleNotFoundError, match="no bundle folder"):
            evaluate(Copies(), tmp_path)

    def test_of_missing_scipy_come_before_the_model_is_run(self, tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        model = Copies()
        monkeypatch.setitem(sys.modules, "scipy", None)
        with pytest.raises(ImportError, match="scipy"):
            evaluate(model, tiny.bundle)
        assert model.seen == []


def toy(split: str, type: str, n: int = 2) -> list[Sample]:  # noqa: A002
    image = np.array([[1, 1, 0]])
    return [Sample(image, image, None, {"case_id": f"{split}/{type}/{i}"}) for i in range(n)]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make entry points; the module ``toy_datasets`` has a function ``toy`` and a number ``broken``."""
    module = ModuleType("toy_datasets")
    vars(module).update(toy=toy, broken=5)
    monkeypatch.setitem(sys.modules, "toy_datasets", module)

    def under(**points: str) -> None:
        made = importlib.metadata.EntryPoints(
            importlib.metadata.EntryPoint(name, value, "medotter_viewer.datasets") for name, value in points.items()
        )
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda **wanted: made.select(**wanted))

    return under


class TestRegistered:
    def test_is_called_with_split_type_and_options(self, register: Any) -> None:
        register(toy="toy_datasets:toy")
        report = evaluate(Copies(), "toy", split="val", type="slice", n=3, per_case=True)
        assert report.per_case is not None
        assert list(report.per_case) == ["val/slice/0", "val/slice/1", "val/slice/2"]
        assert report.macro == {"dice": 1.0, "iou": 1.0}

    def test_an_unknown_name_lists_those_that_are_there(self, register: Any) -> None:
        register(zebra="toy_datasets:toy", ant="toy_datasets:toy")
        with pytest.raises(UsageError, match=r"'toys'.*registered: ant, zebra"):
            evaluate(Copies(), "toys")

    def test_without_any_the_message_says_so(self, register: Any) -> None:
        register()
        with pytest.raises(UsageError, match="registered: none"):
            evaluate(Copies(), "toys")

    def test_an_option_it_does_not_take_is_named(self, register: Any) -> None:
        register(toy="toy_datasets:toy")
        with pytest.raises(UsageError, match="colour"):
            evaluate(Copies(), "toy", colour="red")

    @pytest.mark.parametrize("value", ["toy_datasets:nothing", "toy_datasets:broken", "no_such_module:x"])
    def test_one_that_cannot_be_used_is_named(self, register: Any, value: str) -> None:
        register(toy=value)
        with pytest.raises(UsageError, match="dataset 'toy'"):
            evaluate(Copies(), "toy")

    def test_needs_a_model(self, register: Any) -> None:
        register(toy="toy_datasets:toy")
        with pytest.raises(UsageError, match="got neither"):
            evaluate(None, "toy")
