"""Scores of plain arrays: every odd input has one outcome, and every number a status."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

import medotter_viewer
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.errors import LabelError, MetricInputError, UsageError
from medotter_viewer.metrics import region_masks
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.surface_distances import surface_distances
from medotter_viewer.metrics.surfel import surfel_hd
from medotter_viewer.scoring.arrays import label_scores

Array = NDArray[Any]
ONE = (1.0, 1.0, 1.0)
DTYPES = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
NAMES = st.sampled_from(["directed_max", "pooled", "mean", "surfel"])


def cube(start: int, stop: int, label: int = 1, dtype: Any = np.uint8, side: int = 12) -> Array:
    labels = np.zeros((side,) * 3, dtype=dtype)
    labels[start:stop, start:stop, start:stop] = label
    return labels


def numbers(values: dict[str, MetricValue]) -> dict[str, float | None]:
    return {metric: v.value for metric, v in values.items()}


def all_ok(scores: dict[str, dict[str, MetricValue]]) -> bool:
    return all(v.status == "ok" for values in scores.values() for v in values.values())


PERFECT = {"dice": 1.0, "iou": 1.0, "hd95": 0.0}


class TestNumbers:
    def test_it_is_the_packages_own_name(self) -> None:
        assert medotter_viewer.label_scores is label_scores

    def test_two_labels_of_a_volume(self) -> None:
        gt, pred = np.zeros((2, 12, 12, 12), dtype=np.uint8)
        gt[2:7, 2:7, 2:7] = 1
        pred[4:9, 2:7, 2:7] = 1
        gt[10, 10, 10] = pred[10, 10, 10] = 2
        scores = label_scores(gt, pred, spacing=(2, 1, 1))
        assert list(scores) == ["1", "2"]
        assert numbers(scores["1"]) == {"dice": pytest.approx(0.6), "iou": pytest.approx(3 / 7), "hd95": 4.0}
        assert numbers(scores["2"]) == PERFECT
        assert all_ok(scores)

    def test_a_region_is_one_mask(self) -> None:
        gt, pred = np.array([[2, 2, 3, 0]]), np.array([[3, 2, 2, 0]])
        scores = label_scores(gt, pred, spacing=(1, 1), regions={"kidneys": [2, 3], "left": 2})
        assert numbers(scores["kidneys"]) == PERFECT
        assert scores["left"]["dice"] == MetricValue(0.5)

    def test_a_region_may_hold_the_background(self) -> None:
        gt, pred = cube(2, 7), cube(3, 8)
        scores = label_scores(gt, pred, spacing=ONE, regions={"all": [0, 1], "outside": [0]})
        assert numbers(scores["all"]) == PERFECT
        expected = hausdorff(surface_distances(gt == 0, pred == 0, spacing=ONE))
        assert scores["outside"]["hd95"].value == expected

    @pytest.mark.parametrize("name", ["directed_max", "pooled", "mean", "surfel"])
    def test_hd95_by_name(self, name: Any) -> None:
        gt, pred = cube(2, 7), cube(2, 7) + cube(9, 11)
        masks = (gt == 1, pred == 1)
        if name == "surfel":
            expected = surfel_hd(*masks, spacing=(3, 1, 1))
        else:
            expected = hausdorff(surface_distances(*masks, spacing=(3, 1, 1)), variant=name)
        assert label_scores(gt, pred, spacing=(3, 1, 1), hd95=name)["1"]["hd95"] == MetricValue(expected)

    def test_only_what_is_asked_for_in_that_order(self) -> None:
        scores = label_scores(cube(2, 7), cube(2, 7), spacing=ONE, metrics=["hd95", "dice", "hd95"])
        assert list(scores["1"]) == ["hd95", "dice"]
        assert list(label_scores([1], [1], spacing=[1], metrics="iou")["1"]) == ["iou"]

    def test_nothing_there_and_nothing_asked(self) -> None:
        nothing = np.zeros((3, 3, 3), dtype=np.uint8)
        assert label_scores(nothing, nothing, spacing=ONE) == {}
        assert label_scores(cube(2, 7), cube(2, 7), spacing=ONE, regions={}) == {}


class TestEmptySides:
    GT, NOTHING = cube(2, 7), np.zeros((12, 12, 12), dtype=np.uint8)

    def test_empty_in_both(self) -> None:
        scores = label_scores(self.NOTHING, self.NOTHING, spacing=ONE, regions={"liver": [1]})
        assert scores == {"liver": {m: MetricValue(v, "absent", "both_empty") for m, v in PERFECT.items()}}

    @pytest.mark.parametrize("turned", [False, True])
    def test_empty_in_one(self, turned: bool) -> None:
        pair = (self.NOTHING, self.GT) if turned else (self.GT, self.NOTHING)
        scores = label_scores(*pair, spacing=(3, 1, 1))
        diagonal = math.hypot(36, 12, 12)
        assert scores["1"]["dice"] == scores["1"]["iou"] == MetricValue(0.0)
        assert scores["1"]["hd95"] == MetricValue(pytest.approx(diagonal), "cap", "image_diagonal")

    def test_arrays_without_voxels(self) -> None:
        none = np.zeros((0, 4, 4), dtype=np.uint8)
        assert label_scores(none, none, spacing=ONE) == {}
        scores = label_scores(none, none, spacing=ONE, regions={"liver": [1]})
        assert [v.status for v in scores["liver"].values()] == ["absent"] * 3


class TestOddMasks:
    @pytest.mark.parametrize("name", ["directed_max", "surfel"])
    def test_masks_that_touch_or_fill_the_volume(self, name: Any) -> None:
        full = np.ones((4, 5, 6), dtype=np.uint8)
        assert numbers(label_scores(full, full, spacing=ONE, hd95=name)["1"]) == PERFECT
        half = full.copy()
        half[2:] = 0
        scores = label_scores(full, half, spacing=(2, 1, 1), hd95=name)
        assert scores["1"]["dice"].value == pytest.approx(2 / 3)
        assert scores["1"]["hd95"] == MetricValue(4.0)

    @pytest.mark.parametrize("at", [(0, 0, 0), (3, 2, 1), (7, 7, 7)])
    @pytest.mark.parametrize("name", ["directed_max", "pooled", "mean", "surfel"])
    def test_a_single_voxel(self, at: tuple[int, ...], name: Any) -> None:
        gt, pred = np.zeros((2, 8, 8, 8), dtype=np.uint8)
        gt[at] = pred[3, 2, 5] = 1
        scores = label_scores(gt, pred, spacing=(5, 1, 0.5), hd95=name)["1"]
        far = math.hypot(5 * (at[0] - 3), at[1] - 2, 0.5 * (at[2] - 5))
        assert numbers(scores) == {"dice": 0.0, "iou": 0.0, "hd95": pytest.approx(far)}

    def test_one_slice_two_axes_and_one(self) -> None:
        labels = np.array([[0, 1, 1], [0, 1, 0]])
        for array in (labels[None], labels, labels[0]):
            assert numbers(label_scores(array, array, spacing=[1.0] * array.ndim)["1"]) == PERFECT


class TestIdsAndTypes:
    @pytest.mark.parametrize("gt_type", DTYPES)
    @pytest.mark.parametrize("pred_type", DTYPES)
    def test_types_may_differ(self, gt_type: Any, pred_type: Any) -> None:
        scores = label_scores(cube(2, 7, 100, gt_type), cube(2, 7, 100, pred_type), spacing=ONE)
        assert {region: numbers(v) for region, v in scores.items()} == {"100": PERFECT}

    def test_bool_is_background_and_one(self) -> None:
        gt = cube(2, 7).astype(bool)
        assert numbers(label_scores(gt, cube(2, 7, dtype=np.int64), spacing=ONE)["1"]) == PERFECT
        assert numbers(label_scores(gt, gt, spacing=ONE)["1"]) == PERFECT

    @pytest.mark.parametrize("big", [255, 256, 65535, 65536, 70_000, 2**31 - 1, 2**31, 2**32 + 1, 2**63 - 1])
    def test_large_ids(self, big: int) -> None:
        gt, pred = cube(2, 7, big, np.int64), cube(3, 8, big, np.int64)
        scores = label_scores(gt, pred, spacing=ONE)
        assert list(scores) == [str(big)]
        assert scores == {str(big): label_scores(gt > 0, pred > 0, spacing=ONE)["1"]}

    def test_ids_beyond_a_signed_64_bit_integer(self) -> None:
        gt = cube(2, 7, 2**63, np.uint64)
        with pytest.raises(MetricInputError, match="signed 64-bit"):
            label_scores(gt, gt, spacing=ONE)

    @pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128, object, "U1"])
    def test_ids_that_are_not_whole_by_type(self, kind: Any) -> None:
        good = cube(2, 7)
        for pair in ((good.astype(kind), good), (good, good.astype(kind))):
            with pytest.raises(MetricInputError, match="expected whole label ids"):
                label_scores(*pair, spacing=ONE)

    @pytest.mark.parametrize("side", ["gt", "pred"])
    def test_negative_ids(self, side: str) -> None:
        good, bad = cube(2, 7), cube(2, 7, -1, np.int16)
        with pytest.raises(LabelError, match=rf"{side}: negative ids \[-1\]"):
            label_scores(*((bad, good) if side == "gt" else (good, bad)), spacing=ONE)

    def test_inputs_are_not_changed_and_memory_order_does_not_matter(self) -> None:
        gt, pred = cube(2, 7), cube(3, 9)
        before = gt.copy(), pred.copy()
        expected = label_scores(gt, pred, spacing=(2, 1, 3))
        for order in (np.asfortranarray, np.ascontiguousarray, lambda a: np.repeat(a, 2, axis=0)[::2]):
            assert label_scores(order(gt), order(pred), spacing=(2, 1, 3)) == expected
        assert (gt == before[0]).all()
        assert (pred == before[1]).all()


class TestRefusals:
    @pytest.mark.parametrize(
        "other",
        [
            pytest.param((12, 12, 11), id="another shape"),
            pytest.param((12, 12, 12, 1), id="an axis of length 1 behind"),
            pytest.param((1, 12, 12, 12), id="an axis of length 1 in front"),
            pytest.param((1, 12, 12), id="could be broadcast"),
            pytest.param((12, 12), id="one slice"),
            pytest.param((), id="a number"),
            pytest.param((12 * 144,), id="as many voxels in a row"),
        ],
    )
    def test_shapes_that_differ(self, other: tuple[int, ...]) -> None:
        gt, pred = cube(2, 7), np.ones(other, dtype=np.uint8)
        for pair in ((gt, pred), (pred, gt)):
            with pytest.raises(MetricInputError, match="nothing is broadcast"):
                label_scores(*pair, spacing=ONE)

    @pytest.mark.parametrize(
        "spacing",
        [
            (1, 1, math.nan), (0, 1, 1), (1, -1, 1), (1, 1, math.inf), (1, 1), (1, 1, 1, 1), (), 1.0, None, "abc",
            [[1, 1, 1]], (1, 1, None), (1e-300, 1, 1),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("metrics", [("dice",), ("hd95",)])
    def test_a_spacing_that_is_not_one_length_for_each_axis(self, spacing: Any, metrics: Any) -> None:
        with pytest.raises(MetricInputError, match="spacing: got"):
            label_scores(cube(2, 7), cube(2, 7), spacing=spacing, metrics=metrics)

    @pytest.mark.parametrize("ids", [[], -1, [1, -2], 1.5, "x", None, [None], [2**63], [math.nan]])
    def test_a_region_without_usable_ids(self, ids: Any) -> None:
        with pytest.raises(LabelError, match="region 'liver': got"):
            label_scores(cube(2, 7), cube(2, 7), spacing=ONE, regions={"liver": ids})

    def test_metrics_and_definitions_nobody_knows(self) -> None:
        with pytest.raises(UsageError, match="metrics: nsd, f1 not known"):
            label_scores(cube(2, 7), cube(2, 7), spacing=ONE, metrics=["dice", "nsd", "f1"])
        with pytest.raises(UsageError, match="hd95: got 'hd'"):
            label_scores(cube(2, 7), cube(2, 7), spacing=ONE, hd95="hd")  # type: ignore[arg-type]

    def test_surfel_needs_two_or_three_axes(self) -> None:
        with pytest.raises(MetricInputError, match="1 axes"):
            label_scores([0, 1], [0, 1], spacing=[1.0], hd95="surfel")


@st.composite
def label_pairs(draw: st.DrawFn) -> tuple[Array, Array, tuple[float, ...]]:
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=5))
    ids = draw(st.sampled_from([(0, 1, 2), (0, 5, 300), (0, 7, 2**31)]))
    gt, pred = (draw(hnp.arrays(np.int64, shape, elements=st.sampled_from(ids))) for _ in range(2))
    return gt, pred, draw(st.tuples(*[st.sampled_from([0.3, 1.0, 4.0])] * len(shape)))


class TestProperties:
    @given(label_pairs(), NAMES)
    def test_no_dice_outside_its_range_and_no_number_without_a_status(self, case: Any, name: Any) -> None:
        gt, pred, spacing = case
        scores = label_scores(gt, pred, spacing=spacing, hd95=name)
        assert list(scores) == [str(i) for i in sorted(set(gt.flat) | set(pred.flat)) if i]
        diagonal = math.hypot(*np.multiply(gt.shape, spacing))
        for values in scores.values():
            for metric, v in values.items():
                assert v.status in ("ok", "absent", "cap")
                assert v.value is not None
                assert 0 <= v.value <= (diagonal * (1 + 1e-12) if metric == "hd95" else 1)
            assert values["iou"].value == pytest.approx(values["dice"].value / (2 - values["dice"].value))

    @given(label_pairs(), NAMES)
    def test_a_label_alone_gives_what_it_gives_among_others(self, case: Any, name: Any) -> None:
        gt, pred, spacing = case
        for region, values in label_scores(gt, pred, spacing=spacing, hd95=name).items():
            alone = label_scores(gt == int(region), pred == int(region), spacing=spacing, hd95=name)
            assert alone == {"1": values}

    @given(label_pairs(), NAMES)
    def test_gt_and_pred_may_change_places(self, case: Any, name: Any) -> None:
        gt, pred, spacing = case
        turned = label_scores(pred, gt, spacing=spacing, hd95=name)
        for region, values in label_scores(gt, pred, spacing=spacing, hd95=name).items():
            assert numbers(turned[region]) == pytest.approx(numbers(values))

    @given(label_pairs())
    def test_boxes_save_time_and_change_nothing(self, case: Any) -> None:
        gt, pred, spacing = case
        assume(gt.size)
        expected = label_scores(gt, pred, spacing=spacing, regions={"a": [1, 5, 7], "b": [2, 300, 2**31]})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(region_masks, "_BOX_LIMIT", 0)
            found = label_scores(gt, pred, spacing=spacing, regions={"a": [1, 5, 7], "b": [2, 300, 2**31]})
        assert found.keys() == expected.keys()
        for region, values in found.items():  # another origin of the box moves the last digit of a coordinate
            assert {m: (v.status, v.rule) for m, v in values.items()} == {
                m: (v.status, v.rule) for m, v in expected[region].items()
            }
            assert numbers(values) == pytest.approx(numbers(expected[region]), rel=1e-12)
